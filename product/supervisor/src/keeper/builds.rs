//! Replaces the build that runs: by a changed one, or by the same one anew.
//!
//! ```text
//! deploy   build ─ stage ─► process loads it ─ event staged ─► command swap ─► event swapped
//! restart  the same, of the build that runs, without carrying state over
//! ```

pub(super) mod pending;
pub(super) mod proving;
mod swapping;

use quietcore_assembly::{Staged, stage};
use quietcore_exchange::{Assignment, Held};
use quietcore_program::carry::OldData;
use quietcore_program::{CarryPlan, carry_over};
use quietcore_scan::process::job::Order;
use quietcore_scan::stage::Carried;
use quietcore_units::Causes;

use super::conduct::Replacement;
use super::forces::{Forces, held_in};
use super::incarnation::Incarnation;
use super::request::Caller;
use pending::{Answering, Pending};

use super::{Kept, Prepared};
use crate::control::{ControlError, Done, NotForced, Refusal, Restart, Severity};

/// A build that shall follow the one that runs.
struct Next {
    staged: Staged,
    carry: CarryPlan,
    /// Forces that hold in it.
    forces: Forces,
    /// Forces that it can't have, with reasons.
    not_forced: Vec<NotForced>,
}

impl Kept {
    /// Stages a changed program beside the one that runs.
    pub(super) fn deploy(
        &mut self,
        life: &mut Incarnation<'_>,
        prepared: Prepared,
        answering: Answering,
    ) {
        match (self.prepare_deploy(life, prepared), answering) {
            (Ok(next), answering) => self.order(life, next, answering),
            (Err(error), Answering::Deploy { caller, .. }) => caller.refuse(error),
            (Err(_), Answering::Restart { .. }) => {}
        }
    }

    fn prepare_deploy(
        &self,
        life: &Incarnation<'_>,
        prepared: Prepared,
    ) -> Result<Next, ControlError> {
        let place = &self.setup.partition.name;
        if life.pending.is_some() {
            return Err(Refusal::BuildOnItsWay.at(place));
        }
        self.refuse_paused(life)?;
        let setup = &self.setup;
        let slot = 1 - self.current.stage.slot;
        let generation = self.generations + 1;
        // Errors name the folder that was given, not the one in the site file.
        let mut partition = setup.partition.clone();
        partition.program.model = Some(prepared.folder);
        let staged = stage(&setup.site, &partition, &setup.bus, prepared.build, generation, slot);
        let mut staged = match staged {
            Ok(staged) => staged,
            Err(error) => {
                return Err(Refusal::NotBuilt { why: Causes(&error).to_string() }.at(place));
            }
        };
        let (bytes, room) = (staged.build.data.bytes, setup.shape.data_bytes);
        if bytes > u64::from(room) {
            return Err(Refusal::DataTooLarge { bytes, room }.at(place));
        }
        let (steps, tasks) = (staged.build.interface.rates.len(), setup.job.tasks.len());
        if steps < tasks {
            return Err(Refusal::FewerSteps { steps, tasks }.at(place));
        }
        let kernel = staged.build.interface.kernel.as_ref();
        let own: &[String] = kernel.map_or(&[], |kernel| &kernel.tasks);
        if !own.iter().eq(setup.job.kernel_tasks.iter().map(|task| &task.name)) {
            return Err(Refusal::OtherTasks.at(place));
        }
        // What is wrong with the build itself is reported first.
        self.refuse_on_probation(life)?;
        let carry = self.carry(life, &staged)?;
        for remark in &staged.remarks {
            self.events.note(place, "site", Severity::Warning, &remark.to_string());
        }
        staged.stage.on_probation = true;
        staged.stage.carried = carried(&carry);
        let (forces, moved, not_forced) = self.forces.in_next_build(&staged.build.symbols);
        staged.stage.forces = moved;
        staged.stage.held.clear();
        Ok(Next { staged, carry, forces, not_forced })
    }

    fn carry(&self, life: &Incarnation<'_>, staged: &Staged) -> Result<CarryPlan, ControlError> {
        let place = &self.setup.partition.name;
        let failed = |what: String| Refusal::Failed { what }.at(place);
        let initial = self.current.build.initial_data();
        let initial = initial.map_err(|error| failed(Causes(&error).to_string()))?;
        let mut current = vec![0; initial.len()];
        let slot = life.region.active().slot;
        let read = life.region.data(slot).map(|data| data.read(0, &mut current));
        if !matches!(read, Some(Ok(()))) {
            return Err(failed("the data of the running program can't be read".to_owned()));
        }
        let forced = held_in(life.region.forces()).unwrap_or_default();
        without_forces(&forced, &mut current);
        let data = OldData { initial: &initial, current: &current };
        Ok(carry_over(&self.current.build.symbols, &staged.build.symbols, data, None))
    }

