//! A change whose answer waits a little longer: only the program's own code knows which variables
//! it writes, so the changed ones are looked at once more when each task has run.
//!
//! A variable that has its old value again then was written by the program, be it by itself or from
//! a channel. One that has gone on from the value that was set, such as a counter, has changed as
//! it should; it may have come to its old value just then, so that a variable with its old value is
//! looked at again when each task has run once more. The keeper does not stand still meanwhile.

use std::time::{Duration, Instant};

use crate::control::Applied;
use crate::keeper::incarnation::Incarnation;
use crate::keeper::request::Caller;
use crate::keeper::{Kept, LOOK};
use crate::variables::{Look, Resolved, add_undone};

/// Longest wait for the tasks before a look.
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
    /// Cycle of the leading task after which each task has to run.
    cycle: u64,
    /// The variables that had their old value again at the first look.
    undone: Option<Vec<bool>>,
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
        let cycle = applied.cycle;
        Self { caller, applied, resolved, before, generation, began, cycle, undone: None }
    }

    /// Looks at the variables once more, in this cycle. Answers, or returns what has to wait for
    /// its second look.
    fn look(mut self, life: &Incarnation<'_>, cycle: u64, now: Instant) -> Option<Self> {
        let look = Look::at(life.region.view(), &self.resolved, self.generation);
        let undone = self.before.undone(&self.resolved, &self.applied.effects, &look);
        match judge(self.undone.take(), undone) {
            Judgement::LookAgain(undone) => {
                Some(Self { began: now, cycle, undone: Some(undone), ..self })
            }
            Judgement::Undone(undone) => {
                add_undone(&mut self.applied.effects, &undone);
                self.end();
                None
            }
        }
    }

    /// Answers with what is known.
    fn end(self) {
        self.caller.answer(Ok(self.applied));
    }
}

/// The consequence of a look at the variables of a group.
#[derive(Debug, PartialEq, Eq)]
enum Judgement {
    /// Some have their old value, maybe by chance: these.
    LookAgain(Vec<bool>),
    /// The program writes these, or none, by itself.
    Undone(Vec<bool>),
}

/// Judges a look, by the variables that have their old value and those that had it at the `first`
/// look, if this is the second one.
fn judge(first: Option<Vec<bool>>, undone: Vec<bool>) -> Judgement {
    match first {
        None if undone.contains(&true) => Judgement::LookAgain(undone),
        None => Judgement::Undone(undone),
        Some(first) => {
            let both = first.iter().zip(undone).map(|(first, second)| *first && second);
            Judgement::Undone(both.collect())
        }
    }
}

impl Kept {
    /// Makes a change wait until its variables are looked at once more.
    pub(super) fn confirm(&self, life: &mut Incarnation<'_>, confirming: Confirming) {
        if life.confirming.len() < CONFIRMING_MAX && !life.region.is_paused() {
            life.confirming.push(confirming);
        } else {
            confirming.end();
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
        let now = self.world.now();
        for one in std::mem::take(&mut life.confirming) {
            // A cycle that takes the change ends before the next one begins.
            let has_run = cycle > one.cycle.saturating_add(1);
            let waited = now.saturating_duration_since(one.began);
            if has_run && waited >= slowest {
                life.confirming.extend(one.look(life, cycle, now));
            } else if waited >= WAIT_MAX {
                one.end();
            } else {
                life.confirming.push(one);
            }
        }
    }

    /// Answers every client that still waits when a process ends.
    pub(in crate::keeper) fn end_confirming(life: &mut Incarnation<'_>) {
        for one in std::mem::take(&mut life.confirming) {
            one.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_comes_by_its_old_value_is_not_taken_for_one_that_is_written() {
        let none = judge(None, vec![false, false]);
        assert_eq!(none, Judgement::Undone(vec![false, false]), "one look is enough");
        // The second one goes on by itself; the third comes by its old value later.
        let first = vec![true, true, false];
        let Judgement::LookAgain(first) = judge(None, first) else { panic!("it may be chance") };
        let second = judge(Some(first), vec![true, false, true]);
        assert_eq!(second, Judgement::Undone(vec![true, false, false]));
    }
}
