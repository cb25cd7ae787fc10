//! Changes of a partition from outside, between two cycles: commands, and the swap of builds.
//!
//! ```text
//! staged ──Swap──► running, on probation ──► running
//!                         │ fault
//!                         └──────────────► the build before runs again
//! ```
//!
//! A swap gives forced variables of the old data the values that they had before, copies the state
//! that the host chose from the old data to the new, forces there what was forced, and makes the
//! new slot the active one. Forces on variables that the new build does not have come back with
//! the old one, should that run again. A swap happens between two steps of the leading task, at an
//! instant at which no other task is inside a step; where there is none in `SWAP_PATIENCE`, and
//! `SWAP_TRIES` cycles at least, the command is refused.
//!
//! A program that is a kernel may leave a step in the middle of a job, with data that are half
//! written. Its swap comes in a cycle after one which left none; where there is none in
//! `JOB_PATIENCE`, and `JOB_TRIES` cycles at least, the command is refused. Other commands don't
//! wait for that. A program in fault goes on with no job, and a restart carries nothing over.

use alloc::vec::Vec;

use quietcore_exchange::{
    Active, Assignment, COMMANDS_PER_CYCLE, Command, CommandConsumer, FORCE_LIMIT, ForceTable,
    Happening, Limits, Region, Slot, Target, WhyRejected,
};
use quietcore_units::Nanos;

use crate::program::{Build, Program};
use crate::shared::Shared;
use crate::stage::Stage;
use crate::task::Task;

/// The longest search for an instant for a swap; other commands wait meanwhile.
const SWAP_PATIENCE: Nanos = Nanos::from_secs(10);
/// The fewest cycles of that search, however long they are.
const SWAP_TRIES: u32 = 10;

/// The longest wait for the end of jobs.
const JOB_PATIENCE: Nanos = Nanos::from_secs(1);
/// The fewest cycles of that wait, however long they are.
const JOB_TRIES: u32 = 100;

/// A swap that was asked for.
#[derive(Clone, Copy, Debug)]
struct SwapRequest {
    ticket: u32,
    generation: u32,
    since: Nanos,
    tries: u32,
    /// Set once an event has told for which job it waits.
    waits: bool,
}

impl SwapRequest {
    /// Returns `true` if this cycle's look is the last one.
    fn is_over(&self, now: Nanos, patience: Nanos, tries: u32) -> bool {
        now.saturating_sub(self.since) >= patience && self.tries + 1 >= tries
    }
}

/// A swap that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swapped {
    pub(crate) generation: u32,
    pub(crate) reverted: bool,
}

/// The commands of a partition and the builds that they swap.
pub(crate) struct Changes<'map> {
    region: Region<'map>,
    commands: CommandConsumer<'map>,
    pub(crate) forces: ForceTable<'map>,
    /// Forces on variables that the build on probation does not have. Like the next list it has
    /// room for all that can be forced, so that nothing is allocated between two cycles.
    dormant: Vec<Assignment>,
    /// Forces on their way from one build to the other, within a swap.
    moving: Vec<Assignment>,
    request: Option<SwapRequest>,
    /// Cycles of probation that are left; zero when the build before is no longer kept.
    probation: u64,
    probation_cycles: u64,
}

/// Both slots' builds; which one runs is in [`Shared`].
pub type Builds<'a, P> = [Option<&'a Build<P>>; 2];

/// The slot of this number.
pub(crate) const fn slot_of(number: u8) -> Slot {
    if number == 0 { Slot::A } else { Slot::B }
}

impl<'map> Changes<'map> {
    /// `None` when the region has no place for commands or forces.
    pub(crate) fn new(region: Region<'map>, probation_cycles: u64) -> Option<Self> {
        Some(Self {
            region,
            commands: region.command_consumer()?,
            forces: region.force_table()?,
            dormant: Vec::with_capacity(FORCE_LIMIT),
            moving: Vec::with_capacity(FORCE_LIMIT),
            request: None,
            probation: 0,
            probation_cycles,
        })
    }

