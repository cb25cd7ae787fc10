//! The calls by which a thread asks the kernel for its own settings. [`thread::prepare`] makes them
//! in their order.
//!
//! [`thread::prepare`]: super::prepare
//!
// UNSAFETY: `sched_setattr` has no safe face in the libraries used.
#![expect(unsafe_code, reason = "one system call is made by number")]

use std::num::NonZeroU64;
use std::{fs, io};

use quietcore_units::{CpuId, CpuSet, Scheduling};
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Pid, Resource, Rlimit, setrlimit};
use rustix::thread::{
    CpuSet as KernelCpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack,
};

/// Locks all memory that the process has and will get, and makes it present.
///
/// # Errors
/// `EPERM` or `ENOMEM` without `CAP_IPC_LOCK` and beyond `RLIMIT_MEMLOCK`.
pub fn lock_memory() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)?)
}

/// Locks all memory that the process has, and makes it present; what it gets is another matter.
///
/// # Errors
/// As of [`lock_memory`].
pub fn lock_present_memory() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::CURRENT)?)
}

/// Locks what the process has and what of it is present, now or when it is used first. What it
/// gets later is another matter, and nothing is made present for it.
///
/// # Errors
/// As of [`lock_memory`].
pub fn lock_memory_in_use() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT)?)
}

/// Locks what the process gets from now on, if it may have it even when it has given up its
/// capabilities: the limit is taken away. Where that is refused, what it gets is not locked, for it
/// would not get it.
///
/// # Errors
/// `EPERM` without `CAP_SYS_RESOURCE`, and those of `mlockall`.
pub fn lock_memory_to_come() -> io::Result<()> {
    let unlimited = Rlimit { current: None, maximum: None };
    setrlimit(Resource::Memlock, unlimited)?;
    Ok(mlockall(MlockAllFlags::FUTURE)?)
}

/// Asks for timers with 1 ns of slack; the kernel's default of 50 µs is for saving power.
///
/// # Errors
/// Those of `prctl`.
pub fn drop_timer_slack() -> io::Result<()> {
    Ok(set_current_timer_slack(NonZeroU64::new(1))?)
}

/// Pins the calling thread to one CPU and reads back that it is.
///
/// # Errors
/// `EINVAL` when the CPU doesn't exist or the cpuset forbids it, `EBUSY` when another setting is in
/// force afterwards.
pub fn pin(cpu: CpuId) -> io::Result<()> {
    allow([cpu].into_iter().collect())
}

/// Lets the calling thread run on the given CPUs only and reads back that it does.
///
/// # Errors
/// As for [`pin`].
pub fn allow(cpus: CpuSet) -> io::Result<()> {
    allow_thread(None, cpus)
}

