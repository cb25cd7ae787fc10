//! The swap of a staged build: it takes over, or doesn't, or is taken back.

use std::time::Duration;

use quietcore_assembly::Staged;
use quietcore_exchange::{Command, Happening};
use quietcore_program::CarryPlan;
use quietcore_units::Nanos;
use quietcore_wording::plural;

use super::pending::{Answering, Pending, Swap, SwapTiming};
use super::proving::Proving;
use crate::control::{
    Asker, CHANGE_COUNT_MAX, ControlError, DeployPatience, Deployed, Done, NOT_CARRIED_MAX,
    NotCarried, Probation, Refusal, Severity,
};
use crate::keeper::Kept;
use crate::keeper::incarnation::Incarnation;
use crate::keeper::request::Caller;
use crate::world::World;

/// Longest time that a remark of a partition takes to get here: a guest's process passes on what
/// its guest says every 20 ms.
const REMARK_MAX: Duration = Duration::from_millis(200);
/// Pause between two looks for a remark.
const REMARK_GLANCE: Duration = Duration::from_millis(5);

impl Kept {
    /// Asks for the swap of a build that the partition has loaded.
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

    /// Gives up a build that the partition can't load, with the reason that it says.
    pub(in crate::keeper) fn stage_refused(&mut self, life: &mut Incarnation<'_>, generation: u32) {
        let is_it = |pending: &mut Pending| is_about(generation, pending.staged.stage.generation);
        let Some(pending) = life.pending.take_if(is_it) else { return };
        let told = life.how_initialize_failed(pending.staged.stage.generation);
        let why = told
            .or_else(|| reason(&*self.world, generation, REMARK_MAX, || life.process.remarks()));
        let why = why.as_deref().unwrap_or("the partition can't load the build");
        self.events.note(&self.setup.partition.name, "stage-refused", Severity::Warning, why);
        self.refuse(life, pending, why);
    }

    /// Returns the build that an event is about, as far as it is known: the one on its way, or the
    /// one that runs.
    pub(in crate::keeper) fn build_of<'a>(
        &'a self,
        life: &'a Incarnation<'_>,
        what: &Happening,
    ) -> &'a Staged {
        let (Happening::InitializeCrashed { generation, .. }
        | Happening::InitializeLooped { generation, .. }) = what
        else {
            return &self.current;
        };
        let pending = life.pending.as_ref().map(|pending| &pending.staged);
        pending.filter(|staged| staged.stage.generation == *generation).unwrap_or(&self.current)
    }

    /// Returns why the program of a process that has ended did not start, if its
    /// `initialize` failed.
    pub(in crate::keeper) fn why_not_started(&self, life: &mut Incarnation<'_>) -> Option<String> {
        let how = life.how_initialize_failed(self.current.stage.generation)?;
        Some(format!("the program did not start: {how}"))
    }

    /// Takes note that the build on its way runs, and answers the client.
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
        self.saving.note_release(swap.cycle, None);
        self.tell_not_forced(&pending.not_forced);
        // A program in fault is no state to come back to.
        let on_probation = pending.staged.stage.on_probation && life.faulty.is_none();
        self.probation_end = if on_probation {
            swap.cycle.saturating_add(self.setup.job.probation_cycles)
        } else {
            0
        };
        let deployed = deployed(&pending, generation, swap);
        match pending.reply {
            Answering::Deploy { caller, patience } => {
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
                self.note_change("deployed", &text, swap.cycle, Some(&caller.by));
                // The new build may be taken back within its probation.
                self.before = on_probation.then_some(before);
                let left = self.probation_left(life);
                match deployed {
                    Ok(deployed) if patience == DeployPatience::UntilProven => {
                        self.wait_for_probation(deployed, caller, left);
                    }
                    Ok(mut deployed) => {
                        let running = |(cycles, left)| Probation::Running { cycles, left };
                        deployed.probation = left.map_or(Probation::Passed, running);
                        caller.answer(Ok(deployed));
                    }
                    Err(error) => caller.refuse(error),
                }
            }
            Answering::Restart { how, caller: Some(caller) } => {
                self.saving.begin(how);
                let text = "the program was started anew, as asked";
                self.note_change("restarted", text, swap.cycle, Some(&caller.by));
                caller.answer(Ok(Done {}));
            }
            Answering::Restart { caller: None, .. } => {
                let without = fault_cycle.map_or_else(String::new, |fault| {
                    let cycles = swap.cycle.saturating_sub(fault);
                    format!(", {cycles} cycle{} without it", plural(cycles))
                });
                let text = format!("the program was started anew after its fault{without}");
                self.note_change("restarted", &text, swap.cycle, None);
            }
        }
    }

    fn wait_for_probation(
        &mut self,
        deployed: Deployed,
        caller: Caller,
        left: Option<(u64, Nanos)>,
    ) {
        if let Some((cycles, left)) = left {
            let s = plural(cycles);
            caller.progress(format!("it runs, on probation for {cycles} cycle{s} ({left})"));
        }
        self.proving = Some(Proving { caller, deployed });
    }

    fn note_change(&self, kind: &str, text: &str, cycle: u64, by: Option<&Asker>) {
        self.events.add_asked(&self.setup.partition.name, kind, text, Some(cycle), by);
    }

    /// Takes note that the build before runs again, with the forces that it had.
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
        // A force from the time of the other build may have had no place to go back to.
        let (commands, paths): (Vec<_>, Vec<_>) =
            self.forces.missing(life.region.forces()).into_iter().unzip();
        for (commands, paths) in
            commands.chunks(CHANGE_COUNT_MAX).zip(paths.chunks(CHANGE_COUNT_MAX))
        {
            let generation = self.current.stage.generation;
            // Where this process has ended, or is about to, the next one begins with these forces.
            if let Err(error) =
                self.publish_group(life, commands.to_vec(), paths.to_vec(), generation, None)
                && !life.process.is_over()
            {
                let text = format!("forces could not be taken up again: {error}");
                let name = &self.setup.partition.name;
                self.events.note(name, "force-lost", Severity::Warning, &text);
            }
        }
    }
}

