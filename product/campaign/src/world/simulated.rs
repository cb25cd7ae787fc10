//! A world for tests, in which time passes only when somebody sleeps.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_backend::job::Job;
use quietcore_backend::process::{
    ExitCounts, PartitionError, Printed, PrintedLines, Room, ThreadNumbers,
};
use quietcore_clock::{Clock, FakeClock};
use quietcore_evidence::Writer;
use quietcore_exchange::{Recorder, Region, Release, Shape, TaskState, TaskStatistics};
use quietcore_host::running_partitions::RunningPartition;
use quietcore_probe::job::LatencyJob;
use quietcore_process::exchange::Exchange;
use quietcore_record::class::catalogue;
use quietcore_record::record::{Platform, Record, TimeReality};
use quietcore_settings::HeldShare;
use quietcore_site::Site;
use quietcore_units::{ByteSize, CpuSet, Nanos, SchedulingPolicy, ThreadSettings};

use super::{Process, World};

mod neighbour;

use crate::campaign::{Asked, Campaign};
use crate::measure::Machine;
use crate::observer::{Advance, Observer, Progress};
use crate::programs::Programs;
use crate::run::{self, Run};
pub(crate) use neighbour::Fate;
use neighbour::SimulatedNeighbour;

/// Two profiles of one minute each, at a period of 1 ms.
pub(crate) const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "motion-control"

[partition.vcr]
cpus = [1]

[campaign]
profiles = ["tp1", "tp2"]
duration = "60 s"
exceedance = 1e-3
"#;

/// Returns the site of [`SITE`].
pub(crate) fn site() -> Site {
    quietcore_site::read("press.toml", SITE.as_bytes(), &catalogue()).expect("it is a site")
}

/// Returns the runs of [`SITE`], without loads, which are not simulated.
pub(crate) fn runs() -> Vec<Run> {
    let mut runs = run::runs(&site(), "", CpuSet::EMPTY, &Programs::default());
    runs.iter_mut().for_each(|run| run.loads.clear());
    runs
}

/// Begins a campaign of [`SITE`] in a new evidence folder.
pub(crate) fn begun(root: &Path) -> Campaign {
    let site = site();
    let asked = Asked {
        site: &site,
        site_bytes: SITE.as_bytes(),
        site_folder: None,
        started_at: "2026-01-02T03:04:05Z",
        length: None,
        limits: Vec::new(),
        left_out: Vec::new(),
    };
    let writer = Writer::create(root).expect("a new folder");
    Campaign::begin(writer, asked, runs(), Vec::new()).expect("a campaign")
}

/// An observer that interrupts a run.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The flag to be set, and the number of looks before that.
    pub(crate) stop: Option<(Arc<AtomicBool>, u32)>,
}

impl Observer for Told {
    fn step(&mut self, _: &str) {}
    fn tell(&mut self, _: &str) {}
    fn begin(&mut self, _: &Run) {}
    fn progress(&mut self, _: Progress) {
        let Some((stop, looks)) = &mut self.stop else { return };
        match looks.checked_sub(1) {
            Some(left) => *looks = left,
            None => stop.store(true, Ordering::Relaxed),
        }
    }
    fn fault(&mut self, _: &Run, _: &str, _: &str) {}
    fn advance(&mut self, _: &Advance<'_>) {}
    fn end(&mut self, _: &Run, _: &[Record]) {}
    fn failed(&mut self, _: &Run, because: &str) {
        panic!("{because}");
    }
}

/// The instant at which time begins.
const BEGIN: Nanos = Nanos::from_secs(1);
/// The latency of each release.
const LATENCY: Nanos = Nanos::from_micros(7);

/// A machine with a clock of its own, whose partitions are on time, or hang.
#[derive(Debug)]
pub(crate) struct Simulated {
    clock: Rc<FakeClock>,
    hangs: bool,
    /// Time from the start of a partition to its first cycle.
    boots: Nanos,
    /// Fate of all neighbours.
    fate: Fate,
    /// Number of partitions that were started and stopped.
    counts: Rc<(Cell<u32>, Cell<u32>)>,
}

impl Simulated {
    /// Makes one in which nothing is late and nothing hangs.
    pub(crate) fn on_time() -> Self {
        Self::oversleeping([])
    }

    /// Makes one in which the sleeps end late by these times, in turn.
    pub(crate) fn oversleeping(oversleeps: impl IntoIterator<Item = Nanos>) -> Self {
        // Not at 0, which stands for "none" in an exchange.
        let clock = FakeClock::new(BEGIN, Nanos::ZERO, oversleeps);
        let (boots, fate) = (Nanos::ZERO, Fate::Works);
        Self { clock: Rc::new(clock), hangs: false, boots, fate, counts: Rc::default() }
    }

    /// Makes one whose partitions don't end.
    pub(crate) fn hanging() -> Self {
        Self { hangs: true, ..Self::on_time() }
    }

    /// Makes one whose partitions boot for this long.
    pub(crate) fn booting(boots: Nanos) -> Self {
        Self { boots, ..Self::on_time() }
    }

    /// Makes one in which neighbours have this fate.
    pub(crate) fn beside(fate: Fate) -> Self {
        Self { fate, ..Self::on_time() }
    }

