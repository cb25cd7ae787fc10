//! Interrupts: what the probe `irq` measured, and what was published of the same.
//!
//! They are no releases: no class judges them, and they take no part in the verdicts.

use quietcore_evidence::Evidence;
use quietcore_record::published::{self, Figure, Table};
use quietcore_record::record::InterruptRun;
use quietcore_record::statistics::Statistics;

use super::{RecordSummary, summarise};

/// The tables of the same quantity: physical machines, then virtual ones.
const TABLES: [&str; 2] = ["kong2021/table-1", "kong2021/table-2"];

/// One quantity of an interrupt.
#[derive(Debug)]
pub struct InterruptLine {
    /// What it is called.
    pub name: &'static str,
    /// From what to what it is measured.
    pub meaning: &'static str,
    /// Whether published figures are figures of it.
    pub is_published: bool,
    /// Its statistics.
    pub statistics: Statistics,
}

/// A published row. All times in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The systems, as the paper names them.
    pub label: String,
    /// The table.
    pub table: &'static str,
    /// Smallest value.
    pub min_ns: f64,
    /// Mean.
    pub mean_ns: f64,
    /// Largest value.
    pub max_ns: f64,
}

/// The records of interrupts, each with its statistics, in the order of the evidence.
pub(super) fn records(evidence: &Evidence) -> Vec<RecordSummary<'_>> {
    evidence.records.iter().filter(|record| record.interrupt.is_some()).map(summarise).collect()
}

/// The quantities of a record of an interrupt.
pub fn lines(summary: &RecordSummary<'_>, run: &InterruptRun) -> [InterruptLine; 4] {
    let of = Statistics::of_histogram;
    [
        InterruptLine {
            name: "by the register",
            meaning: "the clock board's register, which counts 10 ns from the interrupt on, as the \
                      ISR read it",
            is_published: true,
            statistics: of(&run.register),
        },
        InterruptLine {
            name: "by the counter",
            meaning: "the interrupt to the first statement of its ISR, by the time stamp counter",
            is_published: false,
            statistics: summary.statistics.clone(),
        },
        InterruptLine {
            name: "context switch",
            meaning: "before ActivateTask in the ISR to the first statement of the task",
            is_published: false,
            statistics: of(&run.switch),
        },
        InterruptLine {
            name: "until the task",
            meaning: "the interrupt to the first statement of the task that its ISR activates",
            is_published: false,
            statistics: of(&run.until_task),
        },
    ]
}

/// The published rows.
pub fn beside() -> Vec<Beside> {
    let tables = TABLES.iter().filter_map(|id| published::find(id).ok());
    tables.flat_map(|table| table.rows.iter().filter_map(move |row| of_row(table, row))).collect()
}

fn of_row(table: &'static Table, row: &[published::Cell]) -> Option<Beside> {
    let figure = |figure| Some(table.nanos(row, table.figure(figure)?)?.0);
    Some(Beside {
        label: table.label(row),
        table: table.id,
        min_ns: figure(Figure::Minimum)?,
        mean_ns: figure(Figure::Mean)?,
        max_ns: figure(Figure::Maximum)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_five_rows_of_the_paper_stand_beside() {
        let rows = beside();
        let labels: Vec<_> = rows.iter().map(|row| (row.table, &*row.label)).collect();
        assert_eq!(
            labels,
            [
                ("kong2021/table-1", "VxWorks 6.8"),
                ("kong2021/table-1", "JARI-Works 3.2"),
                ("kong2021/table-2", "Wind River Hypervisor, VxWorks 6.8"),
                ("kong2021/table-2", "Linux+KVM+RT Patch, VxWorks 6.8"),
                ("kong2021/table-2", "Linux+KVM+RT Patch, JARI-Works 3.2"),
            ]
        );
        let last = &rows[4];
        let error = (last.min_ns - 18_320.0).abs()
            + (last.mean_ns - 19_760.0).abs()
            + (last.max_ns - 21_850.0).abs();
        assert!(error < 1e-6, "{last:?}");
    }
}
