//! Interrupts as a table, in µs, with the published figures below.

use super::Page;
use super::table::fit;
use crate::figures::{self, NONE};
use crate::summary::{RecordSummary, Summary, beside, lines};
use crate::table::{Side, Table};

/// Columns of a row's name.
const NAME: usize = 38;
/// Columns of a time, in µs.
const TIME: usize = 10;
/// Columns of a count.
const COUNT: usize = 11;

impl Page {
    /// All records of interrupts, and the published figures.
    pub(super) fn interrupts(&mut self, summary: &Summary<'_>) {
        summary.interrupts.iter().for_each(|record| self.interrupt(record));
        if !summary.interrupts.is_empty() {
            self.published_interrupts();
        }
    }

    fn interrupt(&mut self, summary: &RecordSummary<'_>) {
        let Some(run) = &summary.record.interrupt else { return };
        let held = &summary.record.conditions;
        self.paragraph("interrupt   ", &format!("{}; {}", held.mode, run.path));
        self.paragraph("kernel      ", &run.kernel);
        self.paragraph("thread      ", &format!("{} on CPU {}", held.policy, held.affinity));
        for key in ["guest", "guest_exits", "clock_board"] {
            if let Some(text) = held.activity.get(key) {
                self.paragraph(&fit(&key.replace('_', " "), 12), text);
            }
        }
        for because in &summary.record.invalid_because {
            self.paragraph("invalid     ", &because.to_string());
        }
        for because in &summary.record.degraded {
            self.paragraph("degraded    ", &because.to_string());
        }
        self.line("");
        let mut table = table("");
        for line in lines(summary, run) {
            let found = &line.statistics;
            table.row([
                format!("{}{}", line.name, if line.is_published { " *" } else { "" }),
                microseconds(Some(found.min_ns as f64)),
                microseconds(found.mean_ns),
                microseconds(found.p99_ns.map(|it| it.lower_bound() as f64)),
                microseconds(Some(found.max_ns as f64)),
                figures::count(found.count),
            ]);
        }
        self.table(&table);
        if run.left_out > 0 {
            let left_out = figures::count(run.left_out);
            self.paragraph(
                "",
                &format!("{left_out} interrupts more were left out, and not measured"),
            );
        }
        self.line("");
    }

    /// The published figures, and what they are figures of.
    fn published_interrupts(&mut self) {
        let mut table = table("* published, 10 ms, another machine");
        for published in beside() {
            table.row([
                format!("  {}", published.label),
                microseconds(Some(published.min_ns)),
                microseconds(Some(published.mean_ns)),
                NONE.to_owned(),
                microseconds(Some(published.max_ns)),
                "10 000".to_owned(),
            ]);
        }
        self.table(&table);
        self.paragraph(
            "",
            "The register is what the paper read of its clock board in the ISR: tables 1 \
             (physical machines) and 2 (virtual ones) of kong2021.",
        );
        self.line("");
    }
}

fn table(name: &str) -> Table {
    Table::new()
        .leading(&fit(name, NAME), Side::Left)
        .numbers(["min µs", "mean µs", "p99 µs", "max µs"], TIME)
        .numbers(["count"], COUNT)
}

fn microseconds(value_ns: Option<f64>) -> String {
    value_ns.map_or_else(|| NONE.to_owned(), |ns| format!("{:.2}", ns / 1e3))
}
