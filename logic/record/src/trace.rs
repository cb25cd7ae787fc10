//! A recording of a program's variables: its table, written and read, and its course as a plot
//! needs it.
//!
//! | column | meaning |
//! |--------|---------|
//! | `cycle` | the cycle after which the sample was taken |
//! | `monotonic_ns` | when, on the monotonic clock of the machine |
//! | `seconds` | the same, from the trigger or else from the first sample; before it negative |
//! | `lost_before` | samples that were lost just before this one; 0 where none was |
//! | one a variable | its value: a number; true is 1, an enumeration's value is its number |
//!
//! The table is CSV as RFC 4180 has it, a heading in its first line.

mod course;
mod meaning;

use std::fmt;
use std::io;

pub use course::{Band, Course, STRETCHES_MAX, Stretch};
pub use meaning::{Deed, MARKS_MAX, Mark, Meaning};

/// The columns in front of the variables.
pub const HEAD: [&str; 4] = ["cycle", "monotonic_ns", "seconds", "lost_before"];

/// The most variables of a recording, as the exchange's trace has it.
pub const VARIABLES_MAX: usize = 64;

/// The most gaps whose places are kept; all of them are counted.
pub const GAPS_MAX: usize = 256;

/// The moment of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The cycle after which it was taken.
    pub cycle: u64,
    /// Instant on the monotonic clock, in ns.
    pub monotonic_ns: u64,
    /// The same in seconds from the trigger, or from the first sample.
    pub seconds: f64,
    /// Samples that were lost just before.
    pub lost_before: u64,
}

/// A value, exactly as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// True or false, written as 1 or 0.
    Bool(bool),
    /// A whole number that may be negative.
    Signed(i64),
    /// A whole number from 0 on.
    Unsigned(u64),
    /// A number of single precision.
    Single(f32),
    /// A number of double precision.
    Double(f64),
}

impl Number {
    /// Returns the value as plots need it.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Signed(value) => value as f64,
            Self::Unsigned(value) => value as f64,
            Self::Single(value) => f64::from(value),
            Self::Double(value) => value,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{}", u8::from(*value)),
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            // The shortest digits that read back as the same number.
            Self::Single(value) => write!(f, "{value:?}"),
            Self::Double(value) => write!(f, "{value:?}"),
        }
    }
}

/// Writes the table, a row at a time.
#[derive(Debug)]
pub struct TableWriter<W: io::Write> {
    table: csv::Writer<W>,
    variables: usize,
}

impl<W: io::Write> TableWriter<W> {
    /// Begins a table with the columns of these variables.
    ///
    /// # Errors
    /// When the heading can't be written.
    pub fn new(output: W, variables: &[String]) -> io::Result<Self> {
        let mut table =
            csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(output);
        let heading = HEAD.iter().copied().chain(variables.iter().map(String::as_str));
        table.write_record(heading)?;
        Ok(Self { table, variables: variables.len() })
    }

    /// Writes the row of a sample.
    ///
    /// # Errors
    /// When it can't be written, or has another number of values than the heading.
    pub fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
        if values.len() != self.variables {
            return Err(io::Error::other("a row has another number of values than the heading"));
        }
        let Moment { cycle, monotonic_ns, seconds, lost_before } = moment;
        self.table.write_field(cycle.to_string())?;
        self.table.write_field(monotonic_ns.to_string())?;
        self.table.write_field(format!("{seconds:.9}"))?;
        self.table.write_field(lost_before.to_string())?;
        for value in values {
            self.table.write_field(value.to_string())?;
        }
        self.table.write_record(None::<&[u8]>)?;
        Ok(())
    }

    /// Ends the table and gives its output back.
    ///
    /// # Errors
    /// When the last of it can't be written.
    pub fn finish(self) -> io::Result<W> {
        self.table.into_inner().map_err(|error| io::Error::other(error.to_string()))
    }
}

/// A recording as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Paths of its variables.
    pub variables: Vec<String>,
    /// Meanings of their numbers, one for each.
    pub meanings: Vec<Meaning>,
    /// Changes by clients meanwhile, [`MARKS_MAX`] at most.
    pub marks: Vec<Mark>,
    /// Number of its samples.
    pub samples: u64,
    /// Samples that were lost.
    pub lost: u64,
    /// Gaps: seconds of the sample after the gap, and the number of samples lost; the first
    /// [`GAPS_MAX`].
    pub gaps: Vec<(f64, u64)>,
    /// Their first and last cycle; `None` without samples.
    pub cycles: Option<(u64, u64)>,
    /// Their values over time.
    pub course: Course,
}

