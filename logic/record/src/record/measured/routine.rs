//! The times of a routine of an OSEK kernel: there in records of the probe `osek` only.
//!
//! ```text
//! start ─ reading ─┬─ the routine ─┬─ reading ─ stop
//!                  └─ nothing: the empty measurement, whose median is subtracted
//! ```
//!
//! A routine takes some tens of nanoseconds, so its values are kept as the clock counted them, and
//! the record's own histogram holds what remains of them in whole nanoseconds. None of this is a
//! release: no application class judges it.

use quietcore_units::{Routine, Trigger};
use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, Quantile};
use crate::reason::Inconsistency;
use crate::record::Record;
use crate::statistics::Statistics;

/// The part of the values that is left out at either end of a mean: a loop in which something came
/// in between would be all that is seen of it.
pub const TRIMMED: f64 = 0.05;

/// A run of a routine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutineRun {
    /// The routine that was measured.
    pub routine: Routine,
    /// The way in which its interrupt was brought; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The kernel, its port and its configuration, in words.
    pub kernel: String,
    /// Counts of the clock a second: 1 000 000 000 for the kernel's own.
    pub hertz: u64,
    /// Offset that is subtracted from each value: the median of the empty measurement, in counts;
    /// zero for that one itself.
    pub offset: u64,
    /// Offset that is subtracted from the mean: the mean of the empty measurement, in counts,
    /// without its lowest and highest [`TRIMMED`]; zero for that one itself.
    pub offset_mean: f64,
    /// Values that were below the offset, and count as zero.
    pub clamped: u64,
    /// The values as measured, in counts of the clock instead of ns.
    pub raw: Histogram,
    /// Means of the blocks in ns, without the empty measurement and trimmed as
    /// [`RoutineFigures::mean_ns`] is, in their order; empty where it was not measured in turns
    /// with another run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_means_ns: Vec<f64>,
}

/// The figures of a routine, in ns, with what is below a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoutineFigures {
    /// Smallest value, in ns.
    pub min_ns: f64,
    /// Median; `None` where there is no value at all.
    pub median_ns: Option<f64>,
    /// Mean without the lowest and the highest [`TRIMMED`] of the values, less that of the empty
    /// measurement. A clock that counts in steps of some ns shows it finer than the median.
    pub mean_ns: Option<f64>,
    /// 99 % quantile; `None` where fewer than ten values lie beyond it, as for the next one.
    pub p99_ns: Option<f64>,
    /// 99.99 % quantile.
    pub p99_99_ns: Option<f64>,
    /// Largest value, in ns.
    pub max_ns: f64,
    /// Median, in counts of the clock.
    pub median_counts: Option<u64>,
}

impl RoutineRun {
    /// Returns the rest of a count without the empty measurement.
    pub const fn net(&self, counts: u64) -> u64 {
        counts.saturating_sub(self.offset)
    }

    /// Returns counts as a time, in ns.
    pub fn nanoseconds(&self, counts: u64) -> f64 {
        counts as f64 * 1e9 / self.hertz.max(1) as f64
    }

    /// Returns the figures in ns and in counts.
    pub fn figures(&self) -> RoutineFigures {
        let raw = Statistics::of_histogram(&self.raw);
        let counts = |quantile: Option<Quantile>| quantile.map(|it| self.net(it.lower_bound()));
        let time = |quantile| counts(quantile).map(|counts| self.nanoseconds(counts));
        let extreme = |counts: Option<u64>| self.nanoseconds(self.net(counts.unwrap_or(0)));
        let mean = trimmed_mean(&self.raw).map(|mean| (mean - self.offset_mean).max(0.0));
        RoutineFigures {
            min_ns: extreme(raw.min_ns),
            median_ns: time(raw.median_ns),
            mean_ns: mean.map(|counts| counts * 1e9 / self.hertz.max(1) as f64),
            p99_ns: time(raw.p99_ns),
            p99_99_ns: time(raw.p99_99_ns),
            max_ns: extreme(raw.max_ns),
            median_counts: counts(raw.median_ns),
        }
    }

