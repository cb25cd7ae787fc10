//! A histogram of nanoseconds that loses nothing.
//!
//! It has the bins of the exchange ([`quietcore_exchange::bins`]): 1 ns to 68.7 s at three
//! significant digits. What lies beyond is counted as overflow; an imported histogram may have an
//! earlier end. A quantile inside the overflow is a bound and never a number.
//!
//! Invariants, also of a histogram that was read from a file: the bins and the overflow add up to
//! the count; minimum ≤ maximum; every bin lies between the two.

mod sparse;

use quietcore_exchange::HistogramTotals;
use quietcore_exchange::bins::{self, BIN_COUNT};
use serde::{Deserialize, Serialize};

pub use sparse::SparseHistogram;

/// A histogram with exact count, sum, minimum and maximum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Histogram {
    counts: Vec<u64>,
    totals: HistogramTotals,
    overflow_from_ns: u64,
    resolution_ns: u64,
}

/// A value that may only be known from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantile {
    /// The value, in ns.
    Exactly(u64),
    /// The value lies in the overflow.
    AtLeast {
        /// The bound, in ns.
        at_least: u64,
    },
}

impl Quantile {
    /// Returns the value or its lower bound, in ns.
    pub const fn lower_bound(self) -> u64 {
        match self {
            Self::Exactly(value) | Self::AtLeast { at_least: value } => value,
        }
    }

    /// Returns the value, in ns, where it is known.
    pub const fn exact(self) -> Option<u64> {
        match self {
            Self::Exactly(value) => Some(value),
            Self::AtLeast { .. } => None,
        }
    }
}

