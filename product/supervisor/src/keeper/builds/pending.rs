//! A build on its way into the partition: the client that waits for it, and its fate.
//!
//! ```text
//! ordered ── loaded in time? ──► swap asked for ── answered ──► event swapped
//!               └ no: given up        └ refused: given up          └ not heard: see below
//! ```
//!
//! Once a swap was asked for, it is not given up from here: the leading task always answers it,
//! though perhaps late. The exchange tells which build runs; that counts where the event of the
//! swap was overwritten before it was read.

use std::time::{Duration, Instant};

use quietcore_assembly::Staged;
use quietcore_exchange::{Outcome, WhyRejected};
use quietcore_program::CarryPlan;
use quietcore_units::Nanos;

use crate::control::{DeployPatience, NotForced, Probation, Refusal, Restart, Severity};
use crate::keeper::Kept;
use crate::keeper::forces::Forces;
use crate::keeper::incarnation::Incarnation;
use crate::keeper::request::Caller;
use crate::keeper::verbs::ANSWER_MAX;

/// Longest time that a build may take to be loaded.
const LOAD_MAX: Duration = Duration::from_secs(20);

/// A build on its way into the partition.
pub(in crate::keeper) struct Pending {
    pub(in crate::keeper) staged: Staged,
    pub(in crate::keeper) carry: CarryPlan,
    /// Forces that hold in it once it runs.
    pub(in crate::keeper) forces: Forces,
    /// Forces that it can't have, with reasons.
    pub(in crate::keeper) not_forced: Vec<NotForced>,
    pub(in crate::keeper) reply: Answering,
    pub(in crate::keeper) began: Instant,
    pub(in crate::keeper) swap_ticket: Option<u32>,
    /// Name of the task whose job must end before the swap, as the partition said last.
    pub(in crate::keeper) waits_for: Option<String>,
}

/// The request that is answered when the build runs or is given up.
pub(in crate::keeper) enum Answering {
    Deploy {
        caller: Caller,
        patience: DeployPatience,
    },
    /// The program that runs is started anew: for a client, or after its fault.
    Restart {
        how: Restart,
        caller: Option<Caller>,
    },
}

/// A swap that has happened.
#[derive(Clone, Copy, Debug)]
pub(in crate::keeper) struct Swap {
    /// First cycle of the new build.
    pub(in crate::keeper) cycle: u64,
    /// Figures of its event; `None` where that was overwritten before it was read.
    pub(in crate::keeper) timing: Option<SwapTiming>,
}

/// The time that a swap has cost.
#[derive(Clone, Copy, Debug)]
pub(in crate::keeper) struct SwapTiming {
    /// Number of cycles that were lost.
    pub(in crate::keeper) gap_cycles: u64,
    /// Release latency of the new build's first cycle.
    pub(in crate::keeper) release: Nanos,
}

/// A change of builds whose event did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unheard {
    /// The build on its way runs.
    Swapped,
    /// The build on its way ran, and the one before it runs again.
    TakenBack,
    /// The build before the last deploy runs again.
    Reverted,
}

/// Concludes from the generation that `runs` which event was not heard. The known ones are the
/// current generation, the one on its way if its swap was `answered` with success, and the one
/// before.
fn unheard(runs: u32, current: u32, answered: Option<u32>, before: Option<u32>) -> Option<Unheard> {
    match answered {
        Some(generation) if generation == runs => Some(Unheard::Swapped),
        Some(_) if current == runs => Some(Unheard::TakenBack),
        _ if current != runs && before == Some(runs) => Some(Unheard::Reverted),
        _ => None,
    }
}

/// Returns why a build on its way is given up, if it is. `age` is the time since its order, `swap`
/// the outcome of its swap if one was asked for, and `task` the one whose job the swap waited for
/// last.
fn given_up(age: Duration, swap: Option<Option<Outcome>>, task: Option<&str>) -> Option<String> {
    match swap {
        None => (age > LOAD_MAX).then(|| "it took too long to load".to_owned()),
        Some(Some(Outcome { result: Err((_, WhyRejected::JobUnderWay)), .. })) => {
            let whose = task.map_or("the program".to_owned(), |task| format!("task `{task}`"));
            Some(format!("a job of {whose} was under way at the end of each cycle"))
        }
        Some(Some(Outcome { result: Err((_, why)), .. })) => Some(why.to_string()),
        Some(_) => None,
    }
}

impl Pending {
    /// Answers the client that the build was given up.
    pub(in crate::keeper) fn refuse(self, why: &str) {
        let waited_for_job = self.waits_for.is_some();
        let refusal = Refusal::BuildGivenUp { why: why.to_owned(), waited_for_job }.at("");
        match self.reply {
            Answering::Deploy { caller, .. } | Answering::Restart { caller: Some(caller), .. } => {
                caller.refuse(refusal);
            }
            Answering::Restart { caller: None, .. } => {}
        }
    }

    /// Returns the outcome of its swap, which is `Some(None)` while there is none yet; `None` as
    /// long as no swap was asked for.
    fn outcome(&self, life: &Incarnation<'_>) -> Option<Option<Outcome>> {
        let ticket = self.swap_ticket?;
        Some(life.region.outcomes().and_then(|outcomes| outcomes.outcome(ticket)))
    }
}

impl Incarnation<'_> {
    /// Takes note that a build on its way waits for the end of a task's job.
    pub(in crate::keeper) fn swap_waits(&mut self, generation: u32, task: &str) {
        let Some(pending) = &mut self.pending else { return };
        if pending.staged.stage.generation != generation {
            return;
        }
        if let (Answering::Deploy { caller, .. }, None) = (&pending.reply, &pending.waits_for) {
            caller.progress(format!("waiting for a job of task `{task}` to end"));
        }
        pending.waits_for = Some(task.to_owned());
    }
}

