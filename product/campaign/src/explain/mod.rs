//! Late releases explained while a run is on: the ledgers of its records.
//!
//! ```text
//! partition   late cycle ─► snare sprung, trace off
//! observer    looks 100 times a second ─► reads trace and counters ─► ledger ─► arms again
//! ```
//!
//! Each partition has a snare, a trace of its CPUs, and a thread of ordinary priority that observes
//! them. Where there is no trace, counters bound what may have happened. Late releases that come
//! while one is being explained are counted and have no ledger. Whatever ends a run, the traces are
//! removed with it.

mod observe;
mod words;

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use quietcore_backend::job::Job;
use quietcore_backend::process::Partition;
use quietcore_process::snare::{Snare, SnareJob};
use quietcore_record::ledger::Ledgers;
use quietcore_trace::instance::Instance;
use quietcore_trace::tracefs::Tracefs;
use quietcore_units::{CpuId, CpuSet, Nanos};

use crate::run::{PartitionRun, Run};
use crate::work::Work;
use observe::Observation;

/// What was found of the late releases of a partition.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    /// The ledgers of its tasks, in the order of its exchange; empty where none were asked for.
    pub(crate) tasks: Vec<Ledgers>,
    /// What was traced, for the conditions; empty where nothing was.
    pub(crate) conditions: String,
}

/// The explaining of a run.
#[derive(Debug)]
pub(crate) struct Explaining {
    /// In the order of the run; `None` for partitions without.
    partitions: Vec<Option<Prepared>>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Prepared {
    snare: Arc<Snare>,
    limit: Nanos,
    is_guest: bool,
    /// The CPU of each task, where it is pinned.
    cpus: Vec<Option<u32>>,
    /// Kept here, so that it is removed after the partition has ended, which has a file of it.
    instance: Result<Arc<Instance>, String>,
    observing: Option<JoinHandle<Explained>>,
}

impl Explaining {
    /// Prepares what a run asks for.
    pub(crate) fn prepare(run: &Run) -> Self {
        let tracefs = run.explain.map(|_| Tracefs::open().map(Arc::new));
        let tracefs = tracefs.transpose().map_err(|error| told(&error));
        let prepare = |partition: &PartitionRun| {
            let limit = run.explain?;
            let snare = Arc::new(Snare::create().ok()?);
            let instance = match &tracefs {
                Ok(Some(tracefs)) => Instance::create(tracefs, cpus(&partition.work))
                    .map(Arc::new)
                    .map_err(|error| told(&error)),
                Ok(None) => Err(String::new()),
                Err(because) => Err(because.clone()),
            };
            let cpus = partition.work.tasks().iter().map(|task| task.cpu).collect();
            let is_guest = is_guest(&partition.work);
            Some(Prepared { snare, limit, is_guest, cpus, instance, observing: None })
        };
        let partitions = run.partitions.iter().map(prepare).collect();
        Self { partitions, stop: Arc::new(AtomicBool::new(false)) }
    }

    /// Tells the job of a partition of its snare; returns the files that its process needs.
    pub(crate) fn lay(&self, index: usize, job: &mut Job) -> Vec<OwnedFd> {
        let Some(prepared) = &self.partitions[index] else { return Vec::new() };
        let told = match job {
            Job::Latency(job) => &mut job.snare,
            Job::Program { program, .. } | Job::Guest { program, .. } => &mut program.snare,
            Job::Memory(_) => return Vec::new(),
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

    /// Begins to observe the partitions, which are those of the run.
    pub(crate) fn begin(&mut self, partitions: &[Partition]) {
        for (prepared, partition) in self.partitions.iter_mut().zip(partitions) {
            let Some(prepared) = prepared else { continue };
            let observation = Observation::new(prepared, partition);
            let stop = Arc::clone(&self.stop);
            let thread = thread::Builder::new().name("explain".to_owned());
            prepared.observing = thread.spawn(move || observation.run(&stop)).ok();
        }
    }

    /// Ends the observing; returns what was found, in the order of the run.
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

/// Whether its tasks are those of a guest's own kernel: here one thread, which is all of them.
fn is_guest(work: &Work) -> bool {
    match work {
        Work::Latency(_) => false,
        Work::Program(run) => run.assembly.guest.is_some(),
    }
}

/// The CPUs that the tasks are pinned to; empty if they may move.
fn cpus(work: &Work) -> CpuSet {
    let tasks = work.tasks();
    let pinned: Option<Vec<CpuId>> =
        tasks.iter().map(|task| task.cpu.and_then(CpuId::new)).collect();
    pinned.unwrap_or_default().into_iter().collect()
}

/// An error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    quietcore_units::Causes(error).to_string()
}