/// One bin that isn't empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Smallest value that belongs to the bin, in ns.
    pub low_ns: u64,
    /// Largest value that belongs to the bin, in ns.
    pub high_ns: u64,
    /// Values in the bin.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// Makes an empty histogram with the full range and a resolution of 1 ns.
    pub fn new() -> Self {
        Self {
            counts: vec![0; BIN_COUNT],
            totals: HistogramTotals::default(),
            overflow_from_ns: bins::RANGE_END,
            resolution_ns: 1,
        }
    }

    /// Makes an empty histogram for data of another program: values are multiples of
    /// `resolution_ns`, rounded down, and those from `overflow_from_ns` on were only counted.
    pub fn imported(resolution_ns: u64, overflow_from_ns: u64) -> Self {
        Self {
            overflow_from_ns: overflow_from_ns.min(bins::RANGE_END),
            resolution_ns: resolution_ns.max(1),
            ..Self::new()
        }
    }

    /// Copies a histogram in an exchange whose writer has ended.
    ///
    /// # Errors
    /// [`StoredError::Inconsistent`] when the parts contradict each other: the writer was ended in
    /// the middle of a cycle, or what runs in the partition has written there.
    pub fn from_exchange(shared: &quietcore_exchange::Histogram) -> Result<Self, StoredError> {
        let histogram = Self {
            totals: shared.totals(),
            counts: (0..BIN_COUNT).map(|index| shared.bin(index)).collect(),
            ..Self::new()
        };
        histogram.checked()
    }

    /// Copies a histogram in an exchange whose writer goes on; `None` where that was in the middle
    /// of a cycle each time it was tried.
    pub fn of_running(shared: &quietcore_exchange::Histogram) -> Option<Self> {
        (0..READ_TRIES).find_map(|_| {
            let totals = shared.totals();
            let mut histogram = Self { totals, ..Self::new() };
            // All others are empty, and to copy them takes time in which the next cycle comes.
            let first = bins::index_of(totals.min_ns).unwrap_or(BIN_COUNT);
            let end = bins::index_of(totals.max_ns).map_or(BIN_COUNT, |last| last + 1);
            for index in first..end {
                histogram.counts[index] = shared.bin(index);
            }
            (shared.totals() == totals).then(|| histogram.checked().ok()).flatten()
        })
    }

    /// Returns the values that came since an earlier copy of the same histogram; `None` where that
    /// is no earlier one. Smallest and largest are known within their bins.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        if earlier.count() == 0 {
            return Some(self.clone());
        }
        let mut since = Self { counts: Vec::with_capacity(BIN_COUNT), ..Self::new() };
        for (now, before) in self.counts.iter().zip(&earlier.counts) {
            since.counts.push(now.checked_sub(*before)?);
        }
        let (now, before) = (&self.totals, &earlier.totals);
        let totals = HistogramTotals {
            count: now.count.checked_sub(before.count)?,
            sum_ns: now.sum_ns.checked_sub(before.sum_ns)?,
            overflow: now.overflow.checked_sub(before.overflow)?,
            ..HistogramTotals::default()
        };
        since.totals = totals;
        if totals.count == 0 {
            return Some(since);
        }
        let first = first_that_counts(&since.counts).map(bins::lowest_of);
        let last = last_that_counts(&since.counts).map(bins::highest_of);
        since.totals.min_ns = first.unwrap_or(self.overflow_from_ns).max(now.min_ns);
        let last = last.filter(|_| totals.overflow == 0);
        since.totals.max_ns = last.unwrap_or(u64::MAX).min(now.max_ns);
        since.checked().ok()
    }

    fn checked(self) -> Result<Self, StoredError> {
        if self.is_consistent() { Ok(self) } else { Err(StoredError::Inconsistent) }
    }

    /// Adds one value, in ns.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_many(value_ns, 1);
    }

    /// Adds a value `times` times.
    #[inline]
    pub fn record_many(&mut self, value_ns: u64, times: u64) {
        if times == 0 {
            return;
        }
        match bins::index_of(value_ns) {
            Some(index) if value_ns < self.overflow_from_ns => self.counts[index] += times,
            _ => self.totals.overflow += times,
        }
        self.note(value_ns, value_ns, times, value_ns.saturating_mul(times));
    }

    /// Adds values of which only their number, largest and sum are known: another program's
    /// overflow.
    pub fn record_overflow(&mut self, times: u64, max_ns: u64, sum_ns: u64) {
        if times == 0 {
            return;
        }
        self.totals.overflow += times;
        let max_ns = max_ns.max(self.overflow_from_ns);
        self.note(self.overflow_from_ns, max_ns, times, sum_ns);
    }

    #[inline]
    fn note(&mut self, min_ns: u64, max_ns: u64, times: u64, sum_ns: u64) {
        let totals = &mut self.totals;
        totals.min_ns = if totals.count == 0 { min_ns } else { totals.min_ns.min(min_ns) };
        totals.max_ns = totals.max_ns.max(max_ns);
        totals.count += times;
        totals.sum_ns = totals.sum_ns.saturating_add(sum_ns);
    }

    /// Adds all values of another histogram. The coarser resolution and the earlier end hold for
    /// the sum.
    pub fn merge(&mut self, other: &Self) {
        let totals = &other.totals;
        if totals.count == 0 {
            return;
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.totals.overflow += totals.overflow;
        self.overflow_from_ns = self.overflow_from_ns.min(other.overflow_from_ns);
        self.resolution_ns = self.resolution_ns.max(other.resolution_ns);
        self.note(totals.min_ns, totals.max_ns, totals.count, totals.sum_ns);
    }

    /// Returns the number of values, the overflow included.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// Returns the smallest value, in ns; 0 in an empty histogram.
    pub fn min_ns(&self) -> u64 {
        self.totals.min_ns
    }

    /// Returns the largest value, in ns; 0 in an empty histogram.
    pub fn max_ns(&self) -> u64 {
        self.totals.max_ns
    }

    /// Returns the number of values without a bin.
    pub fn overflow(&self) -> u64 {
        self.totals.overflow
    }

    /// Returns the value from which on there is no bin, in ns.
    pub fn overflow_from_ns(&self) -> u64 {
        self.overflow_from_ns
    }

    /// Returns the step of which the values are multiples, rounded down, in ns.
    pub fn resolution_ns(&self) -> u64 {
        self.resolution_ns
    }

    /// Returns `true` if it has the full range and a resolution of 1 ns, as all that was recorded
    /// here.
    pub fn has_all_bins(&self) -> bool {
        self.resolution_ns == 1 && self.overflow_from_ns == bins::RANGE_END
    }

    /// Returns the sum of all values, in ns; it saturates.
    pub fn sum_ns(&self) -> u64 {
        self.totals.sum_ns
    }

    /// Returns `true` if the sum can be one of values in these bins. Values in an overflow, or
    /// rounded by another program, have no bounds.
    pub fn sum_fits(&self) -> bool {
        if self.overflow() > 0 || self.resolution_ns > 1 || self.sum_ns() == u64::MAX {
            return true;
        }
        let bound = |value: fn(&Bin) -> u64| {
            let in_range = |bin: &Bin| value(bin).clamp(self.min_ns(), self.max_ns());
            self.bins().map(|bin| u128::from(in_range(&bin)) * u128::from(bin.count)).sum::<u128>()
        };
        (bound(|bin| bin.low_ns)..=bound(|bin| bin.high_ns)).contains(&u128::from(self.sum_ns()))
    }

    /// Returns the arithmetic mean, in ns, from the exact sum; `None` in an empty histogram.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns() as f64 / self.count() as f64)
    }

    /// Returns the standard deviation of the sample, in ns, from the middles of the bins (within
    /// 0.05 % of each value); `None` below two values or where an overflow hides some.
    pub fn standard_deviation_ns(&self) -> Option<f64> {
        if self.count() < 2 || self.overflow() > 0 {
            return None;
        }
        // Around the binned mean, not the exact one: equal values then have a deviation of zero.
        let middle = |bin: &Bin| (bin.low_ns + bin.high_ns) as f64 / 2.0;
        let mean = self.bins().map(|bin| middle(&bin) * bin.count as f64).sum::<f64>()
            / self.count() as f64;
        let squares: f64 =
            self.bins().map(|bin| (middle(&bin) - mean).powi(2) * bin.count as f64).sum();
        Some((squares / (self.count() - 1) as f64).sqrt())
    }

    /// Returns the bins that aren't empty, ascending.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        // All others are empty, as an invariant says.
        let first = bins::index_of(self.min_ns()).unwrap_or(BIN_COUNT);
        let end = bins::index_of(self.max_ns()).map_or(BIN_COUNT, |last| last + 1);
        let blocks = self.counts[first..end.max(first)].chunks(BLOCK).enumerate();
        let blocks = blocks.filter(|(_, block)| **block != [0; BLOCK][..block.len()]);
        blocks.flat_map(move |(number, block)| {
            let block = block.iter().enumerate().filter(|(_, count)| **count > 0);
            block.map(move |(place, count)| {
                let index = first + number * BLOCK + place;
                let (low_ns, high_ns) = (bins::lowest_of(index), bins::highest_of(index));
                Bin { low_ns, high_ns, count: *count }
            })
        })
    }

    /// Returns the smallest value below or at which at least the part `part` of the sample lies
    /// (inverse of the empirical distribution function), as the upper end of its bin and within the
    /// extremes; `None` in an empty histogram.
    pub fn quantile(&self, part: f64) -> Option<Quantile> {
        self.quantiles(&[part])[0]
    }

    /// Returns several quantiles in one pass; `parts` ascend.
    pub fn quantiles<const N: usize>(&self, parts: &[f64; N]) -> [Option<Quantile>; N] {
        let mut found = [None; N];
        if self.count() == 0 {
            return found;
        }
        let mut passed = 0;
        let mut bins = self.bins();
        let mut current = None;
        for (place, part) in found.iter_mut().zip(parts) {
            let rank = self.rank(*part);
            while passed < rank {
                current = bins.next();
                match &current {
                    Some(bin) => passed += bin.count,
                    None => break,
                }
            }
            // Bins beyond the end come from merging; where in between the overflow lies is unknown.
            let known = current
                .as_ref()
                .filter(|bin| self.overflow() == 0 || bin.low_ns < self.overflow_from_ns);
            *place = Some(match known {
                Some(bin) => {
                    Quantile::Exactly(self.value_of(bin).clamp(self.min_ns(), self.max_ns()))
                }
                None => Quantile::AtLeast { at_least: self.overflow_from_ns.max(self.min_ns()) },
            });
        }
        found
    }

    fn rank(&self, part: f64) -> u64 {
        ((part * self.count() as f64).ceil() as u64).clamp(1, self.count())
    }

    /// Returns the value that stands for a bin: its upper end, or for imported data the multiple of
    /// the resolution.
    fn value_of(&self, bin: &Bin) -> u64 {
        if self.resolution_ns == 1 {
            bin.high_ns
        } else {
            bin.high_ns / self.resolution_ns * self.resolution_ns
        }
    }

    /// Returns the least that a recorded value can have been which is now `value_ns`.
    pub(crate) fn least_of(&self, value_ns: u64) -> u64 {
        bins::index_of(value_ns).map_or(value_ns, bins::lowest_of).max(self.min_ns())
    }

    /// Counts the values that may be above `limit_ns`. The count is exact for all bins but the one
    /// that holds the limit; that one counts as above unless no value of it can be, and so does the
    /// overflow, so an exceedance is never missed.
    pub fn count_above(&self, limit_ns: u64) -> u64 {
        let fraction = self.resolution_ns - 1;
        // A maximum at the very start of the overflow says that nobody knows how late it was.
        let max_is_known = self.overflow() == 0 || self.max_ns() > self.overflow_from_ns;
        if max_is_known && self.max_ns().saturating_add(fraction) <= limit_ns {
            return 0;
        }
        let above: u64 = self
            .bins()
            .filter(|bin| self.value_of(bin).min(self.max_ns()).saturating_add(fraction) > limit_ns)
            .map(|bin| bin.count)
            .sum();
        above + self.overflow()
    }

    /// Counts the values that are above `limit_ns` wherever in their bins they lie. Where
    /// [`count_above`](Self::count_above) says the same, both are exact.
    pub fn count_surely_above(&self, limit_ns: u64) -> u64 {
        let least = |bin: &Bin| bin.low_ns.max(self.min_ns());
        let above: u64 = self.bins().filter(|bin| least(bin) > limit_ns).map(|bin| bin.count).sum();
        let overflow_is_above = self.overflow_from_ns.max(self.min_ns()) > limit_ns;
        let above = above + if overflow_is_above { self.overflow() } else { 0 };
        // Wherever in its bin or in the overflow it lies, the largest value is one of them.
        above.max(u64::from(self.max_ns() > limit_ns))
    }

    /// Returns `true` if bins and overflow add up to the count and the extremes lie in bins that
    /// are not empty: the self-check of the rules of evidence.
    pub fn is_consistent(&self) -> bool {
        let first = first_that_counts(&self.counts);
        let last = last_that_counts(&self.counts);
        let counted = match (first, last) {
            (Some(first), Some(last)) => &self.counts[first..=last],
            _ => &[],
        };
        let sum = counted.iter().try_fold(self.overflow(), |sum, count| sum.checked_add(*count));
        let adds_up = sum == Some(self.count());
        let holds = |bin: usize, value_ns: u64| {
            (bins::lowest_of(bin)..=bins::highest_of(bin)).contains(&value_ns)
        };
        let min_fits = first.is_none_or(|bin| holds(bin, self.min_ns()));
        let max_fits = if self.overflow() > 0 {
            self.max_ns() >= self.overflow_from_ns
        } else {
            last.is_none_or(|bin| holds(bin, self.max_ns()))
        };
        adds_up && min_fits && max_fits && self.min_ns() <= self.max_ns()
    }
}

