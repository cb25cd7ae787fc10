//! The findings in the evidence before anything is drawn: the same for HTML, JUnit and the
//! terminal.
//!
//! ```text
//! Evidence ─► Summary ─┬─► records     each with its statistics, computed once
//!                      ├─► sections    measurements of probes beside releases
//!                      ├─► partitions  columns (profiles) × rows (classes), overall verdicts
//!                      └─► notices     limitations of the verdicts
//! ```
//!
//! A column is a profile of a partition; where several tasks ran, the worst of them stands for it.
//! The overall verdict of a class is the worst over the columns that keep the reservation. Missing
//! evidence takes part: a profile with the reservation that was asked for and not measured turns
//! PASS into NOT PROVEN. This is the rule of `Evidence::overall`, with the reason beside the
//! verdict.

mod experiment;
mod isolation;
mod matrix;
mod notices;
mod quick_look;
mod stalls;

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::experiment::{Cost, Disturbance, Tuning, costs, disturbances, tuning};
use quietcore_record::isolation::{self as matrices, IsolationMatrix};
use quietcore_record::record::{Record, ReleaseMode, Scan};
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::{Verdict, worst};

use crate::section::{self, Section};

pub(crate) use experiment::{above, achieved, cause, exceedances, set_of, worst as worst_cell};
pub(crate) use isolation::{
    answer as isolation_answer, container as isolation_container, reasons as isolation_reasons,
};
pub use matrix::{
    Cell, ClassRow, Column, Declared, Fastest, Figure, Overall, PartitionSummary, ProgramFault,
};
pub use notices::{Notice, NoticeKind};
pub(crate) use quick_look::{QuickLook, quick_look};
pub(crate) use stalls::{Stall, explain_command, stalls};

/// Keys of `Conditions::machine` that make up the machine in one line, in this order.
const MACHINE_LINE: [&str; 5] = ["cpu_model", "cpus_online", "kernel", "preemption", "hypervisor"];

/// Name of the profile of imported data.
const IMPORTED: &str = "imported";

/// The findings in some evidence, computed once for all renderers.
#[derive(Debug)]
pub struct Summary<'a> {
    /// The evidence that is summarised.
    pub evidence: &'a Evidence,
    /// Each record of releases with its statistics, in the order of the evidence.
    pub records: Vec<RecordSummary<'a>>,
    /// A section for each kind of measurement beside releases.
    pub sections: Vec<Section<'a>>,
    /// Each record of a variant of an experiment with its statistics, in the order of the evidence.
    pub trials: Vec<RecordSummary<'a>>,
    /// Effects of controls, from these records.
    pub tunings: Vec<Tuning>,
    /// Effects of neighbours, from these records.
    pub disturbances: Vec<Disturbance>,
    /// Costs of backends, from these records.
    pub costs: Vec<Cost>,
    /// The isolation matrix of each partition that has one.
    pub isolation: Vec<IsolationMatrix>,
    /// Each partition, in the order of the records; those without a record come last.
    pub partitions: Vec<PartitionSummary<'a>>,
    /// Limitations of the verdicts, the gravest first.
    pub notices: Vec<Notice>,
}

/// A record with its statistics.
#[derive(Debug)]
pub struct RecordSummary<'a> {
    /// The record that is summarised.
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
    /// The scan cycles of the record.
    pub scan: &'a Scan,
    /// Statistics of the execution time.
    pub execution: Statistics,
    /// Statistics of the response time.
    pub response: Statistics,
}

impl RecordSummary<'_> {
    /// Returns the name that tells the record apart from the others of its partition.
    pub fn label(&self) -> String {
        label(self.record)
    }
}

/// Returns `profile · CPU n`, or the last part of the record's name where there is no CPU or what
/// shares it: a task of a program, or one of several contexts that `rtla` has traced on it.
/// Imported data have no profile worth naming.
pub(crate) fn label(record: &Record) -> String {
    let shares_cpu =
        record.scan().is_some() || matches!(record.conditions.mode, ReleaseMode::Traced { .. });
    let task = match record.cpu {
        Some(cpu) if !shares_cpu => format!("CPU {cpu}"),
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

impl<'a> Summary<'a> {
    /// Computes the findings, verdicts and notices of some evidence.
    pub fn of(evidence: &'a Evidence) -> Self {
        let of_releases = |record: &&Record| record.is_of_releases();
        let records: Vec<_> = evidence.records.iter().filter(of_releases).map(summarise).collect();
        let partitions = matrix::partitions(evidence, &records);
        let notices = notices::notices(evidence);
        Self {
            evidence,
            records,
            sections: section::sections(evidence),
            trials: experiment::records(evidence),
            tunings: tuning(&evidence.records),
            disturbances: disturbances(&evidence.records),
            costs: costs(&evidence.records),
            isolation: matrices::matrices(&evidence.records),
            partitions,
            notices,
        }
    }

    /// Returns the verdict on the declared classes: the worst over the partitions; `None` where no
    /// partition declares a class, as for imported data.
    pub fn verdict(&self) -> Option<Verdict> {
        let declared: Vec<_> = self
            .partitions
            .iter()
            .filter_map(|partition| Some(partition.declared.as_ref()?.overall.verdict))
            .collect();
        (!declared.is_empty()).then(|| worst(declared))
    }

    /// Describes the machine in one line; empty where the records know nothing of it.
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

    /// Returns the records of releases, then those of the sections, of which the last comes first,
    /// and then those of experiments.
    pub fn all_records(&self) -> impl Iterator<Item = &RecordSummary<'a>> + Clone {
        let of_sections = self.sections.iter().rev().flat_map(|section| &section.records);
        self.records.iter().chain(of_sections).chain(&self.trials)
    }

    /// Returns `true` if the source of a class gives its largest latency, where that of all others
    /// is a tenth of their cycle.
    pub(crate) fn states_latency(&self) -> bool {
        self.evidence.manifest.classes.iter().any(|class| class.latency_ns.is_some())
    }

    /// Returns the word for a partition: imported data have files instead.
    pub fn partition_word(&self) -> &'static str {
        match self.evidence.manifest.origin {
            Origin::Import => "File",
            Origin::Campaign | Origin::Probe => "Partition",
        }
    }

    /// Returns `true` if the time of any record is emulated, so that none of its numbers counts.
    pub fn is_emulated(&self) -> bool {
        self.notices.iter().any(|notice| notice.kind == NoticeKind::Emulated)
    }
}

pub(crate) fn summarise(record: &Record) -> RecordSummary<'_> {
    let wakeup = record
        .wakeup
        .as_ref()
        .filter(|wakeup| wakeup.count() > 0 && **wakeup != record.release)
        .map(Statistics::of_histogram);
    let scan = record.scan().map(|scan| ScanSummary {
        scan,
        execution: Statistics::of_histogram(&scan.execution),
        response: Statistics::of_histogram(&scan.response),
    });
    RecordSummary { record, statistics: Statistics::of(record), wakeup, scan }
}

#[cfg(test)]
mod tests;
