//! The tables of the terminal: the figures of each record, and the classes.

use quietcore_record::verdict::Verdict;

use super::Page;
use crate::figures;
use crate::summary::{Cell, ClassRow, Column, Figure, PartitionSummary, Summary};
use crate::table::{Field, Look, Side, Table, cut, visible};

/// Columns of a duration.
pub(super) const TIME: usize = 9;
/// Columns of a count.
const COUNT: usize = 12;
/// Columns of a cycle or a limit.
const LIMIT: usize = 7;
/// Columns of a verdict with its sign.
const VERDICT: usize = 12;
/// The most columns of a name.
pub(super) const NAME_MAX: usize = 34;

impl Page {
    /// Appends a table, as wide as the page.
    pub(crate) fn table(&mut self, table: &Table) {
        for line in table.lines(self.width, self.color) {
            self.line(&line);
        }
    }

    /// Appends a line for each record, with its figures.
    pub(super) fn figures(&mut self, partition: &PartitionSummary<'_>, summary: &Summary<'_>) {
        let records = partition.all_records();
        if records.is_empty() {
            return;
        }
        let mut table = Table::new()
            .leading("record", Side::Left)
            .numbers(["cycles"], COUNT)
            .numbers(["median", "p99.9", "max", "missed"], TIME);
        for index in records {
            let record = &summary.records[index];
            let statistics = &record.statistics;
            let quantile = |value: Option<_>| figures::or_dash(value, figures::quantile);
            let missed = figures::or_dash(statistics.missed_cycles, figures::count);
            let look = if record.record.reserved { Look::Plain } else { Look::Dim };
            let fields = [
                cut(&visible(&record.label()), NAME_MAX),
                figures::count(statistics.count),
                quantile(statistics.median_ns),
                quantile(statistics.p99_9_ns),
                figures::maximum(statistics),
                missed,
            ];
            table.row(fields.map(|field| Field::new(&field, look)));
        }
        self.table(&table);
        self.line("");
    }

    /// Appends a line for each class, with the figure that decided beside each verdict. In a narrow
    /// terminal the latency limit is left out: it is a tenth of the cycle, and others are told
    /// below.
    pub(super) fn classes(&mut self, partition: &PartitionSummary<'_>) {
        if partition.columns.is_empty() || partition.rows.is_empty() {
            return;
        }
        let whole = self.class_table(partition, true);
        let with_limit = whole.fits(self.width);
        if with_limit {
            self.table(&whole);
        } else {
            self.table(&self.class_table(partition, false));
        }
        self.line("");
        let compared = || partition.columns.iter().filter(|column| !column.reserved);
        let is_imported = compared().any(Column::is_imported);
        let stated = stated_limits(partition, with_limit);
        let mut note = format!(
            "The latency limit is a tenth of the cycle{stated}. Beside a verdict stands what \
             decided: the largest latency, where nothing else is said."
        );
        if is_imported {
            note.push_str(" (imported): no release of a thread, for comparison only.");
        } else if compared().next().is_some() {
            note.push_str(" (profile): without the reservation, for comparison only.");
        }
        let cells = || partition.rows.iter().flat_map(|row| &row.cells);
        if cells().any(|cell| matches!(cell.figure, Figure::TooFew(..))) {
            note.push_str(" A percentage: so many of the cycles that a PASS takes were measured.");
        }
        self.paragraph("", &note);
        let bearing = partition.rows.iter().filter(|row| !row.class.strictness.is_hard());
        let bearing: Vec<String> = bearing
            .map(|row| format!("{} ({})", visible(&row.class.name), row.class.strictness))
            .collect();
        if !bearing.is_empty() {
            let note = format!(
                "A single miss is a FAIL, except of these classes: {}.",
                bearing.join(", ")
            );
            self.paragraph("", &note);
        }
        self.line("");
    }

    fn class_table(&self, partition: &PartitionSummary<'_>, with_limit: bool) -> Table {
        let mut table = Table::new().leading("class", Side::Left).leading("cycle", Side::Right);
        if with_limit {
            table = table.column("limit", Side::Right, LIMIT);
        }
        table = table.column("overall", Side::Left, VERDICT);
        for column in &partition.columns {
            let heading = if column.reserved {
                column.profile.to_owned()
            } else {
                format!("({})", column.profile)
            };
            table = table.column(&heading, Side::Left, 0);
        }
        let declared = partition.declared.as_ref().map(|declared| declared.name);
        let mut rows: Vec<&ClassRow<'_>> = partition.rows.iter().collect();
        rows.sort_by_key(|row| Some(row.class.name.as_str()) != declared);
        for row in rows {
            let time = |ns: Option<u64>| figures::or_dash(ns, figures::set_nanos);
            let name = cut(&visible(&row.class.name), NAME_MAX);
            let mut fields = vec![Field::from(name), time(row.class.cycle_ns).into()];
            if with_limit {
                fields.push(time(row.class.latency_limit_ns()).into());
            }
            let overall = row.overall.verdict;
            let word = format!("{} {overall}", figures::sign(overall));
            fields.push(Field::new(&word, look(overall)));
            for (cell, column) in row.cells.iter().zip(&partition.columns) {
                let look = if column.reserved { look(cell.verdict) } else { Look::Dim };
                fields.push(Field::new(&decided(cell), look));
            }
            table.row(fields);
        }
        table
    }
}

/// Tells of latency limits that are no tenth of a cycle, and which they are where the table has no
/// place for them; empty where there are none.
fn stated_limits(partition: &PartitionSummary<'_>, with_limit: bool) -> String {
    let stated = partition.rows.iter().filter_map(|row| {
        let limit = figures::set_nanos(row.class.latency_ns?);
        Some(format!("{} {limit}", visible(&row.class.name)))
    });
    let stated: Vec<String> = stated.collect();
    match (stated.is_empty(), with_limit) {
        (true, _) => String::new(),
        (false, true) => ", or that of the source".to_owned(),
        (false, false) => format!(", or that of the source ({})", stated.join(", ")),
    }
}

/// Formats a verdict as sign and word, with the figure that decided it.
fn decided(cell: &Cell) -> String {
    let word = format!("{} {}", figures::sign(cell.verdict), cell.verdict);
    format!("{word} {}", figures::deciding_short(cell.figure))
}

pub(super) const fn look(verdict: Verdict) -> Look {
    match verdict {
        Verdict::Pass => Look::Good,
        Verdict::NotProven => Look::Open,
        Verdict::Fail => Look::Bad,
    }
}
