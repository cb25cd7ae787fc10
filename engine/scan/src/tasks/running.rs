//! One release after the other, from the start of a partition's tasks to their end.
//!
//! ```text
//! start ─ (warm-up cycles ─ forget) ─ measured cycles ─ state: finished or stopped
//! ```
//!
//! A [`TaskHost`] runs them: a thread of a process, or a task of a guest's kernel.

use quietcore_exchange::Release;
use quietcore_exchange::TaskState;
use quietcore_units::{Nanos, Overrun, ReleaseRule};

use crate::change::Builds;
use crate::follower::Follower;
use crate::leader::Leader;
use crate::program::{Fieldbus, Program};
use crate::release::{Rest, Waiting};
use crate::shared::Shared;

/// The pause between two looks of a paused task whether it may go on.
const HOLD: Nanos = Nanos::from_millis(5);

/// The surroundings of a partition's tasks: a process, or a guest's kernel.
pub trait TaskHost {
    /// The kind of program that its builds hold.
    type Program: Program;

    /// Returns the state that the tasks share.
    fn shared(&self) -> &Shared;

    /// Reads the clock of the releases.
    fn now(&self) -> Nanos;

    /// Returns `true` once the tasks shall end.
    fn stops(&self) -> bool;

    /// Returns `true` while the tasks shall pause.
    fn pauses(&self) -> bool;

