//! From the readings of a series to its figures. Pure.

use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_record::record::trimmed_mean;
use serde::{Deserialize, Serialize};

/// The values of a series of one routine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The values as measured, in counts of the clock.
    pub raw: Histogram,
    /// The values without the empty measurement, in whole ns.
    pub net_ns: Histogram,
    /// The offset that was subtracted from each value.
    pub offset: Offset,
    /// Number of values below the offset, which count as zero.
    pub clamped: u64,
}

/// The time of the empty measurement, in counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Offset {
    /// Its median, which is subtracted from every value.
    pub median: u64,
    /// Its mean, which is subtracted from the mean.
    pub mean: f64,
}

impl Offset {
    /// Reads it from a histogram of the empty measurement; exact while each value has a bin of its
    /// own.
    pub fn of_histogram(raw: &Histogram) -> Self {
        let median = raw.quantile(0.5).map_or(0, Quantile::lower_bound);
        Self { median, mean: trimmed_mean(raw).unwrap_or_default() }
    }

    /// Reads it from a sample of the empty measurement and its counts, whose order changes.
    pub fn of(sample: &Sample, counts: &mut [u64]) -> Self {
        Self { median: median(counts), mean: trimmed_mean(&sample.raw).unwrap_or_default() }
    }
}

impl Sample {
    /// Subtracts `offset` from each of the counts, of which there are `hertz` per second.
    pub fn of(counts: &[u64], offset: Offset, hertz: u64) -> Self {
        let mut sample =
            Self { raw: Histogram::new(), net_ns: Histogram::new(), offset, clamped: 0 };
        for count in counts {
            sample.raw.record(*count);
            sample.clamped += u64::from(*count < offset.median);
            sample.net_ns.record(nanoseconds(count.saturating_sub(offset.median), hertz));
        }
        sample
    }
}

impl Sample {
    /// Does the same with counts that come as a histogram: those of a bin count as its lowest.
    pub fn of_histogram(raw: Histogram, offset: Offset, hertz: u64) -> Self {
        let (mut net_ns, mut clamped) = (Histogram::new(), 0);
        for bin in raw.bins() {
            if bin.low_ns < offset.median {
                clamped += bin.count;
            }
            let net = bin.low_ns.saturating_sub(offset.median);
            net_ns.record_many(nanoseconds(net, hertz), bin.count);
        }
        net_ns.record_many(u64::MAX, raw.overflow());
        Self { raw, net_ns, offset, clamped }
    }
}

/// Converts counts to ns, rounded.
fn nanoseconds(counts: u64, hertz: u64) -> u64 {
    let hertz = u128::from(hertz.max(1));
    let nanoseconds = (u128::from(counts) * 1_000_000_000 + hertz / 2) / hertz;
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

/// Returns the median, and of two in the middle the lower one; 0 without values. Changes the order
/// of `counts`.
pub fn median(counts: &mut [u64]) -> u64 {
    let Some(middle) = counts.len().checked_sub(1).map(|last| last / 2) else { return 0 };
    *counts.select_nth_unstable(middle).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_median_is_a_value_of_the_sample() {
        assert_eq!(median(&mut []), 0);
        assert_eq!(median(&mut [7]), 7);
        assert_eq!(median(&mut [9, 1]), 1);
        assert_eq!(median(&mut [9, 1, 5]), 5);
    }

    #[test]
    fn times_are_rounded_and_what_is_below_the_offset_is_zero_and_counted() {
        let offset = Offset { median: 50, mean: 50.5 };
        let sample = Sample::of(&[40, 50, 51, 52, 300], offset, 2_500_000_000);
        assert_eq!((sample.clamped, sample.raw.count(), sample.net_ns.count()), (1, 5, 5));
        assert_eq!((sample.raw.min_ns(), sample.raw.max_ns()), (40, 300));
        let times: Vec<_> = sample.net_ns.bins().map(|bin| (bin.low_ns, bin.count)).collect();
        assert_eq!(times, [(0, 3), (1, 1), (100, 1)]);
    }

    #[test]
    fn a_histogram_gives_what_its_counts_would() {
        let counts = [40, 50, 51, 52, 300, 2_000];
        let offset = Offset { median: 50, mean: 50.5 };
        let one_by_one = Sample::of(&counts, offset, 2_500_000_000);
        let mut raw = Histogram::new();
        counts.iter().for_each(|count| raw.record(*count));
        assert_eq!(Sample::of_histogram(raw.clone(), offset, 2_500_000_000), one_by_one);
        let mut counts = counts;
        assert_eq!(Offset::of_histogram(&raw), Offset::of(&one_by_one, &mut counts));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_negative(
            counts in proptest::collection::vec(0_u64..1_000_000, 0..200),
            offset in 0_u64..2_000,
            hertz in 1_000_000_u64..6_000_000_000,
        ) {
            let sample = Sample::of(&counts, Offset { median: offset, mean: 0.0 }, hertz);
            prop_assert_eq!(sample.raw.count(), counts.len() as u64);
            prop_assert_eq!(sample.net_ns.count(), counts.len() as u64);
            prop_assert!(sample.raw.is_consistent() && sample.net_ns.is_consistent());
            let below = counts.iter().filter(|count| **count < offset).count() as u64;
            prop_assert_eq!(sample.clamped, below);
            let most = sample.raw.max_ns() as f64 * 1e9 / hertz as f64 + 1.0;
            prop_assert!(sample.net_ns.max_ns() as f64 <= most);
        }
    }
}
