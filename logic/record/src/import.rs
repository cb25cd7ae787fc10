//! Records from other programs' output: `cyclictest`, `hwlatdetect`, `jitterdebugger`, `oslat`,
//! `rtla`.
//!
//! | kind | accepted | records |
//! |------|----------|---------|
//! | `cyclictest` | text of `-h` and `-H`, JSON of `--json` | one a thread, `FILE.thread0` |
//! | `jitterdebugger` | JSON of version 3 and before | one a CPU, `FILE.cpu0` |
//! | `oslat` | text, JSON of `--json` | one a core, `FILE.cpu0` |
//! | `hwlatdetect` | text | one, `FILE.samples` |
//! | `rtla` | text of `timerlat hist` and `osnoise hist` | one a column, `FILE.cpu0` |
//!
//! Contradictions have one of three outcomes:
//!
//! - **Refused**, with the place: what can't be a whole and unchanged file of the format. Cut off,
//!   rows reordered, doubled or of another length, cells that aren't numbers, totals or extremes
//!   that don't agree with the rows.
//! - **Imported as invalid**: the file is whole and its figures don't hold. `rtla` says that events
//!   were missed; the stated mean isn't the mean of the rows.
//! - **Imported with a remark** in the record's `activity`: what a reader should know and what
//!   leaves the figures true. A live summary with another count of cycles, a list of overflows that
//!   ends early, a mean that is only known to a whole microsecond.
//!
//! None of these programs counts missed cycles, so a stall of many cycles may be a single value.
//! Values a program didn't sort into a bucket become overflow with a bound, also where the program
//! itself doesn't say so.

mod column;
mod cyclictest;
mod error;
mod hwlatdetect;
mod jitterdebugger;
mod json;
mod lines;
mod near;
mod oslat;
mod rtla;
mod source;
mod table;

use std::fmt;

use quietcore_units::Nanos;

pub use error::{ImportError, Problem};

use crate::record::Record;
use error::Problems;
use source::Source;

/// The longest text that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 20;
/// The longest line that is read, in bytes. `cyclictest` lists the cycles of up to `-h` overflows
/// in one line: 68 kB in a published file.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// The most threads, or columns, of a file.
pub const COLUMNS_MAX: usize = 1024;
/// The most cells of a file that aren't zero.
pub const CELLS_MAX: usize = 8 << 20;

/// The program whose output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `cyclictest`, text or JSON.
    Cyclictest,
    /// `hwlatdetect`.
    Hwlatdetect,
    /// `jitterdebugger`.
    Jitterdebugger,
    /// `oslat`, text or JSON.
    Oslat,
    /// `rtla timerlat hist` or `rtla osnoise hist`.
    Rtla,
}

impl Kind {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cyclictest => "cyclictest",
            Self::Hwlatdetect => "hwlatdetect",
            Self::Jitterdebugger => "jitterdebugger",
            Self::Oslat => "oslat",
            Self::Rtla => "rtla",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Facts that the file doesn't say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Time between two releases. Where absent, the file's own figure counts, if it has one.
    pub interval: Option<Nanos>,
    /// `cyclictest` ran with `-N`: its text is in nanoseconds.
    pub nanoseconds: bool,
}

