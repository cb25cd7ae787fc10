//! A histogram in buckets of 1 µs.
//!
//! A bin above 1 ms is wider than a bucket: its values go to the bucket of its upper end, never to
//! an earlier one, so an export understates nothing. Reading an export back and exporting it again
//! changes no count any more.

use quietcore_units::Nanos;

use crate::histogram::Histogram;

/// The most buckets: `cyclictest`'s own limit, one second.
pub const BUCKETS_MAX: u64 = 1_000_000;

const BUCKET_NS: u64 = 1_000;

/// The buckets of a record.
#[derive(Debug)]
pub(super) struct Buckets {
    /// Bucket in µs and values, ascending, without empty ones.
    pub(super) filled: Vec<(u64, u64)>,
    /// Values from `end` on.
    pub(super) overflow: u64,
    /// End of the buckets, in µs: the first one that isn't there.
    pub(super) end: u64,
    pub(super) count: u64,
    pub(super) min: u64,
    pub(super) max: u64,
    /// The mean of the record, in µs.
    pub(super) mean: f64,
}

/// Returns the end for several records: the one asked for, or earlier where a record knows no
/// buckets so far.
pub(super) fn end(histograms: &[&Histogram], asked: Nanos) -> u64 {
    histograms
        .iter()
        .filter(|histogram| histogram.overflow() > 0)
        .map(|histogram| histogram.overflow_from_ns() / BUCKET_NS)
        .fold(asked.get() / BUCKET_NS, u64::min)
        .clamp(1, BUCKETS_MAX)
}

impl Buckets {
    pub(super) fn of(histogram: &Histogram, end: u64) -> Self {
        let (min, max) = (histogram.min_ns(), histogram.max_ns());
        let mut filled: Vec<(u64, u64)> = Vec::new();
        let mut overflow = histogram.overflow();
        let mut sum_us: u128 = 0;
        for bin in histogram.bins() {
            let bucket = bin.high_ns.clamp(min, max) / BUCKET_NS;
            sum_us += u128::from(bucket) * u128::from(bin.count);
            if bucket >= end {
                overflow += bin.count;
            } else {
                match filled.last_mut() {
                    Some((last, count)) if *last == bucket => *count += bin.count,
                    _ => filled.push((bucket, bin.count)),
                }
            }
        }
        let count = histogram.count();
        let last = filled.last().map(|(bucket, _)| *bucket);
        let all_beyond = if count > 0 { (min / BUCKET_NS).max(end) } else { 0 };
        let first = filled.first().map_or(all_beyond, |(bucket, _)| *bucket);
        let mean = if overflow == 0 && count > 0 {
            // The mean of the buckets: a file whose mean isn't that of its rows would not be
            // trusted.
            sum_us as f64 / count as f64
        } else {
            histogram.mean_ns().unwrap_or(0.0) / BUCKET_NS as f64
        };
        let max = if overflow == 0 { last.unwrap_or(0) } else { (max / BUCKET_NS).max(end) };
        Self { filled, overflow, end, count, min: first, max, mean }
    }

    /// Returns the number of values in buckets.
    pub(super) fn total(&self) -> u64 {
        self.count - self.overflow
    }
}
