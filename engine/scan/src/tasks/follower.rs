//! The cycle of a task that doesn't lead: forces, step, forces.
//!
//! It sees inputs, sets and new builds as the leading task left them, between its own steps. While
//! it is inside a step the leading task may preempt it, as faster tasks of generated code preempt
//! slower ones; what both use goes through the model's own rate transitions.

use quietcore_exchange::{
    Assignment, FORCE_LIMIT, ForceReader, Region, Release, Target, WritableData,
};
use quietcore_units::Nanos;

use crate::change::{Builds, slot_of};
use crate::program::Program;
use crate::shared::Shared;
use crate::task::{Finished, Task};

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
        let stopped_ns = self.region.stopped_ns();
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
        let at = now();
        let finished = Finished {
            at,
            execution: at.saturating_sub(release.started),
            stopped: Nanos::new(self.region.stopped_ns().saturating_sub(stopped_ns)),
            response: at.saturating_sub(release.due),
        };
        let running = build.and_then(|build| Some((data.as_ref()?, build)));
        let late = self.task.finish(release, &finished, running);
        if let Some(fault) = fault.or(late.err()) {
            self.task.fail(shared, at, fault, build);
        }
        // Not before it has failed: the fault would be that of a build swapped in between.
        shared.exit(index);
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

#[cfg(test)]
mod tests {
    use quietcore_exchange::{Recorder, Shape, ShortText};
    use quietcore_process::exchange::Exchange;

    use super::*;
    use crate::fault::Fault;
    use crate::program::Build;
    use crate::stage::Stage;
    use crate::task::TaskSettings;
    use crate::watchdog::Watchdog;

    const PERIOD: Nanos = Nanos::from_millis(1);

    /// A program whose step ends so.
    struct Ends(Result<(), Fault>);

    impl Program for Ends {
        fn step(&self, _: usize, _: u32) -> Result<(), Fault> {
            self.0
        }

        fn has_error(&self) -> bool {
            false
        }
    }

    fn exchange() -> Exchange {
        let tasks = Shape::of_tasks(2);
        Exchange::create(&Shape { data_bytes: 4096, event_slots: 64, ..tasks }).unwrap()
    }

    fn follower<'map>(region: Region<'map>, stop_beyond: Option<Nanos>) -> Follower<'map> {
        let watchdog = Watchdog::new(Nanos::from_secs(1), 1);
        let settings = TaskSettings { index: 1, rate: 1, deadline: PERIOD, watchdog, stop_beyond };
        let recorder = Recorder::new(region.task(1).unwrap(), PERIOD, 1);
        let task = Task::new(settings, recorder, region.event_writer(1).unwrap(), None);
        Follower::new(task, region)
    }

    fn release() -> Release {
        let due = Nanos::from_secs(1);
        let none = Nanos::ZERO;
        let (wakeup_latency, margin, spin) = (none, none, none);
        Release { due, started: due, wakeup_latency, margin, spin, cpu: 0 }
    }

    fn build(ends: Result<(), Fault>) -> Build<Ends> {
        let stage = Stage { generation: 1, data_bytes: 4096, ..Stage::default() };
        Build { stage, program: Ends(ends) }
    }

    /// Goal: a fault is that of the build which ran.
    /// Method: the clock is read between the step and the fault; no swap is possible there.
    #[test]
    fn no_build_is_swapped_between_a_step_and_its_fault() {
        let exchange = exchange();
        let (region, shared, bad) = (
            exchange.region(),
            Shared::default(),
            build(Err(Fault::Model { status: ShortText::default() })),
        );
        let swapped = core::cell::Cell::new(false);
        let now = || {
            swapped.set(shared.while_all_are_outside(|| ()).is_some());
            release().due
        };
        let ran = follower(region, None).cycle(&release(), &[Some(&bad), None], &shared, now);
        assert!(ran.is_some() && shared.is_in_fault());
        assert!(!swapped.get());
        assert!(shared.all_are_outside());
    }

    #[test]
    fn an_overrun_is_a_fault_where_it_shall_stop_and_the_task_goes_on_after_it() {
        let exchange = exchange();
        let (region, shared, good) = (exchange.region(), Shared::default(), build(Ok(())));
        for (stop_beyond, took, fault) in [
            (Some(PERIOD), PERIOD, false),
            (Some(PERIOD), PERIOD + Nanos::new(1), true),
            (None, PERIOD * 3, false),
        ] {
            let mut follower = follower(region, stop_beyond);
            let mut run = |took| {
                follower.cycle(&release(), &[Some(&good), None], &shared, || release().due + took)
            };
            assert!(run(took).is_some());
            assert_eq!(shared.is_in_fault(), fault, "{stop_beyond:?}, {took:?}");
            assert!(run(took).is_some(), "it is released in fault too");
            shared.leave_fault();
            assert!(run(PERIOD).is_some());
            assert!(!shared.is_in_fault());
        }
    }
}