/// Pins another thread, by the host's number, to one CPU and reads back that it is.
///
/// # Errors
/// As for [`pin`]; `EINVAL` also while the CPU is offline, `ESRCH` when there is no such thread,
/// `EPERM` when it is another user's.
pub fn pin_other(thread: u32, cpu: CpuId) -> io::Result<()> {
    let number = Pid::from_raw(thread.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    allow_thread(Some(number), [cpu].into_iter().collect())
}

/// Lets another thread, by the host's number, run on the given CPUs only and reads back that it
/// does. Threads that it starts later inherit them.
///
/// # Errors
/// As for [`pin_other`].
pub fn allow_other(thread: u32, cpus: CpuSet) -> io::Result<()> {
    let number = Pid::from_raw(thread.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    allow_thread(Some(number), cpus)
}

/// Lets a thread run on the given CPUs only; `None` is the calling one.
fn allow_thread(thread: Option<Pid>, cpus: CpuSet) -> io::Result<()> {
    let mut wanted = KernelCpuSet::new();
    for cpu in cpus.iter() {
        wanted.set(cpu.get() as usize);
    }
    sched_setaffinity(thread, &wanted)?;
    if sched_getaffinity(thread)? != wanted {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    Ok(())
}

/// The CPUs on which the calling thread may run.
///
/// # Errors
/// Those of `sched_getaffinity`.
pub fn allowed() -> io::Result<CpuSet> {
    let set = sched_getaffinity(None)?;
    let is_set = |cpu: &u32| set.is_set(*cpu as usize);
    Ok((0..quietcore_units::CPU_LIMIT).filter(is_set).filter_map(CpuId::new).collect())
}

/// Sets the calling thread's scheduling policy. Threads and processes that it starts don't have it.
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE` and beyond `RLIMIT_RTPRIO`, or in a group without real-time
/// runtime; `EBUSY` when the deadline scheduler has no bandwidth left.
pub fn schedule(scheduling: Scheduling) -> io::Result<()> {
    schedule_thread(0, scheduling)
}

/// Sets the scheduling policy of another thread, by the host's number.
///
/// # Errors
/// As for [`schedule`]; `ESRCH` also when there is no such thread.
pub fn schedule_other(thread: u32, scheduling: Scheduling) -> io::Result<()> {
    match thread {
        // That would be the calling one.
        0 => Err(io::ErrorKind::NotFound.into()),
        other => schedule_thread(other, scheduling),
    }
}

/// Gives all threads of a killed process a policy at which they get a processor to end on, those
/// excepted that can't have it: a killed thread ends once it runs.
///
/// At a real-time priority it may never run, where its CPU belongs to a higher one or its group has
/// no run time left. At the ordinary policy it may not for minutes, where its session or control
/// group spends its share on other CPUs. So even attempts give the ordinary policy, and odd ones
/// the lowest real-time priority.
pub fn let_end(process: u32, attempt: u32) {
    let lowest = Scheduling::Fifo { priority: 1 };
    let scheduling = if attempt.is_multiple_of(2) { Scheduling::Other } else { lowest };
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for thread in threads.filter_map(|it| it.file_name().to_str()?.parse().ok()) {
        // It may have ended, and what may not be changed ends by itself or not at all.
        let _ = schedule_other(thread, scheduling);
    }
}

/// Sets the scheduling policy of a thread; 0 is the calling one.
fn schedule_thread(thread: u32, scheduling: Scheduling) -> io::Result<()> {
    let attributes = Attributes::of(scheduling);
    // SAFETY: the kernel reads `size` bytes of a live structure laid out as it expects, and the
    // call has no flags of its own.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const attributes, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `struct sched_attr` of the kernel's first version (48 bytes).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

const _: () = assert!(size_of::<Attributes>() == 48);

impl Attributes {
    fn of(scheduling: Scheduling) -> Self {
        // Who is forked, or started, by the thread begins as any other: what a program leaves
        // behind must not run in front of everybody. For all policies, as who is not root can't
        // take the flag back.
        let flags = libc::SCHED_FLAG_RESET_ON_FORK as u64;
        let empty = Self { size: size_of::<Self>() as u32, flags, ..Self::default() };
        match scheduling {
            Scheduling::Fifo { priority } => {
                Self { policy: libc::SCHED_FIFO as u32, priority, ..empty }
            }
            Scheduling::Deadline { run_time, deadline, period } => Self {
                policy: libc::SCHED_DEADLINE as u32,
                runtime_ns: run_time.get(),
                deadline_ns: deadline.get(),
                period_ns: period.get(),
                ..empty
            },
            Scheduling::Other => Self { policy: libc::SCHED_OTHER as u32, ..empty },
        }
    }
}

#[cfg(test)]
mod tests {
    use quietcore_units::{Nanos, SchedulingPolicy};

    use super::*;
    use crate::thread::readback;

    #[test]
    fn attributes_are_laid_out_as_the_kernel_expects() {
        let fifo = Attributes::of(Scheduling::Fifo { priority: 90 });
        assert_eq!((fifo.size, fifo.policy, fifo.priority), (48, 1, 90));
        let [run_time, deadline, period] = [200, 700, 1000].map(Nanos::from_micros);
        let reserved = Attributes::of(Scheduling::Deadline { run_time, deadline, period });
        let Attributes { policy, runtime_ns, deadline_ns, period_ns, .. } = reserved;
        assert_eq!((policy, runtime_ns), (6, 200_000));
        assert_eq!((deadline_ns, period_ns), (700_000, 1_000_000));
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused() {
        let beyond = CpuId::new(quietcore_units::CPU_LIMIT - 1).unwrap();
        assert!(std::thread::spawn(move || pin(beyond)).join().unwrap().is_err());
    }

    #[test]
    fn another_thread_is_pinned_from_outside() {
        let (number, told) = std::sync::mpsc::channel();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            let own = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
            number.send(own).unwrap();
            let _ = wait.recv();
            allowed().unwrap()
        });
        let thread = told.recv().unwrap();
        schedule_other(thread, Scheduling::Other).unwrap();
        let nobody = schedule_other(0, Scheduling::Other).unwrap_err();
        assert_eq!(nobody.kind(), io::ErrorKind::NotFound, "0 is the calling thread");
        let cpu = allowed().unwrap().iter().next().unwrap();
        pin_other(thread, cpu).unwrap();
        drop(done);
        assert_eq!(other.join().unwrap(), CpuSet::from_iter([cpu]));
        assert!(pin_other(0, cpu).is_err(), "0 is no thread");
    }

    #[test]
    fn a_pinned_thread_is_pinned() {
        std::thread::spawn(|| {
            let first = sched_getaffinity(None).unwrap();
            let cpu = (0..quietcore_units::CPU_LIMIT)
                .find(|cpu| first.is_set(*cpu as usize))
                .and_then(CpuId::new)
                .unwrap();
            pin(cpu).unwrap();
            assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn who_is_started_by_a_real_time_thread_is_none() {
        let started = || {
            schedule(Scheduling::Fifo { priority: 1 })?;
            let policy = || {
                let thread = rustix::thread::gettid().as_raw_nonzero().get();
                readback::read(std::process::id(), thread as u32).map(|settings| settings.policy)
            };
            let own = policy()?;
            let child = std::thread::spawn(policy).join().expect("it only reads")?;
            schedule(Scheduling::Other)?;
            io::Result::Ok((own, child))
        };
        match std::thread::spawn(started).join().unwrap() {
            Ok(policies) => {
                let fifo = SchedulingPolicy::Fifo { priority: 1 };
                assert_eq!(policies, (fifo, SchedulingPolicy::Other));
            }
            Err(error) => quietcore_skip::skip!("no real-time priority: {error}"),
        }
    }
}
