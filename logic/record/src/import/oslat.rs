//! The output of `oslat`: for how long a busy loop on each core was held up.
//!
//! ```text
//! Thread priority:     SCHED_FIFO:1            what was printed before is passed over but for this
//!         Core:    1 2
//! Counter Freq:    2400 2400 (MHz)
//!     002 (us):    1000 2000                   end of a bucket, then a count a core
//!     ...                                      rows without values, with -z
//!     032 (us):    0 1 (including overflows)
//!      Minimum:    1 1 (us)
//!      Average:    2.000 2.001 (us)            of the ends of the buckets
//!      Maximum:    1 70 (us)
//!      Max-Min:    0 69 (us)
//!     Duration:    9.999 9.999 (sec)
//! ```
//!
//! A core becomes a record. Each round of the loop is a value, rounded up to 1 µs (with `-W`, to
//! 1 ns). Times become ns here, since `-W` makes buckets of any number of them. Their width isn't
//! printed: it divides the ends of all buckets.

pub(super) mod json;

use super::COLUMNS_MAX;
use super::column::{Claims, Column, Finished, common_divisor, finish};
use super::error::{ImportError, Problems, quoted};
use super::lines::{self, Line, Word};
use super::source::{Source, Task};
use super::table::Table;
use crate::reason::ForeignProblem;
use crate::record::{Conditions, PolicyInForce, Record, ReleaseMode, TracedContext};

/// The begin of the first line of the table.
const CORES: &str = "Core:";
/// The begin of the second line, which no other program has.
pub(super) const FREQUENCY: &str = "Counter Freq:";
/// The same line of earlier versions, whose rows are called by their value in whole µs, not by the
/// end of the bucket.
const FREQUENCY_EARLIER: &str = "CPU Freq:";
/// The begin of the line that `-B` adds.
const BIAS: &str = "Global bias set to";
/// The word behind the end of a bucket.
const UNIT: &str = "(us):";

/// The summary lines in their order.
const SUMMARY: [&str; 5] = ["Minimum:", "Average:", "Maximum:", "Max-Min:", "Duration:"];

const REFUSED_BIAS: &str = "the values lack a bias (`-B`), and the smallest ones are not known; \
                            run oslat without `-B`";

pub(super) fn read(
    source: &Source,
    text: &str,
    problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let mut reader = Reader {
        problems,
        policy: PolicyInForce::Unknown,
        cores: None,
        table: Table::default(),
        summary: Vec::new(),
        is_earlier: false,
        is_torn: false,
        last_line: 1,
    };
    for line in lines::lines(text) {
        reader.line(line);
        if reader.problems.are_enough() {
            break;
        }
    }
    reader.records(source)
}

