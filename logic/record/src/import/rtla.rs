//! The text of `rtla timerlat hist` and `rtla osnoise hist`.
//!
//! ```text
//! # RTLA timerlat histogram
//! # Time unit is microseconds (us)             or nanoseconds (ns), with -n
//! # Duration:   0 00:01:00                     days, then hours, minutes, seconds
//! Index   IRQ-000   Thr-000   IRQ-001          Usr-000 with user threads; CPU-000 for osnoise
//! 0         58572         0     59373          rows without values are left out
//! over:         0         1         0
//! count:    60001     60001     60001          the overflow included
//! min:          0         1         -          `-` where nothing was counted
//! avg:          0         1         -
//! max:          3       513         -
//! ALL:        IRQ       Thr                    newer versions: the same over all CPUs
//! count:   120002     60001
//! ```
//!
//! A column becomes a record. What a control program sees is the release of its thread: `Usr` where
//! there is one, else `Thr`. `IRQ` is when the timer's interrupt came, and `osnoise` measures how
//! long noises lasted. Those are kept for comparison and say so, since they are no release
//! latencies.
//!
//! Bucket size and end of the histogram (`-b`, `-E`) aren't printed. The size divides all rows, and
//! their largest divisor is taken, so that no value is known better than it is; values in `over`
//! are at least those of the bucket after the last row. `osnoise` counts its means in buckets.
//!
//! If no row has values, newer versions print one `0` in each line of the summary, whatever the
//! columns. A column that is there all the same had values, which all lie beyond the histogram.

mod buckets;

use super::COLUMNS_MAX;
use super::column::{Claims, Finished, Mean, finish};
use super::error::{ImportError, Problems, quoted};
use super::lines::{self, Line, Word};
use super::source::{Source, Task, remark_stalls};
use super::table::Table;
use crate::histogram::Histogram;
use crate::reason::ForeignProblem;
use crate::record::{Conditions, Record, ReleaseMode, TracedContext};

/// The begin of the header.
pub(super) const HEADER_START: &str = "# RTLA ";

/// The summary lines in their order.
const SUMMARY: [&str; 5] = ["over:", "count:", "min:", "avg:", "max:"];

/// The word that stands for a figure of nothing.
const NONE: &str = "-";

