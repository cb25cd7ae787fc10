//! The dependence of successive values on each other, from a record's time line.
//!
//! The mean of a batch of m independent values has a variance of σ²/m. Where the means of batches
//! vary more, m values say only as much as m / inflation independent ones. Batches have to be long
//! against the time that values resemble each other, hence few: 20 to 40.

use serde::Serialize;

use crate::record::{Record, Timeline};

/// The fewest batches that tell anything.
const BATCHES_MIN: usize = 20;
/// The number of batches that is aimed at.
const BATCHES: usize = 40;

/// The factor by which the values of a record say too little.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Dependence {
    /// Variance of the mean, as a multiple of what it is for independent values; at least 1.
    pub inflation: f64,
    /// The batches it was estimated from; `None` where the record has no time line for that, and
    /// the values are taken as independent.
    pub batches: Option<usize>,
}

impl Dependence {
    /// Estimates the dependence from the time line of a record.
    pub(super) fn of(record: &Record) -> Self {
        let unknown = Self { inflation: 1.0, batches: None };
        let Some(deviation) = record.release.standard_deviation_ns() else { return unknown };
        let Some((means, size)) = batch_means(&record.timeline) else { return unknown };
        let batches = Some(means.len());
        if deviation == 0.0 {
            return Self { inflation: 1.0, batches };
        }
        let middle = means.iter().sum::<f64>() / means.len() as f64;
        let squares: f64 = means.iter().map(|mean| (mean - middle).powi(2)).sum();
        let variance = squares / (means.len() - 1) as f64;
        let inflation = variance * size as f64 / deviation.powi(2);
        // Never more than if each batch were a single value.
        Self { inflation: inflation.clamp(1.0, size.max(1) as f64), batches }
    }

    /// Returns the degrees of freedom of limits that rest on it.
    pub(super) fn freedom(&self) -> f64 {
        self.batches.map_or(f64::INFINITY, |batches| (batches - 1) as f64)
    }
}

/// Returns the means of batches of equal size, and that size in values.
fn batch_means(timeline: &Timeline) -> Option<(Vec<f64>, u64)> {
    let whole: Vec<u64> = timeline
        .slots
        .iter()
        .filter(|(count, _, _)| *count == timeline.slot_cycles && *count > 0)
        .map(|(_, _, sum_ns)| *sum_ns)
        .collect();
    if whole.len() < BATCHES_MIN {
        return None;
    }
    let slots = whole.len().div_ceil(BATCHES);
    let size = timeline.slot_cycles.checked_mul(slots as u64)?;
    let means: Vec<f64> = whole
        .chunks_exact(slots)
        .map(|batch| batch.iter().map(|sum| *sum as f64).sum::<f64>() / size as f64)
        .collect();
    (means.len() >= BATCHES_MIN).then_some((means, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(slots: &[(u64, u64, u64)], slot_cycles: u64, values: &[(u64, u64)]) -> Record {
        let mut record = crate::test_record(values);
        record.timeline = Timeline { slot_cycles, slots: slots.to_vec() };
        record
    }

    #[test]
    fn without_a_time_line_nothing_is_known() {
        let dependence = Dependence::of(&record(&[], 10, &[(1, 50), (3, 50)]));
        assert_eq!(dependence, Dependence { inflation: 1.0, batches: None });
        assert_eq!(dependence.freedom(), f64::INFINITY);
    }

    /// Values that stay 1 for ten cycles and 3 for the next ten say as much as one in ten.
    #[test]
    fn values_that_come_in_blocks_count_once_a_block() {
        let slots: Vec<_> =
            (0..30).map(|i| if i % 2 == 0 { (10, 1, 10) } else { (10, 3, 30) }).collect();
        let dependence = Dependence::of(&record(&slots, 10, &[(1, 150), (3, 150)]));
        assert_eq!(dependence.batches, Some(30));
        assert!((dependence.inflation - 10.0).abs() < 0.5, "{dependence:?}");
    }

    #[test]
    fn means_that_vary_too_little_are_no_gain() {
        let slots = vec![(10, 3, 20); 30];
        let dependence = Dependence::of(&record(&slots, 10, &[(1, 150), (3, 150)]));
        assert_eq!(dependence.inflation, 1.0);
    }
}
