//! What a partition does in a run: the probe `latency`, or its own program. Pure.

use std::sync::Arc;

use quietcore_assembly::Assembly;
use quietcore_backend::job::{Job, latency_shape};
use quietcore_exchange::Shape;
use quietcore_probe::job::{LatencyJob, Wake};
use quietcore_process::setting::Policy;
use quietcore_record::record::check::Injected;
use quietcore_record::record::{ScanTerms, WakeKind};
use quietcore_site::{Length, Partition, Release};
use quietcore_units::{ByteSize, CpuId, CpuSet, Nanos};

/// The work of a partition.
#[derive(Clone, Debug)]
pub enum Work {
    /// The probe `latency`.
    Latency(LatencyJob),
    /// The partition's own program, in its scan cycle: the probe `exec`.
    Program(Box<ProgramRun>),
}

/// A program as it runs in a campaign: from its beginning, without anything that an earlier run
/// retained, and not restarted after a fault.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// The program with its tasks and its fieldbus.
    pub assembly: Arc<Assembly>,
    /// The folder that it was built from, as the site file names it.
    pub model: String,
    /// The period of its fastest task.
    pub period: Nanos,
    /// The CPU that all its tasks are pinned to; none if they may move.
    pub cpu: Option<u32>,
    /// The other CPUs that are reserved for it; empty if its tasks may move.
    pub unused: CpuSet,
    /// Releases of the leading task to measure; none where its length is a time.
    pub cycles: Option<u64>,
    /// How long that takes.
    pub measured: Nanos,
    /// Releases of the leading task before those.
    pub warm_up_cycles: u64,
}

/// A task of a partition, as its record is made.
#[derive(Clone, Debug)]
pub(crate) struct TaskRun {
    /// The last part of its record's name.
    pub(crate) label: String,
    /// The CPU that it is pinned to.
    pub(crate) cpu: Option<u32>,
    /// The time between its releases.
    pub(crate) period: Option<Nanos>,
    /// Its releases; 0 where that can't be known.
    pub(crate) planned_cycles: u64,
    /// What it asks of the scheduler.
    pub(crate) policy: Policy,
    /// Whether it wakes before its release.
    pub(crate) wakes_early: bool,
    /// How its releases are made, in words.
    pub(crate) mode: String,
    /// How it waits for a release; `None` where no timer makes them.
    pub(crate) wake: Option<WakeKind>,
    /// What it is held to; `None` for the probe.
    pub(crate) terms: Option<ScanTerms>,
}

impl Work {
    /// What the partition's process is told, and what its exchange must have room for.
    pub(crate) fn job(&self) -> (Job, Shape) {
        match self {
            Self::Latency(job) => (Job::Latency(job.clone()), latency_shape(job)),
            Self::Program(run) => (run.job(), run.assembly.shape),
        }
    }

    /// The memory that is reserved for its process; `None` for a guest, which has its own.
    pub(crate) fn memory(&self) -> Option<ByteSize> {
        match self {
            Self::Latency(job) => job.memory,
            Self::Program(run) if run.assembly.guest.is_none() => run.assembly.job.memory,
            Self::Program(_) => None,
        }
    }

    /// How long it takes, warm-up included.
    pub fn duration(&self) -> Nanos {
        match self {
            Self::Latency(job) => job.period * (job.cycles + job.warm_up_cycles),
            Self::Program(run) => run.measured + run.lead_interval() * run.warm_up_cycles,
        }
    }

    /// The releases of all its tasks together, as far as they are known beforehand.
    pub fn cycles(&self) -> u64 {
        let tasks = self.tasks();
        tasks.iter().fold(0, |sum, task| u64::saturating_add(sum, task.planned_cycles))
    }

    /// The CPUs that its tasks are pinned to.
    pub fn pinned_cpus(&self) -> CpuSet {
        let tasks = self.tasks();
        tasks.iter().filter_map(|task| CpuId::new(task.cpu?)).collect()
    }

    /// Whether its leading task drives a fieldbus.
    pub(crate) fn has_fieldbus(&self) -> bool {
        matches!(self, Self::Program(run) if run.assembly.fieldbus.is_some())
    }

    /// What its records are named after.
    pub(crate) const fn probe(&self) -> &'static str {
        match self {
            Self::Latency(_) => "latency",
            Self::Program(_) => "exec",
        }
    }

    /// The delay that is injected, for the self-check.
    pub fn injected(&self) -> Option<Injected> {
        let Self::Latency(job) = self else { return None };
        job.injection.map(|injection| Injected {
            delay_ns: injection.delay.get(),
            release: injection.release,
        })
    }

    /// Its tasks, in the order of its exchange.
    pub(crate) fn tasks(&self) -> Vec<TaskRun> {
        match self {
            Self::Latency(job) => {
                let cpus = job.cpus.iter().enumerate();
                cpus.map(|(number, cpu)| probe_task(job, number, *cpu)).collect()
            }
            Self::Program(run) => run.tasks(),
        }
    }
}

