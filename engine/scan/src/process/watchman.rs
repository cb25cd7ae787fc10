//! The thread that finds a step which does not return.
//!
//! A task that loops can't tell, nor can the main thread when an `initialize` or `terminate` does;
//! at its real-time priority it may not even let anybody else on its CPU. So this thread sleeps
//! most of the time on the other CPUs, or where there are none on the same one at a higher
//! priority, and looks at each task's guard: the same call for longer than sensitivity × watchdog
//! time is cancelled. It looks at most once a millisecond, so a loop is found within its limit and
//! a millisecond or half of the limit, whichever is longer.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use std::vec::Vec;

use quietcore_clock::{Clock, Monotonic};
use quietcore_exchange::Region;
use quietcore_process::guard::{Call, Guard};
use quietcore_process::remark::remark;
use quietcore_process::setting;
use quietcore_process::thread::prepare;
use quietcore_units::{CpuId, Nanos, Scheduling, ThreadRequest, ThreadSetting};

use crate::process::job::{ProgramJob, TaskJob};
use crate::process::threads::{EndsWithPanic, STACK_BYTES};

const PAUSE_MIN: Nanos = Nanos::from_millis(1);
const PAUSE_MAX: Nanos = Nanos::from_millis(50);

/// A task, or the thread that loads builds, as the watchman sees it.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Through which its calls go.
    pub(crate) guard: Guard,
    /// The longest that one call may take.
    pub(crate) limit: Nanos,
    /// The kernel's number of its thread; zero before it started.
    pub(crate) thread_id: AtomicU32,
}

/// A clock that stands while the partition is stopped from outside: that time is no call's.
struct OwnTime<'map>(Region<'map>);

impl Clock for OwnTime<'_> {
    fn now(&self) -> Nanos {
        Monotonic.now().saturating_sub(Nanos::new(self.0.stopped_ns()))
    }

    fn sleep_until(&self, due: Nanos) {
        Monotonic.sleep_until(due + Nanos::new(self.0.stopped_ns()));
    }

    fn cpu(&self) -> u32 {
        Monotonic.cpu()
    }
}

/// Does `work`, which calls into programs, while a thread looks after `watched`.
pub(crate) fn watch_during<R>(
    job: &ProgramJob,
    region: Region<'_>,
    watched: &[Watched],
    work: impl FnOnce() -> R,
) -> R {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watchman = thread::Builder::new().name("watchman".to_owned()).stack_size(STACK_BYTES);
        let watching = watchman.spawn_scoped(scope, || {
            let _end = EndsWithPanic;
            if let Some(cpu) = job.cpu {
                stand_beside(cpu, &job.tasks);
            }
            watch(&OwnTime(region), watched, &done);
        });
        if let Err(error) = watching {
            remark(format_args!("quietcore-runtime: thread `watchman`: {error}"));
            std::process::exit(1);
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Lets the calling thread run beside the tasks: on any other CPU than theirs, or where there is
/// none above their priority. Where the kernel refuses both, it competes as any thread does.
fn stand_beside(cpu: u32, tasks: &[TaskJob]) {
    let others = setting::allowed().map(|allowed| match CpuId::new(cpu) {
        Some(cpu) => allowed.without(&[cpu].into_iter().collect()),
        None => allowed,
    });
    let request =
        |scheduling| ThreadRequest { exact_timers: false, ..ThreadRequest::new(scheduling) };
    let elsewhere = others.is_ok_and(|others| {
        let beside = ThreadRequest { cpus: Some(others), ..request(Scheduling::Other) };
        !others.is_empty() && prepare(&beside).refusal(ThreadSetting::Affinity).is_none()
    });
    if !elsewhere {
        let _ = prepare(&request(Scheduling::above_all(tasks.iter().map(|task| task.policy))));
    }
}

/// Looks after the tasks until `done`.
pub(crate) fn watch(clock: &impl Clock, tasks: &[Watched], done: &AtomicBool) {
    let shortest = tasks.iter().map(|task| task.limit).min().unwrap_or(PAUSE_MAX);
    let pause = (shortest / 2).clamp(PAUSE_MIN, PAUSE_MAX);
    let mut seen: Vec<Option<Seen>> = tasks.iter().map(|_| None).collect();
    while !done.load(Ordering::Relaxed) {
        let now = clock.now();
        for (task, seen) in tasks.iter().zip(&mut seen) {
            *seen = look(task, *seen, now);
        }
        thread::sleep(Duration::from_nanos(pause.get()));
    }
}

/// A call that was seen running.
#[derive(Clone, Copy, Debug)]
struct Seen {
    call: Call,
    since: Nanos,
}

/// Looks at one task at `now`: cancels its call when it has been the same for too long, at each
/// look until it ends. It may be in shelter at one of them.
fn look(task: &Watched, seen: Option<Seen>, now: Nanos) -> Option<Seen> {
    let call = task.guard.running()?;
    let Some(seen) = seen.filter(|seen| seen.call == call) else {
        return Some(Seen { call, since: now });
    };
    if now.saturating_sub(seen.since) > task.limit {
        // Its thread may just have ended, and its process with it.
        let _ = task.guard.cancel(call, task.thread_id.load(Ordering::Relaxed));
    }
    Some(seen)
}
