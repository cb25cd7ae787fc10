//! A run beside a published table: like figures in like units, with their ratio.
//!
//! No significance: the published runs are others' machines and their raw values aren't known. What
//! is known is the rounding of the printed figures, so a ratio has the range that the rounding
//! leaves.

use quietcore_units::Nanos;
use serde::Serialize;

use super::Value;
use crate::histogram::Quantile;
use crate::published::{Cell, Figure, Quantity, Table};
use crate::record::Record;
use crate::statistics::Statistics;

/// A run beside a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideBySide {
    /// Id of the table.
    pub table: &'static str,
    /// Title of the table.
    pub title: &'static str,
    /// The paper and the place in it.
    pub source: String,
    /// Remarks that a reader must know about the table, and about this comparison.
    pub remarks: Vec<String>,
    /// Each record beside each row that is like it.
    pub rows: Vec<SideRow>,
    /// Records that measure something else, or are invalid.
    pub left_out: Vec<String>,
}

/// A record beside a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideRow {
    /// Name of the record.
    pub record: String,
    /// Subject of the published row.
    pub published: String,
    /// The row's profile, if it has one.
    pub profile: Option<String>,
    /// `true` if it is the record's profile too. If not, the conditions differ.
    pub same_profile: bool,
    /// The figures that both have.
    pub figures: Vec<SideFigure>,
}

/// A figure of both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SideFigure {
    /// The statistic that both figures are of.
    pub figure: Figure,
    /// As published, in ns.
    pub published_ns: f64,
    /// The largest error of the printed figure, in ns.
    pub published_error_ns: f64,
    /// As measured, in ns; absent where the sample doesn't carry it.
    pub measured_ns: Option<Value>,
    /// Measured / published; absent where the published one is printed as 0.
    pub ratio: Option<f64>,
    /// The lowest ratio that rounding allows.
    pub ratio_low: Option<f64>,
    /// The highest one; absent where it is open.
    pub ratio_high: Option<f64>,
}

/// The reason why a run can't be put beside a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BesideError {
    /// Nobody measured these figures.
    #[error(
        "`{table}` gives {quantity}, not a measurement; `show` judges the run against such limits"
    )]
    NotMeasured {
        /// Id of the table.
        table: &'static str,
        /// Description of the table's quantity.
        quantity: &'static str,
    },
    /// It says how others measured.
    #[error(
        "`{table}` gives {quantity}, and no figure of a run; `compare --tables --json` prints it"
    )]
    OfConditions {
        /// Id of the table.
        table: &'static str,
        /// Description of the table's quantity.
        quantity: &'static str,
    },
    /// It was printed without figures.
    #[error(
        "`{table}` was printed without a figure that a run could stand beside; `compare --tables \
         --json` prints what is known of it"
    )]
    NoFigures {
        /// Id of the table.
        table: &'static str,
    },
    /// The figures are not those of a record.
    #[error(
        "`{table}` gives ratios of runs, not times of one; `show` and the report put them beside \
         the slowdowns of `probe memory`"
    )]
    OfSeveral {
        /// Id of the table.
        table: &'static str,
    },
    /// No record measures this.
    #[error(
        "`{table}` gives the {quantity}, which no valid record here measures (there are: \
         {probes}); choose a table of what was measured"
    )]
    OtherQuantity {
        /// Id of the table.
        table: &'static str,
        /// Description of the table's quantity.
        quantity: &'static str,
        /// The probes of the run.
        probes: String,
    },
}

/// Puts the records beside a table. A record whose profile the table has is put beside those rows
/// alone, any other beside all.
///
/// # Errors
/// [`BesideError`] where the run measured nothing like it.
pub fn with_table(records: &[Record], table: &Table) -> Result<SideBySide, BesideError> {
    has_figures_of_a_run(table)?;
    let quantity = table.quantity.description();
    let fits = |record: &&Record| {
        table.quantity.is_measured_by(&record.probe)
            && record.is_valid()
            && record.release.count() > 0
    };
    let (fitting, others): (Vec<&Record>, Vec<&Record>) = records.iter().partition(fits);
    if fitting.is_empty() {
        let mut probes: Vec<&str> = records.iter().map(|record| record.probe.as_str()).collect();
        probes.sort_unstable();
        probes.dedup();
        let probes = if probes.is_empty() { "none".to_owned() } else { probes.join(", ") };
        return Err(BesideError::OtherQuantity { table: table.id, quantity, probes });
    }
    let mut remarks: Vec<String> =
        table.remarks.iter().map(|remark| (*remark).to_owned()).collect();
    remarks.push(
        "another machine, at another time: the ratio compares systems, not settings, and no test \
         says how sure it is"
            .to_owned(),
    );
    let is_cut = |record: &&Record| table.rows.iter().any(|row| part(record, table, row).is_some());
    if fitting.iter().any(is_cut) {
        remarks.push(
            "a run of more than an hour stands beside each row with its first hours; a row of more \
             hours than it took is left out"
                .to_owned(),
        );
    }
    Ok(SideBySide {
        table: table.id,
        title: table.title,
        source: table.source(),
        remarks,
        rows: fitting.into_iter().flat_map(|record| rows(record, table)).collect(),
        left_out: others.into_iter().map(|record| record.name.clone()).collect(),
    })
}