    /// Returns whether groups wait to be applied.
    pub(crate) fn has_commands(&mut self) -> bool {
        self.commands.has_commands()
    }

    /// Applies the groups that wait, each whole or not at all. Returns whether variables were
    /// released, which then are what they were before they were forced.
    #[inline]
    pub(crate) fn take_commands(&mut self, task: &mut Task<'_>, stage: &Stage, now: Nanos) -> bool {
        let mut released = false;
        let limits = Limits { data_bytes: stage.data_bytes, generation: stage.generation };
        let mut budget = COMMANDS_PER_CYCLE;
        // A swap that waits for the end of a job may do so for long.
        while self.request.is_none_or(|request| request.waits) && budget > 0 {
            let Some(group) = self.commands.take(budget, &limits) else { break };
            let ticket = group.ticket;
            budget = budget.saturating_sub(group.length);
            let mut commands = [Command::UnforceAll; COMMANDS_PER_CYCLE];
            let result = group.commands.map(|taken| {
                commands[..taken.len()].copy_from_slice(taken);
                taken.len()
            });
            let cycle = task.cycle;
            match result {
                Err(refusal) => self.refuse(task, now, ticket, refusal),
                Ok(count) => {
                    match self.apply(task, slot_of(stage.slot), ticket, &commands[..count], now) {
                        Ok(true) => self.commands.answer(ticket, cycle, Ok(())),
                        Ok(false) => {}
                        Err(refusal) => self.refuse(task, now, ticket, refusal),
                    }
                    released |= commands[..count].iter().any(releases);
                }
            }
        }
        released
    }