pub(super) fn read(
    source: &Source,
    text: &str,
    problems: Problems,
) -> Result<Vec<Record>, ImportError> {
    let mut reader = Reader {
        problems,
        tracer: None,
        unit_ns: None,
        duration_ns: 0,
        columns: None,
        table: Table::default(),
        summary: Vec::new(),
        missed: None,
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

/// The context that a column measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    Interrupt,
    Thread,
    User,
    Noise,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tracer {
    Timerlat,
    Osnoise,
}

#[derive(Debug)]
struct Reader<'a> {
    problems: Problems,
    tracer: Option<(Tracer, usize)>,
    unit_ns: Option<u64>,
    duration_ns: u64,
    /// Context and CPU of each column, once the header was read.
    columns: Option<Vec<(Context, u32)>>,
    table: Table,
    /// The summary lines read: label with its line, and a figure a column.
    summary: Vec<(Line<'a>, Vec<Word<'a>>)>,
    missed: Option<String>,
    last_line: usize,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: Line<'a>) {
        self.last_line = line.number;
        let text = line.text.trim();
        if text.contains("events missed") {
            self.missed = Some(text.chars().filter(|c| !c.is_control()).take(100).collect());
        } else if let Some(rest) = text.strip_prefix(HEADER_START) {
            self.header(line, rest);
        } else if self.tracer.is_none() || text.is_empty() {
            // Whatever was printed before.
        } else if self.columns.is_none() {
            self.above(line);
        } else if self.summary.len() < SUMMARY.len() {
            self.inside(line);
        }
    }

    fn header(&mut self, line: Line<'_>, rest: &str) {
        let tracer = match rest {
            "timerlat histogram" => Tracer::Timerlat,
            "osnoise histogram" => Tracer::Osnoise,
            _ => {
                let what = format!(
                    "`rtla` printed {}; expected the output of `timerlat hist` or `osnoise hist`",
                    quoted(rest)
                );
                self.problems.at(line.place(), what);
                Tracer::Timerlat
            }
        };
        match self.tracer {
            None => self.tracer = Some((tracer, line.number)),
            Some((_, first)) => self.problems.at(
                line.place(),
                format!("a second histogram after the one of line {first}; give one run a file"),
            ),
        }
    }

    fn above(&mut self, line: Line<'_>) {
        let text = line.text.trim();
        if let Some(unit) = text.strip_prefix("# Time unit is ") {
            self.unit_ns = match unit {
                "microseconds (us)" => Some(1_000),
                "nanoseconds (ns)" => Some(1),
                _ => {
                    let what = format!("the unit is {}; expected µs or ns", quoted(unit));
                    self.problems.at(line.place(), what);
                    None
                }
            };
        } else if let Some(duration) = text.strip_prefix("# Duration:") {
            self.duration_ns = duration_ns(duration).unwrap_or(0);
        } else if text.starts_with("Index") {
            self.index(line);
        } else if !text.starts_with('#') {
            let what = format!(
                "{} where the line `Index …` is due; run rtla without --no-index and --no-header",
                quoted(text)
            );
            self.problems.at(line.place(), what);
            self.columns = Some(Vec::new());
        }
    }

    fn index(&mut self, line: Line<'_>) {
        let mut columns = Vec::new();
        for word in line.words().skip(1) {
            match column(word.text) {
                Some(column) if !columns.contains(&column) => columns.push(column),
                Some(_) => self
                    .problems
                    .at(word.place(), format!("column {} is there twice", quoted(word.text))),
                None => self.problems.at(
                    word.place(),
                    format!(
                        "column {}; expected IRQ-000, Thr-000, Usr-000 or CPU-000",
                        quoted(word.text)
                    ),
                ),
            }
        }
        if columns.is_empty() {
            self.problems.at(line.place(), "nothing was measured: there is no column of a CPU");
        } else if columns.len() > COLUMNS_MAX {
            let what = format!("{} columns; at most {COLUMNS_MAX} are read", columns.len());
            self.problems.at(line.place(), what);
        }
        self.table = Table::with_columns(columns.len(), line.number);
        self.columns = Some(columns);
    }

    fn inside(&mut self, line: Line<'a>) {
        let next = SUMMARY[self.summary.len()];
        let text = line.text.trim();
        let Some(words) = line.after(next) else {
            if self.summary.is_empty() && !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
                self.table.add(line, &mut self.problems);
            } else {
                self.problems.at(
                    line.place(),
                    format!(
                        "{} where `{next}` is due; the file was cut off or changed",
                        quoted(text)
                    ),
                );
                self.summary.push((line, Vec::new()));
            }
            return;
        };
        let words: Vec<_> = words.collect();
        let width = self.table.columns.len();
        let is_zero = self.table.last_bucket.is_none() && is_zero(&words);
        if words.len() != width && !is_zero {
            self.problems.at(
                line.place(),
                format!(
                    "`{next}` has {} figures; expected {width}, one a column: the line was cut \
                     off or changed",
                    words.len()
                ),
            );
        }
        self.summary.push((line, words));
    }

    /// Returns `true` if the summary is the one that newer versions print where no row has values.
    fn is_zeroed(&self) -> bool {
        self.table.last_bucket.is_none() && self.summary.iter().all(|(_, words)| is_zero(words))
    }

    /// Makes the records of columns whose values the file does not have.
    fn beyond(mut self, source: &Source) -> Result<Vec<Record>, ImportError> {
        let columns = self.columns.take().unwrap_or_default();
        let records = columns.into_iter().map(|(context, cpu)| {
            let finished = Finished {
                histogram: Histogram::new(),
                remarks: Vec::new(),
                invalid_because: vec![ForeignProblem::AllBeyondHistogram],
            };
            let record = source.record(&task(context, cpu), finished, self.conditions());
            self.judged(record, context, true)
        });
        let records = records.collect();
        self.problems.unless_any(records)
    }

    fn records(mut self, source: &Source) -> Result<Vec<Record>, ImportError> {
        let end = (self.last_line, 1);
        if let Some(missing) = SUMMARY.get(self.summary.len()) {
            let what = format!(
                "`{missing}` is missing; the file was cut off, or rtla ran with --no-summary"
            );
            self.problems.at(end, what);
        }
        let unit_ns = self.unit_ns.unwrap_or(0);
        if unit_ns == 0 && self.problems.is_empty() {
            self.problems
                .at(end, "the line `# Time unit is …` is missing; run rtla without --no-header");
        }
        if !self.problems.is_empty() {
            return Err(self.problems.into_error());
        }
        if self.is_zeroed() {
            return self.beyond(source);
        }
        if let Some((line, words)) =
            self.summary.iter().find(|(_, words)| words.len() != self.table.columns.len())
        {
            let what = format!("{} figures; expected one a column", words.len());
            self.problems.at(line.place(), what);
            return Err(self.problems.into_error());
        }
        let columns = self.columns.take().unwrap_or_default();
        let figures: Vec<Option<Figures>> =
            (0..columns.len()).map(|index| self.figures(index)).collect();
        let Some(figures) = figures.into_iter().collect::<Option<Vec<_>>>() else {
            return Err(self.problems.into_error());
        };
        let is_noise = matches!(self.tracer, Some((Tracer::Osnoise, _)));
        let in_buckets = is_noise && buckets::means_are_in_buckets(&self.table.columns, &figures);
        let bucket_size = match buckets::size(&self.table.columns, &figures) {
            Ok(size) => size,
            Err(what) => {
                self.problems.at((self.summary[2].0.number, 1), what);
                return Err(self.problems.into_error());
            }
        };
        let has_user = columns.iter().any(|(context, _)| *context == Context::User);
        let mut records = Vec::with_capacity(columns.len());
        for (index, (context, cpu)) in columns.into_iter().enumerate() {
            let claims = Claims {
                unit_ns,
                bucket_size,
                overflow: figures[index].over,
                // The next bucket begins one bucket later, but how wide one is was only inferred.
                overflow_from: self.table.last_bucket.map_or(0, |last| last.saturating_add(1)),
                extremes: figures[index].extremes,
                mean: figures[index].mean.map(|mean| match in_buckets {
                    true => mean.of_buckets(bucket_size),
                    false => mean,
                }),
            };
            let released = context == if has_user { Context::User } else { Context::Thread };
            match finish(&self.table.columns[index], &claims) {
                Ok(finished) => {
                    let record = source.record(&task(context, cpu), finished, self.conditions());
                    records.push(self.judged(record, context, released));
                }
                Err(what) => {
                    let line = self.summary[2].0;
                    self.problems.at(line.place(), format!("column {}: {what}", index + 1));
                }
            }
        }
        self.problems.unless_any(records)
    }

    /// Returns the summary of a column, once it agrees with the rows.
    fn figures(&mut self, index: usize) -> Option<Figures> {
        let word = |row: usize| self.summary[row].1[index];
        let problems = &mut self.problems;
        let (over, count, mean) = (word(0), word(1), word(3));
        let over = over.number("the overflow", problems)?;
        let counted = count.number("the count", problems)?;
        let rows = self.table.columns[index].total();
        if rows.checked_add(over) != Some(counted) {
            problems.at(
                count.place(),
                format!(
                    "the count is {counted}, the rows add up to {rows} and {over} overflowed; in \
                     an unchanged file they agree"
                ),
            );
            return None;
        }
        let mut extreme = |word: Word<'_>| match word.text {
            NONE => Some(None),
            _ => word.number("the value", problems).map(Some),
        };
        let extremes = extreme(word(2))?.zip(extreme(word(4))?);
        if extremes.is_none() && rows > 0 {
            let what = format!("no minimum or no maximum, yet the count is {counted}");
            problems.at(word(2).place(), what);
            return None;
        }
        // Whole figures are cut, those with a fraction rounded.
        let printed = if mean.text.contains('.') { Mean::rounded } else { Mean::cut };
        let stated = mean.text.parse().ok().filter(|mean: &f64| mean.is_finite() && *mean >= 0.0);
        if stated.is_none() && mean.text != NONE {
            problems.at(mean.place(), format!("the mean {} is not a number", quoted(mean.text)));
            return None;
        }
        Some(Figures { over, extremes, mean: stated.map(printed) })
    }

    fn conditions(&self) -> Conditions {
        let mut conditions = Conditions { duration_ns: self.duration_ns, ..Conditions::default() };
        if matches!(self.tracer, Some((Tracer::Timerlat, _))) {
            remark_stalls(&mut conditions);
        }
        conditions
    }

    fn judged(&self, mut record: Record, context: Context, released: bool) -> Record {
        record.reserved = released;
        if context == Context::Noise {
            record.period_ns = None;
            let program = "osnoise".to_owned();
            record.degraded.push(ForeignProblem::BusyLoop { program, threshold_ns: None }.into());
        } else if !released {
            let problem = match context {
                Context::Interrupt => ForeignProblem::InterruptLatency,
                _ => ForeignProblem::KernelThreadLatency,
            };
            record.degraded.push(problem.into());
        }
        if let Some(missed) = &self.missed {
            let message = missed.clone();
            record.invalid_because.push(ForeignProblem::EventsMissed { message }.into());
        }
        record
    }
}

