//! The timing of a task in figures, all of one cycle.

use std::ops::Range;

use quietcore_exchange::bins::{BIN_COUNT, highest_of, lowest_of};
use quietcore_exchange::{
    HistogramTotals, SnapshotBuffers, TaskSnapshot, TaskState, TaskStatistics, TornRead,
};
use quietcore_record::statistics::BEYOND;
use quietcore_units::Nanos;

use crate::control::TaskDescription;

/// Bars in a decade; a display merges them into as many as it has room for.
const BARS_A_DECADE: usize = 24;
/// Exponent, in nanoseconds, at which the first bar begins: 100 ns.
const FIRST_EXPONENT: i32 = 2;
/// Exponent, in nanoseconds, at which the last bar ends: 10 s.
const LAST_EXPONENT: i32 = 10;

/// A histogram in bars of equal width on a logarithmic axis from 100 ns to 10 s. Values beyond are
/// in the first or the last bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogBars {
    /// Number of values in each bar.
    pub counts: Vec<u64>,
    /// Number of all values.
    pub total: u64,
    /// Smallest value; zero without values.
    pub min: Nanos,
    /// Largest value; zero without values.
    pub max: Nanos,
    /// Value that half of the values don't exceed.
    pub median: Nanos,
    /// Value that 99 of 100 don't exceed.
    pub p99: Nanos,
    /// Value that 999 of 1000 don't exceed.
    pub p99_9: Nanos,
    /// Value that 9999 of 10 000 don't exceed.
    pub p99_99: Nanos,
}

impl LogBars {
    /// Returns the bars from the first to the last that holds values, half a decade of them at
    /// least.
    pub fn used(&self) -> Range<usize> {
        const FEWEST: usize = BARS_A_DECADE / 2;
        let has_some = |count: &u64| *count > 0;
        let first = self.counts.iter().position(has_some).unwrap_or(0);
        let end = self.counts.iter().rposition(has_some).map_or(0, |last| last + 1);
        let missing = FEWEST.saturating_sub(end.saturating_sub(first));
        let begin = first.saturating_sub(missing / 2);
        let begin = begin.min(Self::bar_count() - FEWEST);
        begin..end.max(begin + FEWEST)
    }

    /// Returns the median; `None` without values.
    pub fn shown_median(&self) -> Option<Nanos> {
        Some(self.median).filter(|_| self.total > 0)
    }

    /// Returns the value that 99 of 100 don't exceed. It is `None` unless as many values lie beyond
    /// it as a report asks for.
    pub fn shown_p99(&self) -> Option<Nanos> {
        Some(self.p99).filter(|_| self.total >= BEYOND * 100)
    }

    /// Returns the value that 999 of 1000 don't exceed, under the same condition.
    pub fn shown_p99_9(&self) -> Option<Nanos> {
        Some(self.p99_9).filter(|_| self.total >= BEYOND * 1_000)
    }

    /// Returns the value that 9999 of 10 000 don't exceed, under the same condition.
    pub fn shown_p99_99(&self) -> Option<Nanos> {
        Some(self.p99_99).filter(|_| self.total >= BEYOND * 10_000)
    }

    /// Returns the largest value; `None` without values.
    pub fn shown_max(&self) -> Option<Nanos> {
        Some(self.max).filter(|_| self.total > 0)
    }

    /// Returns the position of a value among some bars: 0 at their begin, 1 at their end.
    pub fn place_among(value: Nanos, bars: &Range<usize>) -> f64 {
        let bar = Self::part(value) * Self::bar_count() as f64;
        (bar - bars.start as f64) / bars.len().max(1) as f64
    }

    /// Returns some bars as the heights of `width` columns. A bar that is wider than a column fills
    /// several; several bars in one column are added up.
    pub fn columns(&self, bars: &Range<usize>, width: usize) -> Vec<u64> {
        let bars = self.counts.get(bars.clone()).unwrap_or_default();
        let at = |index: usize| index * width / bars.len().max(1);
        let mut columns = vec![0_u64; width];
        for (index, count) in bars.iter().enumerate() {
            for column in &mut columns[at(index)..at(index + 1).max(at(index) + 1).min(width)] {
                *column = column.saturating_add(*count);
            }
        }
        columns
    }

    /// Returns the bars from the first to the last that holds values, each with its two ends.
    pub fn bars(&self) -> impl Iterator<Item = (Range<Nanos>, u64)> {
        let has_some = |count: &u64| *count > 0;
        let first = self.counts.iter().position(has_some).unwrap_or(0);
        let end = self.counts.iter().rposition(has_some).map_or(0, |last| last + 1);
        let used = self.counts.iter().enumerate().take(end).skip(first);
        used.map(|(index, count)| (Self::begin_of(index)..Self::begin_of(index + 1), *count))
    }

