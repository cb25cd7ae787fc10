//! The tables of the terminal: the figures of each record, and the classes.

use quietcore_record::class::Class;
use quietcore_record::verdict::Verdict;

use super::{Page, plain};
use crate::figures;
use crate::summary::{ClassRow, Column, PartitionSummary, Summary};

/// Columns of a duration.
const TIME: usize = 8;
/// Columns of a verdict with its sign.
const VERDICT: usize = 12;
/// The most columns of a name.
const NAME_MAX: usize = 34;

impl Page {
    /// A line a record: what was measured.
    pub(super) fn figures(&mut self, partition: &PartitionSummary<'_>, summary: &Summary<'_>) {
        let records: Vec<usize> =
            partition.columns.iter().flat_map(|column| &column.records).copied().collect();
        if records.is_empty() {
            return;
        }
        let labels: Vec<String> =
            records.iter().map(|index| plain(&summary.records[*index].label())).collect();
        // Four times, a count and the remark; the rest is the name's.
        let room = self.width.saturating_sub(4 * (TIME + 2) + 16);
        let name = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let name = name.clamp(8, room.min(NAME_MAX));
        self.line(&format!(
            "{}  {:>12}  {:>TIME$}  {:>TIME$}  {:>TIME$}  {:>TIME$}",
            fit("record", name),
            "cycles",
            "median",
            "p99.9",
            "max",
            "missed"
        ));
        for (index, label) in records.iter().zip(&labels) {
            let record = &summary.records[*index];
            let statistics = &record.statistics;
            let quantile = |value: Option<_>| {
                value.map_or_else(|| figures::NONE.to_owned(), |value| figures::quantile(value))
            };
            let missed =
                statistics.missed_cycles.map_or_else(|| figures::NONE.to_owned(), figures::count);
            let line = plain(&format!(
                "{}  {:>12}  {:>TIME$}  {:>TIME$}  {:>TIME$}  {:>TIME$}",
                fit(label, name),
                figures::count(statistics.count),
                quantile(statistics.median_ns),
                quantile(statistics.p99_9_ns),
                figures::maximum(statistics),
                missed,
            ));
            let line = if record.record.reserved { line } else { self.dim(&line) };
            self.line(&line);
        }
        self.line("");
    }

    /// A line a class. Profiles that don't fit beside each other get a table of their own.
    pub(super) fn classes(&mut self, partition: &PartitionSummary<'_>) {
        if partition.columns.is_empty() || partition.rows.is_empty() {
            return;
        }
        let title = |class: &Class| plain(&class.title).chars().count();
        let longest = partition.rows.iter().map(|row| title(row.class)).max().unwrap_or(0);
        let fixed = 2 * (TIME + 2) + VERDICT + 2;
        let widest = self.width.saturating_sub(fixed + VERDICT + 2).max(12);
        let name = longest.clamp(12, NAME_MAX.min(widest));
        let beside = (self.width.saturating_sub(name + fixed) / (VERDICT + 2)).max(1);
        for part in partition.columns.chunks(beside).enumerate() {
            self.class_table(partition, name, beside * part.0, part.1);
        }
        let comparison = partition.columns.iter().any(|column| !column.reserved);
        let mut note = "latency: a tenth of the cycle.".to_owned();
        if comparison {
            note.push_str(" (profile): without the reservation, for comparison only.");
        }
        self.paragraph("", &note);
        self.line("");
    }

    fn class_table(
        &mut self,
        partition: &PartitionSummary<'_>,
        name: usize,
        first: usize,
        columns: &[Column<'_>],
    ) {
        let mut head = format!(
            "{}  {:>TIME$}  {:>TIME$}  {:VERDICT$}",
            fit("class", name),
            "cycle",
            "latency",
            "overall"
        );
        for column in columns {
            let profile = if column.reserved {
                column.profile.to_owned()
            } else {
                format!("({})", column.profile)
            };
            head.push_str("  ");
            head.push_str(&fit(&plain(&profile), VERDICT));
        }
        self.line(&head);
        let declared = partition.declared.as_ref().map(|declared| declared.name);
        let mut rows: Vec<&ClassRow<'_>> = partition.rows.iter().collect();
        rows.sort_by_key(|row| Some(row.class.name.as_str()) != declared);
        for row in rows {
            let time =
                |ns: Option<u64>| ns.map_or_else(|| figures::NONE.to_owned(), figures::set_nanos);
            let mut line = plain(&format!(
                "{}  {:>TIME$}  {:>TIME$}  ",
                fit(&row.class.title, name),
                time(row.class.cycle_ns),
                time(row.class.latency_limit_ns()),
            ));
            line.push_str(&self.verdict(row.overall.verdict, VERDICT));
            for (cell, column) in row.cells[first..].iter().zip(columns) {
                line.push_str("  ");
                line.push_str(&self.cell(cell.verdict, column.reserved));
            }
            self.line(&line);
        }
        self.line("");
    }

    fn cell(&self, verdict: Verdict, counts: bool) -> String {
        if counts {
            return self.verdict(verdict, VERDICT);
        }
        self.dim(&format!("{:VERDICT$}", format!("{} {verdict}", figures::sign(verdict))))
    }
}

/// `text` in exactly `width` columns; a longer one ends in `…`.
fn fit(text: &str, width: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
