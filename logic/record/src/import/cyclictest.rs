//! The text of `cyclictest -h` and `-H`.
//!
//! ```text
//! # /dev/cpu_dma_latency set to 0us            whatever was printed before is passed over; of
//! T: 0 ( 6) P:80 I:1000 C: 1000 Min: …         these lines interval and priority are kept
//! # Histogram
//! 000000 000000   000000                       bucket, then a count a thread; -H adds their sum
//! 000001 000002   000000                       newer versions leave out rows without values
//! # Total: 000000002 000000000                 without the overflow; newer versions have none
//! # Min Latencies: 00001 00002
//! # Avg Latencies: 00001 00002                 cut to whole units, the overflow included
//! # Max Latencies: 00001 00009
//! # Histogram Overflows: 00000 00003
//! # Histogram Overflow at cycle number:
//! # Thread 0:
//! # Thread 1: 00017 00018 # 00001 others
//! ```
//!
//! The unit is 1 µs; with `-N` it is 1 ns, which the text doesn't say.

mod command_line;
pub(super) mod json;

use std::collections::BTreeMap;

use quietcore_units::Wake;

use super::COLUMNS_MAX;
use super::column::{Claims, Column, Mean, finish};
use super::error::{ImportError, Problems, quoted};
use super::lines::{self, Line, Word};
use super::source::{Source, Task, remark_stalls};
use super::table::{Table, summary};
use crate::record::{Conditions, PolicyInForce, Record, ReleaseMode};

/// The line that the histogram begins with.
pub(super) const HEADER: &str = "# Histogram";

const TOTAL: &str = "# Total:";
const MIN: &str = "# Min Latencies:";
const AVG: &str = "# Avg Latencies:";
const MAX: &str = "# Max Latencies:";
const OVERFLOWS: &str = "# Histogram Overflows:";

/// The summary lines in their order. Of these the first one may be absent.
const SUMMARY: [&str; 5] = [TOTAL, MIN, AVG, MAX, OVERFLOWS];

/// Cycles of overflows that a remark names.
const OVERFLOW_CYCLES_NAMED: usize = 10;

pub(super) fn read(
    source: &Source,
    text: &str,
    nanoseconds: bool,
    problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let mut reader = Reader { problems, ..Reader::new() };
    for line in lines::lines(text) {
        reader.line(line);
        if reader.problems.are_enough() {
            break;
        }
    }
    reader.records(source, nanoseconds)
}

/// The figures of a thread in a live summary line.
#[derive(Clone, Debug, Default)]
struct Live {
    priority: Option<u64>,
    interval_us: Option<u64>,
    cycles: Option<u64>,
}

/// The remarks below the table on the overflowing cycles of a thread.
#[derive(Clone, Debug)]
struct Outliers {
    named: Vec<String>,
    count: u64,
}

/// The numbers of a summary line, one a thread, and the line's number.
#[derive(Clone, Debug, Default)]
struct Stated {
    numbers: Vec<u64>,
    line: usize,
}

#[derive(Debug)]
struct Reader {
    problems: Problems,
    table: Table,
    started: Option<usize>,
    /// The summary lines read, in the places of [`SUMMARY`].
    summary: [Option<Stated>; SUMMARY.len()],
    /// Set once a line was not due: what follows is not told again.
    is_torn: bool,
    live: BTreeMap<u64, Live>,
    outliers: BTreeMap<u64, Outliers>,
    dma_latency_held: bool,
    last_line: usize,
}

impl Reader {
    fn new() -> Self {
        Self {
            problems: Problems::new(""),
            table: Table::default(),
            started: None,
            summary: Default::default(),
            is_torn: false,
            live: BTreeMap::new(),
            outliers: BTreeMap::new(),
            dma_latency_held: false,
            last_line: 1,
        }
    }

    fn line(&mut self, line: Line<'_>) {
        self.last_line = line.number;
        let text = line.text.trim();
        if text == HEADER {
            match self.started {
                None => self.started = Some(line.number),
                Some(first) => self.problems.at(
                    line.place(),
                    format!(
                        "a second histogram after the one of line {first}; give one run a file"
                    ),
                ),
            }
        } else if self.started.is_none() {
            self.before(line);
        } else if self.due().is_some() {
            self.inside(line);
        } else {
            self.below(line);
        }
    }

    fn before(&mut self, line: Line<'_>) {
        if line.text.contains("/dev/cpu_dma_latency set to 0us") {
            self.dma_latency_held = true;
        }
        if let Some((thread, live)) = live_summary(line.text) {
            self.live.insert(thread, live);
        }
    }

    /// Returns the place in the summary that comes next; `None` behind its last line.
    fn due(&self) -> Option<usize> {
        let next = self.summary.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        (next < SUMMARY.len()).then_some(next)
    }

