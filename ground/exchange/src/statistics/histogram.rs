//! A histogram in shared memory: one counter a bin, and exact totals.

use crate::statistics::bins::{self, BIN_COUNT};
use crate::sync::{AtomicU64, Relaxed};

/// A log-linear histogram of nanoseconds, as it lies in the region.
///
/// All zero is a valid, empty histogram.
#[repr(C)]
pub struct Histogram {
    totals: [AtomicU64; 5],
    bins: [AtomicU64; BIN_COUNT],
}

/// The exact totals of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistogramTotals {
    /// Values recorded, those in the overflow included.
    pub count: u64,
    /// Sum of all values, in ns; exact for 584 years of summed latency.
    pub sum_ns: u64,
    /// Smallest value, in ns; 0 in an empty histogram.
    pub min_ns: u64,
    /// Largest value, in ns.
    pub max_ns: u64,
    /// Values at or beyond [`bins::RANGE_END`](crate::bins::RANGE_END), which have no bin.
    pub overflow: u64,
}

/// Values of one bin, or all beyond the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Many {
    pub(crate) count: u64,
    pub(crate) highest: u64,
    pub(crate) lowest: u64,
    /// Of all, wrapping around.
    pub(crate) sum: u64,
}

impl Many {
    /// `count` values, at least one, each of them `step` below the one before; none is below zero.
    pub(crate) fn falling(highest: u64, step: u64, count: u64) -> Self {
        let steps = count - 1;
        let lowest = highest - step * steps;
        let sum = (u128::from(highest) + u128::from(lowest)) * u128::from(count) / 2;
        Self { count, highest, lowest, sum: sum as u64 }
    }
}

impl Histogram {
    /// The count of bin `index`; zero beyond the last.
    pub fn bin(&self, index: usize) -> u64 {
        self.bins.get(index).map_or(0, |bin| bin.load(Relaxed))
    }

    /// Copies the bins from `first` on.
    pub(crate) fn copy_bins(&self, first: usize, copy: &mut [u64]) {
        for (count, bin) in copy.iter_mut().zip(self.bins.get(first..).unwrap_or_default()) {
            *count = bin.load(Relaxed);
        }
    }

    /// The totals. While a writer runs they may be of different cycles, among themselves and
    /// beside the bins; they agree once it has ended.
    pub fn totals(&self) -> HistogramTotals {
        let [count, sum_ns, min_ns, max_ns, overflow] =
            [0, 1, 2, 3, 4].map(|index: usize| self.totals[index].load(Relaxed));
        HistogramTotals { count, sum_ns, min_ns, max_ns, overflow }
    }

    /// Adds `value`. `totals` is the writer's own state, which is published.
    #[inline]
    pub(crate) fn record(&self, totals: &mut HistogramTotals, value: u64) {
        totals.min_ns = if totals.count == 0 { value } else { totals.min_ns.min(value) };
        totals.max_ns = totals.max_ns.max(value);
        totals.count += 1;
        totals.sum_ns = totals.sum_ns.wrapping_add(value);
        match bins::index_of(value) {
            // One writer: a plain load and store, no locked instruction.
            Some(index) => {
                let bin = &self.bins[index];
                bin.store(bin.load(Relaxed).wrapping_add(1), Relaxed);
            }
            None => totals.overflow += 1,
        }
        self.publish(totals);
    }

    /// Adds all of `many`.
    pub(crate) fn record_many(&self, totals: &mut HistogramTotals, many: &Many) {
        totals.min_ns =
            if totals.count == 0 { many.lowest } else { totals.min_ns.min(many.lowest) };
        totals.max_ns = totals.max_ns.max(many.highest);
        totals.count += many.count;
        totals.sum_ns = totals.sum_ns.wrapping_add(many.sum);
        match bins::index_of(many.lowest) {
            Some(index) => {
                let bin = &self.bins[index];
                bin.store(bin.load(Relaxed).wrapping_add(many.count), Relaxed);
            }
            None => totals.overflow += many.count,
        }
        self.publish(totals);
    }

    #[inline]
    fn publish(&self, totals: &HistogramTotals) {
        let published =
            [totals.count, totals.sum_ns, totals.min_ns, totals.max_ns, totals.overflow];
        for (place, total) in self.totals.iter().zip(published) {
            place.store(total, Relaxed);
        }
    }

    /// Makes the histogram empty, and its pages present.
    pub(crate) fn clear(&self) {
        for word in &self.totals {
            word.store(0, Relaxed);
        }
        for word in &self.bins {
            word.store(0, Relaxed);
        }
    }
}
