//! The tables that the five papers published, as data to put beside a run.
//!
//! Figures stand as printed, with their number of digits: the last one says how precise they are
//! ([`Cell::half_step`]). They are in `data/`, a file a table; `catalogue` says what their
//! columns mean. Only tables are here; histograms of the papers come in by
//! [`import`](crate::import).
//!
//! | paper | was | tables |
//! |-------|-----|--------|
//! | `queiroz2023` | 000 | 1: application classes; 2: test profiles; 3, 4, 5: release latency (GPOS, RTOS, over hours) |
//! | `scordino2020` | 001 | 1: EtherCAT round trip; figure 4: a kernel's routines; figures 5, 6: slowdown by neighbours |
//! | `kong2021` | 002 | 1, 2: interrupt response (physical, virtual); 3: event response |
//! | `hofer2019` | 003 | 1: release latency by isolation; figure 1: by machine |
//! | `mahmud2014` | 004 | 1: set-up; 2: network latency; 3: cycles of applications |
//!
//! A table's id is its paper and its place, such as `queiroz2023/table-4`. Earlier versions called
//! the papers by number; [`find`] still takes `000/table-4`.
//!
//! [`exhibit`] lists everything that the papers show, drawings too, with its counterpart here.

mod box_plot;
mod catalogue;
pub mod exhibit;
mod papers;
pub mod reproduction;

use std::sync::LazyLock;

use serde::Serialize;

use crate::isolation;

pub use box_plot::BoxPlot;
use exhibit::{Content, exhibits};

/// A paper whose tables stand here.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Citation {
    /// Its name here: the first author and the year, such as `queiroz2023`.
    pub key: &'static str,
    /// The number that earlier versions gave it, `000` to `004`; taken in ids, never printed.
    #[serde(skip)]
    pub number: &'static str,
    /// Names of the authors.
    pub authors: &'static str,
    /// Title of the paper.
    pub title: &'static str,
    /// Journal or conference in which it appeared.
    pub venue: &'static str,
    /// Year in which it appeared.
    pub year: u16,
    /// The DOI, where the paper gives one.
    pub doi: Option<&'static str>,
}

impl Citation {
    /// Returns the citation in one line, as under a figure.
    pub fn line(&self) -> String {
        let doi = self.doi.map(|doi| format!(", doi:{doi}")).unwrap_or_default();
        format!("{}: {}. {}, {}{doi}", self.authors, self.title, self.venue, self.year)
    }
}

/// The quantity of a table's figures. Only like is compared with like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Demands of applications; nobody measured them.
    Limit,
    /// Set-ups of measurements; no figure of a run.
    Setup,
    /// Due instant to the start of a periodic thread.
    ReleaseLatency,
    /// An EtherCAT frame out and back.
    EthercatRoundTrip,
    /// Interrupt to its handler.
    InterruptResponse,
    /// A frame to a guest and its answer back.
    EventResponse,
    /// A frame to another node and back.
    NetworkRoundTrip,
    /// Factor by which something takes longer beside others than alone.
    Slowdown,
    /// Time of a routine of an OSEK kernel.
    KernelRoutine,
}

impl Quantity {
    /// Returns the quantity in words.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Limit => "what applications ask for",
            Self::Setup => "the conditions of measurements",
            Self::ReleaseLatency => "release latency of a periodic thread",
            Self::EthercatRoundTrip => "round trip of an EtherCAT frame",
            Self::InterruptResponse => "interrupt response",
            Self::EventResponse => "event response over the network",
            Self::NetworkRoundTrip => "round trip of a network frame",
            Self::Slowdown => "slowdown by neighbours",
            Self::KernelRoutine => "time of an OSEK kernel's routines",
        }
    }

    /// Returns `true` if a probe, or a program whose data was imported, measures it.
    pub fn is_measured_by(self, probe: &str) -> bool {
        match self {
            // A slowdown is what several records say together.
            Self::Limit | Self::Setup | Self::Slowdown => false,
            // A program's leading task is a periodic thread as any other.
            Self::ReleaseLatency => {
                ["latency", "exec", "cyclictest", "jitterdebugger", "rtla timerlat"]
                    .contains(&probe)
            }
            Self::EthercatRoundTrip => probe == "ethercat",
            Self::InterruptResponse => probe == "irq",
            Self::EventResponse => probe == "event",
            Self::NetworkRoundTrip => probe == "rtt",
            Self::KernelRoutine => probe == "osek",
        }
    }
}

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Words that say what a row is about.
    Text,
    /// Words that say more of it.
    Remark,
    /// Milliseconds, `ms`.
    Milliseconds,
    /// Microseconds, `µs`.
    Microseconds,
    /// Hours, `h`.
    Hours,
    /// Seconds, `s`.
    Seconds,
    /// 10⁶ bit/s.
    MegabitsPerSecond,
    /// A number of things.
    Count,
    /// A number of times.
    Ratio,
}

