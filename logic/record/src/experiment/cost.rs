//! The cost of each backend to a partition, against the one that the others are compared with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pairs::{decide, rounds_needed, typical_cycles};
use super::{Figure, Finding, Ratio, task_of};
use crate::record::{BlockTimes, Record, Trial, TrialBlock, Variant};
use crate::slowdown::Estimate;

/// The figures of each quantity. All are tested.
const FIGURES: [Figure; 3] = [Figure::MedianNs, Figure::P99Ns, Figure::MaxNs];

/// Difference that is of no consequence, whatever the ratio: a clock is read in about as much, and
/// the times of a task that spins to its release are shorter. In ns.
const NEGLIGIBLE_NS: f64 = 100.0;

/// A time of a partition's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CostQuantity {
    /// Release latency: due instant to start of the cycle.
    Release,
    /// Execution time: start to end of the cycle.
    Execution,
    /// Response time: due instant to the end of the cycle.
    Response,
}

impl CostQuantity {
    /// All of them, in the order of a cycle.
    pub const ALL: [Self; 3] = [Self::Release, Self::Execution, Self::Response];

    /// Returns the name that people read.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Release => "release latency",
            Self::Execution => "execution time",
            Self::Response => "response time",
        }
    }

    fn of(self, block: &TrialBlock) -> Option<BlockTimes> {
        match self {
            Self::Release => Some(block.release()),
            Self::Execution => Some(block.program?.execution),
            Self::Response => Some(block.program?.response),
        }
    }
}

/// The cost of backends to one task of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cost {
    /// Name of the partition.
    pub partition: String,
    /// Name of the task.
    pub task: String,
    /// The backend that the others are compared with.
    pub reference: String,
    /// Seed of the random order of the backends in each round.
    pub seed: u64,
    /// Rounds in which it was measured.
    pub rounds: u32,
    /// The fewest rounds with which anything can be sure, since so much is tested.
    pub rounds_needed: u32,
    /// Releases in a block, as a rule.
    pub cycles_in_block: u64,
    /// The other backends, in the order in which they were asked for.
    pub backends: Vec<BackendCost>,
}

/// The cost of one backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BackendCost {
    /// Its word in the site file.
    pub backend: String,
    /// `true` if its times may be trusted, and those of the reference. Figures of one that may not
    /// show that it works, and are judged by nothing.
    pub valid: bool,
    /// The reasons why not, in words.
    pub invalid_because: Vec<String>,
    /// Blocks that may not be trusted, and are no part of the figures while there are others.
    pub invalid_blocks: u32,
    /// Releases that came a whole period late or more.
    pub missed_cycles: u64,
    /// The figures, one after the other of each quantity.
    pub figures: Vec<CostFigure>,
}

/// One figure of a backend beside that of the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CostFigure {
    /// The time that it is a figure of.
    pub quantity: CostQuantity,
    /// The backend's figure over that of the reference in the same round.
    pub ratio: Ratio,
    /// The backend's figure less that of the reference in the same round, in ns.
    pub difference_ns: Option<Estimate>,
    /// The figure of the reference: the median over the rounds, in ns.
    pub reference_ns: f64,
    /// The figure of the backend: the median over the rounds, in ns.
    pub backend_ns: f64,
    /// The figures of each round, in their order.
    pub of_rounds: Vec<CostRound>,
}

/// The figures of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CostRound {
    /// That of the reference, in ns.
    pub reference_ns: u64,
    /// That of the backend, in ns.
    pub backend_ns: u64,
}

impl CostRound {
    /// Returns the backend's figure over that of the reference. A figure of 0 counts as 1 ns.
    fn ratio(self) -> f64 {
        self.backend_ns.max(1) as f64 / self.reference_ns.max(1) as f64
    }

    fn difference_ns(self) -> f64 {
        self.backend_ns as f64 - self.reference_ns as f64
    }
}

/// Returns the costs that records hold, one for each task that was measured in several backends.
pub fn costs(records: &[Record]) -> Vec<Cost> {
    let of_reference = |record: &&Record| {
        matches!(variant(record), Some(Variant::Realised { is_reference: true, .. }))
    };
    records.iter().filter(of_reference).filter_map(|it| of_task(it, records)).collect()
}

fn variant(record: &Record) -> Option<&Variant> {
    record.trial().map(|trial| &trial.variant)
}

