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

use rustix::thread::{CpuSet as Affinity, sched_setaffinity};

use super::{Attempt, Policy};

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

/// Tries the policy on a thread of its own.
pub(super) fn attempt(policy: Policy) -> Attempt {
    let thread = thread::Builder::new().spawn(move || match set_policy(policy) {
        Ok(()) => read_back(policy),
        Err(error) => Attempt::Refused(crate::error_text(&error)),
    });
    match thread.map(thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Attempt::NotTried("the trying thread panicked".to_owned()),
        Err(error) => Attempt::NotTried(format!("no thread: {}", crate::error_text(&error))),
    }
}

fn set_policy(policy: Policy) -> io::Result<()> {
    match policy {
        Policy::Fifo(priority) => set_fifo(priority),
        Policy::Deadline => set_deadline(),
    }
}

/// Gives the calling thread SCHED_FIFO. Allocates nothing: it also runs between fork and exit.
pub(super) fn set_fifo(priority: u8) -> io::Result<()> {
    set_scheduler(libc::SCHED_FIFO, priority)
}

fn set_scheduler(policy: libc::c_int, priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: libc::c_int::from(priority) };
    // SAFETY: thread 0 is the caller, and the structure lives until the call returns.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameters) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_deadline() -> io::Result<()> {
    const MILLISECOND_NS: u64 = 1_000_000;
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_DEADLINE as u32,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: MILLISECOND_NS,
        sched_deadline: 10 * MILLISECOND_NS,
        sched_period: 10 * MILLISECOND_NS,
    };
    // SAFETY: thread 0 is the caller, and the structure, whose size it names, lives until the call
    // returns.
    let status = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn read_back(policy: Policy) -> Attempt {
    let wanted = match policy {
        Policy::Fifo(_) => libc::SCHED_FIFO,
        Policy::Deadline => libc::SCHED_DEADLINE,
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

    /// Whether it is granted depends on the machine; that it answers and restores does not.
    #[test]
    fn an_attempt_leaves_the_calling_thread_as_it_was() {
        for policy in [Policy::Fifo(1), Policy::Deadline] {
            let outcome = attempt(policy);
            assert!(!matches!(outcome, Attempt::NotTried(_)), "{outcome:?}");
        }
        // SAFETY: takes a thread number and no pointer.
        let own = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        assert_eq!(own, libc::c_long::from(libc::SCHED_OTHER));
    }

    #[test]
    fn a_priority_that_does_not_exist_is_refused() {
        assert!(matches!(attempt(Policy::Fifo(100)), Attempt::Refused(_)));
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_not_reached() {
        assert_eq!(on_cpu(1_000_000, || 1), None);
        assert_eq!(on_cpu(0, || 1), Some(1));
    }
}