/// The tries to copy a histogram between two cycles of its writer.
const READ_TRIES: usize = 16;

/// Bins that are looked at together. Most are empty, and a block of them is compared at once.
const BLOCK: usize = 64;

/// Returns the index of the first bin that isn't empty.
fn first_that_counts(counts: &[u64]) -> Option<usize> {
    let (blocks, _) = counts.as_chunks::<BLOCK>();
    let empty = blocks.iter().take_while(|block| **block == [0; BLOCK]).count() * BLOCK;
    Some(empty + counts[empty..].iter().position(|count| *count > 0)?)
}

/// Returns the index of the last bin that isn't empty.
fn last_that_counts(counts: &[u64]) -> Option<usize> {
    let (_, blocks) = counts.as_rchunks::<BLOCK>();
    let empty = blocks.iter().rev().take_while(|block| **block == [0; BLOCK]).count() * BLOCK;
    counts[..counts.len() - empty].iter().rposition(|count| *count > 0)
}

/// A histogram as it stands in a file: only the bins that aren't empty, each by its lowest value.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    resolution_ns: u64,
    overflow_from_ns: u64,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    overflow: u64,
    bins: Vec<(u64, u64)>,
}

impl From<Histogram> for Stored {
    fn from(histogram: Histogram) -> Self {
        let HistogramTotals { count, sum_ns, min_ns, max_ns, overflow } = histogram.totals;
        Self {
            resolution_ns: histogram.resolution_ns,
            overflow_from_ns: histogram.overflow_from_ns,
            count,
            sum_ns,
            min_ns,
            max_ns,
            overflow,
            bins: histogram.bins().map(|bin| (bin.low_ns, bin.count)).collect(),
        }
    }
}

