//! Long runs: the figures after a part of the run and after all of it, as in table 5 of
//! queiroz2023.

use quietcore_record::histogram::Histogram;
use quietcore_record::record::Stretches;
use quietcore_record::statistics::Statistics;
use quietcore_units::Nanos;

use super::super::content::{Block, Cell, Column, Content, Row, Table};
use super::name;
use crate::figures;
use crate::summary::{RecordSummary, Summary};

/// The columns, as the paper has them, and the maximum.
const COLUMNS: [&str; 10] = [
    "Releases",
    "p2.5",
    "p25",
    "Median",
    "Mean",
    "Deviation",
    "p75",
    "p97.5",
    "Max jitter",
    "Maximum",
];

/// An hour, in ns.
const HOUR_NS: u64 = 3_600_000_000_000;

/// Adds a table for each record of a run that was cut into stretches.
pub(super) fn add(content: &mut Content, summary: &Summary<'_>) {
    let tables = summary.records.iter().filter_map(|record| table(record, summary));
    let tables: Vec<Block> = tables.map(Block::Table).collect();
    if tables.is_empty() {
        return;
    }
    content.blocks.push(Block::Heading("After a part of the run".to_owned(), None));
    content.remark(
        "Each row has all releases of the run up to that time, as in table 5 of queiroz2023; max \
         jitter is p97.5 less p2.5. Where the rows differ, the run was too short, or the machine \
         was not the same all the time. What belongs to a row was read up to a tenth of a second \
         late.",
    );
    content.blocks.extend(tables);
}

/// Returns the table of a record; `None` where it has no part.
fn table(summarised: &RecordSummary<'_>, summary: &Summary<'_>) -> Option<Table> {
    let record = summarised.record;
    let length = Nanos::new(record.conditions.duration_ns);
    let rows = rows(record.stretches.as_ref()?, length);
    if rows.len() < 2 {
        return None;
    }
    let label = name(summarised, summary);
    Some(Table {
        name: format!("Stability, {label}"),
        lead: Column::new(label, 1),
        columns: Column::all(COLUMNS, 1),
        rows,
        ..Table::default()
    })
}

/// Returns a row for each time after which a run of `length` is looked at.
fn rows(stretches: &Stretches, length: Nanos) -> Vec<Row> {
    stretches.looks(length).iter().map(|(time, part)| row(*time, part)).collect()
}

fn row(time: Nanos, part: &Histogram) -> Row {
    let of = Statistics::of_histogram(part);
    let quantile = |value| figures::or_dash(value, figures::quantile);
    let real = |value| figures::or_dash(value, figures::nanos_f64);
    let cells = [
        figures::count(of.count),
        quantile(of.p2_5_ns),
        quantile(of.q1_ns),
        quantile(of.median_ns),
        real(of.mean_ns),
        real(of.sd_ns),
        quantile(of.q3_ns),
        quantile(of.p97_5_ns),
        figures::or_dash(of.jitter_whiskers_ns, figures::nanos),
        figures::maximum(&of),
    ];
    let hours = time.get() / HOUR_NS;
    let after = match time.get().is_multiple_of(HOUR_NS) {
        true => format!("after {hours}\u{a0}h"),
        false => format!("after {}", figures::set_nanos(time.get())),
    };
    Row::new(after, cells.map(Cell::quantity).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Nanos = Nanos::new(HOUR_NS);

    /// Returns the rows of a run with one release a second, each hour's a microsecond later.
    fn of_hours(hours: u64) -> Vec<[String; 4]> {
        let mut stretches = Stretches::planned(HOUR * hours).unwrap();
        for hour in 1..=hours {
            let mut since = Histogram::new();
            since.record_many(hour * 1_000, 3_600);
            stretches.end(HOUR * hour, &since);
        }
        let plain = |text: &str| text.replace(['\u{a0}', '\u{202f}'], " ");
        let rows = rows(&stretches, HOUR * hours).into_iter();
        rows.map(|row| {
            [&row.name, &row.cells[0].text, &row.cells[4].text, &row.cells[9].text]
                .map(|it| plain(it))
        })
        .collect()
    }

    #[test]
    fn a_run_of_hours_is_looked_at_after_one_two_and_all_of_them() {
        let rows = of_hours(3);
        assert_eq!(rows[0], ["after 1 h", "3 600", "1.00 µs", "1.00 µs"]);
        assert_eq!(rows[1], ["after 2 h", "7 200", "1.50 µs", "2.00 µs"]);
        assert_eq!(rows[2], ["after 3 h", "10 800", "2.00 µs", "3.00 µs"]);
        assert_eq!(of_hours(1).len(), 1, "all of it stands among the statistics");
    }
}