impl ProgramRun {
    /// The program of a partition, `length` long; `pinned` where the profile keeps its CPU.
    pub fn new(
        partition: &Partition,
        assembly: &Arc<Assembly>,
        pinned: bool,
        length: Length,
        warm_up: Nanos,
    ) -> Self {
        let mut run = Self {
            assembly: Arc::clone(assembly),
            model: partition.program.model.clone().unwrap_or_default(),
            period: partition.program.period,
            cpu: assembly.job.cpu.filter(|_| pinned),
            unused: if pinned { partition.cpus_unused() } else { CpuSet::EMPTY },
            cycles: None,
            measured: Nanos::ZERO,
            warm_up_cycles: 0,
        };
        let lead = run.lead_interval();
        run.warm_up_cycles = warm_up.whole_times(lead);
        run.measured = length.duration(lead);
        // How long a cycle takes is known beforehand of a cyclic task only.
        let counted = run.leads_by_clock() || matches!(length, Length::Cycles(_));
        run.cycles = counted.then(|| length.cycles(lead).max(1));
        run
    }

    fn job(&self) -> Job {
        let mut program = self.assembly.job.clone();
        program.cpu = self.cpu;
        program.cycles = self.cycles;
        program.warm_up_cycles = self.warm_up_cycles;
        Job::of_program(program, self.assembly.fieldbus.clone(), self.assembly.guest.as_ref())
    }

    fn leads_by_clock(&self) -> bool {
        self.assembly.tasks.first().is_some_and(|task| task.release.period().is_some())
    }

    /// The time from one release of the leading task to the next; where it has no period, that of
    /// the program.
    fn lead_interval(&self) -> Nanos {
        let lead = self.assembly.tasks.first().and_then(|task| task.release.period());
        lead.unwrap_or(self.period)
    }

    /// Its tasks, and behind them those of its kernel.
    fn tasks(&self) -> Vec<TaskRun> {
        let tasks = self.assembly.tasks.iter().zip(&self.assembly.job.tasks).enumerate();
        let of_kernel = self.assembly.job.kernel_tasks.iter();
        tasks
            .map(|(number, (task, job))| TaskRun {
                label: task.name.clone(),
                cpu: self.cpu,
                period: task.release.period(),
                planned_cycles: match (number, task.release.period()) {
                    (0, _) => self.cycles.unwrap_or(0),
                    (_, Some(period)) => self.measured.whole_times(period),
                    (_, None) => 0,
                },
                policy: job.policy,
                wakes_early: !matches!(job.wake, Wake::Sleep),
                mode: match task.release {
                    Release::Cyclic { .. } => mode(job.wake),
                    _ => task.release.to_string(),
                },
                wake: task.release.period().map(|_| wake_kind(job.wake)),
                terms: Some(ScanTerms {
                    program_period_ns: self.period.get(),
                    deadline_ns: task.deadline.map(Nanos::get),
                    watchdog_ns: Some(job.watchdog.get()),
                    by_kernel: false,
                }),
            })
            .chain(of_kernel.map(|task| self.kernel_task(&task.name, task.deadline)))
            .collect()
    }

    /// A task of the program's kernel: it runs in the thread of the leading task.
    fn kernel_task(&self, name: &str, deadline: Option<Nanos>) -> TaskRun {
        TaskRun {
            label: name.to_owned(),
            cpu: self.cpu,
            period: None,
            planned_cycles: 0,
            policy: self.assembly.job.tasks[0].policy,
            wakes_early: false,
            mode: "released by the program's kernel".to_owned(),
            wake: None,
            terms: Some(ScanTerms {
                program_period_ns: self.period.get(),
                deadline_ns: deadline.map(Nanos::get),
                watchdog_ns: None,
                by_kernel: true,
            }),
        }
    }
}

fn probe_task(job: &LatencyJob, number: usize, cpu: Option<u32>) -> TaskRun {
    TaskRun {
        label: match cpu {
            Some(cpu) => format!("cpu{cpu}"),
            None => format!("task{number}"),
        },
        cpu,
        period: Some(job.period),
        planned_cycles: job.cycles,
        policy: job.policy,
        wakes_early: !matches!(job.wake, Wake::Sleep),
        mode: mode(job.wake),
        wake: Some(wake_kind(job.wake)),
        terms: None,
    }
}

/// How a task waits for its release.
pub fn wake_kind(wake: Wake) -> WakeKind {
    match wake {
        Wake::Sleep => WakeKind::Sleep,
        Wake::Spin => WakeKind::Spin,
        Wake::Early(_) | Wake::Adaptive { .. } => WakeKind::Early,
    }
}

/// How releases are made, in words.
pub fn mode(wake: Wake) -> String {
    match wake {
        Wake::Sleep => "sleep".to_owned(),
        Wake::Spin => "spin: it never sleeps".to_owned(),
        Wake::Early(margin) => format!("early wake, {margin} before the release"),
        Wake::Adaptive { share_percent } => {
            format!("early wake, learned margin, at most {share_percent} % of the core")
        }
    }
}