    fn inside(&mut self, line: Line<'_>) {
        let text = line.text.trim();
        let Some(due) = self.due().filter(|_| !text.is_empty()) else { return };
        let found = SUMMARY.iter().position(|label| text.starts_with(label));
        if due == 0 && !text.starts_with('#') {
            self.table.add(line, &mut self.problems);
            return;
        }
        let is_due = found.is_some_and(|found| found == due || (due, found) == (0, 1));
        if !is_due && !std::mem::replace(&mut self.is_torn, true) {
            // The total may be absent; what comes then is no less clear.
            let due = SUMMARY[due.max(1)];
            self.problems.at(
                line.place(),
                format!("{} where `{due}` is due; the file was cut off or changed", quoted(text)),
            );
        }
        let Some(found) = found else { return };
        let counts = self.widths(found, line);
        let numbers = summary(line, SUMMARY[found], &counts, &mut self.problems);
        let numbers = numbers.unwrap_or_default();
        self.summary[found] = Some(Stated { numbers, line: line.number });
    }

    /// Returns how many numbers a summary line may have. `-H` adds a column to rows and totals, and
    /// where there are several threads to maxima and overflows, not to minima and means.
    fn widths(&self, found: usize, line: Line<'_>) -> Vec<usize> {
        let width = self.table.columns.len();
        let threads = self.summary[1].as_ref().map(|minima| minima.numbers.len());
        let words = |label| line.after(label).map_or(0, Iterator::count);
        match (SUMMARY[found], threads) {
            // Without rows the minima say how many threads there are.
            (MIN, _) if width == 0 => vec![words(MIN).clamp(1, COLUMNS_MAX)],
            (MIN, _) if width == 1 => vec![1],
            (MIN, _) => vec![width, width - 1],
            // The minima were refused, which suffices.
            (label, Some(0)) => vec![words(label)],
            (AVG, Some(threads)) => vec![threads],
            (MAX | OVERFLOWS, Some(threads)) if threads > 1 && width != threads => {
                vec![threads + 1, threads]
            }
            (MAX | OVERFLOWS, Some(threads)) => vec![threads],
            _ => vec![width],
        }
    }

    fn below(&mut self, line: Line<'_>) {
        let Some(mut words) = line.after("# Thread ") else { return };
        let thread = words.next().and_then(|word| word.text.strip_suffix(':')?.parse().ok());
        let Some(thread) = thread else { return };
        let mut outliers = Outliers { named: Vec::new(), count: 0 };
        let mut others = false;
        for word in words {
            match lines::parse(word.text) {
                Ok(number) if others => outliers.count = outliers.count.saturating_add(number),
                Ok(number) => {
                    outliers.count = outliers.count.saturating_add(1);
                    if outliers.named.len() < OVERFLOW_CYCLES_NAMED {
                        outliers.named.push(number.to_string());
                    }
                }
                Err(_) => others = word.text == "#",
            }
        }
        self.outliers.insert(thread, outliers);
    }

    fn records(mut self, source: &Source, nanoseconds: bool) -> Result<Vec<Record>, ImportError> {
        let missing = (1..SUMMARY.len()).find(|place| self.summary[*place].is_none());
        if let Some(place) = missing.filter(|_| self.problems.is_empty()) {
            let what = match SUMMARY[place] {
                MIN if self.table.columns.is_empty() => {
                    "the histogram has no rows; the file was cut off after its header".to_owned()
                }
                label => {
                    format!("`{label}` is missing; the file was cut off, import the whole output")
                }
            };
            self.problems.at((self.last_line, 1), what);
        }
        if !self.problems.is_empty() {
            return Err(self.problems.into_error());
        }
        let threads = self.threads();
        let mut records = Vec::with_capacity(threads);
        for thread in 0..threads {
            if let Some(record) = self.record(source, thread, nanoseconds) {
                records.push(record);
            }
        }
        self.problems.unless_any(records)
    }

    /// Returns the number of threads, after the check of the totals and of the sums that `-H` adds.
    fn threads(&mut self) -> usize {
        let [total, minima, ..] = &self.summary;
        let minima = minima.clone().unwrap_or_default();
        let threads = minima.numbers.len();
        if self.table.columns.is_empty() {
            self.table.columns = vec![Column::default(); threads];
        }
        let columns = &self.table.columns;
        let stated = total.iter().flat_map(|total| total.numbers.iter().map(|it| (total.line, it)));
        for (index, (column, (line, stated))) in columns.iter().zip(stated).enumerate() {
            if column.total() != *stated {
                self.problems.at(
                    (line, 1),
                    format!(
                        "the total of column {} is {stated}, its rows add up to {}; in an \
                         unchanged file they agree",
                        index + 1,
                        column.total()
                    ),
                );
            }
        }
        if threads < columns.len() {
            let sum: u128 =
                columns[..threads].iter().map(|column| u128::from(column.total())).sum();
            if sum != u128::from(columns[threads].total()) {
                self.problems.at(
                    (total.as_ref().map_or(minima.line, |total| total.line), 1),
                    format!(
                        "the last column counts {}, the {threads} threads {sum}; the last column \
                         of `-H` is their sum",
                        columns[threads].total()
                    ),
                );
            }
        }
        threads
    }