impl Kept {
    /// Gives up a build that does not come.
    pub(in crate::keeper) fn look_after_pending(&mut self, life: &mut Incarnation<'_>) {
        let Some(pending) = &life.pending else { return };
        let (age, outcome) =
            (self.world.now().saturating_duration_since(pending.began), pending.outcome(life));
        if given_up(age, outcome, None).is_none() {
            return;
        }
        // The event that names the task was written before the outcome, so it can be read now.
        self.hear(life);
        if let Some(pending) = life.pending.take()
            && let Some(why) = given_up(age, outcome, pending.waits_for.as_deref())
        {
            self.refuse(life, pending, &why);
        }
    }

    /// Answers that a build was given up. If it was to end a fault, that is tried again later.
    pub(in crate::keeper) fn refuse(
        &mut self,
        life: &mut Incarnation<'_>,
        pending: Pending,
        why: &str,
    ) {
        if matches!(pending.reply, Answering::Restart { caller: None, .. }) {
            let text = format!("the program could not be started anew after its fault: {why}");
            let partition = &self.setup.partition.name;
            self.events.note(partition, "restart-refused", Severity::Warning, &text);
            if let Some((_, at @ None)) = &mut life.fault {
                *at = self.next_restart().map(|wait| self.world.now() + wait);
            }
        }
        pending.refuse(why);
    }

    /// Follows the partition to the build that runs, where the event of that change does not come.
    pub(in crate::keeper) fn follow_active(&mut self, life: &mut Incarnation<'_>) {
        let runs = life.region.active().generation;
        let answered = life.pending.as_ref().and_then(|pending| {
            let outcome = pending.outcome(life)??;
            outcome.result.is_ok().then_some((pending.staged.stage.generation, outcome.cycle))
        });
        let before = self.before.as_ref().map(|before| before.stage.generation);
        let generation = answered.map(|(generation, _)| generation);
        let found = unheard(runs, self.current.stage.generation, generation, before);
        let (Some(found), false) = (found, runs == 0) else {
            life.astray = None;
            return;
        };
        // The event comes at the end of the cycle; until then nothing is wrong.
        let since = *life.astray.get_or_insert_with(|| self.world.now());
        if self.world.now().saturating_duration_since(since) < ANSWER_MAX + self.period() {
            return;
        }
        life.astray = None;
        match found {
            Unheard::Swapped => {
                let cycle = answered.map_or(0, |(_, cycle)| cycle);
                self.swapped(life, runs, Swap { cycle, timing: None });
            }
            Unheard::TakenBack => {
                if let Some(pending) = life.pending.take() {
                    self.refuse(life, pending, "it failed and was taken back");
                }
            }
            Unheard::Reverted => self.reverted(life),
        }
    }

    /// After a process was lost while its build was on probation, makes the build before it the one
    /// to start with, and tells the client that waits for the end of the probation. `why` says how
    /// the process ended.
    pub(in crate::keeper) fn take_back_lost(&mut self, life: &Incarnation<'_>, why: &str) {
        let fate = match self.back_to_before(life) {
            Some(generation) => Probation::TakenBack { generation, why: why.to_owned() },
            None => Probation::Failed { why: why.to_owned() },
        };
        self.end_proving(fate);
    }

    /// Makes the build before the one to start with, if the one that ran was on probation. Returns
    /// its number.
    fn back_to_before(&mut self, life: &Incarnation<'_>) -> Option<u32> {
        let cycle = life.region.task(0).map_or(0, |task| task.scan_cycle());
        let runs = life.region.active().generation;
        let on_its_way = |pending: &Pending| pending.staged.stage.generation == runs;
        let lost = self.current.stage.generation;
        // A new process has no build but the one that it begins with.
        let before = self.before.take();
        let (lost, back) = match (&life.pending, before) {
            (Some(pending), _) if on_its_way(pending) && pending.staged.stage.on_probation => {
                (runs, lost)
            }
            (_, Some(before)) if runs == lost && cycle < self.probation_end => {
                self.current = before;
                (lost, self.current.stage.generation)
            }
            _ => return None,
        };
        let text = format!(
            "the process was lost while build {lost} was on probation: build {back} comes back"
        );
        let (name, now) = (&self.setup.partition.name, self.world.time_of_day());
        self.events.add(name, "reverted", Severity::Fault, &text, Some(cycle), now);
        Some(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_that_was_asked_for_is_given_up_only_when_it_is_refused() {
        let long = LOAD_MAX + Duration::from_secs(1);
        let outcome = |result| Some(Some(Outcome { cycle: 7, result }));
        assert_eq!(given_up(Duration::ZERO, None, None), None);
        assert!(given_up(long, None, None).unwrap().contains("too long"));
        assert_eq!(given_up(10 * long, Some(None), None), None, "the task may still do it");
        assert_eq!(given_up(10 * long, outcome(Ok(())), None), None);
        assert!(given_up(Duration::ZERO, outcome(Err((0, WhyRejected::NotNow))), None).is_some());
    }

    #[test]
    fn the_build_that_runs_is_known_without_its_event() {
        assert_eq!(unheard(3, 3, None, Some(2)), None);
        assert_eq!(unheard(3, 3, None, None), None);
        assert_eq!(unheard(4, 3, Some(4), Some(2)), Some(Unheard::Swapped));
        assert_eq!(unheard(3, 3, Some(4), Some(2)), Some(Unheard::TakenBack));
        assert_eq!(unheard(2, 3, None, Some(2)), Some(Unheard::Reverted));
        assert_eq!(unheard(2, 3, None, None), None, "nothing is known of it");
    }
}