    /// Does something with the builds in the two slots, which stay there meanwhile.
    fn with_builds<R>(&self, work: impl FnOnce(&Builds<'_, Self::Program>) -> R) -> R;

    /// Wakes tasks; bit `n` of `fired` stands for task `n`.
    fn wake(&self, fired: u32);

    /// Notes that the leading task begins with cycles, at this instant.
    fn begin(&self, start: Nanos);

    /// Notes that the leading task begins a cycle, with the number that its events bear.
    fn begin_cycle(&self, release: &Release, cycle: u64);

    /// Notes that a task has done the job of a release, with the number that this has among those
    /// that count. Does nothing where nobody explains late releases.
    #[inline]
    fn released(&self, number: u64, release: &Release) {
        let _ = (number, release);
    }

    /// Notes that `count` releases, which count, have passed meanwhile.
    #[inline]
    fn skipped(&self, period: Nanos, count: u64) {
        let _ = (period, count);
    }

    /// Begins the statistics that count, with the leading task's release at `due`.
    fn measure(&self, due: Nanos);

    /// Returns `true` once [`measure`](Self::measure) was called.
    fn measures(&self) -> bool;

    /// Forgets all cycles so far.
    fn forget(&self);

    /// Notes that the leading task has ended, which ends the others.
    fn end(&self, state: TaskState);

    /// Yields the processor to a swap of builds, after which a task that does not lead tries again.
    fn yield_now(&self);
}

/// The releases of a task: when, and how many.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Decides when it is released.
    pub release: ReleaseRule,
    /// Decides about releases that pass while a job runs.
    pub overrun: Overrun,
    /// Releases of the leading task before those that are measured.
    pub warm_up_cycles: u64,
    /// Releases to measure; `None` to run until told to stop.
    pub cycles: Option<u64>,
}

/// Runs the leading task from `start` to its end.
pub fn lead<H: TaskHost, B: Fieldbus, C: Rest>(
    host: &H,
    leader: &mut Leader<'_, B>,
    waiting: &mut Waiting<'_, C>,
    plan: &Plan,
    start: Nanos,
) {
    host.begin(start);
    leader.begin(start);
    if plan.warm_up_cycles == 0 {
        begin_measuring(host, leader, waiting.due());
    }
    let mut left = plan.cycles;
    let mut warming = plan.warm_up_cycles;
    let mut number = 0;
    let mut end = TaskState::Finished;
    while left != Some(0) {
        let Some(release) = waiting.wait(host.shared(), || host.stops()) else {
            end = TaskState::Stopped;
            break;
        };
        if host.pauses() {
            leader.pause(host.now());
            hold(host, waiting, || {
                host.with_builds(|builds| {
                    leader.take_while_paused(builds, host.shared(), host.now());
                });
            });
            leader.resume(host.now());
            continue;
        }
        host.begin_cycle(&release, leader.task().cycle);
        let done =
            host.with_builds(|builds| leader.cycle(&release, builds, host.shared(), || host.now()));
        host.wake(done.fired);
        let next = waiting.advance(plan.overrun, done.finished.at);
        if next.skipped > 0 {
            leader.task().note_skipped(&release, plan.release.interval(), next.skipped);
        }
        leader.after(next.skipped);
        if warming > 0 {
            warming = warming.saturating_sub(1 + next.skipped);
            if warming == 0 {
                forget(host, leader);
                waiting.catch_up();
                begin_measuring(host, leader, waiting.due());
            }
        } else {
            left = left.map(|left| left.saturating_sub(1 + next.skipped));
            count(host, &mut number, &release, plan, next.skipped);
        }
    }
    if warming > 0 {
        forget(host, leader);
    }
    leader.task().recorder().set_state(end);
    host.end(end);
}

/// Counts a release whose job is done, and those that it has skipped.
#[inline]
fn count<H: TaskHost>(host: &H, number: &mut u64, release: &Release, plan: &Plan, skipped: u64) {
    host.released(*number, release);
    if skipped > 0 {
        host.skipped(plan.release.interval(), skipped);
    }
    *number += 1 + skipped;
}

/// Waits while the partition shall pause, does something now and then, and moves a task's releases
/// on to when that ends.
#[cold]
fn hold<H: TaskHost, C: Rest>(host: &H, waiting: &mut Waiting<'_, C>, mut meanwhile: impl FnMut()) {
    while host.pauses() && !host.stops() {
        meanwhile();
        waiting.sleep_for(HOLD);
    }
    waiting.catch_up();
}

/// Forgets all cycles so far.
fn forget<H: TaskHost, B: Fieldbus>(host: &H, leader: &mut Leader<'_, B>) {
    leader.task().recorder().clear();
    host.forget();
}

/// Says that what counts begins now, with the release at `due`.
fn begin_measuring<H: TaskHost, B: Fieldbus>(host: &H, leader: &mut Leader<'_, B>, due: Nanos) {
    leader.task().recorder().set_first_release(due);
    leader.task().recorder().set_state(TaskState::Running);
    host.measure(due);
}

/// Runs a task that does not lead, to its end.
pub fn follow<H: TaskHost, C: Rest>(
    host: &H,
    follower: &mut Follower<'_>,
    waiting: &mut Waiting<'_, C>,
    plan: &Plan,
) {
    let mut warming = plan.warm_up_cycles > 0;
    let mut has_run = false;
    let mut number = 0;
    follower.task().recorder().set_first_release(waiting.due());
    if !warming {
        follower.task().recorder().set_state(TaskState::Running);
    }
    while let Some(release) = waiting.wait(host.shared(), || host.stops()) {
        if warming && !has_run && host.measures() {
            // Its first release ever came after the warm-up, so that it counts.
            warming = false;
            follower.task().recorder().set_first_release(release.due);
            follower.task().recorder().set_state(TaskState::Running);
        }
        if host.pauses() {
            hold(host, waiting, || {});
            continue;
        }
        has_run = true;
        let finished = host
            .with_builds(|builds| follower.cycle(&release, builds, host.shared(), || host.now()));
        let Some(finished) = finished else {
            // A build is being swapped, which the leading task does within its cycle.
            host.yield_now();
            continue;
        };
        let next = waiting.advance(plan.overrun, finished.at);
        if next.skipped > 0 {
            follower.task().note_skipped(&release, plan.release.interval(), next.skipped);
        }
        if !warming {
            count(host, &mut number, &release, plan, next.skipped);
        } else if host.measures() {
            warming = false;
            follower.task().recorder().clear();
            waiting.catch_up();
            follower.task().recorder().set_first_release(waiting.due());
            follower.task().recorder().set_state(TaskState::Running);
        }
    }
    if warming {
        follower.task().recorder().clear();
    }
    follower.task().recorder().set_state(TaskState::Stopped);
}
