//! The terminal's table of execution and response times, where records have them.

use super::Page;
use super::table::{NAME_MAX, TIME};
use crate::figures::{self, NONE};
use crate::summary::{PartitionSummary, RecordSummary, Summary};
use crate::table::{Field, Look, Side, Table, cut, visible};

/// Columns of the counts of overruns and watchdog hits.
const COUNT: usize = 8;

impl Page {
    /// Appends a line for each record of a program, with the times of its cycles.
    pub(super) fn scan(&mut self, partition: &PartitionSummary<'_>, summary: &Summary<'_>) {
        let records: Vec<&RecordSummary<'_>> = partition
            .all_records()
            .into_iter()
            .map(|index| &summary.records[index])
            .filter(|record| record.scan.is_some())
            .collect();
        if records.is_empty() {
            return;
        }
        // A narrow text leaves out the medians.
        let whole = of_records(&records, true);
        if whole.fits(self.width) {
            self.table(&whole);
        } else {
            self.table(&of_records(&records, false));
        }
        if !partition.unjudged.is_empty() {
            let names = partition.unjudged.iter().map(|index| summary.records[*index].label());
            let names: Vec<String> = names.collect();
            let names = names.join(", ");
            self.paragraph("", &format!("No deadline, and so in no verdict: {names}."));
        }
        self.line("");
    }
}

fn of_records(records: &[&RecordSummary<'_>], with_medians: bool) -> Table {
    let times = if with_medians {
        vec!["median", "max", "response", "max"]
    } else {
        vec!["max", "response"]
    };
    let mut table = Table::new()
        .leading("execution", Side::Left)
        .numbers(times, TIME)
        .numbers(["overruns", "watchdog"], COUNT);
    for record in records {
        let Some(scan) = &record.scan else { continue };
        let median = |value: Option<_>| figures::or_dash(value, figures::quantile);
        let overruns = match scan.scan.terms.deadline_ns {
            Some(_) => figures::count(scan.scan.counters.overruns),
            None => NONE.to_owned(),
        };
        let mut fields = vec![cut(&visible(&record.label()), NAME_MAX)];
        for statistics in [&scan.execution, &scan.response] {
            if with_medians {
                fields.push(median(statistics.median_ns));
            }
            fields.push(figures::maximum(statistics));
        }
        fields.extend([overruns, figures::count(scan.scan.counters.watchdog_hits)]);
        let look = if record.record.reserved { Look::Plain } else { Look::Dim };
        table.row(fields.iter().map(|field| Field::new(field, look)));
    }
    table
}
