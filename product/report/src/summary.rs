//! What the evidence says, before anything is drawn: the same for HTML, JUnit and the terminal.
//!
//! ```text
//! Evidence ─► Summary ─┬─► records     each with its statistics, computed once
//!                      ├─► kernels     routines × runs, which no class judges
//!                      ├─► partitions  columns (profiles) × rows (classes), overall verdicts
//!                      └─► notices     what takes something away from the verdicts
//! ```
//!
//! A column is a profile of a partition; where several tasks ran, the worst of them stands for it.
//! The overall verdict of a class is the worst over the columns that keep the reservation. Missing
//! evidence takes part: a profile with the reservation that was asked for and not measured makes
//! PASS to NOT PROVEN. It is the rule of `Evidence::overall`, with the reason beside the verdict.

mod experiment;
mod interrupts;
mod isolation;
mod matrix;
mod memory;
mod notices;
mod quick_look;
mod round_trips;
mod routines;
mod stalls;

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::experiment::{Disturbance, Tuning, disturbances, tuning};
use quietcore_record::isolation::{self as matrices, IsolationMatrix};
use quietcore_record::record::{Record, Scan};
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::{Verdict, worst};

pub(crate) use experiment::{achieved, cause, set_of, worst as worst_cell};
pub use interrupts::{Beside, InterruptLine, beside, lines};
pub(crate) use isolation::{
    answer as isolation_answer, container as isolation_container, reasons as isolation_reasons,
};
pub use matrix::{
    Cell, ClassRow, Column, Declared, Fastest, Figure, Overall, PartitionSummary, ProgramFault,
};
pub use memory::{CurveSummary, MemorySummary, Plateau, published_worst};
pub use notices::{Notice, NoticeKind};
pub(crate) use quick_look::{QuickLook, quick_look};
pub use round_trips::{losses, rates};
pub use routines::{KernelSummary, RoutineCell, RoutineRow, RoutineSet};
pub(crate) use stalls::{Stall, explain_command, stalls};

/// Keys of `Conditions::machine` that make up the machine in one line, in this order.
const MACHINE_LINE: [&str; 5] = ["cpu_model", "cpus_online", "kernel", "preemption", "hypervisor"];

/// The profile of imported data.
const IMPORTED: &str = "imported";

/// What the evidence says.
#[derive(Debug)]
pub struct Summary<'a> {
    /// The evidence.
    pub evidence: &'a Evidence,
    /// Each record of releases with its statistics, in the order of the evidence.
    pub records: Vec<RecordSummary<'a>>,
    /// Each record of a kernel's routine, in the same order.
    pub routines: Vec<RecordSummary<'a>>,
    /// Each record of an interrupt, in the same order.
    pub interrupts: Vec<RecordSummary<'a>>,
    /// Each record of round trips of frames, in the same order.
    pub round_trips: Vec<RecordSummary<'a>>,
    /// Each record of accesses to memory, in the same order.
    pub accesses: Vec<RecordSummary<'a>>,
    /// What these say together.
    pub memory: MemorySummary<'a>,
    /// Each record of a variant of an experiment, in the same order.
    pub trials: Vec<RecordSummary<'a>>,
    /// What controls do, by those.
    pub tunings: Vec<Tuning>,
    /// What neighbours do, by those.
    pub disturbances: Vec<Disturbance>,
    /// The isolation matrix of each partition that has one.
    pub isolation: Vec<IsolationMatrix>,
    /// The routines of each kernel as a table.
    pub kernels: Vec<KernelSummary<'a>>,
    /// Each partition, in the order of the records; those without a record come last.
    pub partitions: Vec<PartitionSummary<'a>>,
    /// What takes something away from the verdicts, the gravest first.
    pub notices: Vec<Notice>,
}

/// A record with its statistics.
#[derive(Debug)]
pub struct RecordSummary<'a> {
    /// The record.
    pub record: &'a Record,
    /// Statistics of the release latency.
    pub statistics: Statistics,
    /// Statistics of the wake-up latency; `None` where there is none or it equals the release
    /// latency, as in mode `sleep`.
    pub wakeup: Option<Statistics>,
    /// Statistics of the program's scan cycles; `None` where the probe ran alone.
    pub scan: Option<ScanSummary<'a>>,
}

/// The scan cycles of a program with their statistics.
#[derive(Debug)]
pub struct ScanSummary<'a> {
    /// The scan cycles.
    pub scan: &'a Scan,
    /// Statistics of the execution time.
    pub execution: Statistics,
    /// Statistics of the response time.
    pub response: Statistics,
}

