//! Execution and response times of programs, where records have them.

use quietcore_record::record::Worst;
use quietcore_record::statistics::Statistics;

use super::{COLUMNS_MAX, Group, define, quantile, table};
use crate::figures::{self, NONE};
use crate::section::content::{Block, Content};
use crate::summary::{RecordSummary, ScanSummary, Summary};

/// Name of the tables.
const NAME: &str = "Execution and response";

/// The rows of the table, in groups.
pub(super) const GROUPS: [Group; 4] = [
    (
        "Execution time",
        &[
            (&define::EXECUTION, "", |r| of(r, |scan| figures::count(scan.execution.count))),
            (&define::SCAN_MINIMUM, "", |r| of(r, |scan| least(&scan.execution))),
            (&define::SCAN_QUANTILE, "Median", |r| {
                of(r, |scan| quantile(scan.execution.median_ns))
            }),
            (&define::SCAN_QUANTILE, "p99", |r| of(r, |scan| quantile(scan.execution.p99_ns))),
            (&define::SCAN_QUANTILE, "p99.9", |r| of(r, |scan| quantile(scan.execution.p99_9_ns))),
            (&define::SCAN_MAXIMUM, "", |r| of(r, |scan| figures::maximum(&scan.execution))),
            (&define::WORST, "", |r| of(r, |scan| worst(scan.scan.worst_execution))),
        ],
    ),
    (
        "Response time",
        &[
            (&define::RESPONSE, "", |r| of(r, |scan| figures::count(scan.response.count))),
            (&define::SCAN_MINIMUM, "", |r| of(r, |scan| least(&scan.response))),
            (&define::SCAN_QUANTILE, "Median", |r| of(r, |scan| quantile(scan.response.median_ns))),
            (&define::SCAN_QUANTILE, "p99", |r| of(r, |scan| quantile(scan.response.p99_ns))),
            (&define::SCAN_QUANTILE, "p99.9", |r| of(r, |scan| quantile(scan.response.p99_9_ns))),
            (&define::SCAN_MAXIMUM, "", |r| of(r, |scan| figures::maximum(&scan.response))),
            (&define::WORST, "", |r| of(r, |scan| worst(scan.scan.worst_response))),
        ],
    ),
    (
        "Deadline and watchdog",
        &[
            (&define::DEADLINE, "", |r| {
                of(r, |scan| match scan.scan.terms.deadline_ns {
                    Some(deadline_ns) => figures::set_nanos(deadline_ns),
                    None => "none".to_owned(),
                })
            }),
            (&define::OVERRUNS, "", |r| of(r, |scan| figures::count(scan.scan.counters.overruns))),
            (&define::OVERRUN_RUN, "", |r| {
                of(r, |scan| figures::count(scan.scan.counters.longest_overrun_run))
            }),
            (&define::SKIPPED, "", |r| {
                of(r, |scan| figures::count(scan.scan.counters.skipped_releases))
            }),
            (&define::WATCHDOG, "", |r| {
                of(r, |scan| figures::or_dash(scan.scan.terms.watchdog_ns, figures::set_nanos))
            }),
            (&define::WATCHDOG_HITS, "", |r| {
                of(r, |scan| figures::count(scan.scan.counters.watchdog_hits))
            }),
        ],
    ),
    (
        "Fieldbus",
        &[(&define::LOST_FRAMES, "", |r| {
            of(r, |scan| figures::or_dash(scan.scan.counters.lost_frames, figures::count))
        })],
    ),
];

/// Adds the tables of the records that have execution times; nothing where none has.
pub(super) fn add_tables(content: &mut Content, records: &[usize], summary: &Summary<'_>) {
    let has_scan = |index: &usize| summary.records[*index].scan.is_some();
    let with: Vec<usize> = records.iter().copied().filter(has_scan).collect();
    if with.is_empty() {
        return;
    }
    content.blocks.push(Block::SubHeading(NAME.to_owned(), None));
    for part in with.chunks(COLUMNS_MAX) {
        content.blocks.push(table(NAME, &GROUPS, part, summary));
    }
}

fn of(record: &RecordSummary<'_>, write: impl Fn(&ScanSummary<'_>) -> String) -> String {
    record.scan.as_ref().map_or_else(|| NONE.to_owned(), write)
}

fn least(statistics: &Statistics) -> String {
    figures::or_dash(statistics.min_ns, figures::nanos)
}

/// Formats the instant at which the worst cycle came.
fn worst(worst: Option<Worst>) -> String {
    figures::or_dash(worst, |worst| {
        // Plain spaces: nothing in it is aligned at a decimal point.
        let after = figures::nanos(worst.at_ns).replace('\u{a0}', " ");
        format!("cycle {} after {after}", figures::count(worst.release))
    })
}
