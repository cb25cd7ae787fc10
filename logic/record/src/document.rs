//! The evidence document: what `quietcore show --json` prints and an evidence folder keeps beside
//! its records.
//!
//! Its schema is [`EVIDENCE_SCHEMA`] and published as JSON Schema. A quantile that is only known as
//! a bound is `{"at_least": N}`; one that the sample doesn't carry is `null`. Readers must pass
//! over keys that they don't know; keys may be added under the same schema name, never removed or
//! changed. Once, figures changed: the extremes of no values were 0 and are `null`.

use serde::{Deserialize, Serialize};

use crate::experiment::{self, Cost, Disturbance, Tuning};
use crate::isolation::{self, IsolationMatrix};
use crate::ledger::Ledgers;
use crate::reason::Reason;
use crate::record::{
    ConditionsEntry, InterruptEntry, InterruptRun, KernelErrors, MemoryEntry, MemoryRun,
    ProgramStop, Record, RoundTripRun, Routine, RoutineFigures, ScanCounters, ScanTerms, Trigger,
};
use crate::renewal::Renewal;
use crate::slowdown::{self, MemorySlowdown, Pressure, RoutineSlowdown};
use crate::statistics::Statistics;
use crate::verdict::{FastestCycle, Judgement, Verdict, fastest_cycle};

/// The schema name of the document.
pub const EVIDENCE_SCHEMA: &str = "quietcore.evidence/1";

/// The evidence of one folder: its records in figures, and the verdicts on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// [`EVIDENCE_SCHEMA`].
    pub schema: String,
    /// The records, in the order of the folder.
    pub records: Vec<RecordEntry>,
    /// Every record judged against every class.
    pub verdicts: Vec<Judgement>,
    /// The verdict on all partitions; absent where none declares a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overall: Option<OverallVerdict>,
    /// The cost of neighbours to accesses to memory, by working set; absent where none were
    /// measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_slowdowns: Vec<MemorySlowdown>,
    /// Slowdown against the neighbours' bandwidth; absent where none was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pressures: Vec<Pressure>,
    /// The cost of neighbours to a kernel's routines; absent where none were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routine_slowdowns: Vec<RoutineSlowdown>,
    /// The effect of each control of the machine, and the controls that are needed; absent where
    /// none were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunings: Vec<Tuning>,
    /// The effect of each neighbour on a partition; absent where none were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// The cost of each backend to a partition; absent where none were compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Cost>,
    /// The isolation matrix of each partition; absent where fewer than two of its rows were
    /// measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<IsolationMatrix>,
    /// The earlier folder that this one renews, with what was measured again and what was taken
    /// over; absent where all was measured for this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<Renewal>,
}

/// The verdict on all partitions, each against the class that it declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OverallVerdict {
    /// The worst of them: the exit status of `qualify`.
    pub verdict: Verdict,
    /// The verdict on each of them.
    pub partitions: Vec<PartitionVerdict>,
}

/// The verdict on a partition against the class that it declares: the worst over the records that
/// keep its reservation, NOT PROVEN where one of those is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PartitionVerdict {
    /// Name of the partition.
    pub partition: String,
    /// Name of the class.
    pub class: String,
    /// PASS, FAIL or NOT PROVEN.
    pub verdict: Verdict,
}

/// A record in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecordEntry {
    /// The record's name, which the verdicts refer to.
    pub name: String,
    /// The probe, or the program whose data was imported.
    pub probe: String,
    /// Name of the partition.
    pub partition: String,
    /// Name of the profile.
    pub profile: String,
    /// `true` if the profile keeps the partition's CPU reservation.
    pub reserved: bool,
    /// The CPU, where one is known.
    pub cpu: Option<u32>,
    /// Time between two releases, in ns.
    pub period_ns: Option<u64>,
    /// Values are multiples of this, rounded down, in ns.
    pub resolution_ns: u64,
    /// `true` if the numbers may be trusted.
    pub valid: bool,
    /// The reasons why not, in words; empty for a valid record.
    pub invalid_because: Vec<String>,
    /// The same reasons in their order, as codes with figures; absent for a valid record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid_reasons: Vec<Reason>,
    /// Settings that were asked for and not in force, in words. Such a record proves nothing about
    /// the site.
    pub degraded: Vec<String>,
    /// The same settings in their order, as codes with figures; absent where all was in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_reasons: Vec<Reason>,
    /// The run ended before its time.
    pub interrupted: bool,
    /// Statistics of the release latency.
    pub statistics: Statistics,
    /// The wake-up latency, where it was measured apart.
    pub wakeup_statistics: Option<Statistics>,
    /// The execution time of the program; absent where the probe ran alone, as for all that
    /// follows of the program.
    #[serde(default)]
    pub execution_statistics: Option<Statistics>,
    /// The response time of the program, from the due instant to the end of its cycle.
    #[serde(default)]
    pub response_statistics: Option<Statistics>,
    /// The limits to which the task of the program was held.
    #[serde(default)]
    pub scan_terms: Option<ScanTerms>,
    /// Counters of the program.
    #[serde(default)]
    pub scan_counters: Option<ScanCounters>,
    /// The reasons why the program stopped before its time, in words; empty for one that ran to its
    /// end.
    #[serde(default)]
    pub faults: Vec<String>,
    /// The same reasons in their order, as values; absent for a program that ran to its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<ProgramStop>,
    /// Errors that the program's own kernel found; with the task that drives it all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_errors: Vec<KernelErrors>,
    /// The routine of a kernel that was measured; absent for all other records.
    #[serde(default)]
    pub routine: Option<RoutineEntry>,
    /// The interrupt that was measured; absent for all other records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<InterruptEntry>,
    /// The causes of the time of late releases; absent where they were not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledgers: Option<Ledgers>,
    /// The accesses to memory that were measured; absent for all other records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryEntry>,
    /// Counters beside the round trips of frames, which are in `statistics`; absent for all other
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTripRun>,
    /// Releases before they were due.
    pub early: u64,
    /// Times the task changed its CPU.
    pub migrations: u64,
    /// The probe's own cost in each cycle, in ns.
    pub own_cost_ns: u64,
    /// The fastest cycle that this record qualifies its partition for.
    pub fastest_cycle: Option<FastestCycle>,
    /// The reason why there is none.
    pub no_fastest_cycle_because: Option<String>,
    /// The conditions that the figures hold for.
    pub conditions: ConditionsEntry,
}

