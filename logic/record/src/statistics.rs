//! The summary of a record, with every definition the project uses.
//!
//! A quantile is given when at least [`BEYOND`] values lie beyond it; less can't carry it. Extremes
//! always come with the count: the largest of n values is exceeded with a probability of at most
//! `bound_95` per cycle, at 95 % confidence, if the cycles are independent.

mod bound;

use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, Quantile};
use crate::record::Record;

pub use bound::{CONFIDENCE, cycles_needed, exceedance_bound};

/// Values that must lie beyond a quantile.
pub const BEYOND: u64 = 10;

/// Summary statistics of a record's release latency. All times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Statistics {
    /// Values, the overflow included.
    pub count: u64,
    /// Smallest value, in ns; absent where there is none.
    pub min_ns: Option<u64>,
    /// Largest value, in ns; absent where there is none.
    pub max_ns: Option<u64>,
    /// Arithmetic mean, in ns.
    pub mean_ns: Option<f64>,
    /// Standard deviation of the sample; absent where an overflow hides values.
    pub sd_ns: Option<f64>,
    /// Median of the values, in ns.
    #[schemars(with = "Option<QuantileSchema>")]
    pub median_ns: Option<Quantile>,
    /// Lower quartile, 25 %.
    #[schemars(with = "Option<QuantileSchema>")]
    pub q1_ns: Option<Quantile>,
    /// Upper quartile, 75 %.
    #[schemars(with = "Option<QuantileSchema>")]
    pub q3_ns: Option<Quantile>,
    /// Lower whisker of queiroz2023: 2.5 % quantile.
    #[schemars(with = "Option<QuantileSchema>")]
    pub p2_5_ns: Option<Quantile>,
    /// Upper whisker of queiroz2023: 97.5 % quantile.
    #[schemars(with = "Option<QuantileSchema>")]
    pub p97_5_ns: Option<Quantile>,
    /// 99 % quantile.
    #[schemars(with = "Option<QuantileSchema>")]
    pub p99_ns: Option<Quantile>,
    /// 99.9 % quantile.
    #[schemars(with = "Option<QuantileSchema>")]
    pub p99_9_ns: Option<Quantile>,
    /// 99.99 % quantile.
    #[schemars(with = "Option<QuantileSchema>")]
    pub p99_99_ns: Option<Quantile>,
    /// 99.999 % quantile.
    #[schemars(with = "Option<QuantileSchema>")]
    pub p99_999_ns: Option<Quantile>,
    /// 99.9999 % quantile.
    #[schemars(with = "Option<QuantileSchema>")]
    pub p99_9999_ns: Option<Quantile>,
    /// Tukey's lower whisker: smallest value within 1.5 interquartile ranges of the lower quartile.
    pub tukey_low_ns: Option<u64>,
    /// Tukey's upper whisker: largest value within 1.5 interquartile ranges of the upper quartile.
    pub tukey_high_ns: Option<u64>,
    /// Jitter as maximum − minimum (kong2021); absent where there is no value.
    pub jitter_peak_to_peak_ns: Option<u64>,
    /// Jitter as upper − lower whisker, p97.5 − p2.5 (queiroz2023).
    pub jitter_whiskers_ns: Option<u64>,
    /// Jitter as mean absolute difference of successive values.
    pub jitter_successive_ns: Option<f64>,
    /// Releases a whole period late or more; absent where unknown.
    pub missed_cycles: Option<u64>,
    /// Longest run of consecutive misses; absent where unknown.
    pub longest_miss_run: Option<u64>,
    /// Values without a bin.
    pub overflow: u64,
    /// Upper 95 % bound on the probability that a cycle exceeds the largest value seen.
    pub bound_95: Option<f64>,
}

/// The written form of [`Quantile`] for the published schema.
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum QuantileSchema {
    /// The value, in ns.
    Exactly(u64),
    /// The value lies in the overflow: only a bound is known, in ns.
    AtLeast { at_least: u64 },
}

const PARTS: [f64; 10] = [0.025, 0.25, 0.5, 0.75, 0.975, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];

impl Statistics {
    /// Summarises the release latency of a record, with its missed cycles.
    pub fn of(record: &Record) -> Self {
        let mut statistics = Self::of_histogram(&record.release);
        statistics.missed_cycles = record.counters.missed_cycles;
        statistics.longest_miss_run = record.counters.longest_miss_run;
        statistics.jitter_successive_ns = record
            .counters
            .difference_sum_ns
            .filter(|_| statistics.count > 1)
            .map(|sum| sum as f64 / (statistics.count - 1) as f64);
        statistics
    }