impl Incarnation<'_> {
    /// Takes how the `initialize` of a build failed, if that was told.
    fn how_initialize_failed(&mut self, generation: u32) -> Option<String> {
        let (_, mut how) = self.not_initialized.take_if(|(failed, _)| *failed == generation)?;
        if self.region.is_library_held() {
            how.push_str("; a library is left locked, and the process has to be replaced");
        }
        Some(how)
    }
}

/// Returns `true` if a refusal is about the build on its way. A refusal of an order that could not
/// be read names no build, and only one is on its way at a time.
const fn is_about(refused: u32, on_its_way: u32) -> bool {
    refused == 0 || refused == on_its_way
}

/// Returns why a build was refused, from the partition's remarks. They come by another way than the
/// event, so they are waited for, at most for `longest`.
fn reason(
    world: &dyn World,
    generation: u32,
    longest: Duration,
    remarks: impl Fn() -> String,
) -> Option<String> {
    let start = format!("build {generation} is refused: ");
    let end = world.now() + longest;
    let mut before = None;
    loop {
        let remarks = remarks();
        let found = remarks.lines().rev().find_map(|line| line.strip_prefix(&start));
        let found = found.map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned);
        // A line may come in parts: it is whole when it does not grow any more.
        if (found.is_some() && found == before) || world.now() >= end {
            return found;
        }
        before = found;
        world.sleep(REMARK_GLANCE);
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
        let remedy = "look with `quietcore ps`";
        return Err(ControlError { remedy: remedy.to_owned(), ..Refusal::Failed { what }.at("") });
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
    use crate::world::live::Live;

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
        let why = reason(&Live, 8, Duration::from_secs(60), remarks);
        assert_eq!(why.as_deref(), Some("it is meant for slot 1"));
    }

    #[test]
    fn an_order_that_was_not_read_refuses_the_build_on_its_way() {
        assert!(is_about(8, 8) && is_about(0, 8));
        assert!(!is_about(7, 8), "one that was given up before");
    }

    #[test]
    fn a_reason_that_nobody_says_is_not_waited_for_for_ever() {
        assert_eq!(reason(&Live, 8, Duration::ZERO, String::new), None);
        // At the end what is there counts, whole or not.
        let why = reason(&Live, 8, Duration::ZERO, || "build 8 is refused: it is".to_owned());
        assert_eq!(why.as_deref(), Some("it is"));
    }
}
