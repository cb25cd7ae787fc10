//! The cost of each backend to a partition, against the one that the others are compared with.

mod quantity;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pairs::{decide, rounds_needed, typical_cycles};
use super::{Figure, Finding, Ratio, task_of};
use crate::record::{Record, Routine, Trial, TrialBlock, Variant};
use crate::slowdown::Estimate;

pub use quantity::{CostMeasure, CostQuantity};

/// The cost of backends to one task of a partition, or to what another measure has in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cost {
    /// Name of the partition.
    pub partition: String,
    /// Name of the task; the name of the measure where that is not of releases.
    pub task: String,
    /// The measure that the backends are compared by.
    pub measure: CostMeasure,
    /// The backend that the others are compared with.
    pub reference: String,
    /// The kernel of the reference, with its port and its configuration; of routines alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Seed of the random order of the backends in each round.
    pub seed: u64,
    /// Rounds in which it was measured.
    pub rounds: u32,
    /// The fewest rounds with which anything can be sure, since so much is tested.
    pub rounds_needed: u32,
    /// Releases in a block of the reference, or the values of another measure, as a rule.
    pub cycles_in_block: u64,
    /// The other backends, in the order in which they were asked for.
    pub backends: Vec<BackendCost>,
}

/// The cost of one backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BackendCost {
    /// Its word in the site file.
    pub backend: String,
    /// Its kernel, with the port and the configuration; of routines alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
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
    /// The routine that it is a figure of; absent for other quantities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routine: Option<String>,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CostRound {
    /// That of the reference, in ns.
    pub reference_ns: f64,
    /// That of the backend, in ns.
    pub backend_ns: f64,
}

impl CostFigure {
    /// Returns the name of the time that people read: that of its routine, or of its quantity.
    pub fn title(&self) -> &str {
        self.routine.as_deref().unwrap_or_else(|| self.quantity.title())
    }
}

impl CostRound {
    /// Returns the backend's figure over that of the reference. A figure of 0 counts as 1 ns.
    fn ratio(self) -> f64 {
        self.backend_ns.max(1.0) / self.reference_ns.max(1.0)
    }

    fn difference_ns(self) -> f64 {
        self.backend_ns - self.reference_ns
    }
}

/// The subject of a comparison: the partition, the measure, and the task, which is empty where all
/// records of a measure are compared together.
type Subject<'r> = (&'r str, CostMeasure, &'r str);

/// Returns the costs that records hold, one for each task that was measured in several backends,
/// and one for each other measure of a partition, measure by measure.
pub fn costs(records: &[Record]) -> Vec<Cost> {
    let references = records.iter().filter(|it| matches!(backend_of(it), Some((_, true))));
    let mut subjects: Vec<Subject<'_>> = Vec::new();
    for subject in references.filter_map(subject_of) {
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    subjects.sort_by_key(|(_, measure, _)| *measure);
    subjects.into_iter().filter_map(|subject| of_subject(subject, records)).collect()
}

/// Returns the backend of a record, and `true` for the one that others are compared with.
fn backend_of(record: &Record) -> Option<(&str, bool)> {
    match &record.trial.as_ref()?.variant {
        Variant::Realised { backend, is_reference, .. } => Some((backend, *is_reference)),
        _ => None,
    }
}

/// Returns the subject of a record; `None` where it is no part of a comparison of backends. The
/// empty measurement is taken off the routines, and is none of them.
fn subject_of(record: &Record) -> Option<Subject<'_>> {
    backend_of(record)?;
    let measure = CostMeasure::of(record)?;
    let is_compared = record.routine().is_none_or(|run| run.routine != Routine::Empty);
    let task = if measure == CostMeasure::Releases { task_of(record) } else { "" };
    is_compared.then_some((&*record.partition, measure, task))
}