    /// Summarises a histogram alone.
    pub fn of_histogram(histogram: &Histogram) -> Self {
        let count = histogram.count();
        let quantiles = histogram.quantiles(&PARTS);
        let carried = |index: usize| {
            let beyond = (1.0 - PARTS[index]) * count as f64;
            quantiles[index].filter(|_| beyond + 1e-6 >= BEYOND as f64)
        };
        let [p2_5, q1, median, q3, p97_5, ..] = quantiles;
        let exact = |quantile: Option<Quantile>| quantile.and_then(Quantile::exact);
        let (tukey_low_ns, tukey_high_ns) = match (exact(q1), exact(q3)) {
            (Some(q1), Some(q3)) => tukey_whiskers(histogram, q1, q3),
            _ => (None, None),
        };
        let extreme = |value: u64| (count > 0).then_some(value);
        let (min_ns, max_ns) = (extreme(histogram.min_ns()), extreme(histogram.max_ns()));
        Self {
            count,
            min_ns,
            max_ns,
            mean_ns: histogram.mean_ns(),
            sd_ns: histogram.standard_deviation_ns(),
            median_ns: median,
            q1_ns: q1,
            q3_ns: q3,
            p2_5_ns: p2_5,
            p97_5_ns: p97_5,
            p99_ns: carried(5),
            p99_9_ns: carried(6),
            p99_99_ns: carried(7),
            p99_999_ns: carried(8),
            p99_9999_ns: carried(9),
            tukey_low_ns,
            tukey_high_ns,
            jitter_peak_to_peak_ns: max_ns.zip(min_ns).map(|(max, min)| max - min),
            jitter_whiskers_ns: exact(p97_5).zip(exact(p2_5)).map(|(high, low)| high - low),
            jitter_successive_ns: None,
            missed_cycles: None,
            longest_miss_run: None,
            overflow: histogram.overflow(),
            bound_95: (count > 0).then(|| exceedance_bound(0, count)),
        }
    }

    /// Returns `true` if minimum ≤ whisker ≤ quartile ≤ median … ≤ maximum: the self-check of the
    /// rules of evidence.
    pub fn is_ordered(&self) -> bool {
        let ladder = [
            self.min_ns,
            self.p2_5_ns.map(Quantile::lower_bound),
            self.q1_ns.map(Quantile::lower_bound),
            self.median_ns.map(Quantile::lower_bound),
            self.q3_ns.map(Quantile::lower_bound),
            self.p97_5_ns.map(Quantile::lower_bound),
            self.max_ns,
        ];
        ladder.iter().flatten().is_sorted()
    }
}

/// Returns the smallest and largest recorded values within 1.5 interquartile ranges of the
/// quartiles.
fn tukey_whiskers(histogram: &Histogram, q1: u64, q3: u64) -> (Option<u64>, Option<u64>) {
    let reach = (q3 - q1) + (q3 - q1) / 2;
    let (low_fence, high_fence) = (q1.saturating_sub(reach), q3.saturating_add(reach));
    let inside = |value: u64| value.clamp(histogram.min_ns(), histogram.max_ns());
    let low = histogram.bins().map(|bin| inside(bin.low_ns)).find(|low| *low >= low_fence);
    let high = histogram
        .bins()
        .map(|bin| inside(bin.high_ns))
        .take_while(|high| *high <= high_fence)
        .last();
    (low.or(Some(q1)), high.or(Some(q3)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_known_sample_has_its_known_statistics() {
        let mut histogram = Histogram::new();
        for value in 1..=1000 {
            histogram.record(value);
        }
        let statistics = Statistics::of_histogram(&histogram);
        assert_eq!(statistics.median_ns, Some(Quantile::Exactly(500)));
        assert_eq!(statistics.q1_ns, Some(Quantile::Exactly(250)));
        assert_eq!(statistics.q3_ns, Some(Quantile::Exactly(750)));
        assert_eq!(statistics.p2_5_ns, Some(Quantile::Exactly(25)));
        assert_eq!(statistics.p97_5_ns, Some(Quantile::Exactly(975)));
        assert_eq!(statistics.p99_ns, Some(Quantile::Exactly(990)));
        // Ten values would have to lie beyond it; there is one.
        assert_eq!(statistics.p99_9_ns, None);
        assert_eq!(statistics.jitter_whiskers_ns, Some(950));
        assert_eq!(statistics.jitter_peak_to_peak_ns, Some(999));
        assert_eq!(statistics.mean_ns, Some(500.5));
        assert!((statistics.sd_ns.unwrap() - 288.819_4).abs() < 1e-3);
        assert_eq!((statistics.tukey_low_ns, statistics.tukey_high_ns), (Some(1), Some(1000)));
        assert!(statistics.is_ordered());
    }

    #[test]
    fn tukeys_whiskers_end_before_an_outlier() {
        let mut histogram = Histogram::new();
        for value in [10, 11, 12, 13, 14, 15, 16, 17, 500] {
            histogram.record(value);
        }
        let statistics = Statistics::of_histogram(&histogram);
        assert_eq!(statistics.tukey_high_ns, Some(17));
    }

    proptest! {
        #[test]
        fn every_summary_is_ordered(values in proptest::collection::vec(any::<u64>(), 0..200)) {
            let mut histogram = Histogram::new();
            for value in values {
                histogram.record(value);
            }
            prop_assert!(Statistics::of_histogram(&histogram).is_ordered());
        }
    }
}
