//! The terminal's table of execution and response times, there where a record has them.

use super::table::{TIME, fit};
use super::{Page, plain};
use crate::figures::{self, NONE};
use crate::summary::{PartitionSummary, RecordSummary, Summary};

/// Columns of the counts of overruns and watchdog hits.
const COUNT: usize = 8;
/// The most columns of a name.
const NAME_MAX: usize = 34;

impl Page {
    /// A line a record of a program: what its cycles took.
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
        let labels: Vec<String> = records.iter().map(|record| plain(&record.label())).collect();
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        // Where it is narrow the medians are left out.
        let fixed = |times: usize| times * (TIME + 1) + 2 * (COUNT + 1);
        let all = longest.min(NAME_MAX) + fixed(4) <= self.width;
        let room = self.width.saturating_sub(fixed(if all { 4 } else { 2 }));
        let name = longest.clamp(9, room.clamp(9, NAME_MAX));
        let head = |median: &str| if all { format!(" {median:>TIME$}") } else { String::new() };
        self.line(&format!(
            "{}{} {:>TIME$}{} {:>TIME$} {:>COUNT$} {:>COUNT$}",
            fit("execution", name),
            head("median"),
            "max",
            head("response"),
            if all { "max" } else { "response" },
            "overruns",
            "watchdog",
        ));
        for (record, label) in records.into_iter().zip(&labels) {
            let Some(scan) = &record.scan else { continue };
            let median = |value: Option<_>| match value {
                _ if !all => String::new(),
                Some(value) => format!(" {:>TIME$}", figures::quantile(value)),
                None => format!(" {NONE:>TIME$}"),
            };
            let line = plain(&format!(
                "{}{} {:>TIME$}{} {:>TIME$} {:>COUNT$} {:>COUNT$}",
                fit(label, name),
                median(scan.execution.median_ns),
                figures::maximum(&scan.execution),
                median(scan.response.median_ns),
                figures::maximum(&scan.response),
                match scan.scan.terms.deadline_ns {
                    Some(_) => figures::count(scan.scan.counters.overruns),
                    None => NONE.to_owned(),
                },
                figures::count(scan.scan.counters.watchdog_hits),
            ));
            let line = if record.record.reserved { line } else { self.dim(&line) };
            self.line(&line);
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