fn of_subject(subject: Subject<'_>, records: &[Record]) -> Option<Cost> {
    let (partition, measure, task) = subject;
    let mut of_backends: Vec<(&str, Vec<&Record>)> = Vec::new();
    let mut references = Vec::new();
    for record in records.iter().filter(|record| subject_of(record) == Some(subject)) {
        match backend_of(record)? {
            (_, true) => references.push(record),
            (backend, false) => match of_backends.iter_mut().find(|(known, _)| *known == backend) {
                Some((_, of_backend)) => of_backend.push(record),
                None => of_backends.push((backend, vec![record])),
            },
        }
    }
    for (_, own) in &mut of_backends {
        // In the order of the paper; other records stay as they are.
        own.sort_by_key(|record| record.routine().map(|run| (run.routine, run.trigger)));
    }
    let trial = references.first()?.trial.as_ref()?;
    let Variant::Realised { backend: word, seed, .. } = &trial.variant else { return None };
    let each = of_backends.iter().map(|(backend, own)| of_backend(backend, own, &references));
    let mut backends: Vec<BackendCost> = each.collect();
    let trusted = backends.iter_mut().filter(|backend| backend.valid);
    let mut tested: Vec<&mut Ratio> =
        trusted.flat_map(|it| &mut it.figures).map(|figure| &mut figure.ratio).collect();
    let count = tested.len();
    decide(tested.drain(..));
    for figure in backends.iter_mut().filter(|it| it.valid).flat_map(|it| &mut it.figures) {
        settle(figure, measure.negligible_ns());
    }
    Some(Cost {
        partition: partition.to_owned(),
        task: if task.is_empty() { measure.title() } else { task }.to_owned(),
        measure,
        reference: word.clone(),
        kernel: kernel_of(&references),
        seed: *seed,
        rounds: trial.blocks.len().try_into().unwrap_or(u32::MAX),
        rounds_needed: rounds_needed(count),
        cycles_in_block: typical_cycles(&trial.blocks),
        backends,
    })
}

/// Returns the kernel whose routines the records are of; `None` where they are of none.
fn kernel_of(records: &[&Record]) -> Option<String> {
    Some(records.first()?.routine()?.kernel.clone())
}

/// Finds no difference in figures that differ by less than matters, whatever their ratio.
fn settle(figure: &mut CostFigure, negligible_ns: f64) {
    let ends = figure.difference_ns.and_then(|difference| difference.low.zip(difference.high));
    if ends.is_some_and(|(low, high)| low > -negligible_ns && high < negligible_ns) {
        figure.ratio.finding = Finding::NoDifference;
    }
}

fn of_backend(backend: &str, own: &[&Record], references: &[&Record]) -> BackendCost {
    let trials = |records: &[&Record]| -> Vec<Trial> {
        records.iter().filter_map(|record| record.trial.clone()).collect()
    };
    let trusted =
        |trials: &[Trial]| trials.iter().flat_map(|trial| &trial.blocks).any(|block| block.valid);
    let (own_trials, under) = (trials(own), trials(references));
    let valid = trusted(&own_trials) && trusted(&under);
    let invalid = |trial: &Trial| trial.blocks.iter().filter(|block| !block.valid).count();
    // The records of a block are valid or not together.
    let invalid = own_trials.iter().map(invalid).max().unwrap_or(0);
    let because = if trusted(&own_trials) { references.first() } else { own.first() };
    let because = because.map_or(&[][..], |record| &record.invalid_because);
    let missed = own.iter().map(|record| record.counters.missed_cycles.unwrap_or(0));
    let pairs = own.iter().filter_map(|record| {
        let same = |reference: &&&Record| task_of(reference) == task_of(record);
        Some((*record, *references.iter().find(same)?))
    });
    BackendCost {
        backend: backend.to_owned(),
        kernel: kernel_of(own),
        valid,
        invalid_because: if valid {
            Vec::new()
        } else {
            because.iter().map(ToString::to_string).collect()
        },
        invalid_blocks: invalid.try_into().unwrap_or(u32::MAX),
        missed_cycles: missed.fold(0, u64::saturating_add),
        figures: pairs.flat_map(|(record, reference)| of_pair(record, reference, valid)).collect(),
    }
}

/// Compares all figures of two records; blocks that may not be trusted are left out if
/// `only_valid`.
fn of_pair(record: &Record, reference: &Record, only_valid: bool) -> Vec<CostFigure> {
    let (Some(own), Some(under)) = (&record.trial, &reference.trial) else { return Vec::new() };
    let Some(measure) = CostMeasure::of(record) else { return Vec::new() };
    let each = measure.quantities().iter().flat_map(|quantity| {
        measure.figures().iter().filter_map(|of| figure(*quantity, *of, own, under, only_valid))
    });
    let routine = record.routine().map(|_| task_of(record).to_owned());
    each.map(|figure| CostFigure { routine: routine.clone(), ..figure }).collect()
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
    let values = |trial: &Trial| -> BTreeMap<u32, f64> {
        let counted = |block: &&TrialBlock| block.cycles > 0 && (block.valid || !only_valid);
        let value = |block: &TrialBlock| Some((block.round, figure.of(&quantity.of(block)?)?));
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
        routine: None,
        ratio: Ratio::of_pairs(figure, &each(|round| round.ratio())),
        difference_ns: Estimate::of(&each(|round| round.difference_ns())),
        backend_ns: median(|round| round.backend_ns)?,
        reference_ns: median(|round| round.reference_ns)?,
        of_rounds,
    })
}

#[cfg(test)]
mod tests;
