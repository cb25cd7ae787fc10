//! The tables of the terminal: the figures of each record, and the classes.

use quietcore_record::verdict::Verdict;

use super::{Page, plain};
use crate::figures;
use crate::summary::{ClassRow, Column, PartitionSummary, Summary};

/// Columns of a duration.
pub(super) const TIME: usize = 9;
/// Columns of a count.
const COUNT: usize = 12;
/// Columns of a cycle or a limit.
const LIMIT: usize = 7;
/// Columns of a verdict with its sign.
const VERDICT: usize = 12;
/// The fewest columns of a name.
const NAME_MIN: usize = 22;
/// The most columns of a name.
const NAME_MAX: usize = 34;

/// How wide the table of classes is.
struct Layout {
    name: usize,
    with_limit: bool,
}

impl Layout {
    /// The columns before the verdicts.
    fn begin(&self, name: &str, cycle: &str, limit: &str) -> String {
        let name = fit(name, self.name);
        let (cycle, limit) = (plain(cycle), plain(limit));
        if self.with_limit {
            format!("{name} {cycle:>LIMIT$} {limit:>LIMIT$}  ")
        } else {
            format!("{name} {cycle:>LIMIT$}  ")
        }
    }
}

impl Page {
    /// A line a record: what was measured.
    pub(super) fn figures(&mut self, partition: &PartitionSummary<'_>, summary: &Summary<'_>) {
        let records = partition.all_records();
        if records.is_empty() {
            return;
        }
        let labels: Vec<String> =
            records.iter().map(|index| plain(&summary.records[*index].label())).collect();
        // Four times and a count; the rest is the name's.
        let room = self.width.saturating_sub(4 * (TIME + 1) + COUNT + 2);
        let name = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let name = name.clamp(6, room.clamp(6, NAME_MAX));
        self.line(&format!(
            "{} {:>COUNT$} {:>TIME$} {:>TIME$} {:>TIME$} {:>TIME$}",
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
                value.map_or_else(|| figures::NONE.to_owned(), figures::quantile)
            };
            let missed =
                statistics.missed_cycles.map_or_else(|| figures::NONE.to_owned(), figures::count);
            let line = plain(&format!(
                "{} {:>COUNT$} {:>TIME$} {:>TIME$} {:>TIME$} {:>TIME$}",
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

    /// A line a class. Where it is narrow the latency limit is left out, then profiles that don't
    /// fit beside each other get a table of their own.
    pub(super) fn classes(&mut self, partition: &PartitionSummary<'_>) {
        if partition.columns.is_empty() || partition.rows.is_empty() {
            return;
        }
        let names = partition.rows.iter().map(|row| plain(&row.class.name).chars().count());
        let longest = names.max().unwrap_or(0).clamp(NAME_MIN, NAME_MAX);
        let cells = partition.columns.len() * (VERDICT + 1);
        let rest = |times: usize| times * (LIMIT + 1) + VERDICT + 2;
        let with_limit = longest + rest(2) + cells <= self.width;
        let fixed = rest(if with_limit { 2 } else { 1 });
        let beside =
            (self.width.saturating_sub(longest.min(NAME_MIN) + fixed) / (VERDICT + 1)).max(1);
        let shown = beside.min(partition.columns.len());
        let room = self.width.saturating_sub(fixed + shown * (VERDICT + 1));
        let layout = Layout { name: longest.min(room), with_limit };
        for (index, part) in partition.columns.chunks(beside).enumerate() {
            self.class_table(partition, &layout, beside * index, part);
        }
        let comparison = partition.columns.iter().any(|column| !column.reserved);
        let mut note = "The latency limit is a tenth of the cycle.".to_owned();
        if comparison {
            note.push_str(" (profile): without the reservation, for comparison only.");
        }
        self.paragraph("", &note);
        self.line("");
    }

    fn class_table(
        &mut self,
        partition: &PartitionSummary<'_>,
        layout: &Layout,
        first: usize,
        columns: &[Column<'_>],
    ) {
        let mut head = layout.begin("class", "cycle", "limit");
        head.push_str(&fit("overall", VERDICT));
        for column in columns {
            let profile = if column.reserved {
                column.profile.to_owned()
            } else {
                format!("({})", column.profile)
            };
            head.push(' ');
            head.push_str(&fit(&profile, VERDICT));
        }
        self.line(&head);
        let declared = partition.declared.as_ref().map(|declared| declared.name);
        let mut rows: Vec<&ClassRow<'_>> = partition.rows.iter().collect();
        rows.sort_by_key(|row| Some(row.class.name.as_str()) != declared);
        for row in rows {
            let time =
                |ns: Option<u64>| ns.map_or_else(|| figures::NONE.to_owned(), figures::set_nanos);
            let limit = time(row.class.latency_limit_ns());
            let mut line = layout.begin(&row.class.name, &time(row.class.cycle_ns), &limit);
            line.push_str(&self.verdict(row.overall.verdict, VERDICT));
            for (cell, column) in row.cells[first..].iter().zip(columns) {
                line.push(' ');
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
pub(super) fn fit(text: &str, width: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