impl Unit {
    /// Returns the sign; empty for words and counts.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Text | Self::Remark | Self::Count | Self::Ratio => "",
            Self::Milliseconds => "ms",
            Self::Microseconds => "µs",
            Self::Hours => "h",
            Self::Seconds => "s",
            Self::MegabitsPerSecond => "Mbit/s",
        }
    }

    /// Returns the nanoseconds in one, for units of time in which latencies are given.
    pub const fn nanos(self) -> Option<f64> {
        match self {
            Self::Milliseconds => Some(1e6),
            Self::Microseconds => Some(1e3),
            _ => None,
        }
    }
}

/// The statistic that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Smallest value of the sample.
    Minimum,
    /// 2.5 % quantile.
    LowerWhisker,
    /// 25 % quantile.
    LowerQuartile,
    /// Median, the 50 % quantile.
    Median,
    /// Arithmetic mean of the sample.
    Mean,
    /// Standard deviation of the sample.
    StandardDeviation,
    /// 75 % quantile.
    UpperQuartile,
    /// 97.5 % quantile.
    UpperWhisker,
    /// Largest value of the sample.
    Maximum,
    /// Upper − lower whisker.
    JitterWhiskers,
}

/// A column of a published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its key, unique in the table.
    pub key: &'static str,
    /// Heading of the column.
    pub title: &'static str,
    /// The unit of its figures.
    pub unit: Unit,
    /// The statistic, where it is one that records have too.
    pub figure: Option<Figure>,
    /// Definition in the paper's words.
    pub definition: &'static str,
}

/// A field, as printed; empty where the paper gives nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell(pub String);

impl Cell {
    /// Returns the figure; `None` for words and empty fields.
    pub fn number(&self) -> Option<f64> {
        self.0.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Returns half a step of the last printed digit: the largest error of the figure.
    pub fn half_step(&self) -> f64 {
        let decimals = self.0.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        0.5 / 10_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX))
    }
}

/// A published table with its source.
#[derive(Debug, PartialEq, Serialize)]
pub struct Table {
    /// The paper's key and the place in it, such as `queiroz2023/table-4`.
    pub id: &'static str,
    /// Title of the table.
    pub title: &'static str,
    /// Paper that it stands in.
    pub citation: &'static Citation,
    /// Place in the paper.
    pub place: &'static str,
    /// The quantity of its figures.
    pub quantity: Quantity,
    /// The profile of all rows, where the rows don't name one.
    pub profile: Option<&'static str>,
    /// The columns, from left to right.
    pub columns: &'static [Column],
    /// The rows; each has a field for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Remarks for readers: conditions, and what seems misprinted.
    pub remarks: &'static [&'static str],
}

impl Table {
    /// Returns paper and place in one line.
    pub fn source(&self) -> String {
        format!("{}, {}", self.citation.line(), self.place)
    }

