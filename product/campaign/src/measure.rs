//! One run on the machine: loads and partition up, watched, and down again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use quietcore_backend::process::{Partition, PartitionError};
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{Region, TaskState};
use quietcore_load::{Achieved, LoadError, LoadSet};
use quietcore_process::readback::ThreadState;
use quietcore_record::record::Record;
use quietcore_units::Nanos;

use crate::activity::Activity;
use crate::collect::{self, Findings};
use crate::observer::{Observer, Progress};
use crate::run::Run;

/// Time between two looks at the exchange.
const POLL: Duration = Duration::from_millis(100);
/// Looks between two looks at the kernel.
const READ_BACK_EVERY: u32 = 10;
/// How long all workers of the loads may take until they work.
const LOAD_START_MAX: Nanos = Nanos::from_secs(10);
/// Time beyond the planned end after which a run counts as hung.
const OVERTIME_MAX: Nanos = Nanos::from_secs(30);

/// What the runs of a campaign have in common.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// The program `quietcore-runtime`.
    pub runtime: &'a Path,
    /// Facts that travel with every number.
    pub conditions: &'a BTreeMap<String, String>,
    /// Why this machine's time isn't real; `None` where it is.
    pub emulated: Option<&'a str>,
    /// Whether `/dev/cpu_dma_latency` is held.
    pub dma_latency_held: bool,
    /// Start of the run, RFC 3339; asked for at each run.
    pub time_of_day: fn() -> String,
}

/// What a run yielded.
#[derive(Debug)]
pub struct Measured {
    /// A record for each task.
    pub records: Vec<Record>,
    /// Whether it was ended before its time.
    pub interrupted: bool,
}

/// A run that yielded nothing.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The loads could not be brought up.
    #[error("the load could not be started: {0}")]
    Load(#[from] LoadError),
    /// The partition could not be brought up, or it died.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// It took far longer than planned.
    #[error("the partition did not end within {overtime} beyond its time; it was stopped")]
    Hung {
        /// How long was waited.
        overtime: Nanos,
    },
    /// It was told to stop before it had measured anything.
    #[error("stopped before anything was measured")]
    Stopped,
}

/// Measures one run. Blocks until it has ended, `stop` is set, or it has failed; in each case the
/// partition and the loads have ended when it returns.
///
/// # Errors
/// [`MeasureError`] when there is nothing to make a record of.
pub fn measure(
    run: &Run,
    machine: &Machine<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Measured, MeasureError> {
    observer.begin(run);
    let mut findings = Findings::begin(run, machine);
    let mut loads = start_loads(run, machine.runtime, observer)?;
    let mut activity = Activity::begin();
    let mut partition = Partition::start(machine.runtime, &run.job)?;
    let watched = watch(run, &mut partition, &mut activity, &mut findings, observer, stop);
    // Measured before the loads end, and before the partition's end is waited for.
    if let Some(loads) = &mut loads {
        findings.loads = loads.measure();
    }
    let stopped = partition.stop();
    if let Some(loads) = loads {
        loads.stop()?;
    }
    let interrupted = watched?;
    stopped?;
    findings.remarks = partition.take_remarks();
    activity.end();
    let records = collect::records(run, partition.region(), &findings, &activity, machine);
    if records.iter().all(|record| record.release.count() == 0) {
        return Err(MeasureError::Stopped);
    }
    observer.end(run, &records);
    Ok(Measured { records, interrupted })
}

fn start_loads(
    run: &Run,
    runtime: &Path,
    observer: &mut dyn Observer,
) -> Result<Option<LoadSet>, MeasureError> {
    if run.loads.is_empty() {
        return Ok(None);
    }
    let workers: u32 = run.loads.iter().map(|load| load.workers).sum();
    observer.step(&format!("starting {workers} load workers"));
    let mut loads = LoadSet::start(runtime, &run.loads)?;
    loads.wait_until_running(LOAD_START_MAX)?;
    Ok(Some(loads))
}

/// Watches a partition until it has ended. Returns whether it was told to end early.
fn watch(
    run: &Run,
    partition: &mut Partition,
    activity: &mut Activity,
    findings: &mut Findings,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<bool, MeasureError> {
    let end = Monotonic.now() + run.duration() + OVERTIME_MAX;
    let mut interrupted = false;
    let mut looks: u32 = 0;
    while !partition.has_ended()? {
        if stop.load(Ordering::Relaxed) && !interrupted {
            partition.request_stop();
            interrupted = true;
        }
        if Monotonic.now() > end {
            return Err(MeasureError::Hung { overtime: OVERTIME_MAX });
        }
        if looks.is_multiple_of(READ_BACK_EVERY) {
            read_back(partition, findings);
        }
        activity.sample();
        observer.progress(progress(run, partition.region()));
        looks = looks.wrapping_add(1);
        thread::sleep(POLL);
    }
    observer.progress(progress(run, partition.region()));
    Ok(interrupted)
}

/// Notes what is in force for each task that is measuring.
fn read_back(partition: &Partition, findings: &mut Findings) {
    for (index, task) in partition.region().tasks().enumerate() {
        // Before it runs a task is still preparing itself, and a moment later it may have ended:
        // both are no drift.
        if task.state() == TaskState::Running
            && let Ok(state) = partition.read_back(task)
            && task.state() == TaskState::Running
        {
            findings.note_state(index, state);
        }
    }
}

fn progress(run: &Run, region: Region<'_>) -> Progress {
    let mut sum = Progress {
        planned_cycles: run.job.cycles * run.job.cpus.len() as u64,
        ..Progress::default()
    };
    for task in region.tasks().filter(|task| task.state() != TaskState::Starting) {
        let counters = task.counters().unwrap_or_default();
        sum.cycles += counters.cycles;
        sum.missed_cycles += counters.missed_cycles;
        sum.worst = sum.worst.max(Nanos::new(task.release().totals().max_ns));
    }
    sum
}

/// The states seen of one task.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatesSeen {
    pub(crate) first: Option<ThreadState>,
    pub(crate) drift: Option<ThreadState>,
}

impl Findings {
    fn begin(run: &Run, machine: &Machine<'_>) -> Self {
        Self {
            started_at: (machine.time_of_day)(),
            states: vec![StatesSeen::default(); run.job.cpus.len()],
            loads: Vec::<Achieved>::new(),
            remarks: String::new(),
        }
    }

    fn note_state(&mut self, index: usize, state: ThreadState) {
        let Some(seen) = self.states.get_mut(index) else { return };
        match &seen.first {
            None => seen.first = Some(state),
            // Memory may still be added to what is locked; that is no drift.
            Some(first)
                if first.policy_text() == state.policy_text()
                    && first.affinity == state.affinity => {}
            Some(_) => seen.drift = Some(state),
        }
    }
}