/// The reason why a stored histogram isn't one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum StoredError {
    /// A bin that doesn't exist.
    #[error(
        "`{0}` is not the lowest value of a bin; bins ascend and begin where Quietcore put them"
    )]
    NoBin(u64),
    /// Bins that are not written as `LOWEST:COUNT`.
    #[error("a bin is not written as its lowest value, a colon and its count")]
    NoText,
    /// The parts contradict each other.
    #[error("the bins do not agree with count, minimum and maximum; they were changed or cut off")]
    Inconsistent,
}

impl TryFrom<Stored> for Histogram {
    type Error = StoredError;

    fn try_from(stored: Stored) -> Result<Self, StoredError> {
        let mut histogram = Self::imported(stored.resolution_ns, stored.overflow_from_ns);
        for &(low, count) in &stored.bins {
            let index = bins::index_of(low)
                .filter(|index| bins::lowest_of(*index) == low && histogram.counts[*index] == 0)
                .ok_or(StoredError::NoBin(low))?;
            histogram.counts[index] = count;
        }
        let Stored { count, sum_ns, min_ns, max_ns, overflow, .. } = stored;
        histogram.totals = HistogramTotals { count, sum_ns, min_ns, max_ns, overflow };
        histogram.checked()
    }
}

#[cfg(test)]
mod tests;
