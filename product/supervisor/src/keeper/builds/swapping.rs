//! A build that was staged takes over, or doesn't, or is taken back.

use std::time::{Duration, Instant};

use quietcore_exchange::Command;
use quietcore_program::CarryPlan;
use quietcore_units::Nanos;
use quietcore_wording::plural;

use super::pending::{Answering, Pending, Swap, SwapTiming};
use super::proving::Proving;
use crate::control::{
    CHANGE_COUNT_MAX, ControlError, DeployPatience, Deployed, ErrorKind, NOT_CARRIED_MAX,
    NotCarried, Probation, Severity,
};
use crate::keeper::Kept;
use crate::keeper::incarnation::{Incarnation, answer};
use crate::keeper::request::{Progress, Reply};

/// The longest time that a remark of a partition takes to get here: a guest's process passes on
/// what its guest says every 20 ms.
const REMARK_MAX: Duration = Duration::from_millis(200);
/// Time between two looks for it.
const REMARK_GLANCE: Duration = Duration::from_millis(5);

impl Kept {
    /// The build is loaded: swap it in.
    pub(in crate::keeper) fn swap_staged(&mut self, life: &mut Incarnation<'_>, generation: u32) {
        let Some(pending) = &mut life.pending else { return };
        if pending.staged.stage.generation != generation {
            return;
        }
        match life.commands.publish(&[Command::Swap { generation }], generation) {
            Ok(ticket) => pending.swap_ticket = Some(ticket),
            Err(error) => {
                if let Some(pending) = life.pending.take() {
                    self.refuse(life, pending, &error.to_string());
                }
            }
        }
    }

    /// The build can't be loaded.
    pub(in crate::keeper) fn stage_refused(&mut self, life: &mut Incarnation<'_>, generation: u32) {
        let is_it = |pending: &mut Pending| is_about(generation, pending.staged.stage.generation);
        let Some(pending) = life.pending.take_if(is_it) else { return };
        let why = reason(generation, REMARK_MAX, || life.process.remarks());
        let why = why.as_deref().unwrap_or("the partition can't load the build");
        self.events.note(&self.setup.partition.name, "stage-refused", Severity::Warning, why);
        self.refuse(life, pending, why);
    }

    /// The build runs.
    pub(in crate::keeper) fn swapped(
        &mut self,
        life: &mut Incarnation<'_>,
        generation: u32,
        swap: Swap,
    ) {
        let is_it = |pending: &mut Pending| pending.staged.stage.generation == generation;
        let Some(pending) = life.pending.take_if(is_it) else { return };
        self.leave_late(life);
        let before = std::mem::replace(&mut self.current, pending.staged.clone());
        let fault_cycle = life.fault_cycle.take();
        self.forces = pending.forces.clone();
        self.saving.note_release(swap.cycle);
        self.tell_not_forced(&pending.not_forced);
        // A program in fault is no state to come back to.
        let on_probation = pending.staged.stage.on_probation && life.faulty.is_none();
        self.probation_end = if on_probation {
            swap.cycle.saturating_add(self.setup.job.probation_cycles)
        } else {
            0
        };
        match pending.reply {
            Answering::Deploy { ref reply, ref progress, patience } => {
                let deployed = deployed(&pending, generation, swap);
                let lost = match swap.timing {
                    Some(timing) => {
                        let lost = timing.gap_cycles;
                        format!(", {lost} cycle{} lost", plural(lost))
                    }
                    None => "; how many cycles were lost is not known".to_owned(),
                };
                let carried = pending.carry.carried;
                let anew = not_carried_count(&pending.carry);
                let text = format!(
                    "build {generation} was deployed: {carried} variables carried over, {anew} \
                     begin anew{lost}"
                );
                self.note_change("deployed", &text, swap.cycle);
                // It may be taken back within its probation.
                self.before = on_probation.then_some(before);
                let left = self.probation_left(life);
                match deployed {
                    Ok(deployed) if patience == DeployPatience::UntilProven => {
                        self.wait_for_probation(deployed, reply.clone(), progress.clone(), left);
                    }
                    Ok(mut deployed) => {
                        let running = |(cycles, left)| Probation::Running { cycles, left };
                        deployed.probation = left.map_or(Probation::Passed, running);
                        answer(reply, Ok(deployed));
                    }
                    Err(error) => answer(reply, Err(error)),
                }
            }
            Answering::Restart(Some(reply)) => {
                self.note_change("restarted", "the program was started anew, as asked", swap.cycle);
                answer(&reply, Ok(()));
            }
            Answering::Restart(None) => {
                let without = fault_cycle.map_or_else(String::new, |fault| {
                    let cycles = swap.cycle.saturating_sub(fault);
                    format!(", {cycles} cycle{} without it", plural(cycles))
                });
                let text = format!("the program was started anew after its fault{without}");
                self.note_change("restarted", &text, swap.cycle);
            }
        }
    }

