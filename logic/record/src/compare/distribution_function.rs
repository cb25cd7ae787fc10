//! The empirical distribution of a histogram, taken as continuous: the values of a bin lie evenly
//! between its ends.

use crate::histogram::Histogram;

/// A bin with what lies below it.
#[derive(Clone, Copy, Debug)]
struct Step {
    low: f64,
    high: f64,
    below: u64,
    count: u64,
}

/// An empirical distribution function in ascending steps.
#[derive(Debug)]
pub(crate) struct DistributionFunction {
    steps: Vec<Step>,
    resolution: f64,
    count: u64,
    overflow: u64,
    overflow_from: f64,
}

/// A value of the distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DistributionValue {
    /// The value, in ns, and the width of its bin.
    Inside { value: f64, width: f64 },
    /// Somewhere in the overflow, above this, in ns.
    Beyond(f64),
}

impl DistributionFunction {
    pub(crate) fn of(histogram: &Histogram) -> Self {
        let resolution = histogram.resolution_ns();
        let mut below = 0;
        let steps = histogram
            .bins()
            .map(|bin| {
                // Imported values are multiples of the resolution that were rounded down; a merged
                // histogram has bins without one.
                let first = bin.low_ns.div_ceil(resolution) * resolution;
                let last = bin.high_ns / resolution * resolution;
                let (low, high) = if first <= last {
                    (first, last + resolution)
                } else {
                    (bin.low_ns, bin.high_ns + 1)
                };
                let step = Step { low: low as f64, high: high as f64, below, count: bin.count };
                below += bin.count;
                step
            })
            .collect();
        Self {
            steps,
            resolution: resolution as f64,
            count: histogram.count(),
            overflow: histogram.overflow(),
            overflow_from: histogram.overflow_from_ns() as f64,
        }
    }

    /// Returns the step in which values are known, in ns.
    pub(crate) fn resolution(&self) -> f64 {
        self.resolution
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the value below which `part` of the sample lies.
    pub(crate) fn at(&self, part: f64) -> DistributionValue {
        let rank = part * self.count as f64;
        let index = self.steps.partition_point(|step| ((step.below + step.count) as f64) < rank);
        match self.steps.get(index) {
            Some(step) => {
                let within = ((rank - step.below as f64) / step.count as f64).clamp(0.0, 1.0);
                let width = step.high - step.low;
                DistributionValue::Inside { value: step.low + within * width, width }
            }
            None => DistributionValue::Beyond(self.overflow_from),
        }
    }

    /// Counts the values that are above `limit_ns` wherever in their bins they lie.
    pub(crate) fn certainly_above(&self, limit_ns: u64) -> u64 {
        let limit = limit_ns as f64;
        let index = self.steps.partition_point(|step| step.low <= limit);
        let binned: u64 = self.steps[index..].iter().map(|step| step.count).sum();
        binned + if self.overflow_from > limit { self.overflow } else { 0 }
    }

    /// Returns mean, variance and fourth central moment, from the middles of the bins; `None` below
    /// two values or where an overflow hides some.
    pub(crate) fn moments(&self) -> Option<Moments> {
        if self.count < 2 || self.overflow > 0 {
            return None;
        }
        let count = self.count as f64;
        let middle = |step: &Step| f64::midpoint(step.low, step.high);
        let mean = self.steps.iter().map(|s| middle(s) * s.count as f64).sum::<f64>() / count;
        let (mut squares, mut fourths) = (0.0, 0.0);
        for step in &self.steps {
            let square = (middle(step) - mean).powi(2);
            squares += square * step.count as f64;
            fourths += square * square * step.count as f64;
        }
        Some(Moments { mean, variance: squares / (count - 1.0), fourth: fourths / count })
    }
}

/// Mean and central moments, in powers of ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    pub(crate) fourth: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_evenly_in_their_bins() {
        let mut histogram = Histogram::imported(1_000, 10_000);
        histogram.record_many(2_000, 4);
        histogram.record_many(5_000, 4);
        histogram.record_overflow(2, 50_000, 60_000);
        let function = DistributionFunction::of(&histogram);
        assert_eq!(function.at(0.2), DistributionValue::Inside { value: 2_500.0, width: 1_000.0 });
        assert_eq!(function.at(0.6), DistributionValue::Inside { value: 5_500.0, width: 1_000.0 });
        assert_eq!(function.at(0.9), DistributionValue::Beyond(10_000.0));
        assert_eq!(function.certainly_above(2_500), 6);
        assert_eq!(function.certainly_above(20_000), 0);
        assert!(function.moments().is_none());
    }

    #[test]
    fn moments_of_a_coin() {
        let mut histogram = Histogram::new();
        histogram.record_many(100, 500);
        histogram.record_many(200, 500);
        let moments = DistributionFunction::of(&histogram).moments().unwrap();
        assert!((moments.variance - 2_502.5).abs() < 0.01);
        assert!((moments.fourth - 6_250_000.0).abs() < 1.0);
    }
}
