//! The cycle of the leading task.
//!
//! ```text
//! fieldbus ─ swap? ─ inputs ─ commands ─ forces ─ step ─ forces ─ outputs ─ images ─ retain
//!                                          └ not in fault ┘        └ in fault: made safe
//! ```
//!
//! The frame goes out at the release, with the outputs of the cycle before: so the fieldbus sees a
//! constant latency, however long the step takes. A step that crashes writes no outputs.

use quietcore_exchange::{Happening, ImageWriter, Region, Release, RetainWriter, WritableData};
use quietcore_units::{FaultReaction, Nanos};

use crate::change::{Builds, Changes, Swapped, slot_of};
use crate::mapping::outputs::{give_outputs, make_safe, take_inputs};
use crate::program::{Build, Fieldbus, Program};
use crate::shared::{Shared, TASK_LIMIT};
use crate::stage::Stage;
use crate::task::{Finished, Task};

/// The leading task of a partition.
pub struct Leader<'map, B> {
    task: Task<'map>,
    region: Region<'map>,
    changes: Changes<'map>,
    fieldbus: B,
    inputs: Option<ImageWriter<'map>>,
    outputs: Option<ImageWriter<'map>>,
    retained: Option<RetainWriter<'map>>,
    on_fault: FaultReaction,
    triggers_were: [bool; TASK_LIMIT],
    /// The build that this cycle swapped in, and the one that it went back to when that failed at
    /// once.
    swaps: [Option<(Swapped, Release, Nanos)>; 2],
    /// The build that was said to be in fault; zero for none.
    told_fault: u32,
    paused_at: Nanos,
}

/// The outcome of a cycle, which the runner acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// End and times of the job.
    pub finished: Finished,
    /// Tasks to be woken because their trigger became true; bit `n` for task `n`.
    pub fired: u32,
}

impl<'map, B: Fieldbus> Leader<'map, B> {
    /// Makes the leading task of `region`; `None` when the region has no place for commands, forces
    /// or data. The build in the active slot of `shared` begins.
    pub fn new(
        task: Task<'map>,
        region: Region<'map>,
        fieldbus: B,
        on_fault: FaultReaction,
        probation_cycles: u64,
        first: &Stage,
        shared: &Shared,
    ) -> Option<Self> {
        let mut changes = Changes::new(region, probation_cycles)?;
        changes.begin(first, shared);
        Some(Self {
            task,
            region,
            changes,
            fieldbus,
            inputs: region.input_writer(),
            outputs: region.output_writer(),
            retained: region.retain_writer(),
            on_fault,
            triggers_were: [false; TASK_LIMIT],
            swaps: [None; 2],
            told_fault: 0,
            paused_at: Nanos::ZERO,
        })
    }