#[derive(Debug)]
struct Figures {
    over: u64,
    extremes: Option<(u64, u64)>,
    mean: Option<Mean>,
}

fn task(context: Context, cpu: u32) -> Task {
    let (suffix, probe, context) = match context {
        Context::Interrupt => (".irq", "rtla timerlat", TracedContext::Interrupt),
        Context::Thread => ("", "rtla timerlat", TracedContext::KernelThread),
        Context::User => (".user", "rtla timerlat", TracedContext::UserThread),
        Context::Noise => ("", "rtla osnoise", TracedContext::Noise),
    };
    let mode = ReleaseMode::Traced { context };
    Task { name: format!("cpu{cpu}{suffix}"), probe, mode, cpu: Some(cpu), period_ns: None }
}

/// Returns `true` if a line of the summary has one figure, and that is zero.
fn is_zero(words: &[Word<'_>]) -> bool {
    matches!(words, [only] if only.text == "0")
}

/// Reads `Thr-003` as context and CPU.
fn column(text: &str) -> Option<(Context, u32)> {
    let (context, cpu) = text.split_once('-')?;
    let context = match context {
        "IRQ" => Context::Interrupt,
        "Thr" => Context::Thread,
        "Usr" => Context::User,
        "CPU" => Context::Noise,
        _ => return None,
    };
    Some((context, u32::try_from(lines::parse(cpu).ok()?).ok()?))
}

/// Reads days, and hours, minutes and seconds, in ns.
fn duration_ns(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let days = lines::parse(words.next()?).ok()?;
    let mut seconds = days.checked_mul(24)?;
    let mut parts = words.next()?.split(':');
    for (unit, per) in [(parts.next(), 60), (parts.next(), 60), (parts.next(), 1)] {
        seconds = seconds.checked_add(lines::parse(unit?).ok()?)?.checked_mul(per)?;
    }
    seconds.checked_mul(1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_days_and_a_time() {
        assert_eq!(duration_ns("   0 00:01:00"), Some(60_000_000_000));
        assert_eq!(duration_ns(" 2 03:00:01"), Some((51 * 3_600 + 1) * 1_000_000_000));
        assert_eq!(duration_ns("soon"), None);
        assert_eq!(duration_ns("18446744073709551615 00:00:00"), None);
    }

    #[test]
    fn columns_have_context_and_cpu() {
        assert_eq!(column("Thr-012"), Some((Context::Thread, 12)));
        assert_eq!(column("Thr-"), None);
        assert_eq!(column("GPU-000"), None);
        assert_eq!(column("CPU-99999999999"), None);
    }
}
