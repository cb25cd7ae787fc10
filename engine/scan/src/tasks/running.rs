//! One release after the other, from the start of a partition's tasks to their end.
//!
//! ```text
//! start ─ (warm-up cycles ─ forget) ─ measured cycles ─ state: finished or stopped
//! ```
//!
//! What runs them, a thread of a process or a task of a guest's kernel, is a [`Hall`].

use quietcore_exchange::TaskState;
use quietcore_units::Nanos;

use crate::change::Builds;
use crate::follower::Follower;
use crate::job::TaskKind;
use crate::leader::Leader;
use crate::program::{Fieldbus, Program};
use crate::release::{Rest, Waiting};
use crate::schedule::Overrun;
use crate::shared::Shared;
use crate::task::Release;

/// How often a paused task looks whether it may go on.
const HOLD: Nanos = Nanos::from_millis(5);

/// Where the tasks of a partition run.
pub trait Hall {
    /// Its programs.
    type Program: Program;

    /// What the tasks share.
    fn shared(&self) -> &Shared;

    /// The instant.
    fn now(&self) -> Nanos;

    /// Whether the tasks shall end.
    fn stops(&self) -> bool;

    /// Whether the tasks shall pause.
    fn pauses(&self) -> bool;

    /// Does something with the builds in the two slots, which stay there meanwhile.
    fn with_builds<R>(&self, work: impl FnOnce(&Builds<'_, Self::Program>) -> R) -> R;

    /// Wakes tasks, a bit each.
    fn wake(&self, fired: u32);

    /// The leading task begins with cycles, at this instant.
    fn begin(&self, start: Nanos);

    /// The leading task begins a cycle, with the number that its events bear.
    fn begin_cycle(&self, release: &Release, cycle: u64);

    /// A task has done the job of a release, with the number that this has among those that count.
    /// Where nobody explains late releases, nothing is to be done.
    #[inline]
    fn released(&self, number: u64, release: &Release) {
        let _ = (number, release);
    }

    /// So many of its releases have passed meanwhile, which count.
    #[inline]
    fn skipped(&self, period: Nanos, count: u64) {
        let _ = (period, count);
    }

    /// What counts begins now, with the leading task's release at `due`.
    fn measure(&self, due: Nanos);

    /// Whether that has been said.
    fn measures(&self) -> bool;

    /// All cycles so far are forgotten.
    fn forget(&self);

    /// The leading task has ended; the others shall.
    fn end(&self, state: TaskState);

    /// A task that does not lead found a build being swapped, and tries again after this.
    fn yield_now(&self);
}

/// What a task runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// When it is released.
    pub kind: TaskKind,
    /// What happens to releases that pass while a job runs.
    pub overrun: Overrun,
    /// Releases of the leading task before those that are measured.
    pub warm_up_cycles: u64,
    /// Its releases to measure; none to run until told to stop.
    pub cycles: Option<u64>,
}

/// Runs the leading task from `start` to its end.
pub fn lead<H: Hall, B: Fieldbus, C: Rest>(
    hall: &H,
    leader: &mut Leader<'_, B>,
    waiting: &mut Waiting<'_, C>,
    plan: &Plan,
    start: Nanos,
) {
    hall.begin(start);
    leader.begin(start);
    if plan.warm_up_cycles == 0 {
        begin_measuring(hall, leader, waiting.due());
    }
    let mut left = plan.cycles;
    let mut warming = plan.warm_up_cycles;
    let mut number = 0;
    let mut end = TaskState::Finished;
    while left != Some(0) {
        let Some(release) = waiting.wait(hall.shared(), || hall.stops()) else {
            end = TaskState::Stopped;
            break;
        };
        if hall.pauses() {
            leader.pause(hall.now());
            hold(hall, waiting, || {
                hall.with_builds(|builds| {
                    leader.take_while_paused(builds, hall.shared(), hall.now());
                });
            });
            leader.resume(hall.now());
            continue;
        }
        hall.begin_cycle(&release, leader.task().cycle);
        let done =
            hall.with_builds(|builds| leader.cycle(&release, builds, hall.shared(), || hall.now()));
        hall.wake(done.fired);
        let next = waiting.advance(plan.overrun, done.finished.at);
        if next.skipped > 0 {
            leader.task().note_skipped(&release, plan.kind.period(), next.skipped);
        }
        leader.after(next.skipped);
        if warming > 0 {
            warming = warming.saturating_sub(1 + next.skipped);
            if warming == 0 {
                forget(hall, leader);
                waiting.catch_up();
                begin_measuring(hall, leader, waiting.due());
            }
        } else {
            left = left.map(|left| left.saturating_sub(1 + next.skipped));
            count(hall, &mut number, &release, plan, next.skipped);
        }
    }
    if warming > 0 {
        forget(hall, leader);
    }
    leader.task().recorder().set_state(end);
    hall.end(end);
}

/// Counts a release whose job is done, and those that it has skipped.
#[inline]
fn count<H: Hall>(hall: &H, number: &mut u64, release: &Release, plan: &Plan, skipped: u64) {
    hall.released(*number, release);
    if skipped > 0 {
        hall.skipped(plan.kind.period(), skipped);
    }
    *number += 1 + skipped;
}

/// Waits while the partition shall pause, does something now and then, and moves a task's releases
/// on to when that ends.
#[cold]
fn hold<H: Hall, C: Rest>(hall: &H, waiting: &mut Waiting<'_, C>, mut meanwhile: impl FnMut()) {
    while hall.pauses() && !hall.stops() {
        meanwhile();
        waiting.sleep_for(HOLD);
    }
    waiting.catch_up();
}

/// Forgets all cycles so far.
fn forget<H: Hall, B: Fieldbus>(hall: &H, leader: &mut Leader<'_, B>) {
    leader.task().recorder().clear();
    hall.forget();
}

/// Says that what counts begins now, with the release at `due`.
fn begin_measuring<H: Hall, B: Fieldbus>(hall: &H, leader: &mut Leader<'_, B>, due: Nanos) {
    leader.task().recorder().set_first_release(due);
    leader.task().recorder().set_state(TaskState::Running);
    hall.measure(due);
}

/// Runs a task that does not lead, to its end.
pub fn follow<H: Hall, C: Rest>(
    hall: &H,
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
    while let Some(release) = waiting.wait(hall.shared(), || hall.stops()) {
        if warming && !has_run && hall.measures() {
            // Its first release ever came after the warm-up, so that it counts.
            warming = false;
            follower.task().recorder().set_first_release(release.due);
            follower.task().recorder().set_state(TaskState::Running);
        }
        if hall.pauses() {
            hold(hall, waiting, || {});
            continue;
        }
        has_run = true;
        let finished = hall
            .with_builds(|builds| follower.cycle(&release, builds, hall.shared(), || hall.now()));
        let Some(finished) = finished else {
            // A build is being swapped, which the leading task does within its cycle.
            hall.yield_now();
            continue;
        };
        let next = waiting.advance(plan.overrun, finished.at);
        if next.skipped > 0 {
            follower.task().note_skipped(&release, plan.kind.period(), next.skipped);
        }
        if !warming {
            count(hall, &mut number, &release, plan, next.skipped);
        } else if hall.measures() {
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