    /// Returns the value at which a bar begins.
    fn begin_of(index: usize) -> Nanos {
        let exponent = f64::from(FIRST_EXPONENT) + index as f64 / BARS_A_DECADE as f64;
        Nanos::new(10_f64.powf(exponent).round() as u64)
    }

    /// Returns the position of a value on the axis: 0 at its begin, 1 at its end.
    fn part(value: Nanos) -> f64 {
        let exponent = (value.get().max(1) as f64).log10();
        let decades = f64::from(LAST_EXPONENT - FIRST_EXPONENT);
        ((exponent - f64::from(FIRST_EXPONENT)) / decades).clamp(0.0, 1.0)
    }

    const fn bar_count() -> usize {
        (LAST_EXPONENT - FIRST_EXPONENT) as usize * BARS_A_DECADE
    }

    fn of(copy: &HistogramCopy) -> Self {
        let mut counts = vec![0_u64; Self::bar_count()];
        for (index, count) in copy.bins.iter().enumerate().filter(|(_, count)| **count > 0) {
            let bar = (Self::part(Nanos::new(lowest_of(index))) * counts.len() as f64) as usize;
            let bar = bar.min(counts.len() - 1);
            counts[bar] = counts[bar].saturating_add(*count);
        }
        if let Some(last) = counts.last_mut() {
            *last = last.saturating_add(copy.totals.overflow);
        }
        Self {
            counts,
            total: copy.totals.count,
            min: Nanos::new(copy.totals.min_ns),
            max: Nanos::new(copy.totals.max_ns),
            median: quantile(copy, 0.5),
            p99: quantile(copy, 0.99),
            p99_9: quantile(copy, 0.999),
            p99_99: quantile(copy, 0.9999),
        }
    }
}

/// Returns the smallest value that at least `part` of the values don't exceed, to the width of its
/// bin, and never beyond the largest.
fn quantile(copy: &HistogramCopy, part: f64) -> Nanos {
    let wanted = (copy.totals.count as f64 * part).ceil().max(1.0) as u64;
    let mut seen = 0_u64;
    let bin = copy.bins.iter().position(|count| {
        seen = seen.saturating_add(*count);
        seen >= wanted
    });
    let most = copy.totals.max_ns;
    Nanos::new(bin.map_or(most, |bin| highest_of(bin).min(most)))
}

/// The timing of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFigures {
    /// Name of the task.
    pub name: String,
    /// Time between two releases; zero if there is none.
    pub period: Nanos,
    /// State of the task, such as running.
    pub state: TaskState,
    /// When its first release was due, on the monotonic clock; zero before that.
    pub first_release: Nanos,
    /// Counters and worst cycles.
    pub snapshot: TaskSnapshot,
    /// Times from the due instant to the start of the work.
    pub release: LogBars,
    /// Times from the start of the work to its end.
    pub execution: LogBars,
    /// Times from the due instant to the end of the work.
    pub response: LogBars,
}

/// A histogram as it was after one cycle.
#[derive(Clone, Debug)]
struct HistogramCopy {
    totals: HistogramTotals,
    bins: Vec<u64>,
}

impl Default for HistogramCopy {
    fn default() -> Self {
        Self { totals: HistogramTotals::default(), bins: vec![0; BIN_COUNT] }
    }
}

/// Memory for reading figures, to be used again and again.
#[derive(Debug)]
pub struct FigureBuffers {
    /// Copies for release, execution and response.
    copies: Box<[HistogramCopy; 3]>,
}

impl Default for FigureBuffers {
    fn default() -> Self {
        let copies: Vec<HistogramCopy> = (0..3).map(|_| HistogramCopy::default()).collect();
        let copies = copies.into_boxed_slice().try_into();
        Self { copies: copies.expect("three were made") }
    }
}

