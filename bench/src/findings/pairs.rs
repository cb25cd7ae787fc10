//! The statistics of paired runs.

use std::fmt;

use quietcore_record::slowdown::Estimate;
use serde::Serialize;

/// The median of a sample with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Median {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) count: usize,
}

impl Median {
    /// The median of `values`; `None` for an empty sample.
    ///
    /// The interval is that of [`Estimate`]. Below six values there is none: it is the whole range
    /// then.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let Estimate { median: value, low, high, count } = Estimate::of(values)?;
        let lowest = || values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = || values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = (low.unwrap_or_else(lowest), high.unwrap_or_else(highest));
        Some(Self { value, low, high, count: count as usize })
    }
}

impl fmt::Display for Median {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, low, high, count } = self;
        write!(f, "{value:.3} (95 %: {low:.3} to {high:.3}, n = {count})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_their_whole_range_as_an_interval() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let median = Median::of(&values).unwrap();
        assert_eq!((median.value, median.low, median.high), (10.5, 6.0, 15.0));
        let median = Median::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((median.value, median.low, median.high, median.count), (2.0, 1.0, 3.0, 3));
        assert_eq!(Median::of(&[]), None);
    }
}
