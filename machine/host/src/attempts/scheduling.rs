//! Trying real-time policies on short-lived threads.
//!
//! The thread that is changed ends right after, so no policy outlives the attempt. A granted
//! SCHED_FIFO is read back and given up again before the thread does anything else.
//
// UNSAFETY: SCHED_DEADLINE has no safe wrapper, and the C library's wrapper of SCHED_FIFO refuses
// under some C libraries; both are plain system calls on structures of our own.

#![expect(unsafe_code, reason = "scheduling policies are set by raw system calls")]

use std::io;
use std::mem::size_of;
use std::thread;

use quietcore_units::{CpuId, Nanos, Scheduling};
use rustix::thread::{CpuSet as Affinity, sched_getaffinity, sched_setaffinity};

use super::Attempt;
use crate::cpu_list::CpuList;

/// Runs `work` on a thread that is bound to one CPU; `None` where it can't be.
pub(super) fn on_cpu<T: Send + 'static>(
    cpu: u32,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let cpu = usize::try_from(cpu).ok()?;
    if cpu >= Affinity::MAX_CPU {
        return None;
    }
    let thread = thread::Builder::new().spawn(move || {
        let mut affinity = Affinity::new();
        affinity.set(cpu);
        sched_setaffinity(None, &affinity).ok()?;
        Some(work())
    });
    thread.ok()?.join().ok()?
}

/// Binds a thread of its own to all CPUs, of which the kernel leaves out those that aren't there
/// and those outside of the cpusets of this process.
pub(super) fn grantable_cpus() -> io::Result<CpuList> {
    let thread = thread::Builder::new().spawn(|| -> io::Result<CpuList> {
        let mut affinity = Affinity::new();
        let all = 0..Affinity::MAX_CPU;
        all.clone().for_each(|cpu| affinity.set(cpu));
        sched_setaffinity(None, &affinity)?;
        let got = sched_getaffinity(None)?;
        let cpu = |number: usize| CpuId::new(u32::try_from(number).ok()?);
        Ok(CpuList(all.filter(|number| got.is_set(*number)).filter_map(cpu).collect()))
    });
    thread?.join().map_err(|_| io::Error::other("the trying thread panicked"))?
}

/// Tries the policy on a thread of its own.
pub(super) fn attempt(scheduling: Scheduling) -> Attempt {
    let thread = thread::Builder::new().spawn(move || match set(scheduling) {
        Ok(()) => read_back(scheduling),
        Err(error) => Attempt::Refused(crate::error_text(&error)),
    });
    match thread.map(thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Attempt::NotTried("the trying thread panicked".to_owned()),
        Err(error) => Attempt::NotTried(format!("no thread: {}", crate::error_text(&error))),
    }
}

fn set(scheduling: Scheduling) -> io::Result<()> {
    match scheduling {
        Scheduling::Fifo { priority } => set_scheduler(libc::SCHED_FIFO, priority),
        Scheduling::Deadline { run_time, deadline, period } => {
            set_deadline([run_time, deadline, period].map(Nanos::get))
        }
        Scheduling::Other => set_scheduler(libc::SCHED_OTHER, 0),
    }
}

/// Gives the calling thread SCHED_FIFO. Allocates nothing: it also runs between fork and exit.
pub(super) fn set_fifo(priority: u32) -> io::Result<()> {
    set_scheduler(libc::SCHED_FIFO, priority)
}

fn set_scheduler(policy: libc::c_int, priority: u32) -> io::Result<()> {
    let sched_priority = priority.try_into().unwrap_or(libc::c_int::MAX);
    let parameters = libc::sched_param { sched_priority };
    // SAFETY: thread 0 is the caller, and the structure lives until the call returns.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameters) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_deadline([run_time, deadline, period]: [u64; 3]) -> io::Result<()> {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_DEADLINE as u32,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: run_time,
        sched_deadline: deadline,
        sched_period: period,
    };
    // SAFETY: thread 0 is the caller, and the structure, whose size it names, lives until the call
    // returns.
    let status = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn read_back(scheduling: Scheduling) -> Attempt {
    let wanted = match scheduling {
        Scheduling::Fifo { .. } => libc::SCHED_FIFO,
        Scheduling::Deadline { .. } => libc::SCHED_DEADLINE,
        Scheduling::Other => libc::SCHED_OTHER,
    };
    // SAFETY: takes a thread number, 0 for the caller, and no pointer.
    let found = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    if found != libc::c_long::from(wanted) {
        return Attempt::Refused(format!(
            "accepted, but the policy is {found} instead of {wanted} when read back"
        ));
    }
    match set_scheduler(libc::SCHED_OTHER, 0) {
        Ok(()) => Attempt::Succeeded,
        Err(error) => {
            Attempt::Refused(format!("granted, but not given back: {}", crate::error_text(&error)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grant depends on the machine; that it answers and restores does not.
    #[test]
    fn an_attempt_leaves_the_calling_thread_as_it_was() {
        let [run_time, period] = [1, 10].map(Nanos::from_millis);
        let deadline = Scheduling::Deadline { run_time, deadline: period, period };
        for scheduling in [Scheduling::fifo(1), deadline] {
            let outcome = attempt(scheduling);
            assert!(!matches!(outcome, Attempt::NotTried(_)), "{outcome:?}");
        }
        // SAFETY: takes a thread number and no pointer.
        let own = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        assert_eq!(own, libc::c_long::from(libc::SCHED_OTHER));
    }

    #[test]
    fn a_priority_that_does_not_exist_is_refused() {
        assert!(matches!(attempt(Scheduling::fifo(100)), Attempt::Refused(_)));
    }

    /// An affinity is no limit: a thread can be given all CPUs of its control group again.
    #[test]
    fn cpus_are_granted_beyond_the_affinity_of_the_asking_thread() {
        let all = grantable_cpus().unwrap();
        let first = all.numbers().next().unwrap();
        assert_eq!(on_cpu(first, || grantable_cpus().unwrap()), Some(all));
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_not_reached() {
        assert_eq!(on_cpu(1_000_000, || 1), None);
        assert_eq!(on_cpu(0, || 1), Some(1));
    }
}