    /// Applies one group. Returns whether it is answered already: a swap is not.
    fn apply(
        &mut self,
        task: &mut Task<'_>,
        slot: Slot,
        ticket: u32,
        commands: &[Command],
        now: Nanos,
    ) -> Result<bool, (usize, WhyRejected)> {
        let forced = commands.iter().filter_map(|command| match command {
            Command::Force(assignment) => Some(*assignment),
            _ => None,
        });
        // Everything that can be refused is refused before anything is applied.
        if !self.forces.has_room(forced) {
            let is_force = |command: &Command| matches!(command, Command::Force(_));
            return Err((commands.iter().position(is_force).unwrap_or(0), WhyRejected::ForcesFull));
        }
        let swap = commands.iter().position(|command| matches!(command, Command::Swap { .. }));
        if swap.is_some() && (commands.len() > 1 || self.request.is_some()) {
            return Err((swap.unwrap_or(0), WhyRejected::NotNow));
        }
        let Some(data) = self.region.writable_data(slot) else {
            return Err((0, WhyRejected::OutOfData));
        };
        for command in commands {
            match *command {
                Command::Set(assignment) => {
                    let Assignment { target: Target { offset, bytes, mask }, value } = assignment;
                    // Its place was checked when it was taken from the ring.
                    let _ = data.write_value(offset, bytes, mask, value);
                    self.forces.note_set(&assignment);
                }
                Command::Force(assignment) => {
                    let _ = self.forces.force(assignment, &data);
                    let Assignment { target, value } = assignment;
                    task.tell(now, Happening::ForceApplied { target, value });
                }
                Command::Unforce(target) => {
                    if self.forces.release(&target, &data) {
                        task.tell(now, Happening::ForceReleased { target });
                    }
                }
                Command::UnforceAll => {
                    self.dormant.clear();
                    let count = self.forces.release_all(&data) as u64;
                    task.tell(now, Happening::ForcesReleased { count });
                }
                Command::Swap { generation } => {
                    self.request = Some(SwapRequest {
                        ticket,
                        generation,
                        since: now,
                        tries: 0,
                        waits: false,
                    });
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    #[cold]
    fn refuse(
        &mut self,
        task: &mut Task<'_>,
        now: Nanos,
        ticket: u32,
        (index, why): (usize, WhyRejected),
    ) {
        self.commands.answer(ticket, task.cycle, Err((index, why)));
        task.tell(now, Happening::CommandRejected { ticket, index: index as u32, why });
    }

    /// Swaps to the staged build, if that is wanted and possible in this cycle.
    #[inline]
    pub(crate) fn try_swap<P: Program>(
        &mut self,
        task: &mut Task<'_>,
        builds: &Builds<'_, P>,
        shared: &Shared,
        now: Nanos,
    ) -> Option<Swapped> {
        self.request?;
        self.try_requested(task, builds, shared, now)
    }

    #[cold]
    fn try_requested<P: Program>(
        &mut self,
        task: &mut Task<'_>,
        builds: &Builds<'_, P>,
        shared: &Shared,
        now: Nanos,
    ) -> Option<Swapped> {
        let request = self.request?;
        let old_slot = shared.active();
        let staged = builds[usize::from(1 - old_slot)]
            .filter(|build| build.stage.generation == request.generation);
        let (Some(new), Some(old)) = (staged, builds[usize::from(old_slot)]) else {
            self.request = None;
            self.refuse(task, now, request.ticket, (0, WhyRejected::NothingStaged));
            return None;
        };
        let begun = (new.stage.on_probation && !shared.is_in_fault())
            .then(|| old.program.task_under_way())
            .flatten();
        if let Some(number) = begun {
            self.wait_for_job(task, request, number, now);
            return None;
        }
        let swapped = shared.while_all_are_outside(|| {
            self.let_go(&old.stage);
            self.carry(&old.stage, &new.stage);
            self.dormant.clear();
            self.move_forces(
                &new.stage,
                |from| new.stage.place_of_force(from),
                |changes, force| {
                    changes.dormant.push(force);
                },
            );
            self.activate(&new.stage, shared);
        });
        if swapped.is_none() {
            let over = request.is_over(now, SWAP_PATIENCE, SWAP_TRIES);
            let request = SwapRequest { tries: request.tries + 1, ..request };
            self.go_on_trying(task, now, request, over.then_some(WhyRejected::NotNow));
            return None;
        }
        self.request = None;
        for force in &self.dormant {
            task.tell(now, Happening::ForceReleased { target: force.target });
        }
        self.commands.answer(request.ticket, task.cycle, Ok(()));
        // A program in fault is no state to come back to.
        let on_probation = new.stage.on_probation && !shared.is_in_fault();
        self.probation = if on_probation { self.probation_cycles } else { 0 };
        shared.set_probation(self.probation > 0);
        shared.leave_fault();
        Some(Swapped { generation: new.stage.generation, reverted: false })
    }

    /// A job of task `number` is under way.
    fn wait_for_job(&mut self, task: &mut Task<'_>, request: SwapRequest, number: u32, now: Nanos) {
        let over = request.is_over(now, JOB_PATIENCE, JOB_TRIES);
        if !request.waits || over {
            // Also at the end: it may be another task by now.
            let what = Happening::SwapWaits { generation: request.generation };
            task.events.tell(task.cycle, now, number, what);
        }
        let request = SwapRequest { tries: request.tries + 1, waits: true, ..request };
        self.go_on_trying(task, now, request, over.then_some(WhyRejected::JobUnderWay));
    }

    /// Goes on with looking for an instant for a swap, or gives it up.
    fn go_on_trying(
        &mut self,
        task: &mut Task<'_>,
        now: Nanos,
        request: SwapRequest,
        over: Option<WhyRejected>,
    ) {
        self.request = over.is_none().then_some(request);
        if let Some(why) = over {
            self.refuse(task, now, request.ticket, (0, why));
        }
    }

    /// Copies the state that the new build takes over; no task is inside a step.
    fn carry(&self, old: &Stage, new: &Stage) {
        let slots =
            [slot_of(old.slot), slot_of(new.slot)].map(|slot| self.region.writable_data(slot));
        if let [Some(from), Some(to)] = slots {
            for carried in &new.carried {
                // Both places were checked with the stage.
                let _ = to.copy_from(carried.to, &from, carried.from, carried.bytes);
            }
        }
    }

    /// Releases all forces, so that the data are what they would be without them, and keeps the
    /// forces in `moving`.
    fn let_go(&mut self, stage: &Stage) {
        self.moving.clear();
        self.moving.extend_from_slice(self.forces.forces());
        if let Some(data) = self.region.writable_data(slot_of(stage.slot)) {
            self.forces.release_all(&data);
        }
    }

    /// Forces what is in `moving` in the data of `stage`, at the offsets that `place` returns.
    /// `left` gets each force that has no place there.
    fn move_forces(
        &mut self,
        stage: &Stage,
        place: impl Fn(u32) -> Option<u32>,
        mut left: impl FnMut(&mut Self, Assignment),
    ) {
        let data = self.region.writable_data(slot_of(stage.slot));
        let mut moving = core::mem::take(&mut self.moving);
        for force in moving.drain(..) {
            let moved = place(force.target.offset).zip(data.as_ref()).and_then(|(offset, data)| {
                let target = Target { offset, ..force.target };
                self.forces.force(Assignment { target, ..force }, data).ok()
            });
            if moved.is_none() {
                left(self, force);
            }
        }
        self.moving = moving;
    }

    /// Forces what was forced in the process before.
    fn resume_forces(&mut self, stage: &Stage) {
        let Some(data) = self.region.writable_data(slot_of(stage.slot)) else { return };
        for force in &stage.held {
            // Their number and places were checked with the stage.
            let _ = self.forces.force(force.assignment(), &data);
        }
    }

    /// Forces again what only the build before has; the host knows what that is and tells it.
    fn wake_dormant(&mut self, stage: &Stage) {
        let Some(data) = self.region.writable_data(slot_of(stage.slot)) else { return };
        for force in self.dormant.drain(..) {
            let _ = self.forces.force(force, &data);
        }
    }

    fn activate(&self, stage: &Stage, shared: &Shared) {
        shared.set_active(stage.slot);
        let (slot, generation) = (slot_of(stage.slot), stage.generation);
        self.region.set_active(Active { slot, generation });
    }

    /// Says that the first build runs, and forces what was forced in the process before.
    pub(crate) fn begin(&mut self, stage: &Stage, shared: &Shared) {
        self.activate(stage, shared);
        self.resume_forces(stage);
    }

    /// Counts a good cycle of a build on probation.
    #[inline]
    pub(crate) fn note_good_cycle(&mut self, shared: &Shared) {
        if self.probation > 0 {
            self.probation -= 1;
            if self.probation == 0 {
                shared.set_probation(false);
                self.dormant.clear();
            }
        }
    }

    /// Goes back to the build before, if the one in fault is on probation.
    #[cold]
    pub(crate) fn try_revert<P>(
        &mut self,
        task: &mut Task<'_>,
        builds: &Builds<'_, P>,
        shared: &Shared,
        now: Nanos,
    ) -> Option<Swapped> {
        if self.probation == 0 {
            return None;
        }
        let failed = builds[usize::from(shared.active())]?;
        let before = builds[usize::from(1 - shared.active())]?;
        shared.while_all_are_outside(|| {
            self.let_go(&failed.stage);
            let former = |offset| failed.stage.former_place_of_force(offset);
            self.move_forces(&before.stage, former, |_, Assignment { target, .. }| {
                task.tell(now, Happening::ForceReleased { target });
            });
            self.wake_dormant(&before.stage);
            self.activate(&before.stage, shared);
        })?;
        self.probation = 0;
        shared.set_probation(false);
        shared.leave_fault();
        Some(Swapped { generation: before.stage.generation, reverted: true })
    }
}

/// Returns whether a command may give a variable back the value that it had before it was forced.
fn releases(command: &Command) -> bool {
    matches!(command, Command::Unforce(_) | Command::UnforceAll)
}
