//! The measured loop.
//!
//! ```text
//!  wake_at        woke              due = release        started
//!    │─ wake-up latency ─│── spin ──────│─ release latency ─│
//!    └──────── margin ──────────────────┘
//! ```
//!
//! In mode `sleep` the margin is zero, nothing is spun, and both latencies are the same: what
//! `cyclictest` calls latency. In mode `early-wake` the release latency is what a control program
//! sees, and the wake-up latency is still what the kernel does.
//!
//! Release times are absolute, so a late wake-up does not move the ones after it. A release that
//! has already passed is not skipped: it is recorded with its true latency. A stall of 40 ms at a
//! period of 200 µs is 200 samples, not one.
//!
//! Bound: one sleep and two clock readings a cycle plus the recording, no allocation, lock or I/O
//! (promise P5 of SPECIFICATION.md). Spinning reads the clock without a PAUSE instruction:
//! a hypervisor may take repeated PAUSE as a reason to leave the guest, and it makes the instant
//! coarser.

use quietcore_clock::Clock;
use quietcore_exchange::{Cycle, Recorder, TaskState};
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::margin::{Margin, Wake};

/// A delay put in on purpose, to prove that what happens is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// How long the release is held up.
    pub delay: Nanos,
    /// Which release, from 0.
    pub release: u64,
}

/// What the loop shall run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// When the first release is due.
    pub first_release: Nanos,
    /// Time between releases.
    pub period: Nanos,
    /// Number of releases.
    pub releases: u64,
    /// The CPU, where the task is pinned; spares asking each time.
    pub cpu: Option<u32>,
    /// A delay to inject.
    pub injection: Option<Injection>,
}

/// How the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All releases were run.
    Completed,
    /// It was told to stop before its end.
    Stopped,
}

/// A whole run: a warm-up that is forgotten, and what is measured.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// When the first release is due.
    pub first_release: Nanos,
    /// Time between releases.
    pub period: Nanos,
    /// Releases to measure.
    pub cycles: u64,
    /// Releases before these.
    pub warm_up_cycles: u64,
    /// How the task comes to its release.
    pub wake: Wake,
    /// A delay to inject.
    pub injection: Option<Injection>,
    /// The CPU, where the task is pinned.
    pub cpu: Option<u32>,
}

/// Carries out a whole run, and says in the statistics how it ended. Each measured cycle is told to
/// `seen` with the number of its release, before it is recorded.
pub fn carry_out(
    clock: &impl Clock,
    whole: &Whole,
    recorder: &mut Recorder<'_>,
    stop: impl Fn() -> bool,
    seen: impl FnMut(u64, &Cycle),
) {
    let mut margin = Margin::new(whole.wake, whole.period);
    let mut plan = Plan {
        first_release: whole.first_release,
        period: whole.period,
        releases: whole.warm_up_cycles,
        cpu: whole.cpu,
        injection: None,
    };
    let (mut end, next) = run(clock, &plan, &mut margin, recorder, &stop, |_, _| {});
    // Also when it was told to stop meanwhile: the warm-up is no measurement.
    recorder.clear();
    if end == End::Completed {
        // Clearing takes time of the cycles; the next ones begin where nothing is late yet.
        let passed = clock.now().saturating_sub(next).whole_times(plan.period) + 1;
        plan.first_release = next + plan.period * passed;
        plan.releases = whole.cycles;
        plan.injection = whole.injection;
        if let Some(injection) = whole.injection {
            recorder.watch(injection.release);
        }
        recorder.set_first_release(plan.first_release);
        recorder.set_state(TaskState::Running);
        (end, _) = run(clock, &plan, &mut margin, recorder, &stop, seen);
    }
    recorder.set_state(match end {
        End::Completed => TaskState::Finished,
        End::Stopped => TaskState::Stopped,
    });
}

/// Runs the plan, and tells each cycle to `seen`. Returns how it ended and when the next release
/// would be due.
pub fn run(
    clock: &impl Clock,
    plan: &Plan,
    margin: &mut Margin,
    recorder: &mut Recorder<'_>,
    stop: impl Fn() -> bool,
    mut seen: impl FnMut(u64, &Cycle),
) -> (End, Nanos) {
    let mut due = plan.first_release;
    for release in 0..plan.releases {
        if stop() {
            return (End::Stopped, note_overdue(clock, plan, due, release, recorder));
        }
        let wake_at = due.saturating_sub(margin.current());
        clock.sleep_until(wake_at);
        let mut woke = clock.now();
        if let Some(injection) = plan.injection
            && injection.release == release
        {
            woke = spin_until(clock, woke, due.max(woke) + injection.delay);
        }
        let started = spin_until(clock, woke, due);
        let wakeup_latency = woke.saturating_sub(wake_at);
        let cycle = Cycle {
            due,
            started,
            wakeup_latency,
            margin: margin.current(),
            spin: started.saturating_sub(woke),
            cpu: plan.cpu.unwrap_or_else(|| clock.cpu()),
        };
        seen(release, &cycle);
        recorder.record(&cycle);
        margin.learn(wakeup_latency);
        due += plan.period;
    }
    (End::Completed, due)
}

/// Records the releases that are overdue when the run is told to stop: it may have stood still when
/// it was told so, and a stall is counted as the cycles it cost. Returns the release after them.
fn note_overdue(
    clock: &impl Clock,
    plan: &Plan,
    due: Nanos,
    release: u64,
    recorder: &mut Recorder<'_>,
) -> Nanos {
    let now = clock.now();
    let overdue = now.saturating_sub(due).whole_times(plan.period).min(plan.releases - release);
    let mut due = due;
    for _ in 0..overdue {
        let latency = now.saturating_sub(due);
        recorder.record(&Cycle {
            due,
            started: now,
            wakeup_latency: latency,
            margin: Nanos::ZERO,
            spin: Nanos::ZERO,
            cpu: plan.cpu.unwrap_or_else(|| clock.cpu()),
        });
        due += plan.period;
    }
    due
}

/// Reads the clock until `due`; returns the last reading, `now` if that is late enough.
#[inline]
fn spin_until(clock: &impl Clock, now: Nanos, due: Nanos) -> Nanos {
    let mut now = now;
    while now < due {
        now = clock.now();
    }
    now
}

/// What one cycle costs beside its sleep: the clock readings and the recording. The recorder is
/// clear afterwards.
pub fn own_cost(clock: &impl Clock, recorder: &mut Recorder<'_>) -> Nanos {
    const CYCLES: u64 = 10_000;
    let begin = clock.now();
    for index in 0..CYCLES {
        let now = clock.now();
        let started = spin_until(clock, now, now);
        recorder.record(&Cycle {
            due: now,
            started,
            wakeup_latency: Nanos::new(index % 64),
            margin: Nanos::ZERO,
            spin: Nanos::ZERO,
            cpu: 0,
        });
    }
    let cost = clock.now().saturating_sub(begin) / CYCLES;
    recorder.clear();
    cost
}

#[cfg(test)]
#[cfg(feature = "process")]
mod tests;