/// Reads the records of one file. `file_name` names the records and the places of errors; nothing
/// is opened. Two files of the same stem yield records of the same name: it is up to the caller to
/// refuse that.
///
/// # Errors
/// [`ImportError`] with every problem found, each with line and column.
pub fn read(
    kind: Kind,
    file_name: &str,
    text: &str,
    options: &ImportOptions,
) -> Result<Vec<Record>, ImportError> {
    let mut problems = Problems::new(file_name);
    if text.len() > TEXT_BYTES_MAX {
        problems.at(
            (1, 1),
            format!(
                "the file has {} bytes, more than {TEXT_BYTES_MAX}; give one file for each run",
                text.len()
            ),
        );
        return Err(problems.into_error());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        problems.at((1, 1), format!("the file is empty; expected {}", expected(kind)));
        return Err(problems.into_error());
    }
    if let Some((line, column, what)) = lines::unreadable(text) {
        problems.at((line, column), what);
        return Err(problems.into_error());
    }
    let found = Shape::of(text);
    if found.is_some_and(Shape::is_text) && !text.ends_with('\n') {
        // Its last number may be a part of what was printed.
        problems.at(
            (text.lines().count(), 1),
            "the last line has no end; the file was cut off, import the whole output".to_owned(),
        );
        return Err(problems.into_error());
    }
    let source = Source::new(file_name, options.interval);
    match (kind, found) {
        (Kind::Cyclictest, Some(Shape::CyclictestText)) => {
            cyclictest::read(&source, text, options.nanoseconds, problems)
        }
        (Kind::Cyclictest, Some(Shape::CyclictestJson | Shape::Json)) => {
            cyclictest::json::read(&source, text, problems)
        }
        (Kind::Jitterdebugger, Some(Shape::JitterdebuggerJson | Shape::Json)) => {
            jitterdebugger::read(&source, text, problems)
        }
        (Kind::Hwlatdetect, Some(Shape::HwlatdetectText)) => {
            hwlatdetect::read(&source, text, problems)
        }
        (Kind::Oslat, Some(Shape::OslatText)) => oslat::read(&source, text, problems),
        (Kind::Oslat, Some(Shape::OslatJson | Shape::Json)) => {
            oslat::json::read(&source, text, problems)
        }
        (Kind::Rtla, Some(Shape::RtlaText)) => rtla::read(&source, text, problems),
        _ => {
            let (place, what) = match (found.map(Shape::description), near::header(text)) {
                (Some(found), _) => ((1, 1), format!("this looks like {found}")),
                (None, Some(near)) => near,
                (None, None) => ((1, 1), format!("this isn't a histogram of `{kind}`")),
            };
            problems.at(place, format!("{what}; expected {}", expected(kind)));
            Err(problems.into_error())
        }
    }
}

const fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Cyclictest => {
            "the text of `cyclictest -h` with its line `# Histogram`, or the file of `--json`"
        }
        Kind::Hwlatdetect => "the text of `hwlatdetect`, from its first line to its last",
        Kind::Jitterdebugger => "the `results.json` that `jitterdebugger -o DIR` writes",
        Kind::Oslat => "the text of `oslat`, from the line `Core:` on, or the file of `--json`",
        Kind::Rtla => {
            "the text of `rtla timerlat hist` or `rtla osnoise hist`, header and summary included"
        }
    }
}

/// The format of a text by its first lines.
#[derive(Clone, Copy)]
enum Shape {
    CyclictestText,
    CyclictestJson,
    HwlatdetectText,
    JitterdebuggerJson,
    OslatText,
    OslatJson,
    RtlaText,
    Json,
}

impl Shape {
    fn of(text: &str) -> Option<Self> {
        if text.trim_start().starts_with('{') {
            return Some(if text.contains("\"thread\"") {
                // Of the programs with this frame it alone tells the frequency of a counter.
                if text.contains("\"freq\"") { Self::OslatJson } else { Self::CyclictestJson }
            } else if text.contains("\"cpus_online\"") || text.contains("\"cpu\": {") {
                Self::JitterdebuggerJson
            } else {
                Self::Json
            });
        }
        text.lines().find_map(|line| match line.trim() {
            cyclictest::HEADER => Some(Self::CyclictestText),
            line if line.starts_with(rtla::HEADER_START) => Some(Self::RtlaText),
            line if oslat::is_second_line(line) => Some(Self::OslatText),
            line if line.starts_with(hwlatdetect::HEADER_START) => Some(Self::HwlatdetectText),
            _ => None,
        })
    }

    const fn is_text(self) -> bool {
        matches!(
            self,
            Self::CyclictestText | Self::HwlatdetectText | Self::OslatText | Self::RtlaText
        )
    }

    const fn description(self) -> &'static str {
        match self {
            Self::CyclictestText => "the text of `cyclictest -h`",
            Self::CyclictestJson => "the JSON of `cyclictest`",
            Self::HwlatdetectText => "the text of `hwlatdetect`",
            Self::JitterdebuggerJson => "the JSON of `jitterdebugger`",
            Self::OslatText => "the text of `oslat`",
            Self::OslatJson => "the JSON of `oslat`",
            Self::RtlaText => "the text of `rtla`",
            Self::Json => "JSON of another program",
        }
    }
}