#[derive(Debug)]
struct Reader<'a> {
    problems: Problems,
    policy: PolicyInForce,
    /// The number of each column's core, with the line that lists them.
    cores: Option<(Vec<u64>, usize)>,
    /// Buckets are called by their end, in ns.
    table: Table,
    /// The summary lines read: each with its words, one a core.
    summary: Vec<(Line<'a>, Vec<Word<'a>>)>,
    /// The rows are called by their values.
    is_earlier: bool,
    /// Set once a line was not due: what follows is not told again.
    is_torn: bool,
    last_line: usize,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: Line<'a>) {
        self.last_line = line.number;
        let text = line.text.trim();
        if let Some(words) = line.after(CORES) {
            self.header(line, words);
        } else if self.cores.is_none() {
            self.before(line);
        } else if text.starts_with(FREQUENCY_EARLIER) {
            self.is_earlier = true;
        } else if self.summary.len() < SUMMARY.len() && !is_passed_over(text) {
            self.inside(line);
        }
    }

    fn before(&mut self, line: Line<'_>) {
        if line.text.contains(BIAS) {
            self.problems.at(line.place(), REFUSED_BIAS);
        }
        if let Some(mut words) = line.after("Thread priority:") {
            let priority = words.next().and_then(|word| word.text.strip_prefix("SCHED_FIFO:"));
            if let Some(priority) = priority.and_then(|priority| priority.parse().ok()) {
                self.policy = PolicyInForce::Priority(priority);
            }
        }
    }

    fn header(&mut self, line: Line<'_>, words: impl Iterator<Item = Word<'a>>) {
        if let Some((_, first)) = &self.cores {
            let what =
                format!("a second histogram after the one of line {first}; give one run a file");
            self.problems.at(line.place(), what);
            return;
        }
        let mut cores = Vec::new();
        for word in words {
            let Some(core) = word.number("the core", &mut self.problems) else { continue };
            if cores.contains(&core) {
                self.problems.at(word.place(), format!("core {core} is there twice"));
            }
            cores.push(core);
            if cores.len() > COLUMNS_MAX {
                let what = format!("more than {COLUMNS_MAX} cores, which are read at most");
                self.problems.at(word.place(), what);
                break;
            }
        }
        if cores.is_empty() {
            self.problems.at(line.place(), "nothing was measured: there is no core");
        }
        self.table = Table::with_columns(cores.len(), line.number);
        self.cores = Some((cores, line.number));
    }

    fn inside(&mut self, line: Line<'a>) {
        if let Some((end, counts)) = row(line).filter(|_| self.summary.is_empty()) {
            let distance_ns = if self.is_earlier { 1_000 } else { 0 };
            let end_ns = nanos(end.text).and_then(|ns| ns.checked_add(distance_ns));
            let Some(end_ns) = end_ns else {
                let what = format!("the bucket {} is no number of µs", quoted(end.text));
                self.problems.at(end.place(), what);
                return;
            };
            self.table.add_row((line, end), end_ns, counts, &mut self.problems);
            return;
        }
        let due = SUMMARY[self.summary.len()];
        let Some(words) = line.after(due) else {
            if !std::mem::replace(&mut self.is_torn, true) {
                let text = quoted(line.text.trim());
                let what = format!("{text} where `{due}` is due; the file was cut off or changed");
                self.problems.at(line.place(), what);
            }
            return;
        };
        let words: Vec<_> = words.take_while(|word| !word.text.starts_with('(')).collect();
        let width = self.table.columns.len();
        if words.len() != width {
            let what = format!(
                "`{due}` has {} figures; expected {width}, one a core: the line was cut off or \
                 changed",
                words.len()
            );
            self.problems.at(line.place(), what);
            self.is_torn = true;
        }
        self.summary.push((line, words));
    }

    fn records(mut self, source: &Source) -> Result<Vec<Record>, ImportError> {
        if let Some(missing) = SUMMARY.get(self.summary.len())
            && self.problems.is_empty()
        {
            let what =
                format!("`{missing}` is missing; the file was cut off, import the whole output");
            self.problems.at((self.last_line, 1), what);
        }
        let (cores, _) = self.cores.take().unwrap_or_default();
        if !self.problems.is_empty() {
            return Err(self.problems.into_error());
        }
        let width_ns = width_ns(&self.table.columns);
        let last = (self.table.last_bucket.unwrap_or(0), true);
        let mut records = Vec::with_capacity(cores.len());
        for (index, core) in cores.into_iter().enumerate() {
            let [minimum, maximum, duration] =
                [0, 2, 4].map(|row: usize| self.summary[row].1[index]);
            let extremes = self.time(minimum).zip(self.time(maximum));
            let Some((min_ns, max_ns)) = extremes else { continue };
            match finished(&self.table.columns[index], width_ns, (min_ns, max_ns), last) {
                Ok(finished) => {
                    let conditions = Conditions {
                        policy: self.policy.clone(),
                        duration_ns: seconds(duration.text),
                        ..Conditions::default()
                    };
                    records.push(record(source, core, finished, conditions));
                }
                Err(what) => {
                    let line = self.summary[0].0;
                    self.problems.at(line.place(), format!("core {core}: {what}"));
                }
            }
        }
        self.problems.unless_any(records)
    }

    fn time(&mut self, word: Word<'_>) -> Option<u64> {
        let time = nanos(word.text);
        if time.is_none() {
            let what = format!("{} is no number of µs", quoted(word.text));
            self.problems.at(word.place(), what);
        }
        time
    }
}

