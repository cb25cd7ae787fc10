//! The parts of every task, leading or not: its watchdog, its statistics, its events and its trace.

use quietcore_exchange::{EventWriter, Happening, Recorder, Release, TraceWriter, WritableData};
use quietcore_units::Nanos;

use crate::fault::Fault;
use crate::program::{Build, Program};
use crate::shared::Shared;
use crate::watchdog::Watchdog;

/// A task's own settings.
#[derive(Clone, Copy, Debug)]
pub struct TaskSettings {
    /// Its number in the partition; 0 leads.
    pub index: usize,
    /// Number of the step function that it runs.
    pub rate: u32,
    /// The latest completion after a release.
    pub deadline: Nanos,
    /// Watchdog that looks at each of its cycles.
    pub watchdog: Watchdog,
    /// The response time beyond which a job is a fault; none where an overrun is none.
    pub stop_beyond: Option<Nanos>,
}

/// A task, as its thread holds it.
pub struct Task<'map> {
    pub(crate) settings: TaskSettings,
    pub(crate) recorder: Recorder<'map>,
    pub(crate) events: EventWriter<'map>,
    pub(crate) trace: Option<TraceWriter<'map>>,
    pub(crate) cycle: u64,
    overruns_in_a_row: u64,
}

/// The end of a job, and the times until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Instant at which it was done.
    pub at: Nanos,
    /// Time since its start.
    pub execution: Nanos,
    /// Part of that time for which its process was stopped from outside.
    pub stopped: Nanos,
    /// Time since its release.
    pub response: Nanos,
}

impl<'map> Task<'map> {
    /// Makes a task that writes its statistics, events and traces with these.
    pub fn new(
        settings: TaskSettings,
        recorder: Recorder<'map>,
        events: EventWriter<'map>,
        trace: Option<TraceWriter<'map>>,
    ) -> Self {
        Self { settings, recorder, events, trace, cycle: 0, overruns_in_a_row: 0 }
    }

    /// Returns its statistics, to be cleared after a warm-up or ended.
    pub fn recorder(&mut self) -> &mut Recorder<'map> {
        &mut self.recorder
    }

    /// Runs one step; what is wrong afterwards is a fault.
    #[inline]
    pub(crate) fn step<P: Program>(&self, build: &Build<P>) -> Result<(), Fault> {
        build.program.step(self.settings.index, self.settings.rate)?;
        if build.program.has_error() {
            return Err(Fault::Model { status: build.program.error_status() });
        }
        Ok(())
    }

    /// Samples the trace, records the cycle and looks at the time it took. Returns the fault that
    /// this is, if it is one. `running` is the program with its data.
    #[inline]
    pub(crate) fn finish<P: Program>(
        &mut self,
        release: &Release,
        finished: &Finished,
        running: Option<(&WritableData<'map>, &Build<P>)>,
    ) -> Result<(), Fault> {
        if let (Some(trace), Some((data, build))) = (&mut self.trace, running) {
            trace.sample(self.cycle, release.started, data, build.stage.generation);
        }
        let overrun = finished.response > self.settings.deadline;
        self.recorder.record_scan(release, finished.execution, finished.response, overrun);
        self.overruns_in_a_row = if overrun { self.overruns_in_a_row + 1 } else { 0 };
        if overrun {
            let response_ns = finished.response.get();
            let in_a_row = self.overruns_in_a_row;
            self.tell(finished.at, Happening::Overrun { response_ns, in_a_row });
        }
        let seen =
            self.settings.watchdog.observe(finished.execution.saturating_sub(finished.stopped));
        if seen.hit {
            self.recorder.note_watchdog_hit();
            let elapsed_ns = finished.execution.get();
            let during = running.and_then(|(_, build)| build.program.task_under_way());
            self.tell(finished.at, Happening::WatchdogHit { elapsed_ns, during });
        }
        if let Some(cycles) = seen.expired {
            let execution = finished.execution;
            return Err(Fault::Watchdog { cycles: u64::from(cycles), execution });
        }
        match self.settings.stop_beyond {
            Some(longest) if finished.response.saturating_sub(finished.stopped) > longest => {
                Err(Fault::Overrun { response: finished.response })
            }
            _ => Ok(()),
        }
    }

    /// Notes `skipped` releases after `release`, none of which was run. A stall counts as the
    /// cycles it cost: each is recorded as so late as the release that was run in its place.
    pub fn note_skipped(&mut self, release: &Release, period: Nanos, skipped: u64) {
        self.recorder.record_skipped(release.due + period, release.cpu, skipped);
        self.recorder.note_skipped_releases(skipped);
    }

    /// Puts the partition in fault, unless it is already, and tells why.
    #[cold]
    pub(crate) fn fail<P: Program>(
        &mut self,
        shared: &Shared,
        now: Nanos,
        fault: Fault,
        build: Option<&Build<P>>,
    ) {
        if shared.enter_fault() {
            let under_way = build.and_then(|build| build.program.task_under_way());
            let task = fault.task(self.settings.index as u32, under_way);
            self.events.tell(self.cycle, now, task, fault.happening(under_way));
        }
    }

    pub(crate) fn tell(&mut self, now: Nanos, what: Happening) {
        self.events.tell(self.cycle, now, self.settings.index as u32, what);
    }
}

impl core::fmt::Debug for Task<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Task").field("settings", &self.settings).finish_non_exhaustive()
    }
}
