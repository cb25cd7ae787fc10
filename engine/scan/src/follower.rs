//! The cycle of a task that doesn't lead: forces, step, forces.
//!
//! It sees inputs, sets and new builds as the leading task left them, between its own steps. While
//! it is inside a step the leading task may preempt it, as faster tasks of generated code preempt
//! slower ones; what both use goes through the model's own rate transitions.

use quietcore_exchange::{Assignment, FORCE_LIMIT, ForceReader, Region, Target, WritableData};
use quietcore_units::Nanos;

use crate::change::{Builds, slot_of};
use crate::program::Program;
use crate::shared::Shared;
use crate::task::{Finished, Release, Task};

/// A task that doesn't lead.
#[derive(Debug)]
pub struct Follower<'map> {
    task: Task<'map>,
    region: Region<'map>,
    forces: Option<ForceReader<'map>>,
    held: [Assignment; FORCE_LIMIT],
}

impl<'map> Follower<'map> {
    /// A task of `region`.
    pub fn new(task: Task<'map>, region: Region<'map>) -> Self {
        let forces = region.forces();
        Self { task, region, forces, held: [Assignment::default(); FORCE_LIMIT] }
    }

    /// Its statistics and events.
    pub fn task(&mut self) -> &mut Task<'map> {
        &mut self.task
    }

    /// Runs one cycle. `None` when it must not run now: a build is being swapped.
    pub fn cycle<P: Program>(
        &mut self,
        release: &Release,
        builds: &Builds<'_, P>,
        shared: &Shared,
        now: impl Fn() -> Nanos,
    ) -> Option<Finished> {
        let index = self.task.settings.index;
        if !shared.try_enter(index) {
            return None;
        }
        self.task.recorder.begin_scan(self.task.cycle);
        let build = builds[usize::from(shared.active())];
        let data = build.and_then(|build| self.region.writable_data(slot_of(build.stage.slot)));
        let mut fault = None;
        if let (Some(build), Some(data), false) = (build, &data, shared.is_in_fault()) {
            self.apply_forces(data);
            fault = self.task.step(build).err();
            self.apply_forces(data);
        }
        self.task.recorder.end_scan();
        shared.exit(index);
        let at = now();
        let finished = Finished {
            at,
            execution: at.saturating_sub(release.started),
            response: at.saturating_sub(release.due),
        };
        let running = build.and_then(|build| Some((data.as_ref()?, build.stage.generation)));
        let watchdog = self.task.finish(release, &finished, running);
        if let Some(fault) = fault.or(watchdog.err()) {
            self.task.fail(shared, at, fault);
        }
        self.task.cycle += 1;
        Some(finished)
    }

    #[inline]
    fn apply_forces(&mut self, data: &WritableData<'_>) {
        let Some(forces) = &self.forces else { return };
        let count = forces.read(&mut self.held).unwrap_or(0);
        for Assignment { target: Target { offset, bytes, mask }, value } in &self.held[..count] {
            // What is outside of the data is refused there.
            let _ = data.write_value(*offset, *bytes, *mask, *value);
        }
    }
}