impl RecordSummary<'_> {
    /// `profile · CPU n`, or what the name says where there is no CPU or a task of a program: tasks
    /// share CPUs. Imported data have no profile worth naming.
    pub fn label(&self) -> String {
        let record = self.record;
        let task = match record.cpu {
            Some(cpu) if self.scan.is_none() => format!("CPU {cpu}"),
            _ => record
                .name
                .strip_prefix(&format!("{}.{}.", record.partition, record.profile))
                .or_else(|| record.name.strip_prefix(&format!("{}.", record.partition)))
                .unwrap_or(&record.name)
                .to_owned(),
        };
        if task == record.profile || record.profile == IMPORTED {
            return task;
        }
        format!("{} · {task}", record.profile)
    }
}

impl<'a> Summary<'a> {
    /// Summarises the evidence.
    pub fn of(evidence: &'a Evidence) -> Self {
        let of_releases = |record: &&Record| record.is_of_releases();
        let records: Vec<_> = evidence.records.iter().filter(of_releases).map(summarise).collect();
        let partitions = matrix::partitions(evidence, &records);
        let notices = notices::notices(evidence);
        let (routines, kernels) = (routines::records(evidence), routines::kernels(evidence));
        let interrupts = interrupts::records(evidence);
        let (accesses, memory) = (memory::records(evidence), MemorySummary::of(evidence));
        Self {
            evidence,
            records,
            routines,
            interrupts,
            round_trips: round_trips::records(evidence),
            accesses,
            memory,
            trials: experiment::records(evidence),
            tunings: tuning(&evidence.records),
            disturbances: disturbances(&evidence.records),
            isolation: matrices::matrices(&evidence.records),
            kernels,
            partitions,
            notices,
        }
    }

    /// The verdict on what was declared: the worst over the partitions; `None` where no partition
    /// declares a class, as for imported data.
    pub fn verdict(&self) -> Option<Verdict> {
        let declared: Vec<_> = self
            .partitions
            .iter()
            .filter_map(|partition| Some(partition.declared.as_ref()?.overall.verdict))
            .collect();
        (!declared.is_empty()).then(|| worst(declared))
    }

    /// The machine in one line; empty where the records know nothing of it.
    pub fn machine_line(&self) -> String {
        let Some(first) = self.all_records().next() else {
            return String::new();
        };
        let facts = &first.record.conditions.machine;
        let parts: Vec<String> = MACHINE_LINE
            .iter()
            .filter_map(|key| Some((key, facts.get(*key)?)))
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| match *key {
                "cpus_online" => format!("CPUs {value}"),
                "kernel" if !value.starts_with("Linux") => format!("Linux {value}"),
                "preemption" if !value.starts_with("PREEMPT") => format!("preemption {value}"),
                "hypervisor" if value == "none" => "no hypervisor".to_owned(),
                "hypervisor" => format!("under {value}"),
                _ => value.clone(),
            })
            .collect();
        parts.join(" · ")
    }

    /// The records of releases, then those of routines, of interrupts, of round trips, of accesses
    /// to memory and of experiments.
    pub fn all_records(&self) -> impl Iterator<Item = &RecordSummary<'a>> + Clone {
        let others = self.routines.iter().chain(&self.interrupts).chain(&self.accesses);
        let others = others.chain(&self.round_trips).chain(&self.trials);
        self.records.iter().chain(others)
    }

    /// What a partition is called: imported data have files instead.
    pub fn partition_word(&self) -> &'static str {
        match self.evidence.manifest.origin {
            Origin::Import => "File",
            Origin::Campaign | Origin::Probe => "Partition",
        }
    }

    /// Whether the time of any record is emulated: then no number in it is one.
    pub fn is_emulated(&self) -> bool {
        self.notices.iter().any(|notice| notice.kind == NoticeKind::Emulated)
    }
}

fn summarise(record: &Record) -> RecordSummary<'_> {
    let wakeup = record
        .wakeup
        .as_ref()
        .filter(|wakeup| wakeup.count() > 0 && **wakeup != record.release)
        .map(Statistics::of_histogram);
    let scan = record.scan.as_ref().map(|scan| ScanSummary {
        scan,
        execution: Statistics::of_histogram(&scan.execution),
        response: Statistics::of_histogram(&scan.response),
    });
    RecordSummary { record, statistics: Statistics::of(record), wakeup, scan }
}

#[cfg(test)]
mod tests;
