//! The measured loop: release after release, by sleep or by early wake.
//!
//! The loop comes to each release by [`wait_for`], as the tasks of a program do. In mode `sleep`
//! the margin is zero, nothing is spun, and both latencies are the one that `cyclictest` calls
//! latency. In mode `early-wake` the release latency is that of a control program, while the
//! wake-up latency is still that of the kernel.
//!
//! Release times are absolute, so a late wake-up does not move the ones after it. A release that
//! has already passed is not skipped: it is recorded with its true latency. A stall of 40 ms at a
//! period of 200 µs is 200 samples, not one.
//!
//! Bound: that of [`wait_for`] plus the recording; no allocation, lock or I/O (promise P23 of
//! SPECIFICATION.md).

use quietcore_clock::Clock;
use quietcore_exchange::{Recorder, TaskState};
use quietcore_release::{Injection, Margin, Release, first_after, overdue, spin_until, wait_for};
use quietcore_units::{Nanos, Wake};

/// The releases that the loop shall run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Instant at which the first release is due.
    pub first_release: Nanos,
    /// Time from one release to the next.
    pub period: Nanos,
    /// Number of releases to run.
    pub releases: u64,
    /// The CPU that the task is pinned to, which spares asking in each cycle; `None` if the task
    /// may move.
    pub cpu: Option<u32>,
    /// A delay to inject; `None` injects none.
    pub injection: Option<Injection>,
}

/// The end of the loop: complete, or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All releases were run.
    Completed,
    /// It was told to stop before its end.
    Stopped,
}

/// A whole run: a warm-up, which is discarded, and the measured cycles.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Instant at which the first release of the warm-up is due.
    pub first_release: Nanos,
    /// Time from one release to the next.
    pub period: Nanos,
    /// Number of releases to measure.
    pub cycles: u64,
    /// Releases before the measured ones, which are run and discarded.
    pub warm_up_cycles: u64,
    /// Way in which the task comes to its release.
    pub wake: Wake,
    /// A delay to inject; `None` injects none.
    pub injection: Option<Injection>,
    /// The CPU that the task is pinned to; `None` if it may move.
    pub cpu: Option<u32>,
}

/// Carries out a whole run, and notes in the statistics how it ended. `seen` is called with each
/// measured cycle and the number of its release, before the cycle is recorded.
pub fn carry_out(
    clock: &impl Clock,
    whole: &Whole,
    recorder: &mut Recorder<'_>,
    stop: impl Fn() -> bool,
    seen: impl FnMut(u64, &Release),
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
    // The warm-up is no measurement, not even when it was told to stop meanwhile.
    recorder.clear();
    if end == End::Completed {
        // Clearing takes time, so the measured cycles begin at a release that is not late yet.
        plan.first_release = first_after(next, plan.period, clock.now());
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

/// Runs the plan, and calls `seen` with each cycle. Returns how the loop ended, and the instant at
/// which the next release would be due.
pub fn run(
    clock: &impl Clock,
    plan: &Plan,
    margin: &mut Margin,
    recorder: &mut Recorder<'_>,
    stop: impl Fn() -> bool,
    mut seen: impl FnMut(u64, &Release),
) -> (End, Nanos) {
    let mut due = plan.first_release;
    for number in 0..plan.releases {
        if stop() {
            return (End::Stopped, note_overdue(clock, plan, due, number, recorder));
        }
        let delay = plan.injection.and_then(|injection| injection.delay_of(number));
        let release = wait_for(clock, due, margin, plan.cpu, delay);
        seen(number, &release);
        recorder.record(&release);
        due += plan.period;
    }
    (End::Completed, due)
}

/// Records the releases that are overdue when the run is told to stop: it may have stood still when
/// it was told, and a stall counts as the cycles that it cost. Returns the release after them.
fn note_overdue(
    clock: &impl Clock,
    plan: &Plan,
    due: Nanos,
    number: u64,
    recorder: &mut Recorder<'_>,
) -> Nanos {
    let now = clock.now();
    let missed = overdue(due, plan.period, now).min(plan.releases - number);
    let cpu = plan.cpu.unwrap_or_else(|| clock.cpu());
    let mut due = due;
    for _ in 0..missed {
        let wakeup_latency = now.saturating_sub(due);
        recorder.record(&Release { wakeup_latency, ..Release::unawaited(due, now, cpu) });
        due += plan.period;
    }
    due
}

/// Measures the cost of one cycle beside its sleep: the clock readings and the recording. The
/// recorder is clear afterwards.
pub fn own_cost(clock: &impl Clock, recorder: &mut Recorder<'_>) -> Nanos {
    const CYCLES: u64 = 10_000;
    let begin = clock.now();
    for index in 0..CYCLES {
        let now = clock.now();
        let started = spin_until(clock, now, now);
        let wakeup_latency = Nanos::new(index % 64);
        recorder.record(&Release { wakeup_latency, ..Release::unawaited(now, started, 0) });
    }
    let cost = clock.now().saturating_sub(begin) / CYCLES;
    recorder.clear();
    cost
}

#[cfg(test)]
#[cfg(feature = "process")]
mod tests;
