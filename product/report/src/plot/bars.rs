//! The bins of a histogram gathered into the bars of a plot.
//!
//! Nothing is lost: a bar holds the sum of its bins, and a single value, such as the maximum, still
//! is a bar of its own height.

use quietcore_record::histogram::Histogram;

use super::axis::{Scale, nice_step};

/// The most bars of a plot.
pub(crate) const BARS_MAX: usize = 600;

/// Bars of a logarithmic axis in each decade.
const BARS_A_DECADE: f64 = 24.0;

/// Coarsest resolution that is drawn as such, in ns. No program counts in more than seconds, but a
/// file may claim it.
const RESOLUTION_MAX: u64 = 1_000_000_000;

/// The borders of bars: bar `i` reaches from `edges[i]` to below `edges[i + 1]`, in ns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edges {
    edges: Vec<u64>,
    width_ns: Option<u64>,
}

impl Edges {
    /// Makes bars for a scale. Values are multiples of `resolution_ns`, so no bar is finer.
    pub(crate) fn new(scale: Scale, resolution_ns: u64) -> Self {
        let resolution_ns = resolution_ns.clamp(1, RESOLUTION_MAX);
        match scale {
            Scale::Linear { end } => Self::linear(end, resolution_ns),
            Scale::Logarithmic { begin, end } => Self::logarithmic(begin, end, resolution_ns),
        }
    }

    /// Makes bars that are 1 µs wide where that gives between 20 and 600 of them; otherwise finer
    /// or coarser by 1, 2, 5.
    fn linear(end: f64, resolution_ns: u64) -> Self {
        let finest = if end < 20_000.0 { end / 200.0 } else { 1_000.0 };
        let step = nice_step((end / BARS_MAX as f64).max(finest)).max(1.0) as u64;
        let width_ns = step.next_multiple_of(resolution_ns);
        let count = (end as u64).div_ceil(width_ns).min(BARS_MAX as u64);
        Self { edges: (0..=count).map(|i| i * width_ns).collect(), width_ns: Some(width_ns) }
    }

    fn logarithmic(begin: f64, end: f64, resolution_ns: u64) -> Self {
        let ratio = 10_f64.powf(1.0 / BARS_A_DECADE);
        let mut edges = vec![0];
        let mut exact = begin * ratio;
        while edges.len() < BARS_MAX {
            let last = edges.last().copied().unwrap_or(0);
            let next = (exact as u64).next_multiple_of(resolution_ns).max(last + resolution_ns);
            edges.push(next);
            if next as f64 >= end {
                break;
            }
            // Where whole nanoseconds are coarser than the ratio, the bars follow them.
            exact = (exact * ratio).max(next as f64);
        }
        Self { edges, width_ns: None }
    }

    /// Returns the number of bars.
    pub(crate) fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns the smallest value of bar `index` and the first one beyond it, in ns.
    pub(crate) fn range(&self, index: usize) -> (u64, u64) {
        (self.edges[index], self.edges[index + 1])
    }

    /// Returns the width of all bars in ns; `None` on a logarithmic axis.
    pub(crate) const fn width_ns(&self) -> Option<u64> {
        self.width_ns
    }

    /// Counts the values in each bar; those beyond the last bar count there.
    pub(crate) fn counts(&self, histogram: &Histogram) -> Vec<u64> {
        let mut counts = vec![0; self.len()];
        let mut index = 0;
        for (value_ns, count) in values(histogram) {
            while index + 1 < counts.len() && value_ns >= self.edges[index + 1] {
                index += 1;
            }
            counts[index] += count;
        }
        counts
    }
}

/// Lists the values of a histogram with their counts, ascending. A coarse value of another program
/// lies somewhere in its bin, so the multiple of the resolution stands for it.
pub(crate) fn values(histogram: &Histogram) -> impl Iterator<Item = (u64, u64)> + '_ {
    let resolution_ns = histogram.resolution_ns().max(1);
    histogram.bins().map(move |bin| {
        let value_ns = if resolution_ns == 1 {
            bin.low_ns
        } else {
            bin.high_ns / resolution_ns * resolution_ns
        };
        (value_ns, bin.count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bars_are_one_microsecond_wide_where_that_fits() {
        let width = |end| Edges::new(Scale::Linear { end }, 1).width_ns();
        assert_eq!(width(80_000.0), Some(1_000));
        assert_eq!(width(600_000.0), Some(1_000));
        assert_eq!(width(900_000.0), Some(2_000));
        assert_eq!(width(2_000.0), Some(10));
        assert_eq!(Edges::new(Scale::Linear { end: 2_000.0 }, 1_000).width_ns(), Some(1_000));
    }

    /// The value of 17 µs lies in a bin that begins at 16.992 µs.
    #[test]
    fn a_coarse_value_is_drawn_in_its_own_bar() {
        let mut histogram = Histogram::imported(1_000, 400_000);
        histogram.record_many(17_000, 5);
        let edges = Edges::new(Scale::Linear { end: 50_000.0 }, 1_000);
        assert_eq!(edges.counts(&histogram)[17], 5);
    }

    proptest! {
        #[test]
        fn no_value_is_lost(
            values in proptest::collection::vec(0_u64..60_000_000_000, 1..100),
            resolution in prop_oneof![Just(1_u64), Just(1_000)],
        ) {
            let mut histogram = Histogram::imported(resolution, u64::MAX);
            for value in &values {
                histogram.record(value / resolution * resolution);
            }
            let max = histogram.max_ns() as f64;
            let scales =
                [Scale::linear_beyond(max), Scale::logarithmic_around(resolution as f64, max)];
            for scale in scales {
                let edges = Edges::new(scale, resolution);
                prop_assert!(edges.len() <= BARS_MAX);
                prop_assert!(edges.edges.is_sorted_by(|a, b| a < b));
                prop_assert_eq!(edges.counts(&histogram).iter().sum::<u64>(), values.len() as u64);
            }
        }
    }
}
