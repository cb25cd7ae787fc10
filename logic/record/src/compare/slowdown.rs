//! The cost of neighbours: ratios of blocks with them to blocks without, and how sure these are.
//!
//! | part | what |
//! |---|---|
//! | [`Estimate`] | a median with its 95 % interval |
//! | [`memory`] | slowdowns of accesses, by working set |
//! | [`routines`] | slowdowns of a kernel's routines |
//! | [`pressure`] | slowdown against the neighbours' bandwidth, and its knee |
//!
//! Blocks were measured in turns, so each ratio is that of a pair of the same round: what drifts
//! over a run is in both. The median of the ratios has an interval without any assumption about
//! their distribution: between two of the sorted ratios, chosen by the binomial distribution.

mod memory;
mod pressure;
mod routines;

pub use memory::{MemorySlowdown, SlowdownPoint, memory};
pub use pressure::{Knee, ONSET, Pressure, PressurePoint, pressure};
pub use routines::{PublishedBounds, RoutineSlowdown, routines};

use serde::{Deserialize, Serialize};

/// The probability that an interval does not hold the median.
const MISSES: f64 = 0.05;

/// A median, with the interval in which that of ever more such values would lie with a probability
/// of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Estimate {
    /// The median of the values.
    pub median: f64,
    /// Begin of the interval; `None` where there are fewer than six values, which have none.
    pub low: Option<f64>,
    /// End of the interval; `None` with [`low`](Self::low).
    pub high: Option<f64>,
    /// Number of values behind the median.
    pub count: u64,
}

impl Estimate {
    /// Estimates the median of `values`; `None` where there are none, or some that are no number.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let rank = rank(count);
        Some(Self {
            median: f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]),
            low: rank.map(|rank| sorted[rank - 1]),
            high: rank.map(|rank| sorted[count - rank]),
            count: count as u64,
        })
    }

    /// Returns `true` if all of the interval lies above a value, and `false` where there is no
    /// interval.
    pub fn is_surely_above(&self, value: f64) -> bool {
        self.low.is_some_and(|low| low > value)
    }
}

/// Returns the rank, from 1, of the sorted value at which the interval begins: the largest one
/// below which the median is less often than in half of [`MISSES`].
fn rank(count: usize) -> Option<usize> {
    // The logarithm of the probability that exactly `below` of the values are below the median.
    let mut logarithm = -(count as f64) * std::f64::consts::LN_2;
    let (mut sum, mut rank) = (0.0, None);
    for below in 0..count {
        sum += logarithm.exp();
        if sum > MISSES / 2.0 {
            break;
        }
        rank = Some(below + 1);
        logarithm += ((count - below) as f64).ln() - ((below + 1) as f64).ln();
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_are_those_of_the_sign_test() {
        // Tabulated: the pairs of ranks with at least 95 % (Conover, Practical Nonparametric
        // Statistics, table A3).
        let tabulated = [(6, 1), (9, 2), (12, 3), (15, 4), (20, 6), (30, 10), (100, 40)];
        for (count, expected) in tabulated {
            assert_eq!(rank(count), Some(expected), "{count} values");
        }
        assert_eq!((rank(0), rank(5), rank(10_000)), (None, None, Some(4_902)));
        // 2 000 values: half minus 1.96 deviations.
        assert!((950..=958).contains(&rank(2_000).unwrap()));
    }

    #[test]
    fn the_median_lies_in_its_interval() {
        let estimate = Estimate::of(&[5.0, 1.0, 2.0, 4.0, 3.0, 6.0, 7.0, 9.0, 8.0]).unwrap();
        assert_eq!((estimate.median, estimate.count), (5.0, 9));
        assert_eq!((estimate.low, estimate.high), (Some(2.0), Some(8.0)));
        assert!(estimate.is_surely_above(1.9) && !estimate.is_surely_above(2.0));
        let few = Estimate::of(&[3.0, 1.0]).unwrap();
        assert_eq!((few.median, few.low, few.high), (2.0, None, None));
        assert!(!few.is_surely_above(0.0), "two values are sure of nothing");
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(Estimate::of(&[1.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn an_interval_is_made_of_values_around_the_median(
            values in proptest::collection::vec(0.1_f64..100.0, 1..300),
        ) {
            let estimate = Estimate::of(&values).unwrap();
            prop_assert_eq!(estimate.low.is_some(), values.len() >= 6);
            if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
                prop_assert!(low <= estimate.median && estimate.median <= high);
                prop_assert!(values.contains(&low) && values.contains(&high));
            }
        }
    }
}