    fn record(&mut self, source: &Source, thread: usize, nanoseconds: bool) -> Option<Record> {
        let value = |place: usize| {
            let stated = self.summary[place].as_ref();
            stated.and_then(|stated| stated.numbers.get(thread)).copied().unwrap_or(0)
        };
        let column: &Column = &self.table.columns[thread];
        let claims = Claims {
            unit_ns: if nanoseconds { 1 } else { 1_000 },
            bucket_size: 1,
            overflow: value(4),
            overflow_from: self.table.last_bucket.unwrap_or(0).saturating_add(1),
            extremes: Some((value(1), value(3))),
            mean: Some(Mean::cut(value(2) as f64)),
        };
        let count = column.total().saturating_add(claims.overflow);
        let finished = match finish(column, &claims) {
            Ok(finished) => finished,
            Err(what) => {
                let line = self.summary[1].as_ref().map_or(1, |minima| minima.line);
                self.problems.at((line, 1), format!("thread {thread}: {what}"));
                return None;
            }
        };
        let live = self.live.get(&(thread as u64)).cloned().unwrap_or_default();
        let conditions = self.conditions(thread as u64, count, claims.overflow, &live);
        let task = Task {
            name: format!("thread{thread}"),
            probe: "cyclictest",
            mode: ReleaseMode::timer(Wake::Sleep),
            cpu: None,
            period_ns: live.interval_us.and_then(|interval| interval.checked_mul(1_000)),
        };
        Some(source.record(&task, finished, conditions))
    }

    fn conditions(&self, thread: u64, count: u64, overflow: u64, live: &Live) -> Conditions {
        let mut conditions = Conditions {
            policy: live.priority.map_or(PolicyInForce::Unknown, PolicyInForce::Priority),
            dma_latency_held: self.dma_latency_held,
            ..Conditions::default()
        };
        remark_stalls(&mut conditions);
        if self.summary[0].is_none() && live.cycles.is_none() {
            conditions.activity.insert(
                "total".to_owned(),
                "the file has none: that a row was lost would show in extremes and mean only"
                    .to_owned(),
            );
        }
        if let Some(cycles) = live.cycles.filter(|cycles| *cycles != count) {
            conditions.activity.insert(
                "cycles".to_owned(),
                format!(
                    "the last live summary says {cycles}, the histogram has {count}, which counts"
                ),
            );
        }
        let listed = self.outliers.get(&thread);
        if overflow > 0
            && let Some(outliers) = listed
        {
            conditions
                .activity
                .insert("first overflows at cycles".to_owned(), outliers.named.join(", "));
        }
        if listed.map_or(0, |outliers| outliers.count) != overflow {
            conditions.activity.insert(
                "overflow list".to_owned(),
                format!(
                    "names {} of {overflow} overflows; the list was cut off or left out",
                    listed.map_or(0, |outliers| outliers.count)
                ),
            );
        }
        conditions
    }
}

/// Reads thread and figures of `T: 0 ( 6) P:80 I:1000 C:    495 Min: …`; the labels may stand apart
/// from their figures.
fn live_summary(text: &str) -> Option<(u64, Live)> {
    let start = text.find("T:")?;
    let line = Line { number: 1, text: &text[start..] };
    let words: Vec<Word<'_>> = line.words().collect();
    let after = |label: &str| {
        words.iter().enumerate().find_map(|(index, word)| {
            let figure = word.text.strip_prefix(label)?;
            let figure = if figure.is_empty() { words.get(index + 1)?.text } else { figure };
            lines::parse(figure).ok()
        })
    };
    let live = Live { priority: after("P:"), interval_us: after("I:"), cycles: after("C:") };
    live.cycles?;
    Some((after("T:")?, live))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_summaries_are_understood() {
        let (thread, live) = live_summary(
            "\u{1b}[2AT: 0 (16168) P:80 I:2000 C:     30 Min:     12 Act:   15 Avg:   15 \
             Max:      23",
        )
        .unwrap();
        assert_eq!(thread, 0);
        assert_eq!(
            (live.priority, live.interval_us, live.cycles),
            (Some(80), Some(2_000), Some(30))
        );
        assert!(live_summary("T: one two").is_none());
        assert!(live_summary("no summary").is_none());
    }
}