fn of_task(reference: &Record, records: &[Record]) -> Option<Cost> {
    let trial = reference.trial()?;
    let Variant::Realised { backend: word, seed, .. } = &trial.variant else { return None };
    let same = |record: &&Record| {
        record.partition == reference.partition && task_of(record) == task_of(reference)
    };
    let each = records.iter().filter(same).filter_map(|record| of_backend(record, reference));
    let mut backends: Vec<BackendCost> = each.collect();
    let trusted = backends.iter_mut().filter(|backend| backend.valid);
    let mut tested: Vec<&mut Ratio> =
        trusted.flat_map(|it| &mut it.figures).map(|figure| &mut figure.ratio).collect();
    let count = tested.len();
    decide(tested.drain(..));
    backends.iter_mut().filter(|it| it.valid).flat_map(|it| &mut it.figures).for_each(settle);
    Some(Cost {
        partition: reference.partition.clone(),
        task: task_of(reference).to_owned(),
        reference: word.clone(),
        seed: *seed,
        rounds: trial.blocks.len().try_into().unwrap_or(u32::MAX),
        rounds_needed: rounds_needed(count),
        cycles_in_block: typical_cycles(&trial.blocks),
        backends,
    })
}

/// Finds no difference in figures that differ by less than matters, whatever their ratio.
fn settle(figure: &mut CostFigure) {
    let ends = figure.difference_ns.and_then(|difference| difference.low.zip(difference.high));
    if ends.is_some_and(|(low, high)| low > -NEGLIGIBLE_NS && high < NEGLIGIBLE_NS) {
        figure.ratio.finding = Finding::NoDifference;
    }
}

fn of_backend(record: &Record, reference: &Record) -> Option<BackendCost> {
    let (own, under) = (record.trial()?, reference.trial()?);
    let Variant::Realised { backend, is_reference: false, .. } = &own.variant else { return None };
    let trusted = |trial: &Trial| trial.blocks.iter().any(|block| block.valid);
    let valid = trusted(own) && trusted(under);
    let invalid = own.blocks.iter().filter(|block| !block.valid).count();
    let because = if trusted(own) { &reference.invalid_because } else { &record.invalid_because };
    let each = CostQuantity::ALL
        .into_iter()
        .flat_map(|quantity| FIGURES.map(|figure| (quantity, figure)))
        .filter_map(|(quantity, of)| figure(quantity, of, own, under, valid));
    Some(BackendCost {
        backend: backend.clone(),
        valid,
        invalid_because: if valid {
            Vec::new()
        } else {
            because.iter().map(ToString::to_string).collect()
        },
        invalid_blocks: invalid.try_into().unwrap_or(u32::MAX),
        missed_cycles: record.counters.missed_cycles.unwrap_or(0),
        figures: each.collect(),
    })
}

/// Compares a figure of the blocks of the same rounds; `None` where there is no pair. Blocks that
/// may not be trusted are left out if `only_valid`.
fn figure(
    quantity: CostQuantity,
    figure: Figure,
    own: &Trial,
    reference: &Trial,
    only_valid: bool,
) -> Option<CostFigure> {
    let values = |trial: &Trial| -> BTreeMap<u32, u64> {
        let counted = |block: &&TrialBlock| block.cycles > 0 && (block.valid || !only_valid);
        let value = |block: &TrialBlock| Some((block.round, figure.of(&quantity.of(block)?)));
        trial.blocks.iter().filter(counted).filter_map(value).collect()
    };
    let under = values(reference);
    let pair =
        |(round, backend_ns)| Some(CostRound { reference_ns: *under.get(&round)?, backend_ns });
    let of_rounds: Vec<CostRound> = values(own).into_iter().filter_map(pair).collect();
    let each = |of: fn(&CostRound) -> f64| of_rounds.iter().map(of).collect::<Vec<f64>>();
    let median = |of| Estimate::of(&each(of)).map(|estimate| estimate.median);
    Some(CostFigure {
        quantity,
        ratio: Ratio::of_pairs(figure, &each(|round| round.ratio())),
        difference_ns: Estimate::of(&each(|round| round.difference_ns())),
        backend_ns: median(|round| round.backend_ns as f64)?,
        reference_ns: median(|round| round.reference_ns as f64)?,
        of_rounds,
    })
}

#[cfg(test)]
mod tests;