    fn wait_for_probation(
        &mut self,
        deployed: Deployed,
        reply: Reply<Deployed>,
        progress: Progress,
        left: Option<(u64, Nanos)>,
    ) {
        if let Some((cycles, left)) = left {
            // Whoever asked may have gone, or not listen.
            let s = plural(cycles);
            let _ =
                progress.try_send(format!("it runs, on probation for {cycles} cycle{s} ({left})"));
        }
        self.proving = Some(Proving { reply, progress, deployed });
    }

    fn note_change(&self, kind: &str, text: &str, cycle: u64) {
        let (name, now) = (&self.setup.partition.name, jiff::Timestamp::now());
        self.events.add(name, kind, Severity::Information, text, Some(cycle), now);
    }

    /// The build before runs again, with the forces that it had.
    pub(in crate::keeper) fn reverted(&mut self, life: &mut Incarnation<'_>) {
        let Some(before) = self.before.take() else { return };
        self.current = before;
        life.fault_cycle = None;
        let why = life.why.take().unwrap_or_else(|| "the program failed".to_owned());
        let generation = self.current.stage.generation;
        self.end_proving(Probation::TakenBack { generation, why });
        let (forces, lost) = self.forces.in_build(&self.current.build.symbols);
        self.forces = forces;
        self.tell_not_forced(&lost);
        // What was forced while the other build ran may have had no place to go back to.
        let (commands, paths): (Vec<_>, Vec<_>) =
            self.forces.missing(life.region.forces()).into_iter().unzip();
        for (commands, paths) in
            commands.chunks(CHANGE_COUNT_MAX).zip(paths.chunks(CHANGE_COUNT_MAX))
        {
            let generation = self.current.stage.generation;
            // The next process begins with them where this one has ended, or is about to.
            if let Err(error) = self.write(life, commands.to_vec(), paths.to_vec(), generation)
                && !life.process.is_over()
            {
                let text = format!("forces could not be taken up again: {error}");
                let name = &self.setup.partition.name;
                self.events.note(name, "force-lost", Severity::Warning, &text);
            }
        }
    }
}

/// Returns whether a refusal is about the build on its way; one of an order that could not be read
/// names none, and there is one at a time.
const fn is_about(refused: u32, on_its_way: u32) -> bool {
    refused == 0 || refused == on_its_way
}

/// Why a build was refused, as the partition said beside the event. The two come by different ways,
/// so that what was said is waited for, at most for so long.
fn reason(generation: u32, longest: Duration, remarks: impl Fn() -> String) -> Option<String> {
    let start = format!("build {generation} is refused: ");
    let end = Instant::now() + longest;
    let mut before = None;
    loop {
        let remarks = remarks();
        let found = remarks.lines().rev().find_map(|line| line.strip_prefix(&start));
        let found = found.map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned);
        // A line may come in parts: it is whole where it does not grow any more.
        if (found.is_some() && found == before) || Instant::now() >= end {
            return found;
        }
        before = found;
        std::thread::sleep(REMARK_GLANCE);
    }
}

fn not_carried_count(carry: &CarryPlan) -> u64 {
    carry.not_carried.len() as u64 + carry.not_carried_beyond
}

fn deployed(pending: &Pending, generation: u32, swap: Swap) -> Result<Deployed, ControlError> {
    let carry = &pending.carry;
    let Some(SwapTiming { gap_cycles, release }) = swap.timing else {
        let what = format!(
            "build {generation} runs, but what its swap cost is not known: the event was \
             overwritten before it was read"
        );
        return Err(ControlError::new(ErrorKind::Failed, "", what, "look with `quietcore ps`"));
    };
    let listed = carry.not_carried.iter().take(NOT_CARRIED_MAX);
    Ok(Deployed {
        generation,
        cycle: swap.cycle,
        gap_cycles,
        release,
        carried: carry.carried,
        tuned: carry.tuned.iter().take(NOT_CARRIED_MAX).cloned().collect(),
        not_carried_count: not_carried_count(carry),
        not_carried: listed
            .map(|left| NotCarried { variable: left.path.clone(), why: left.why.clone() })
            .collect(),
        not_forced: pending.not_forced.clone(),
        probation: Probation::default(),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_reason_of_a_refusal_is_waited_for_until_it_is_whole() {
        let looks = Cell::new(0);
        let remarks = || {
            looks.set(looks.get() + 1);
            let said = match looks.get() {
                1 => "build 7 is refused: old",
                2 | 3 => "build 8 is refused: ",
                4 => "build 8 is refused: it is",
                _ => "build 8 is refused: it is meant for slot 1\nsomething else",
            };
            said.to_owned()
        };
        let why = reason(8, Duration::from_secs(60), remarks);
        assert_eq!(why.as_deref(), Some("it is meant for slot 1"));
    }

    #[test]
    fn an_order_that_was_not_read_refuses_the_build_on_its_way() {
        assert!(is_about(8, 8) && is_about(0, 8));
        assert!(!is_about(7, 8), "one that was given up before");
    }

    #[test]
    fn a_reason_that_nobody_says_is_not_waited_for_for_ever() {
        assert_eq!(reason(8, Duration::ZERO, String::new), None);
        // What is there counts, whole or not.
        let why = reason(8, Duration::ZERO, || "build 8 is refused: it is".to_owned());
        assert_eq!(why.as_deref(), Some("it is"));
    }
}
