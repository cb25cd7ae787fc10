//! The work of a partition in a run: the probe `latency`, or its own program. Pure.

use std::sync::Arc;

use quietcore_assembly::Assembly;
use quietcore_backend::job::{Job, latency_shape};
use quietcore_exchange::Shape;
use quietcore_probe::job::LatencyJob;
use quietcore_record::record::check::Injected;
use quietcore_record::record::{ReleaseMode, ScanTerms};
use quietcore_site::{Length, Partition};
use quietcore_units::{ByteSize, CpuId, CpuSet, Nanos, ReleaseRule, Scheduling, Wake};

/// The work of a partition.
#[derive(Clone, Debug)]
pub enum PartitionWork {
    /// The probe `latency`.
    Latency(LatencyJob),
    /// The partition's own program, in its scan cycle: the probe `exec`.
    Program(Box<ProgramRun>),
}

/// A program as it runs in a campaign: from its beginning, without anything that an earlier run
/// retained, and without a restart after a fault.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// The program with its tasks and its fieldbus.
    pub assembly: Arc<Assembly>,
    /// The folder that it was built from, as the site file names it.
    pub model: String,
    /// The period of its fastest task.
    pub period: Nanos,
    /// The CPU that all its tasks are pinned to; `None` if they may move.
    pub cpu: Option<u32>,
    /// The other CPUs that are reserved for it; empty if its tasks may move.
    pub unused: CpuSet,
    /// Releases of the leading task to measure; `None` where the length is a time.
    pub cycles: Option<u64>,
    /// Time of the measured part, without the warm-up.
    pub measured: Nanos,
    /// Releases of the leading task before the measured ones.
    pub warm_up_cycles: u64,
}

/// A task of a partition, as its record describes it.
#[derive(Clone, Debug)]
pub(crate) struct TaskRun {
    /// The last part of its record's name.
    pub(crate) label: String,
    /// The CPU that it is pinned to; `None` if it may move.
    pub(crate) cpu: Option<u32>,
    /// The time between its releases; `None` where it has no period.
    pub(crate) period: Option<Nanos>,
    /// Releases to measure; 0 where their number can't be known.
    pub(crate) planned_cycles: u64,
    /// Scheduling policy and priority that it asks for.
    pub(crate) policy: Scheduling,
    /// `true` if it wakes before its release.
    pub(crate) wakes_early: bool,
    /// Way in which its releases are made.
    pub(crate) mode: ReleaseMode,
    /// Terms that its cycles are held to; `None` for the probe.
    pub(crate) terms: Option<ScanTerms>,
}

impl PartitionWork {
    /// Returns the job of the partition's process, and the shape of its exchange.
    pub(crate) fn job(&self) -> (Job, Shape) {
        match self {
            Self::Latency(job) => (Job::Latency(job.clone()), latency_shape(job)),
            Self::Program(run) => (run.job(), run.assembly.shape),
        }
    }

    /// Returns the memory that is reserved for its process; `None` where none is.
    pub(crate) fn memory(&self) -> Option<ByteSize> {
        match self {
            Self::Latency(job) => job.memory,
            Self::Program(run) => run.assembly.job.memory,
        }
    }

    /// Returns the time that it takes, warm-up included.
    pub fn duration(&self) -> Nanos {
        match self {
            Self::Latency(job) => job.period * (job.cycles + job.warm_up_cycles),
            Self::Program(run) => run.measured + run.lead_interval() * run.warm_up_cycles,
        }
    }

    /// Returns the time that is measured, without the warm-up.
    pub(crate) fn measured(&self) -> Nanos {
        match self {
            Self::Latency(job) => job.period * job.cycles,
            Self::Program(run) => run.measured,
        }
    }

    /// Returns the releases of all its tasks together, as far as they are known beforehand.
    pub fn cycles(&self) -> u64 {
        let tasks = self.tasks();
        tasks.iter().fold(0, |sum, task| u64::saturating_add(sum, task.planned_cycles))
    }