/// A routine of a kernel in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoutineEntry {
    /// The routine that was measured.
    pub routine: Routine,
    /// The way in which its interrupt was brought; absent where it has none.
    pub trigger: Option<Trigger>,
    /// The kernel, its port and its configuration, in words.
    pub kernel: String,
    /// Counts of the clock a second.
    pub hertz: u64,
    /// The median of the empty measurement, which was subtracted, in counts.
    pub offset: u64,
    /// Values below it, which count as zero.
    pub clamped: u64,
    /// The times without the empty measurement.
    pub figures: RoutineFigures,
}

/// Makes the document of records and the verdicts on them. `exceedance` is the probability per
/// cycle that must be excluded, as for the verdicts. `overall` is known where the manifest is.
pub fn of(
    records: &[Record],
    judgements: &[Judgement],
    overall: Option<OverallVerdict>,
    exceedance: f64,
) -> Document {
    Document {
        schema: EVIDENCE_SCHEMA.to_owned(),
        records: records.iter().map(|record| entry(record, exceedance)).collect(),
        verdicts: judgements.to_vec(),
        overall,
        memory_slowdowns: slowdown::memory(records),
        pressures: slowdown::pressure(records),
        routine_slowdowns: slowdown::routines(records),
        tunings: experiment::tuning(records),
        disturbances: experiment::disturbances(records),
        costs: experiment::costs(records),
        isolation: isolation::matrices(records),
        renewal: None,
    }
}

fn entry(record: &Record, exceedance: f64) -> RecordEntry {
    let (fastest, because) = match fastest_cycle(record, exceedance) {
        Ok(cycle) => (Some(cycle), None),
        Err(because) => (None, Some(because)),
    };
    let scan = record.scan();
    let stops = scan.map_or(&[][..], |scan| &scan.faults);
    RecordEntry {
        name: record.name.clone(),
        probe: record.probe.clone(),
        partition: record.partition.clone(),
        profile: record.profile.clone(),
        reserved: record.reserved,
        cpu: record.cpu,
        period_ns: record.period_ns,
        resolution_ns: record.release.resolution_ns(),
        valid: record.is_valid(),
        invalid_because: told(&record.invalid_because),
        invalid_reasons: record.invalid_because.clone(),
        degraded: told(&record.degraded),
        degraded_reasons: record.degraded.clone(),
        interrupted: record.interrupted,
        statistics: Statistics::of(record),
        wakeup_statistics: record.wakeup.as_ref().map(Statistics::of_histogram),
        execution_statistics: scan.map(|scan| Statistics::of_histogram(&scan.execution)),
        response_statistics: scan.map(|scan| Statistics::of_histogram(&scan.response)),
        scan_terms: scan.map(|scan| scan.terms),
        scan_counters: scan.map(|scan| scan.counters),
        faults: stops.iter().map(ToString::to_string).collect(),
        stops: stops.to_vec(),
        kernel_errors: scan.map(|scan| scan.kernel_errors.clone()).unwrap_or_default(),
        routine: record.routine().map(|run| RoutineEntry {
            routine: run.routine,
            trigger: run.trigger,
            kernel: run.kernel.clone(),
            hertz: run.hertz,
            offset: run.offset,
            clamped: run.clamped,
            figures: run.figures(),
        }),
        interrupt: record.interrupt().map(InterruptRun::entry),
        ledgers: record.ledgers.clone(),
        memory: record.memory().map(MemoryRun::entry),
        round_trip: record.round_trip().cloned(),
        early: record.counters.early,
        migrations: record.counters.migrations,
        own_cost_ns: record.counters.own_cost_ns,
        fastest_cycle: fastest,
        no_fastest_cycle_because: because.map(|reason| reason.to_string()),
        conditions: ConditionsEntry::from(&record.conditions),
    }
}

fn told(reasons: &[Reason]) -> Vec<String> {
    reasons.iter().map(ToString::to_string).collect()
}

/// The JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}

#[cfg(test)]
mod tests;