impl FigureBuffers {
    /// Reads the figures of a task.
    ///
    /// # Errors
    /// [`TornRead`] when the task was writing at every try.
    pub(super) fn read(
        &mut self,
        task: &TaskStatistics,
        described: &TaskDescription,
    ) -> Result<TaskFigures, TornRead> {
        let [release, execution, response] = &mut *self.copies;
        let snapshot = task.snapshot(&mut SnapshotBuffers {
            release: &mut release.bins,
            execution: &mut execution.bins,
            response: &mut response.bins,
            ..SnapshotBuffers::default()
        })?;
        release.totals = snapshot.release;
        execution.totals = snapshot.execution;
        response.totals = snapshot.response;
        Ok(TaskFigures {
            name: described.name.clone(),
            period: described.period,
            state: task.state(),
            first_release: Nanos::new(task.first_release_ns()),
            snapshot,
            release: LogBars::of(release),
            execution: LogBars::of(execution),
            response: LogBars::of(response),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quietcore_exchange::bins::index_of;

    fn copy_of(values: &[u64]) -> Box<HistogramCopy> {
        let mut copy = Box::<HistogramCopy>::default();
        for value in values {
            match index_of(*value) {
                Some(bin) => copy.bins[bin] += 1,
                None => copy.totals.overflow += 1,
            }
        }
        copy.totals.count = values.len() as u64;
        copy.totals.min_ns = values.iter().copied().min().unwrap_or(0);
        copy.totals.max_ns = values.iter().copied().max().unwrap_or(0);
        copy
    }

    #[test]
    fn an_empty_histogram_is_all_zero() {
        let bars = LogBars::of(&copy_of(&[]));
        assert_eq!((bars.total, bars.max, bars.p99_99), (0, Nanos::ZERO, Nanos::ZERO));
        assert!(bars.counts.iter().all(|count| *count == 0));
    }

    /// Goal: no figure is shown that its values do not carry, as in a report.
    #[test]
    fn a_quantile_is_shown_from_ten_values_beyond_it_on() {
        let shown = |count: usize| {
            let bars = LogBars::of(&copy_of(&vec![2_000; count]));
            let beyond = [bars.shown_p99(), bars.shown_p99_9(), bars.shown_p99_99()];
            let others = [bars.shown_median(), bars.shown_max()];
            (others.map(|it| it.is_some()), beyond.map(|it| it.is_some()))
        };
        assert_eq!(shown(0), ([false; 2], [false; 3]));
        assert_eq!(shown(2), ([true; 2], [false; 3]));
        assert_eq!(shown(999), ([true; 2], [false; 3]));
        assert_eq!(shown(1_000), ([true; 2], [true, false, false]));
        assert_eq!(shown(10_000), ([true; 2], [true, true, false]));
        assert_eq!(shown(100_000), ([true; 2], [true; 3]));
    }

    #[test]
    fn columns_show_the_bars_that_are_used() {
        let bars = LogBars::of(&copy_of(&[2_000, 2_000, 40_000]));
        // The axis begins at 100 ns and has 24 bars a decade.
        assert_eq!(bars.used(), 31..63);
        let two_decades = 24..72;
        // With as many columns as bars, each column is one bar.
        let columns = bars.columns(&two_decades, 48);
        let full: Vec<(usize, u64)> =
            columns.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(full, [(7, 2), (38, 1)]);
        assert_eq!(bars.columns(&two_decades, 2), [2, 1]);
        assert_eq!(bars.columns(&two_decades, 96).iter().sum::<u64>(), 6, "twice as wide");
        assert_eq!(LogBars::of(&copy_of(&[])).used(), 0..12);
        let narrow = LogBars::of(&copy_of(&[2_000, 2_100]));
        assert_eq!(narrow.used().len(), 12, "half a decade");
        let last = LogBars::of(&copy_of(&[9_999_000_000]));
        assert_eq!(last.used(), 180..192);
        assert_eq!(bars.columns(&(168..192), 0), [0_u64; 0]);
    }

    proptest! {
        #[test]
        fn bars_lose_no_value_and_quantiles_are_ordered(
            values in proptest::collection::vec(0_u64..100_000_000_000, 1..200),
        ) {
            let bars = LogBars::of(&copy_of(&values));
            prop_assert_eq!(bars.counts.iter().sum::<u64>(), values.len() as u64);
            prop_assert!(bars.min <= bars.median && bars.median <= bars.p99);
            prop_assert!(bars.p99 <= bars.p99_9 && bars.p99_9 <= bars.p99_99);
            prop_assert!(bars.p99_99 <= bars.max);
            let shown: Vec<_> = bars.bars().collect();
            prop_assert_eq!(shown.iter().map(|(_, count)| count).sum::<u64>(), bars.total);
            prop_assert!(shown.windows(2).all(|two| two[0].0.end == two[1].0.start));
            let mut sorted = values;
            sorted.sort_unstable();
            let median = sorted[(sorted.len() - 1) / 2];
            let near = bars.median.get() as f64 / median.max(1) as f64;
            // Small values have coarse bins, so large ones are taken.
            let is_binned = (10..1 << 36).contains(&median);
            prop_assert!(!is_binned || (0.999..1.002).contains(&near), "{near}");
        }
    }
}
