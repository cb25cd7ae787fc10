//! A recording in steps, for whoever has to answer between them: variables found, trace begun,
//! samples kept.

use std::fmt;
use std::sync::atomic::AtomicBool;

use quietcore_units::Nanos;

use super::{
    Column, Output, Plan, Progress, RecordingError, RecordingRequest, Run, Summary, no_task,
};
use crate::client::Client;
use crate::control::{Done, Trace, TraceStarted, Verb};
use crate::monitor::Monitor;

/// A recording whose variables are known and whose trace has not begun.
pub struct Prepared {
    monitor: Monitor,
    plan: Plan,
    partition: String,
    every: u32,
    task: u32,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("columns", &self.plan.columns).finish_non_exhaustive()
    }
}

impl Prepared {
    /// Finds the variables of a recording.
    ///
    /// # Errors
    /// [`RecordingError`] when the partition has none of them, or the settings don't fit it.
    pub fn new(
        client: &mut Client,
        partition: &str,
        wanted: &RecordingRequest,
    ) -> Result<Self, RecordingError> {
        let monitor = Monitor::open(client, partition)?;
        let plan = Plan::make(&monitor, wanted)?;
        if monitor.trace(wanted.task).is_none() {
            return Err(no_task(&monitor, wanted.task));
        }
        let partition = partition.to_owned();
        Ok(Self { monitor, plan, partition, every: wanted.every, task: wanted.task })
    }

    /// Returns the columns of each row, that of the trigger's variable included.
    pub fn columns(&self) -> &[Column] {
        &self.plan.columns
    }

    /// Returns the name of the task whose cycles are meant.
    pub fn task(&self) -> &str {
        &self.monitor.opened().tasks[self.task as usize].name
    }

    /// Returns the time between two samples; zero for a task without a period.
    pub fn sample_period(&self) -> Nanos {
        self.plan.sample_period
    }

    /// Begins the trace, which lasts as long as the client's connection at the longest.
    ///
    /// # Errors
    /// [`RecordingError::Client`] where the supervisor refuses it, as it does while another client
    /// records the partition.
    pub fn start(self, client: &mut Client) -> Result<Started, RecordingError> {
        let variables = self.plan.columns.iter().map(|column| column.path.clone()).collect();
        let trace = Trace { variables, every: self.every, task: self.task };
        let answer = client.ask(&self.partition, Verb::TraceStart { trace })?;
        Ok(Started { prepared: self, answer })
    }
}

/// A recording whose trace runs. Its samples are to be [kept](Self::keep) before the ring is full.
#[derive(Debug)]
pub struct Started {
    prepared: Prepared,
    answer: TraceStarted,
}

impl Started {
    /// Keeps up to `windows` windows of samples, each with its trigger, until all are full, `stop`
    /// is set, or the program is replaced; the trace is stopped in each case. Samples between two
    /// windows are left out. The summary counts the kept and lost samples of all windows, and has
    /// the trigger of the last one.
    ///
    /// # Errors
    /// [`RecordingError`] where there is nothing to keep.
    pub fn keep(
        self,
        client: &mut Client,
        windows: u32,
        output: &mut dyn Output,
        tell: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Summary, RecordingError> {
        let Prepared { monitor, plan, partition, every, task } = self.prepared;
        let reader = monitor.trace(task).ok_or_else(|| no_task(&monitor, task))?;
        let mut run = Run::new(plan, reader, self.answer, every, windows);
        let ran = if self.answer.generation == monitor.opened().generation {
            run.keep(&monitor, output, tell, stop)
        } else {
            Err(RecordingError::Replaced)
        };
        // The trace is stopped however the recording ended; closing the connection would stop it,
        // too.
        let stopped = client.ask(&partition, Verb::TraceStop);
        let ended_early = ran?;
        let Done {} = stopped?;
        Ok(run.summary(ended_early))
    }
}