/// Returns `true` for the line by which the output is known.
pub(super) fn is_second_line(line: &str) -> bool {
    line.starts_with(FREQUENCY) || line.starts_with(FREQUENCY_EARLIER)
}

/// Returns `true` for a line inside of the table that has no figure to keep.
fn is_passed_over(text: &str) -> bool {
    text.is_empty() || text == "..." || text.starts_with(FREQUENCY)
}

/// Returns the end of a row's bucket and its counts, as words.
fn row<'a>(line: Line<'a>) -> Option<(Word<'a>, impl Iterator<Item = Word<'a>>)> {
    let mut words = line.words();
    let end = words.next()?;
    let is_row = words.next().is_some_and(|word| word.text == UNIT);
    is_row.then(|| (end, words.take_while(|word| !word.text.starts_with('('))))
}

/// Reads µs with up to three decimals, in ns.
fn nanos(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "000"));
    let fraction = lines::parse(fraction).ok().filter(|_| fraction.len() == 3)?;
    lines::parse(whole).ok()?.checked_mul(1_000)?.checked_add(fraction)
}

/// Reads seconds with a fraction, in ns; 0 for anything else.
fn seconds(text: &str) -> u64 {
    let seconds = text.parse().ok().filter(|seconds: &f64| (0.0..1e9).contains(seconds));
    seconds.map_or(0, |seconds| (seconds * 1e9).round() as u64)
}

/// Returns the width of the buckets, which are called by their ends. Where rows were left out it
/// may be a multiple of the true one.
fn width_ns<'a>(columns: impl IntoIterator<Item = &'a Column>) -> u64 {
    common_divisor(columns).max(1)
}

/// Makes the histogram of a core; the buckets of all cores are below `all_end`. The last bucket
/// holds what lies beyond it, too; where the file doesn't say which one that is, it may be any.
fn finished(
    by_end: &Column,
    width_ns: u64,
    (min_ns, max_ns): (u64, u64),
    (all_end, is_last_known): (u64, bool),
) -> Result<Finished, String> {
    let mut column = by_end.moved_down(width_ns);
    let end = by_end.ends().map_or(0, |(_, end)| end);
    let last = end.saturating_sub(width_ns);
    let is_beyond = max_ns >= end && (end == all_end || !is_last_known);
    let claims = Claims {
        unit_ns: 1,
        bucket_size: width_ns,
        overflow: if is_beyond { column.take_last() } else { 0 },
        overflow_from: if is_beyond { last } else { all_end },
        extremes: Some((min_ns, max_ns)),
        // The program's own is one of the buckets' ends.
        mean: None,
    };
    let mut finished = finish(&column, &claims)?;
    let rounded = "rounded up by `oslat`, then down to the begin of their bucket";
    finished.remarks.push(("resolution", rounded.to_owned()));
    let total = "the file has none: that a row was lost would show in the extremes only";
    finished.remarks.push(("total", total.to_owned()));
    Ok(finished)
}

fn record(source: &Source, core: u64, finished: Finished, conditions: Conditions) -> Record {
    let task = Task {
        name: format!("cpu{core}"),
        probe: "oslat",
        mode: ReleaseMode::Traced { context: TracedContext::Noise },
        cpu: u32::try_from(core).ok(),
        period_ns: None,
    };
    let problem = ForeignProblem::BusyLoop { program: "oslat".to_owned(), threshold_ns: None };
    source.compared(&task, finished, conditions, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_or_have_three_decimals() {
        assert_eq!(nanos("002"), Some(2_000));
        assert_eq!(nanos("0.500"), Some(500));
        for wrong in ["", ".5", "1.5", "-1", "1.0000", "18446744073709551615"] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
        assert_eq!((seconds("9.5"), seconds("inf"), seconds("-1")), (9_500_000_000, 0, 0));
    }
}
