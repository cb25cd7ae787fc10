//! The routines of a kernel as a table, in ns.

use quietcore_record::reason::Reason;
use quietcore_record::record::Trigger;

use super::Page;
use super::table::fit;
use crate::figures::{self, NONE};
use crate::summary::{KernelSummary, RoutineCell, RoutineRow};
use crate::table::{Side, Table};

/// Columns of a routine's name, and how its interrupt was brought.
const NAME: usize = 19;
/// Columns of a time, in ns.
const TIME: usize = 9;
/// Columns of the largest time.
const MAXIMUM: usize = 12;
/// Columns of a count.
const COUNT: usize = 7;

impl Page {
    /// All runs of a kernel.
    pub(super) fn kernel(&mut self, kernel: &KernelSummary<'_>) {
        self.conditions(kernel);
        for (index, run) in kernel.runs.iter().enumerate() {
            let published = if run.loops == 100 { ", as published" } else { "" };
            let loops = format!("{}{published}", run.label());
            self.paragraph("", &loops);
            let mut table = Table::new()
                .leading(&fit("routine", NAME), Side::Left)
                .numbers(["min ns", "median ns", "mean ns", "p99 ns", "p99.99 ns"], TIME)
                .numbers(["max ns"], MAXIMUM)
                .numbers(["counts", "clamped"], COUNT);
            for row in &kernel.rows {
                if let Some(cell) = &row.cells[index] {
                    table.row(routine(row, cell));
                }
            }
            self.table(&table);
            self.line("");
        }
        self.remarks(kernel);
        let trusted = |cell: &&RoutineCell<'_>| !cell.record.is_valid();
        let mut reasons: Vec<&Reason> = Vec::new();
        for because in kernel.cells().filter(trusted).flat_map(|it| &it.record.invalid_because) {
            if !reasons.contains(&because) {
                reasons.push(because);
            }
        }
        for because in reasons {
            self.paragraph("invalid: ", &because.to_string());
        }
        self.line("");
    }

    /// What stands in the columns, and what is in the figures.
    fn remarks(&mut self, kernel: &KernelSummary<'_>) {
        let mut text =
            "Without the empty measurement: its median is subtracted from every value, its \
                        mean from the mean, which leaves out a twentieth of the values at either \
                        end. counts: the median in counts of the clock. clamped: values below the \
                        empty measurement, which count as zero."
                .to_owned();
        if kernel.cells().any(|cell| cell.figures.p99_99_ns.is_none()) {
            text.push_str(" A quantile takes ten values beyond it.");
        }
        self.paragraph("", &text);
        let ways = Trigger::ALL
            .into_iter()
            .filter(|trigger| kernel.rows.iter().any(|row| row.trigger == Some(*trigger)));
        let ways: Vec<String> =
            ways.map(|way| format!("{}: {}.", way.name(), way.meaning())).collect();
        if !ways.is_empty() {
            self.paragraph("", &ways.join(" "));
        }
    }

    /// What the figures hold for.
    fn conditions(&mut self, kernel: &KernelSummary<'_>) {
        let Some(cell) = kernel.cells().next() else { return };
        let held = &cell.record.conditions;
        let clock = held.machine.get("clock_of_routines").map_or("", String::as_str);
        self.paragraph("kernel  ", &cell.run.kernel);
        let locked = held.activity.get("memory_locked").map_or("", String::as_str);
        let locked = if locked.is_empty() { String::new() } else { format!(", {locked} locked") };
        self.paragraph("thread  ", &format!("{} on CPU {}{locked}", held.policy, held.affinity));
        if !clock.is_empty() {
            self.paragraph("clock   ", clock);
        }
        for load in &held.loads {
            self.paragraph(
                "load    ",
                &format!(
                    "{} × {}: {} {}, {:.2} CPUs",
                    load.workers,
                    load.kind,
                    figures::amount(load.operations_per_second),
                    load.unit,
                    load.cpu_share
                ),
            );
        }
        self.line("");
    }
}

fn routine(row: &RoutineRow<'_>, cell: &RoutineCell<'_>) -> [String; 9] {
    let found = &cell.figures;
    let trigger = row.trigger.map_or_else(String::new, |trigger| format!(", {}", trigger.name()));
    [
        format!("{}{trigger}", row.routine.name()),
        nanoseconds(Some(found.min_ns)),
        nanoseconds(found.median_ns),
        nanoseconds(found.mean_ns),
        nanoseconds(found.p99_ns),
        nanoseconds(found.p99_99_ns),
        nanoseconds(Some(found.max_ns)),
        figures::or_dash(found.median_counts, figures::count),
        figures::count(cell.run.clamped),
    ]
}

/// A time in ns, its decimals below those of the others: with one below 1 µs, without beyond.
fn nanoseconds(value_ns: Option<f64>) -> String {
    match value_ns {
        None => format!("{NONE}  "),
        Some(value) if value < 999.95 => format!("{value:.1}"),
        Some(value) => format!("{}  ", figures::count(value.round() as u64)),
    }
}
