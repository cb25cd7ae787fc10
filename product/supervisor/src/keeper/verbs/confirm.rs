//! A change whose answer waits a little longer: only the program's own code knows which variables
//! it writes, so the changed ones are looked at once more when each task has run.
//!
//! A variable that has its old value again then was written by the program, be it by itself or from
//! a channel. One that has gone on from the value that was set, such as a counter, has changed as
//! it should. The keeper does not stand still meanwhile.

use std::time::{Duration, Instant};

use crate::control::Applied;
use crate::keeper::incarnation::Incarnation;
use crate::keeper::request::Caller;
use crate::keeper::{Kept, LOOK};
use crate::variables::{Look, Resolved};

/// Longest wait for the tasks.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Shortest time between two looks for them.
const GLANCE_MIN: Duration = Duration::from_millis(1);
/// Limit of the changes that wait; a further one is answered at once.
const CONFIRMING_MAX: usize = 64;

/// A group of changes that was applied, and the client that waits for its fate.
pub(in crate::keeper) struct Confirming {
    caller: Caller,
    applied: Applied,
    resolved: Vec<Resolved>,
    before: Look,
    generation: u32,
    began: Instant,
}

impl Confirming {
    pub(super) fn new(
        caller: Caller,
        applied: Applied,
        resolved: Vec<Resolved>,
        before: Look,
        generation: u32,
        began: Instant,
    ) -> Self {
        Self { caller, applied, resolved, before, generation, began }
    }

    /// Answers; looks at the variables once more first, if the wait `is_over` and the same build
    /// still runs.
    fn end(mut self, life: &Incarnation<'_>, is_over: bool) {
        if is_over {
            let now = Look::at(life.region.view(), &self.resolved, self.generation);
            self.before.add_undone(&self.resolved, &mut self.applied.effects, &now);
        }
        self.caller.answer(Ok(self.applied));
    }
}

impl Kept {
    /// Makes a change wait until its variables are looked at once more.
    pub(super) fn confirm(&self, life: &mut Incarnation<'_>, confirming: Confirming) {
        if life.confirming.len() < CONFIRMING_MAX && !life.region.is_paused() {
            life.confirming.push(confirming);
        } else {
            confirming.end(life, false);
        }
    }

    /// Returns the time until the next look at the partition; it is shorter than usual while
    /// changes wait.
    pub(in crate::keeper) fn next_look(&self, life: &Incarnation<'_>) -> Duration {
        let (slowest, now) = (self.slowest(), self.world.now());
        let left =
            |one: &Confirming| slowest.saturating_sub(now.saturating_duration_since(one.began));
        let next = life.confirming.iter().map(left).min().unwrap_or(LOOK);
        next.clamp(GLANCE_MIN, LOOK)
    }

    /// Returns the period of the slowest task.
    fn slowest(&self) -> Duration {
        let slowest = self.setup.tasks.iter().map(|task| task.period.get()).max();
        Duration::from_nanos(slowest.unwrap_or(0))
    }

    /// Answers the changes that have waited for long enough.
    pub(in crate::keeper) fn look_after_confirming(&self, life: &mut Incarnation<'_>) {
        if life.confirming.is_empty() {
            return;
        }
        let cycle = life.region.task(0).map_or(0, |task| task.scan_cycle());
        // The leading task does not count the cycles of slow tasks, so their periods must pass.
        let slowest = self.slowest();
        for one in std::mem::take(&mut life.confirming) {
            // A cycle that takes the change ends before the next one begins.
            let has_run = cycle > one.applied.cycle.saturating_add(1);
            let waited = self.world.now().saturating_duration_since(one.began);
            let is_over = has_run && waited >= slowest;
            if is_over || waited >= WAIT_MAX {
                one.end(life, is_over);
            } else {
                life.confirming.push(one);
            }
        }
    }

    /// Answers every client that still waits when a process ends.
    pub(in crate::keeper) fn end_confirming(life: &mut Incarnation<'_>) {
        for one in std::mem::take(&mut life.confirming) {
            one.end(life, false);
        }
    }
}