    /// Returns the CPUs that its tasks are pinned to.
    pub(crate) fn pinned_cpus(&self) -> CpuSet {
        let tasks = self.tasks();
        tasks.iter().filter_map(|task| CpuId::new(task.cpu?)).collect()
    }

    /// Returns `true` if its leading task drives a fieldbus.
    pub(crate) fn has_fieldbus(&self) -> bool {
        matches!(self, Self::Program(run) if run.assembly.fieldbus.is_some())
    }

    /// Reads the SHA-256 of its program's module; `None` without one.
    pub(crate) fn module_sha256(&self) -> Option<String> {
        match self {
            Self::Latency(_) => None,
            Self::Program(run) => run.assembly.first.build.module_sha256(),
        }
    }

    /// Returns the name of the probe in its records.
    pub(crate) const fn probe(&self) -> &'static str {
        match self {
            Self::Latency(_) => "latency",
            Self::Program(_) => "exec",
        }
    }

    /// Returns the delay that is injected, for the self-check.
    pub(crate) fn injected(&self) -> Option<Injected> {
        let Self::Latency(job) = self else { return None };
        job.injection.map(|injection| Injected {
            delay_ns: injection.delay.get(),
            release: injection.release,
        })
    }

    /// Lists its tasks, in the order of its exchange.
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
    /// Makes the program of a partition, `length` long; `pinned` if the profile keeps its CPU.
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
        // Only a cyclic task has cycles whose duration is known beforehand.
        let counted = run.leads_by_clock() || matches!(length, Length::Cycles(_));
        run.cycles = counted.then(|| length.cycles(lead).max(1));
        run
    }

    fn job(&self) -> Job {
        let mut program = self.assembly.job.clone();
        program.cpu = self.cpu;
        program.cycles = self.cycles;
        program.warm_up_cycles = self.warm_up_cycles;
        Job::of_program(program, self.assembly.fieldbus.clone())
    }

    fn leads_by_clock(&self) -> bool {
        self.assembly.tasks.first().is_some_and(|task| task.release.rule.period().is_some())
    }

    /// Returns the time from one release of the leading task to the next; where that task has no
    /// period, the period of the program.
    fn lead_interval(&self) -> Nanos {
        let lead = self.assembly.tasks.first().and_then(|task| task.release.rule.period());
        lead.unwrap_or(self.period)
    }

    /// Lists its tasks, followed by those of its kernel.
    fn tasks(&self) -> Vec<TaskRun> {
        let tasks = self.assembly.tasks.iter().zip(&self.assembly.job.tasks).enumerate();
        let of_kernel = self.assembly.job.kernel_tasks.iter();
        tasks
            .map(|(number, (task, job))| TaskRun {
                label: task.name.clone(),
                cpu: self.cpu,
                period: task.release.rule.period(),
                planned_cycles: match (number, task.release.rule.period()) {
                    (0, _) => self.cycles.unwrap_or(0),
                    (_, Some(period)) => self.measured.whole_times(period),
                    (_, None) => 0,
                },
                policy: job.policy,
                wakes_early: !matches!(job.wake, Wake::Sleep),
                mode: match task.release.rule {
                    ReleaseRule::Cyclic { .. } => ReleaseMode::timer(job.wake),
                    _ => ReleaseMode::not_timed(task.release.to_string()),
                },
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

    /// Describes a task of the program's kernel, which runs in the thread of the leading task.
    fn kernel_task(&self, name: &str, deadline: Option<Nanos>) -> TaskRun {
        TaskRun {
            label: name.to_owned(),
            cpu: self.cpu,
            period: None,
            planned_cycles: 0,
            policy: self.assembly.job.tasks[0].policy,
            wakes_early: false,
            mode: ReleaseMode::Kernel,
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
        mode: ReleaseMode::timer(job.wake),
        terms: None,
    }
}