/// Checks whether a probe's figures may stand beside a table; called before anything is measured.
///
/// # Errors
/// [`BesideError`] where the table's figures are of something else.
pub fn stands_beside(probe: &str, table: &Table) -> Result<(), BesideError> {
    has_figures_of_a_run(table)?;
    if table.quantity.is_measured_by(probe) {
        return Ok(());
    }
    let quantity = table.quantity.description();
    Err(BesideError::OtherQuantity { table: table.id, quantity, probes: probe.to_owned() })
}

fn has_figures_of_a_run(table: &Table) -> Result<(), BesideError> {
    let (id, quantity) = (table.id, table.quantity.description());
    match table.quantity {
        Quantity::Limit => Err(BesideError::NotMeasured { table: id, quantity }),
        Quantity::Setup => Err(BesideError::OfConditions { table: id, quantity }),
        Quantity::Slowdown => Err(BesideError::OfSeveral { table: id }),
        _ if !table.has_figures_of_a_run() => Err(BesideError::NoFigures { table: id }),
        _ => Ok(()),
    }
}

/// The column of a table whose rows look at a run after so many hours.
const HOURS: &str = "hours";

/// A run, or the first hours of it, with its statistics.
#[derive(Clone)]
struct Part {
    name: String,
    statistics: Statistics,
}

/// Returns the part of a record that a row of a table is about: the first hours, where the table
/// has a column of them and the record a border there. `None` where it has not.
fn part(record: &Record, table: &Table, row: &[Cell]) -> Option<Part> {
    let hours = &row[table.column(HOURS)?];
    let seconds = (hours.number()? * 3_600.0).round() as u64;
    let part = record.stretches.as_ref()?.after(Nanos::from_secs(seconds))?;
    let name = format!("{} (first {} h)", record.name, hours.0);
    Some(Part { name, statistics: Statistics::of_histogram(&part) })
}

/// Returns the rows of a table that a record is put beside, each with the part of it.
fn sides<'t>(record: &Record, table: &'t Table) -> Vec<(&'t [Cell], Part)> {
    let is_same = |row: &[Cell]| table.row_profile(row) == Some(record.profile.as_str());
    let any_same = table.rows.iter().any(|row| is_same(row));
    let rows = table.rows.iter().map(Vec::as_slice);
    let rows: Vec<&[Cell]> = rows.filter(|row| !any_same || is_same(row)).collect();
    let mut cut: Vec<(&[Cell], Part)> =
        rows.iter().filter_map(|row| Some((*row, part(record, table, row)?))).collect();
    if cut.is_empty() {
        let whole = Part { name: record.name.clone(), statistics: Statistics::of(record) };
        return rows.into_iter().map(|row| (row, whole.clone())).collect();
    }
    // Rows of one part stand together.
    cut.sort_by_key(|(_, part)| part.statistics.count);
    cut
}

fn rows(record: &Record, table: &Table) -> Vec<SideRow> {
    let is_same = |profile: Option<&str>| profile == Some(record.profile.as_str());
    sides(record, table)
        .into_iter()
        .map(|(row, Part { name, statistics })| SideRow {
            record: name,
            published: table.label(row),
            profile: table.row_profile(row).map(str::to_owned),
            same_profile: is_same(table.row_profile(row)),
            figures: (0..table.columns.len())
                .filter_map(|column| {
                    let figure = table.columns[column].figure?;
                    let (published, error) = table.nanos(row, column)?;
                    let measured = measured(&statistics, figure);
                    Some(beside(
                        figure,
                        (published, error),
                        measured,
                        record.release.resolution_ns(),
                    ))
                })
                .collect(),
        })
        .collect()
}

fn beside(
    figure: Figure,
    (published_ns, error): (f64, f64),
    measured: Option<Value>,
    resolution_ns: u64,
) -> SideFigure {
    let low = measured.map(Value::lower_bound);
    // Measured values were rounded too, down to a multiple of the resolution.
    let high = match measured {
        Some(Value::Exactly(value)) => Some(value + (resolution_ns - 1) as f64),
        _ => None,
    };
    let least = published_ns - error;
    SideFigure {
        figure,
        published_ns,
        published_error_ns: error,
        measured_ns: measured,
        ratio: low.filter(|_| published_ns > 0.0).map(|value| value / published_ns),
        ratio_low: low.map(|value| value / (published_ns + error)),
        ratio_high: high.filter(|_| least > 0.0).map(|value| value / least),
    }
}

fn measured(statistics: &Statistics, figure: Figure) -> Option<Value> {
    let quantile = |quantile: Option<Quantile>| {
        quantile.map(|quantile| match quantile {
            Quantile::Exactly(value) => Value::Exactly(value as f64),
            Quantile::AtLeast { at_least } => Value::AtLeast { at_least: at_least as f64 },
        })
    };
    let whole = |value: Option<u64>| value.map(|value| Value::Exactly(value as f64));
    match figure {
        Figure::Minimum => whole(statistics.min_ns),
        Figure::LowerWhisker => quantile(statistics.p2_5_ns),
        Figure::LowerQuartile => quantile(statistics.q1_ns),
        Figure::Median => quantile(statistics.median_ns),
        Figure::Mean => statistics.mean_ns.map(Value::Exactly),
        Figure::StandardDeviation => statistics.sd_ns.map(Value::Exactly),
        Figure::UpperQuartile => quantile(statistics.q3_ns),
        Figure::UpperWhisker => quantile(statistics.p97_5_ns),
        Figure::Maximum => whole(statistics.max_ns),
        Figure::JitterWhiskers => whole(statistics.jitter_whiskers_ns),
    }
}

#[cfg(test)]
mod tests;