    /// Starts the program anew at a client's request: beside the one that runs, or in another
    /// process where the program was cut off inside of a library of this process.
    pub(super) fn restart(&mut self, life: &mut Incarnation<'_>, how: Restart, caller: Caller) {
        match self.refuse_restart(life) {
            Err(refusal) => caller.refuse(refusal),
            Ok(()) if life.region.library_troubles() > 0 => {
                life.cut_off.replacement = Some(Replacement::Asked(how));
                caller.answer(Ok(Done {}));
            }
            Ok(()) => self.restart_program(life, how, Some(caller)),
        }
    }

    /// Starts the program anew once the planned wait is over.
    pub(super) fn restart_as_planned(&mut self, life: &mut Incarnation<'_>) {
        if life.region.library_troubles() > 0 {
            life.cut_off.replacement = Some(Replacement::Planned);
        } else {
            self.restart_program(life, Restart::Warm, None);
        }
    }

    /// Refuses a restart while another build is on its way or on probation, or while the partition
    /// is held.
    fn refuse_restart(&self, life: &Incarnation<'_>) -> Result<(), ControlError> {
        if life.pending.is_some() {
            return Err(Refusal::BuildOnItsWay.at(""));
        }
        self.refuse_paused(life)?;
        self.refuse_on_probation(life)
    }

    /// Starts the program anew in the free slot of the same process.
    pub(super) fn restart_program(
        &mut self,
        life: &mut Incarnation<'_>,
        how: Restart,
        caller: Option<Caller>,
    ) {
        self.save(life, true);
        let mut staged = self.current.clone();
        staged.stage.generation = self.generations + 1;
        staged.stage.slot = 1 - staged.stage.slot;
        staged.stage.on_probation = false;
        staged.stage.carried.clear();
        staged.stage.held.clear();
        let (forces, moved) = match how {
            Restart::Origin => (Forces::default(), Vec::new()),
            Restart::Warm | Restart::Cold => {
                let (forces, moved, _) = self.forces.in_next_build(&staged.build.symbols);
                (forces, moved)
            }
        };
        staged.stage.forces = moved;
        let carry = CarryPlan::default();
        let next = Next { staged, carry, forces, not_forced: Vec::new() };
        self.order(life, next, Answering::Restart { how, caller });
    }

    /// Orders the process to load a build.
    fn order(&mut self, life: &mut Incarnation<'_>, next: Next, reply: Answering) {
        let Next { staged, carry, forces, not_forced } = next;
        // A deploy carries its state over from the running program, and a warm restart takes the
        // retained values. Others forget these only once their build runs: until then the program
        // before may have to go on with them.
        let values = match reply {
            Answering::Restart { how: Restart::Warm, .. } => self.retained(&staged),
            Answering::Deploy { .. } | Answering::Restart { .. } => Vec::new(),
        };
        // A number is never given twice: a build that was given up may still come.
        self.generations = staged.stage.generation;
        let order = Order::Stage(staged.to_job(values));
        let began = self.world.now();
        let pending = Pending {
            staged,
            carry,
            forces,
            not_forced,
            reply,
            began,
            swap_ticket: None,
            waits_for: None,
        };
        match life.process.order(&order) {
            Ok(()) => life.pending = Some(pending),
            Err(error) => self.refuse(life, pending, &Causes(&error).to_string()),
        }
    }
}

fn carried(plan: &CarryPlan) -> Vec<Carried> {
    let of = |copy: &quietcore_program::Copy| Carried {
        from: copy.from,
        to: copy.to,
        bytes: copy.bytes,
    };
    plan.copies.iter().map(of).collect()
}

/// Replaces the values of forced variables in a copy of the data by those from before the force.
fn without_forces(forced: &[Held], data: &mut [u8]) {
    for Held { force: Assignment { target, .. }, before } in forced {
        let own = target.offset as usize..target.offset as usize + usize::from(target.bytes.min(8));
        let Some(bytes) = data.get_mut(own) else { continue };
        let masks = target.mask.to_le_bytes().into_iter().zip(before.to_le_bytes());
        for (byte, (mask, before)) in bytes.iter_mut().zip(masks) {
            *byte = (*byte & !mask) | (before & mask);
        }
    }
}