impl Recording {
    /// Makes a recording without samples.
    pub fn new(variables: Vec<String>) -> Self {
        let course = Course::new(variables.len());
        let meanings = vec![Meaning::Plain; variables.len()];
        let (marks, gaps) = (Vec::new(), Vec::new());
        Self { variables, meanings, marks, samples: 0, lost: 0, gaps, cycles: None, course }
    }

    /// Returns the instant of a cycle, in seconds of the recording: between its first and its last
    /// sample all take as long. `None` for a cycle outside of it.
    pub fn seconds_of(&self, cycle: u64) -> Option<f64> {
        let (first, last) = self.cycles?;
        let stretches = self.course.stretches();
        let (from, to) = (stretches.first()?.from_seconds, stretches.last()?.to_seconds);
        if !(first..=last).contains(&cycle) {
            return None;
        }
        let part = (cycle - first) as f64 / (last - first).max(1) as f64;
        Some(from + part * (to - from))
    }

    /// Adds a sample with a value for each variable.
    pub fn push(&mut self, moment: &Moment, values: &[f64]) {
        self.samples += 1;
        self.lost = self.lost.saturating_add(moment.lost_before);
        if moment.lost_before > 0 && self.gaps.len() < GAPS_MAX {
            self.gaps.push((moment.seconds, moment.lost_before));
        }
        let first = self.cycles.map_or(moment.cycle, |(first, _)| first);
        self.cycles = Some((first, moment.cycle));
        self.course.push(moment.seconds, values);
    }

    /// Returns `true` if zero on the time axis is a trigger with samples before it.
    pub fn has_pre_trigger(&self) -> bool {
        self.course.stretches().first().is_some_and(|stretch| stretch.from_seconds < 0.0)
    }
}

/// A table that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TableError {
    /// The line, from 1.
    pub line: u64,
    /// The fault of that line.
    pub problem: String,
}

/// Reads a table that [`TableWriter`] wrote.
///
/// # Errors
/// [`TableError`] at the first line that is none.
pub fn read(table: &[u8]) -> Result<Recording, TableError> {
    let mut reader = csv::ReaderBuilder::new().from_reader(table);
    let line_of = |error: &csv::Error| error.position().map_or(1, csv::Position::line);
    let unreadable =
        |error: csv::Error| TableError { line: line_of(&error), problem: error.to_string() };
    let heading = reader.headers().map_err(unreadable)?.clone();
    let wrong = |line, problem: String| TableError { line, problem };
    if !heading.iter().take(HEAD.len()).eq(HEAD) {
        return Err(wrong(1, format!("the heading does not begin with `{}`", HEAD.join(","))));
    }
    let variables: Vec<String> = heading.iter().skip(HEAD.len()).map(str::to_owned).collect();
    if variables.is_empty() || variables.len() > VARIABLES_MAX {
        let count = variables.len();
        return Err(wrong(1, format!("{count} variables; 1 to {VARIABLES_MAX} are possible")));
    }
    let mut recording = Recording::new(variables);
    let mut row = csv::StringRecord::new();
    let mut values = Vec::new();
    while reader.read_record(&mut row).map_err(unreadable)? {
        let line = row.position().map_or(0, csv::Position::line);
        let moment = Moment {
            cycle: field(&row, 0, line)?,
            monotonic_ns: field(&row, 1, line)?,
            seconds: field(&row, 2, line)?,
            lost_before: field(&row, 3, line)?,
        };
        if !moment.seconds.is_finite() {
            return Err(wrong(line, "`seconds` is no finite number".to_owned()));
        }
        values.clear();
        for column in HEAD.len()..row.len() {
            values.push(field::<f64>(&row, column, line)?);
        }
        recording.push(&moment, &values);
    }
    Ok(recording)
}

fn field<T: std::str::FromStr>(
    row: &csv::StringRecord,
    column: usize,
    line: u64,
) -> Result<T, TableError> {
    let text = row.get(column).unwrap_or_default();
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        TableError { line, problem: format!("`{shown}` in column {} is no number", column + 1) }
    })
}

#[cfg(test)]
mod tests;