    /// Returns the task with its statistics and events.
    pub fn task(&mut self) -> &mut Task<'map> {
        &mut self.task
    }

    /// Tells that the first cycle is about to come.
    pub fn begin(&mut self, now: Nanos) {
        self.task.tell(now, Happening::Started);
    }

    /// Says that no cycle is run from now on, until [`resume`](Self::resume).
    pub fn pause(&mut self, now: Nanos) {
        self.task.tell(now, Happening::Paused);
        self.region.set_paused(true);
        self.paused_at = now;
    }

    /// Applies commands while no cycle is run, so that what is set then can be seen and holds in
    /// the first step. Writes nothing where there are none, so that a count of scans counts none.
    pub fn take_while_paused<P: Program>(
        &mut self,
        builds: &Builds<'_, P>,
        shared: &Shared,
        now: Nanos,
    ) {
        if !self.changes.has_commands() {
            return;
        }
        let Some(build) = builds[usize::from(shared.active())] else { return };
        let Some(data) = self.region.writable_data(slot_of(build.stage.slot)) else { return };
        self.task.recorder.begin_scan(self.task.cycle);
        self.changes.take_commands(&mut self.task, &build.stage, now);
        self.changes.forces.apply(&data);
        self.task.recorder.end_scan();
    }

    /// Says that cycles are run again.
    pub fn resume(&mut self, now: Nanos) {
        let pause_ns = now.saturating_sub(self.paused_at).get();
        self.task.tell(now, Happening::Resumed { pause_ns });
        self.region.set_paused(false);
    }

    /// Runs one cycle: takes commands, exchanges frames, steps, and writes what is seen from
    /// outside.
    pub fn cycle<P: Program>(
        &mut self,
        release: &Release,
        builds: &Builds<'_, P>,
        shared: &Shared,
        now: impl Fn() -> Nanos,
    ) -> Done {
        let stopped_ns = self.region.stopped_ns();
        self.task.recorder.begin_scan(self.task.cycle);
        self.fieldbus.exchange(self.task.cycle, release.started, &mut self.task.events);
        if let Some(swapped) =
            self.changes.try_swap(&mut self.task, builds, shared, release.started)
        {
            self.note_swap(swapped, release, release.started);
        }
        let build = builds[usize::from(shared.active())];
        let data = build.and_then(|build| self.region.writable_data(slot_of(build.stage.slot)));
        let mut fired = 0;
        if let (Some(build), Some(data)) = (build, &data) {
            fired = self.run(build, data, shared, release.started);
        }
        self.task.recorder.end_scan();
        let at = now();
        let finished = Finished {
            at,
            execution: at.saturating_sub(release.started),
            stopped: Nanos::new(self.region.stopped_ns().saturating_sub(stopped_ns)),
            response: at.saturating_sub(release.due),
        };
        if let (Some(build), Some(data)) = (build, &data) {
            self.publish(build, data, shared, release.started);
        }
        let running = build.and_then(|build| Some((data.as_ref()?, build)));
        match self.task.finish(release, &finished, running) {
            Err(fault) if !shared.is_in_fault() => self.task.fail(shared, at, fault, build),
            _ => {}
        }
        if shared.is_in_fault() {
            self.handle_fault(release, builds, shared, at);
        } else {
            self.changes.note_good_cycle(shared);
        }
        self.tell_fault(builds, shared);
        self.task.cycle += 1;
        Done { finished, fired }
    }

    /// Runs inputs, commands, forces, step, forces and outputs in this order. Returns the triggers
    /// that fired.
    #[inline]
    fn run<P: Program>(
        &mut self,
        build: &Build<P>,
        data: &WritableData<'map>,
        shared: &Shared,
        now: Nanos,
    ) -> u32 {
        let stage = &build.stage;
        take_inputs(&stage.inputs, self.fieldbus.inputs(), data);
        if self.changes.take_commands(&mut self.task, stage, now) {
            // A released input is what the fieldbus says, not what it was before the force.
            take_inputs(&stage.inputs, self.fieldbus.inputs(), data);
        }
        if shared.is_in_fault() {
            make_safe(self.on_fault, stage, self.fieldbus.outputs());
            return 0;
        }
        self.changes.forces.apply(data);
        let stepped = self.task.step(build);
        self.changes.forces.apply(data);
        match stepped {
            Ok(()) => {
                give_outputs(&stage.outputs, data, self.fieldbus.outputs());
                self.look_at_triggers(stage, data, shared)
            }
            Err(fault) => {
                self.task.fail(shared, now, fault, Some(build));
                make_safe(self.on_fault, stage, self.fieldbus.outputs());
                0
            }
        }
    }

    /// Fires the tasks whose trigger became true.
    #[inline]
    fn look_at_triggers(&mut self, stage: &Stage, data: &WritableData<'_>, shared: &Shared) -> u32 {
        let mut fired = 0;
        for (task, trigger) in stage.triggers.iter().enumerate().take(TASK_LIMIT) {
            let Some(trigger) = trigger else { continue };
            let value = data.read_value(trigger.offset, trigger.bytes).unwrap_or(0);
            let is = value != 0;
            shared.set_trigger(task, is);
            if is && !self.triggers_were[task] {
                shared.fire(task);
                fired |= 1 << task;
            }
            self.triggers_were[task] = is;
        }
        fired
    }

    /// Publishes the images and the retained values of this cycle.
    #[inline]
    fn publish<P>(
        &mut self,
        build: &Build<P>,
        data: &WritableData<'map>,
        shared: &Shared,
        time: Nanos,
    ) {
        let cycle = self.task.cycle;
        if let Some(inputs) = &mut self.inputs {
            inputs.write(cycle, time, self.fieldbus.inputs());
        }
        if let Some(outputs) = &mut self.outputs {
            outputs.write(cycle, time, self.fieldbus.outputs());
        }
        let stage = &build.stage;
        if let Some(retained) = &mut self.retained
            && !stage.retained.is_empty()
            && !shared.is_in_fault()
            && shared.all_are_outside()
        {
            retained.write(cycle, stage.generation, |packer| {
                let mut buffer = [0; 256];
                for piece in &stage.retained {
                    let mut done = 0;
                    while done < piece.bytes {
                        let part = &mut buffer[..256.min((piece.bytes - done) as usize)];
                        // The place was checked with the stage.
                        let _ = data.read(piece.offset + done, part);
                        packer.push(part);
                        done += part.len() as u32;
                    }
                }
            });
        }
    }

    /// Goes back to the build before where that is possible, or makes the outputs safe.
    #[cold]
    fn handle_fault<P>(
        &mut self,
        release: &Release,
        builds: &Builds<'_, P>,
        shared: &Shared,
        at: Nanos,
    ) {
        if let Some(swapped) =
            self.changes.try_revert(&mut self.task, builds, shared, release.started)
        {
            self.note_swap(swapped, release, at);
            return;
        }
        if let Some(build) = builds[usize::from(shared.active())] {
            make_safe(self.on_fault, &build.stage, self.fieldbus.outputs());
        }
    }

    /// Says which build is in fault, where that has changed.
    #[inline]
    fn tell_fault<P>(&mut self, builds: &Builds<'_, P>, shared: &Shared) {
        let fault = match builds[usize::from(shared.active())] {
            Some(build) if shared.is_in_fault() => build.stage.generation,
            _ => 0,
        };
        if fault != self.told_fault {
            self.told_fault = fault;
            self.region.set_fault(fault);
        }
    }

    fn note_swap(&mut self, swapped: Swapped, release: &Release, at: Nanos) {
        self.task.settings.watchdog.reset();
        self.triggers_were = [false; TASK_LIMIT];
        self.swaps[usize::from(swapped.reverted)] = Some((swapped, *release, at));
    }

    /// Tells of a swap with the releases that were lost after it, once its cycle has ended. It
    /// bears the swap's cycle and instant: before what the new build did, and after the fault for
    /// which a build was taken back.
    pub fn after(&mut self, skipped: u64) {
        for swap in core::mem::take(&mut self.swaps).into_iter().flatten() {
            let (Swapped { generation, reverted }, release, at) = swap;
            let latency = release.started.saturating_sub(release.due);
            let gap_cycles = skipped;
            let told = if reverted {
                Happening::Reverted { generation, gap_cycles }
            } else {
                Happening::Swapped { generation, gap_cycles, release_ns: latency.get() }
            };
            let cycle = self.task.cycle.saturating_sub(1);
            self.task.events.tell(cycle, at, self.task.settings.index as u32, told);
        }
    }
}

impl<B> core::fmt::Debug for Leader<'_, B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Leader").field("task", &self.task).finish_non_exhaustive()
    }
}
