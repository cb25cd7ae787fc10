//! The statistics of paired runs.

use std::f64::consts::LN_2;
use std::fmt;

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
    /// The interval lies between the order statistics of rank k and n + 1 − k, with the largest k
    /// whose coverage is at least 95 % (sign test). Below six values there is none: it is the whole
    /// range then.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let middle = *sorted.get(count / 2)?;
        let value =
            if count.is_multiple_of(2) { (middle + sorted[count / 2 - 1]) / 2.0 } else { middle };
        let rank = rank_below(count);
        Some(Self { value, low: sorted[rank], high: sorted[count - 1 - rank], count })
    }
}

/// The number of order statistics to leave out at each end.
fn rank_below(count: usize) -> usize {
    // P(Binomial(n, 1/2) ≤ k) added up term by term until it exceeds 2.5 %.
    // Terms are kept as logarithms: those of more than 1000 values underflow.
    let mut term = -(count as f64) * LN_2;
    let mut sum = term.exp();
    let mut rank = 0;
    while sum <= 0.025 {
        rank += 1;
        term += ((count + 1 - rank) as f64 / rank as f64).ln();
        sum += term.exp();
    }
    rank.saturating_sub(1)
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
    fn the_interval_agrees_with_the_tables_of_the_sign_test() {
        let ranks =
            [(0, 0), (5, 0), (6, 0), (9, 1), (12, 2), (20, 5), (30, 9), (100, 39), (10_000, 4_901)];
        for (count, rank) in ranks {
            assert_eq!(rank_below(count), rank, "{count} values");
        }
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let median = Median::of(&values).unwrap();
        assert_eq!((median.value, median.low, median.high), (10.5, 6.0, 15.0));
        assert_eq!(Median::of(&[]), None);
    }
}
