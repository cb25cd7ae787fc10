//! Late releases explained during a run: the ledgers of its records.
//!
//! ```text
//! partition   late cycle ─► snare sprung, trace off
//! observer    looks 100 times a second ─► reads trace and counters ─► ledger ─► arms again
//! ```
//!
//! Each partition has a snare, a trace of its CPUs, and a thread of ordinary priority that observes
//! them. Without a trace, counters bound what may have happened. Late releases that come while one
//! is being explained are counted and have no ledger. However a run ends, its traces are removed
//! with it.

mod observe;
mod words;

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use quietcore_backend::job::Job;
use quietcore_process::snare::{Snare, SnareJob};
use quietcore_record::ledger::Ledgers;
use quietcore_trace::instance::Instance;
use quietcore_trace::tracefs::Tracefs;
use quietcore_units::{CpuId, CpuSet, Nanos};

use crate::run::{PartitionRun, Run};
use crate::work::PartitionWork;
use crate::world::Process;
use observe::Observation;

/// The late releases of a partition, explained.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    /// The ledgers of its tasks, in the order of its exchange; empty where none were asked for.
    pub(crate) tasks: Vec<Ledgers>,
    /// Description of the trace, for the conditions; empty where nothing was traced.
    pub(crate) conditions: String,
}

/// The snares, traces and observing threads of a run.
#[derive(Debug)]
pub(crate) struct Explaining {
    /// In the order of the run; `None` for partitions that are not explained.
    partitions: Vec<Option<Prepared>>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Prepared {
    snare: Arc<Snare>,
    limit: Nanos,
    /// CPU of each task; `None` where it may move.
    cpus: Vec<Option<u32>>,
    /// The trace, or why there is none. It is kept here because the partition has a file of it, so
    /// that it is removed only after the partition has ended.
    instance: Result<Arc<Instance>, String>,
    observing: Option<JoinHandle<Explained>>,
}

impl Explaining {
    /// Prepares the snares and traces that a run asks for.
    pub(crate) fn prepare(run: &Run) -> Self {
        let tracefs = run.explain.map(|_| Tracefs::open().map(Arc::new));
        let tracefs = tracefs.transpose().map_err(|error| told(&error));
        let prepare = |partition: &PartitionRun| {
            let limit = run.explain.filter(|_| partition.setting.unexplained().is_none())?;
            let snare = Arc::new(Snare::create().ok()?);
            let instance = match &tracefs {
                Ok(Some(tracefs)) => Instance::create(tracefs, cpus(&partition.work))
                    .map(Arc::new)
                    .map_err(|error| told(&error)),
                Ok(None) => Err(String::new()),
                Err(because) => Err(because.clone()),
            };
            let cpus = partition.work.tasks().iter().map(|task| task.cpu).collect();
            Some(Prepared { snare, limit, cpus, instance, observing: None })
        };
        let partitions = run.partitions.iter().map(prepare).collect();
        Self { partitions, stop: Arc::new(AtomicBool::new(false)) }
    }

    /// Writes the snare of a partition into its job; returns the files that its process needs.
    pub(crate) fn lay(&self, index: usize, job: &mut Job) -> Vec<OwnedFd> {
        let Some(prepared) = &self.partitions[index] else { return Vec::new() };
        let told = match job {
            Job::Latency(job) => &mut job.snare,
            Job::Program { program, .. } => &mut program.snare,
            Job::Memory(_)
            | Job::Measurement { .. }
            | Job::Neighbour(_)
            | Job::Linux(_)
            | Job::Disk(_) => {
                return Vec::new();
            }
        };
        let Ok(memory) = prepared.snare.file() else { return Vec::new() };
        let switch = prepared.instance.as_ref().ok().and_then(|trace| trace.switch().ok());
        *told = Some(SnareJob {
            limit: prepared.limit,
            memory: memory.as_raw_fd(),
            tracing_on: switch.as_ref().map(std::os::fd::AsRawFd::as_raw_fd),
        });
        [Some(memory), switch].into_iter().flatten().map(OwnedFd::from).collect()
    }

    /// Begins to observe `partitions`, which are in the order of the run.
    pub(crate) fn begin(&mut self, partitions: &[Box<dyn Process>]) {
        for (prepared, partition) in self.partitions.iter_mut().zip(partitions) {
            let Some(prepared) = prepared else { continue };
            let observation = Observation::new(prepared, &**partition);
            let stop = Arc::clone(&self.stop);
            let thread = thread::Builder::new().name("explain".to_owned());
            prepared.observing = thread.spawn(move || observation.run(&stop)).ok();
        }
    }

    /// Ends the observing threads; returns what they found, in the order of the run.
    pub(crate) fn end(&mut self) -> Vec<Explained> {
        self.stop.store(true, Ordering::Relaxed);
        let threads =
            self.partitions.iter_mut().map(|prepared| prepared.as_mut()?.observing.take());
        let found = threads.map(|thread| thread?.join().ok());
        found.map(Option::unwrap_or_default).collect()
    }
}

impl Drop for Explaining {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the CPUs that the tasks are pinned to; empty if one of them may move.
fn cpus(work: &PartitionWork) -> CpuSet {
    let tasks = work.tasks();
    let pinned: Option<Vec<CpuId>> =
        tasks.iter().map(|task| task.cpu.and_then(CpuId::new)).collect();
    pinned.unwrap_or_default().into_iter().collect()
}

/// Formats an error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    quietcore_units::Causes(error).to_string()
}
