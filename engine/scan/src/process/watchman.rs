//! The thread that finds a step which does not return.
//!
//! A task that loops can't tell; at its real-time priority it may not even let anybody else on its
//! CPU. So this thread sleeps most of the time on the other CPUs, or where there are none on the
//! same one at a higher priority, and looks at each task's guard: the same call for longer than
//! sensitivity × watchdog time is cancelled. It looks at most once a millisecond, so a loop is
//! found within its limit and a millisecond or half of the limit, whichever is longer.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use std::vec::Vec;

use quietcore_clock::Clock;
use quietcore_process::guard::{Call, Guard};
use quietcore_process::setting::{self, Policy};
use quietcore_units::{CpuId, Nanos};

const PAUSE_MIN: Nanos = Nanos::from_millis(1);
const PAUSE_MAX: Nanos = Nanos::from_millis(50);

/// A task as the watchman sees it.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Through which its steps go.
    pub(crate) guard: Guard,
    /// The longest that one step may take.
    pub(crate) limit: Nanos,
    /// The kernel's number of its thread; zero before it started.
    pub(crate) thread_id: AtomicU32,
}

/// Lets the calling thread run beside the tasks: on any other CPU than theirs, or where there is
/// none above their priority. Where the kernel refuses both, it competes as any thread does.
pub(crate) fn stand_beside(cpu: u32, priority: u8) {
    let others = setting::allowed().map(|allowed| match CpuId::new(cpu) {
        Some(cpu) => allowed.without(&[cpu].into_iter().collect()),
        None => allowed,
    });
    let elsewhere = others.is_ok_and(|others| !others.is_empty() && setting::allow(others).is_ok());
    if !elsewhere {
        let _ = setting::schedule(Policy::Fifo(priority));
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
