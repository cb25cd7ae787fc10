//! The effect of each neighbour on a partition, by its place.

use serde::{Deserialize, Serialize};

use super::pairs::{decide, rounds_needed};
use super::{Exceedances, Figure, Ratio, p99_9_ns, task_of};
use crate::ledger::Cause;
use crate::record::{Aggressor, Conditions, LoadAchieved, Record, TrialBlock, Variant};

/// The figures of the matrix. Both are tested.
const FIGURES: [Figure; 2] = [Figure::P999Ns, Figure::MaxNs];

/// The disturbance matrix of one task of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Disturbance {
    /// Name of the partition.
    pub partition: String,
    /// Name of the task.
    pub task: String,
    /// Rounds in which each variant was measured.
    pub rounds: u32,
    /// The fewest rounds with which anything can be sure, since so much is tested.
    pub rounds_needed: u32,
    /// Releases of the quiet run.
    pub quiet_cycles: u64,
    /// The 99.9 % quantile of the quiet run over all its blocks, in ns.
    pub quiet_p99_9_ns: u64,
    /// Maximum of the quiet run, in ns.
    pub quiet_max_ns: u64,
    /// Releases of the quiet run surely above its own 99.9 % quantile; 0 if that lies in the last
    /// bin.
    #[serde(default)]
    pub quiet_above: Exceedances,
    /// The neighbours, in the order in which they were asked for.
    pub cells: Vec<DisturbanceCell>,
}

/// The effect of one neighbour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DisturbanceCell {
    /// Kind and place of the neighbour.
    pub aggressor: Aggressor,
    /// 99.9 % quantile beside it over that of the quiet run.
    pub p99_9: Ratio,
    /// Maximum beside it over that of the quiet run.
    pub max: Ratio,
    /// Number of releases beside it.
    pub cycles: u64,
    /// Number of releases that came a whole period late or more.
    pub missed_cycles: u64,
    /// The 99.9 % quantile over all blocks, in ns.
    pub p99_9_ns: u64,
    /// Maximum over all blocks, in ns.
    pub max_ns: u64,
    /// Releases beside it above the 99.9 % quantile of the quiet run.
    #[serde(default)]
    pub above_quiet: Exceedances,
    /// Intensity that its load achieved.
    pub achieved: Vec<LoadAchieved>,
    /// The largest cause of late releases; absent where none was late, or none was explained.
    pub cause: Option<MainCause>,
    /// Blocks that may not be trusted, and are no part of the ratios.
    pub invalid_blocks: u32,
}

/// The largest part of late releases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MainCause {
    /// The cause to which most of the time went.
    pub cause: Cause,
    /// The thread, interrupt or softirq of it that took most; empty where the cause says all.
    pub what: String,
    /// Its share of the time, 0 to 1.
    pub part: f64,
    /// Number of releases that were explained.
    pub releases: u64,
    /// The latency above which releases were explained, in ns.
    pub limit_ns: u64,
}

/// Returns the disturbance matrices that records hold, one for each task that was disturbed.
pub fn disturbances(records: &[Record]) -> Vec<Disturbance> {
    let quiet = |record: &&Record| match record.trial.as_ref().map(|trial| &trial.variant) {
        Some(Variant::Beside { aggressor }) => aggressor.is_none(),
        _ => false,
    };
    records.iter().filter(quiet).filter_map(|quiet| of_task(quiet, records)).collect()
}

fn of_task(quiet: &Record, records: &[Record]) -> Option<Disturbance> {
    let alone = &quiet.trial.as_ref()?.blocks;
    let same =
        |record: &&Record| record.partition == quiet.partition && task_of(record) == task_of(quiet);
    let quiet_p99_9_ns = p99_9_ns(quiet);
    let cell = |record| cell(record, alone, quiet_p99_9_ns);
    let mut cells: Vec<_> = records.iter().filter(same).filter_map(cell).collect();
    decide(cells.iter_mut().flat_map(|cell| [&mut cell.p99_9, &mut cell.max]));
    Some(Disturbance {
        partition: quiet.partition.clone(),
        task: task_of(quiet).to_owned(),
        rounds: alone.len().try_into().unwrap_or(u32::MAX),
        rounds_needed: rounds_needed(cells.len() * FIGURES.len()),
        quiet_cycles: quiet.release.count(),
        quiet_p99_9_ns,
        quiet_max_ns: quiet.release.max_ns(),
        quiet_above: Exceedances::of(&quiet.release, quiet_p99_9_ns),
        cells,
    })
}

fn cell(record: &Record, alone: &[TrialBlock], quiet_p99_9_ns: u64) -> Option<DisturbanceCell> {
    let trial = record.trial.as_ref()?;
    let Variant::Beside { aggressor: Some(aggressor) } = &trial.variant else { return None };
    let invalid = trial.blocks.iter().filter(|block| !block.valid).count();
    let [p99_9, max] = FIGURES.map(|figure| Ratio::of(figure, &trial.blocks, alone));
    Some(DisturbanceCell {
        aggressor: aggressor.clone(),
        p99_9,
        max,
        cycles: record.release.count(),
        missed_cycles: record.counters.missed_cycles.unwrap_or(0),
        p99_9_ns: p99_9_ns(record),
        max_ns: record.release.max_ns(),
        above_quiet: Exceedances::of(&record.release, quiet_p99_9_ns),
        achieved: achieved(&record.conditions),
        cause: main_cause(record),
        invalid_blocks: invalid.try_into().unwrap_or(u32::MAX),
    })
}

/// Returns what the loads beside a partition achieved: those of the host and those in neighbours.
fn achieved(conditions: &Conditions) -> Vec<LoadAchieved> {
    let within = conditions.neighbours.iter().flat_map(|neighbour| &neighbour.loads);
    conditions.loads.iter().chain(within).cloned().collect()
}

/// Returns the largest cause of late releases, by the ledgers of the record.
fn main_cause(record: &Record) -> Option<MainCause> {
    let ledgers = record.ledgers.as_ref()?;
    let all: u64 = ledgers.sums.values().sum();
    let (cause, most) = ledgers.sums.iter().max_by_key(|(_, ns)| **ns)?;
    let shares = ledgers.kept.iter().flat_map(|ledger| &ledger.shares);
    let mut whats: Vec<(&str, u64)> = Vec::new();
    for share in shares.filter(|share| share.cause == *cause) {
        match whats.iter_mut().find(|(what, _)| *what == share.what) {
            Some((_, ns)) => *ns += share.ns,
            None => whats.push((&share.what, share.ns)),
        }
    }
    let what = whats.into_iter().max_by_key(|(_, ns)| *ns).map_or("", |(what, _)| what);
    (all > 0).then(|| MainCause {
        cause: *cause,
        what: what.to_owned(),
        part: *most as f64 / all as f64,
        releases: ledgers.ledgered,
        limit_ns: ledgers.limit_ns,
    })
}