    /// Lists the numbers that exclude each other.
    pub(in crate::record) fn self_check(&self, record: &Record) -> Vec<Inconsistency> {
        let mut wrong = Vec::new();
        if !self.raw.is_consistent() {
            wrong.push(Inconsistency::RoutineBins);
        }
        if self.raw.count() != record.release.count() {
            wrong.push(Inconsistency::RoutineCount);
        }
        if self.hertz == 0 {
            wrong.push(Inconsistency::ClockRate);
        }
        if self.clamped > self.raw.count() {
            wrong.push(Inconsistency::ClampedBeyondValues);
        }
        if !self.block_means_ns.iter().all(|mean| mean.is_finite() && *mean >= 0.0) {
            wrong.push(Inconsistency::BlockMean);
        }
        wrong
    }
}

/// Returns the mean of a histogram without its lowest and highest [`TRIMMED`]; `None` where it is
/// empty.
pub fn trimmed_mean(histogram: &Histogram) -> Option<f64> {
    let count = histogram.count() as f64;
    let (from, to) = (count * TRIMMED, count * (1.0 - TRIMMED));
    let (mut passed, mut sum) = (0.0, 0.0);
    for bin in histogram.bins() {
        let here = (passed + bin.count as f64).min(to) - passed.max(from);
        sum += here.max(0.0) * (bin.low_ns + bin.high_ns) as f64 / 2.0;
        passed += bin.count as f64;
    }
    (count > 0.0).then(|| sum / (to - from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Measured;
    use crate::record::check::self_check;
    use crate::test_record;

    fn run(values: &[(u64, u64)]) -> RoutineRun {
        let mut raw = Histogram::new();
        for (value, times) in values {
            raw.record_many(*value, *times);
        }
        RoutineRun {
            routine: Routine::Act,
            trigger: None,
            kernel: "test".to_owned(),
            hertz: 2_500_000_000,
            offset: 50,
            offset_mean: 51.0,
            clamped: 1,
            raw,
            block_means_ns: Vec::new(),
        }
    }

    #[test]
    fn the_empty_measurement_is_taken_off_and_never_more_than_there_is() {
        let figures = run(&[(40, 1), (175, 1_998), (5_050, 1)]).figures();
        assert!(figures.min_ns.abs() < 1e-9);
        assert_eq!(figures.median_ns, Some(50.0));
        assert_eq!(figures.median_counts, Some(125));
        assert!((figures.mean_ns.unwrap() - 49.6).abs() < 1e-9, "the extremes are not in it");
        assert_eq!(figures.p99_ns, Some(50.0));
        assert_eq!(figures.p99_99_ns, None, "it takes ten values beyond it");
        assert!((figures.max_ns - 2_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_routine_that_contradicts_its_record_is_found() {
        let mut record = test_record(&[(50, 2_000)]);
        record.measured = Measured::Routine(run(&[(40, 1), (175, 1_999)]));
        assert_eq!(self_check(&record, None), []);
        record.measured =
            Measured::Routine(RoutineRun { hertz: 0, clamped: 9, ..run(&[(175, 3)]) });
        assert_eq!(self_check(&record, None).len(), 3);
    }

    #[test]
    fn a_trimmed_mean_is_finer_than_the_steps_of_the_clock() {
        let mut histogram = Histogram::new();
        assert_eq!(trimmed_mean(&histogram), None);
        histogram.record_many(52, 600);
        histogram.record_many(78, 390);
        histogram.record_many(1_000_000, 10);
        // 550 of 52 and 350 of 78: 50 are left out at either end.
        let mean = (550.0 * 52.0 + 350.0 * 78.0) / 900.0;
        assert!((trimmed_mean(&histogram).unwrap() - mean).abs() < 1e-9);
    }

    #[test]
    fn names_are_those_of_files() {
        for routine in Routine::ALL {
            assert_eq!(serde_json::to_value(routine).unwrap(), routine.name());
        }
        for trigger in Trigger::ALL {
            assert_eq!(serde_json::to_value(trigger).unwrap(), trigger.name());
        }
    }
}