    /// Returns the index of a column.
    pub fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.key == key)
    }

    /// Returns the index of the column that holds a statistic.
    pub fn figure(&self, figure: Figure) -> Option<usize> {
        self.columns.iter().position(|column| column.figure == Some(figure))
    }

    /// Returns the subject of a row: its words, and its hours or threads with their heading.
    pub fn label(&self, row: &[Cell]) -> String {
        let mut parts = Vec::new();
        for (column, cell) in self.columns.iter().zip(row) {
            match column.unit {
                Unit::Text => parts.push(cell.0.clone()),
                Unit::Hours => parts.push(format!("{} h", cell.0)),
                Unit::Count => parts.push(format!("{} {}", cell.0, column.title)),
                _ => {}
            }
        }
        parts.join(", ")
    }

    /// Returns the profile of a row, such as `tp3`.
    pub fn row_profile<'a>(&'a self, row: &'a [Cell]) -> Option<&'a str> {
        if self.id == isolation::TABLE {
            return Some(isolation::Row::of_title(&row.first()?.0)?.profile);
        }
        self.column("profile").map(|index| row[index].0.as_str()).or(self.profile)
    }

    /// Returns a field in ns, with half a step of its last digit; `None` where it is no time.
    pub fn nanos(&self, row: &[Cell], column: usize) -> Option<(f64, f64)> {
        let unit = self.columns[column].unit.nanos()?;
        Some((row[column].number()? * unit, row[column].half_step() * unit))
    }

    /// Returns `true` if it holds statistics of runs, beside which those of a record may stand.
    pub fn has_figures_of_a_run(&self) -> bool {
        let is_of_others =
            matches!(self.quantity, Quantity::Limit | Quantity::Setup | Quantity::Slowdown);
        !is_of_others && self.columns.iter().any(|column| column.figure.is_some())
    }

    /// Returns the rows as box plots; empty for a table without quartiles.
    pub fn box_plots(&self) -> Vec<BoxPlot> {
        self.rows.iter().filter_map(|row| BoxPlot::of(self, row)).collect()
    }
}

/// Returns all tables, in the order of the papers.
pub fn tables() -> &'static [Table] {
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(catalogue::read);
    &TABLES
}

/// No table has this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nothing in the papers has it.
    #[error(
        "`{asked}` is no published table; use {nearest}, the nearest of {}",
        known.join(", ")
    )]
    Unknown {
        /// The id that was asked for.
        asked: String,
        /// The id that it resembles most.
        nearest: &'static str,
        /// The ids of all tables.
        known: Vec<&'static str>,
    },
    /// It is a plot of the figures of another table.
    #[error("`{id}` is a plot of the figures of {table}; use that")]
    PlotOfTable {
        /// Id of the figure.
        id: &'static str,
        /// Id of the table whose figures it plots.
        table: &'static str,
    },
    /// It was printed as a picture.
    #[error("`{id}` was printed without figures; `compare --tables` says what its counterpart is")]
    Picture {
        /// Id of the figure.
        id: &'static str,
    },
}

/// Finds the table of an id.
///
/// An id whose paper is called by its number, such as `000/table-4`, is taken, too.
///
/// # Errors
/// [`FindError`] with the known ids, or with what the papers have there.
pub fn find(id: &str) -> Result<&'static Table, FindError> {
    let tables = tables();
    let named = by_key(id);
    if let Some(table) = tables.iter().find(|table| table.id == named) {
        return Ok(table);
    }
    if let Some(picture) = exhibits().iter().find(|exhibit| exhibit.id == named) {
        return Err(match picture.content {
            Content::PlotOfTable(table) => FindError::PlotOfTable { id: picture.id, table },
            _ => FindError::Picture { id: picture.id },
        });
    }
    let asked: String = id.chars().take(80).collect();
    let named: String = named.chars().take(80).collect();
    let distance = |table: &&Table| strsim::damerau_levenshtein(table.id, &named);
    let nearest = tables.iter().min_by_key(distance).map_or("", |table| table.id);
    let known = tables.iter().map(|table| table.id).collect();
    Err(FindError::Unknown { asked, nearest, known })
}

/// Returns the id with the paper's key in place of its number.
fn by_key(id: &str) -> String {
    let Some((paper, place)) = id.split_once('/') else { return id.to_owned() };
    let key = papers::ALL.iter().find(|it| it.number == paper).map_or(paper, |it| it.key);
    format!("{key}/{place}")
}

#[cfg(test)]
mod tests;