    /// Gives a machine in this world, without settings that could be changed, to `measure`.
    pub(crate) fn with_machine<T>(&self, measure: impl FnOnce(&Machine<'_>) -> T) -> T {
        measure(&Machine {
            world: self,
            runtime: Path::new("quietcore-runtime"),
            conditions: &BTreeMap::new(),
            platform: &Platform::default(),
            time: &TimeReality::Native,
            emulated: None,
            guests_interpreted: None,
            dma_latency_held: true,
            container_folder: None,
            controls: None,
            time_of_day: || "2026-01-02T03:04:05Z".to_owned(),
        })
    }

    /// Returns the time that has passed.
    pub(crate) fn passed(&self) -> Nanos {
        self.clock.now().saturating_sub(BEGIN)
    }

    /// Returns the number of partitions that were started, and of those that were stopped.
    pub(crate) fn counts(&self) -> (u32, u32) {
        (self.counts.0.get(), self.counts.1.get())
    }
}

impl World for Simulated {
    fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn partitions_but(&self, _: &[u32]) -> Vec<RunningPartition> {
        Vec::new()
    }

    fn start(
        &self,
        _: &Path,
        job: &Job,
        shape: &Shape,
        _: Vec<OwnedFd>,
        _: &Room,
    ) -> Result<Box<dyn Process>, PartitionError> {
        self.counts.0.set(self.counts.0.get() + 1);
        let job = match job {
            Job::Latency(job) => job,
            Job::Neighbour(job) => {
                let exchange = Arc::new(Exchange::create(shape)?);
                let (clock, counts) = (Rc::clone(&self.clock), Rc::clone(&self.counts));
                let neighbour = SimulatedNeighbour::new(job, self.fate, clock, exchange, counts);
                return Ok(Box::new(neighbour));
            }
            other => panic!("only releases and neighbours are simulated: {other:?}"),
        };
        // It lives as long as the test, so that its recorders may be kept beside it.
        let exchange: &'static Arc<Exchange> =
            Box::leak(Box::new(Arc::new(Exchange::create(shape)?)));
        let region = exchange.region();
        let tasks = (0..job.cpus.len() as u32).filter_map(|task| region.task(task));
        Ok(Box::new(SimulatedProcess {
            clock: Rc::clone(&self.clock),
            begun: self.clock.now() + self.boots,
            recorders: tasks.map(|task| Recorder::new(task, job.period, 1)).collect(),
            recorded: 0,
            job: job.clone(),
            hangs: self.hangs,
            exchange,
            counts: Rc::clone(&self.counts),
        }))
    }
}

/// A process of the probe `latency`, which records its cycles as time passes.
struct SimulatedProcess {
    clock: Rc<FakeClock>,
    begun: Nanos,
    recorders: Vec<Recorder<'static>>,
    /// Number of cycles that were recorded.
    recorded: u64,
    job: LatencyJob,
    hangs: bool,
    exchange: &'static Arc<Exchange>,
    counts: Rc<(Cell<u32>, Cell<u32>)>,
}

impl SimulatedProcess {
    /// Brings the exchange up to the present instant.
    fn catch_up(&mut self) {
        let has_ended = self.exchange.region().tasks().all(|task| task.state().has_ended());
        if self.clock.now() < self.begun || has_ended {
            return;
        }
        let passed = self.clock.now().saturating_sub(self.begun).whole_times(self.job.period);
        let is_done = passed >= self.job.cycles;
        let state = match self.exchange.region().stop_requested() {
            _ if self.hangs => TaskState::Running,
            _ if is_done => TaskState::Finished,
            true => TaskState::Stopped,
            false => TaskState::Running,
        };
        let due = if self.hangs { 0 } else { passed.min(self.job.cycles) };
        for (recorder, cpu) in self.recorders.iter_mut().zip(&self.job.cpus) {
            recorder.set_first_release(self.begun);
            for cycle in self.recorded..due {
                let due = self.begun + self.job.period * cycle;
                recorder.record(&Release {
                    due,
                    started: due + LATENCY,
                    wakeup_latency: LATENCY,
                    margin: Nanos::ZERO,
                    spin: Nanos::ZERO,
                    cpu: cpu.unwrap_or_default(),
                });
            }
            recorder.set_state(state);
        }
        self.recorded = due;
    }
}

impl Process for SimulatedProcess {
    fn exchange(&self) -> Arc<Exchange> {
        Arc::clone(self.exchange)
    }

    fn region(&self) -> Region<'_> {
        self.exchange.region()
    }

    fn process_id(&self) -> u32 {
        0
    }

    fn thread_numbers(&self) -> ThreadNumbers {
        ThreadNumbers::default()
    }

    fn tasks_are_threads(&self) -> bool {
        true
    }

    fn exit_counts(&self) -> Option<ExitCounts> {
        None
    }

    fn share(&self) -> Option<&HeldShare> {
        None
    }

    fn read_back(&self, _: &TaskStatistics) -> io::Result<ThreadSettings> {
        let affinity = self.job.cpus.iter().flatten().map(ToString::to_string).next();
        Ok(ThreadSettings {
            policy: SchedulingPolicy::Fifo { priority: 90 },
            affinity: affinity.map_or(CpuSet::EMPTY, |cpu| cpu.parse().expect("it is a CPU")),
            locked: ByteSize::new(1 << 20),
        })
    }

    fn has_ended(&mut self) -> Result<bool, PartitionError> {
        self.catch_up();
        Ok(self.region().tasks().all(|task| task.state().has_ended()))
    }

    fn request_stop(&self) {
        self.region().request_stop();
    }

    fn stop(&mut self) -> Result<(), PartitionError> {
        self.counts.1.set(self.counts.1.get() + 1);
        Ok(())
    }

    fn take_remarks(&self) -> String {
        String::new()
    }

    fn printed(&self) -> Printed {
        Printed::default()
    }

    fn take_printed(&self) -> PrintedLines {
        PrintedLines::default()
    }
}
