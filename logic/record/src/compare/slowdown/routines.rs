//! Slowdowns of a kernel's routines, as figure 6 of scordino2020 has them.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::published;
use crate::record::{Record, Routine, RoutineRun, Trigger};

/// The table of the published slowdowns.
const TABLE: &str = "scordino2020/figure-6";

/// The cost of neighbours to a routine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoutineSlowdown {
    /// The routine of the kernel.
    pub routine: Routine,
    /// The way in which its interrupt was brought; absent where it has none.
    pub trigger: Option<Trigger>,
    /// Name of the record beside neighbours.
    pub record: String,
    /// Name of the record without neighbours.
    pub alone: String,
    /// Mean of a block beside them / mean of the block before or after it alone.
    pub ratio: Option<Estimate>,
    /// Average time without them, in ns.
    pub alone_mean_ns: f64,
    /// Smallest value, mean and largest value without them, over that average.
    pub relative_alone: [f64; 3],
    /// Smallest value, mean and largest value beside them, over that average.
    pub relative_beside: [f64; 3],
    /// Bounds in the paper; absent for what it doesn't have.
    pub published: Option<PublishedBounds>,
}

/// A published slowdown, by its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PublishedBounds {
    /// Lower bound; absent where nothing is said.
    pub least: Option<f64>,
    /// Upper bound of the ratio.
    pub most: f64,
}

/// Returns the slowdowns of all routines that were measured in blocks, with neighbours and without.
pub fn routines(records: &[Record]) -> Vec<RoutineSlowdown> {
    let measured = || {
        let runs = records.iter().filter_map(|record| Some((record, record.routine()?)));
        runs.filter(|(_, run)| !run.block_means_ns.is_empty() && run.routine != Routine::Empty)
    };
    let is_beside = |record: &Record| !record.conditions.loads.is_empty();
    let beside = measured().filter(|(record, _)| is_beside(record));
    let mut found: Vec<RoutineSlowdown> = beside
        .filter_map(|(record, run)| {
            let (other, alone) = measured().find(|(other, alone)| {
                !is_beside(other)
                    && (alone.routine, alone.trigger) == (run.routine, run.trigger)
                    && other.partition == record.partition
            })?;
            slowdown((record, run), (other, alone))
        })
        .collect();
    // Those that the paper has come first, in its order.
    found.sort_by_key(|it| (it.published.is_none(), it.routine));
    found
}

fn slowdown(
    (record, run): (&Record, &RoutineRun),
    (other, alone): (&Record, &RoutineRun),
) -> Option<RoutineSlowdown> {
    let pairs = run.block_means_ns.iter().zip(&alone.block_means_ns);
    // A routine that takes no longer than the empty measurement has no ratio.
    let ratios: Vec<f64> = pairs.filter(|(_, alone)| **alone > 0.0).map(|(a, b)| a / b).collect();
    let base = alone.figures();
    let mean = base.mean_ns.filter(|mean| *mean > 0.0)?;
    let relative = |run: &RoutineRun| {
        let found = run.figures();
        [found.min_ns, found.mean_ns.unwrap_or_default(), found.max_ns].map(|time| time / mean)
    };
    Some(RoutineSlowdown {
        routine: run.routine,
        trigger: run.trigger,
        record: record.name.clone(),
        alone: other.name.clone(),
        ratio: Estimate::of(&ratios),
        alone_mean_ns: mean,
        relative_alone: relative(alone),
        relative_beside: relative(run),
        published: published_of(run),
    })
}

/// Returns the bounds of the paper, whose interrupts are brought by software; others have nothing
/// to stand beside.
fn published_of(run: &RoutineRun) -> Option<PublishedBounds> {
    if run.trigger.is_some_and(|trigger| trigger != Trigger::Software) {
        return None;
    }
    let table = published::find(TABLE).ok()?;
    let name = table.column("routine")?;
    let row = table.rows.iter().find(|row| row[name].0 == run.routine.name())?;
    let bound = |key| row[table.column(key)?].number();
    Some(PublishedBounds { least: bound("slowdown_min"), most: bound("slowdown_max")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;
    use crate::record::{LoadAchieved, Measured};
    use crate::test_record;

    fn record(routine: Routine, load: bool, block_means_ns: &[f64]) -> Record {
        let mut record = test_record(&[]);
        let mut raw = Histogram::new();
        block_means_ns.iter().for_each(|mean| raw.record(*mean as u64));
        if load {
            record.conditions.loads = vec![LoadAchieved::default()];
        }
        record.name = format!("{}-{load}", routine.name());
        record.measured = Measured::Routine(RoutineRun {
            routine,
            trigger: None,
            kernel: String::new(),
            hertz: 1_000_000_000,
            offset: 0,
            offset_mean: 0.0,
            clamped: 0,
            raw,
            block_means_ns: block_means_ns.to_vec(),
        });
        record
    }

    #[test]
    fn a_routine_is_compared_with_itself_block_by_block() {
        let records = [
            record(Routine::Act, false, &[100.0, 200.0, 400.0]),
            record(Routine::Act, true, &[300.0, 600.0, 1_200.0]),
            record(Routine::Terml, true, &[1.0]),
            record(Routine::Empty, false, &[1.0]),
            record(Routine::Empty, true, &[1.0]),
        ];
        let found = routines(&records);
        assert_eq!(found.len(), 1, "one has no partner, and the empty measurement is none");
        assert_eq!(found[0].ratio.unwrap().median, 3.0);
        assert_eq!(found[0].published, Some(PublishedBounds { least: Some(4.0), most: 6.5 }));
        assert!((found[0].relative_alone[1] - 1.0).abs() < 1e-9);
        assert!((found[0].relative_beside[1] - 3.0).abs() < 1e-2, "{found:?}");
    }

    #[test]
    fn every_routine_of_the_paper_has_its_bounds() {
        for routine in Routine::ALL {
            let record = record(routine, true, &[1.0]);
            let bounds = published_of(record.routine().unwrap());
            assert_eq!(bounds.is_some(), routine != Routine::Empty, "{}", routine.name());
        }
    }
}
