//! The worst stalls: a row each, with its cause where it was observed, and the command that finds
//! it where it was not.

use maud::{Markup, html};
use quietcore_record::ledger::Ledger;

use super::super::elements::quantity;
use super::name;
use crate::figures;
use crate::plot::{self, Part};
use crate::summary::{RecordSummary, Stall, Summary, explain_command, stalls};

/// Stalls in the table over all records.
const WORST_MAX: usize = 16;

/// Stalls in the table of one record.
const OWN_MAX: usize = 64;

/// A release later than this part of its period is a row; of others the worst three are.
const WORTH_OF_PERIOD: u64 = 100;

/// Releases that are a row however little late they are.
const ROWS_MIN: usize = 3;

/// Causes that a row names.
const NAMED_MAX: usize = 2;

type Row<'a> = (&'a RecordSummary<'a>, Stall<'a>);

/// The section; nothing where no record tells of a late release.
pub(super) fn section(summary: &Summary<'_>) -> Markup {
    let mut all: Vec<Row<'_>> = summary
        .records
        .iter()
        .flat_map(|record| stalls(record.record).into_iter().map(move |stall| (record, stall)))
        .collect();
    if all.is_empty() {
        return html! {};
    }
    all.sort_by_key(|(_, stall)| std::cmp::Reverse(stall.worst.latency_ns));
    let worth = all.iter().filter(|(record, stall)| is_worth(record, stall)).count();
    let rows = worth.max(ROWS_MIN).min(all.len());
    let shown = &all[..rows.min(WORST_MAX)];
    html! {
        h3 { "The worst late releases" }
        p.remark {
            "Releases that were due while the one before had not started yet are one stall, and "
            "one row: what is told is the latest of them."
            @if rows < all.len() {
                " Those that were late by less than a hundredth of their period are left out, but "
                "for the three worst."
            }
        }
        (table(shown, summary, true))
        (command(&all))
        @if rows > shown.len() {
            details {
                summary { "The worst of each record" }
                @for record in &summary.records {
                    @let found = stalls(record.record).into_iter();
                    @let found = found.filter(|stall| is_worth(record, stall)).take(OWN_MAX);
                    @let own: Vec<Row<'_>> = found.map(|stall| (record, stall)).collect();
                    @if !own.is_empty() {
                        h4 { (name(record, summary)) }
                        (table(&own, summary, false))
                    }
                }
            }
        }
    }
}

fn is_worth(record: &RecordSummary<'_>, stall: &Stall<'_>) -> bool {
    let period_ns = record.record.period_ns.unwrap_or(0);
    stall.worst.latency_ns >= period_ns / WORTH_OF_PERIOD
}

fn table(rows: &[Row<'_>], summary: &Summary<'_>, with_record: bool) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Worst late releases" {
            table.compact.stalls {
                thead {
                    tr {
                        @if with_record { th scope="col" { "Record" } }
                        th.n scope="col" title="Due instant to start of the work" {
                            "Release latency"
                        }
                        th.n scope="col" title="Requested wake-up to running" { "Wake-up latency" }
                        th.n scope="col" title="Since the first release" { "At" }
                        th.n scope="col" { "Releases" }
                        th.n scope="col" { "CPU" }
                        th scope="col" { "Where the time went" }
                    }
                }
                tbody { @for row in rows { (line(row, summary, with_record)) } }
            }
        }
    }
}

fn line((record, stall): &Row<'_>, summary: &Summary<'_>, with_record: bool) -> Markup {
    let worst = stall.worst;
    let (first, last) = stall.releases;
    html! {
        tr {
            @if with_record { th scope="row" { (name(record, summary)) } }
            td.n data-name="Late by" { (quantity(&figures::nanos(worst.latency_ns))) }
            td.n data-name="Woken late by" { (quantity(&figures::nanos(worst.wakeup_ns))) }
            td.n data-name="At" { (quantity(&figures::nanos(worst.at_ns))) }
            td.n data-name="Release" {
                (figures::count(first))
                @if last > first {
                    " to " (figures::count(last))
                    span.sub { (stall.count) " late by one stall" }
                }
            }
            td.n data-name="CPU" { (worst.cpu) }
            td.because { (cause(stall)) }
        }
    }
}

/// Names the causes that the ledger has; without one, what was sampled meanwhile and a link to the
/// command that finds out.
fn cause(stall: &Stall<'_>) -> Markup {
    html! {
        @if let Some(ledger) = stall.ledger {
            @for part in parts(ledger).iter().take(NAMED_MAX) {
                div { (plot::tooltip(part, ledger.latency_ns)) }
            }
        } @else {
            @if !stall.worst.conditions.is_empty() {
                div { "Meanwhile: " (stall.worst.conditions.join("; ")) }
            }
            div { a href="#explain" { "Not explained; this command finds out" } }
        }
    }
}

fn parts(ledger: &Ledger) -> Vec<Part> {
    let shares = ledger.shares.iter();
    shares
        .map(|share| Part { cause: share.cause, what: share.what.clone(), ns: share.ns })
        .collect()
}

/// The command for the worst of those that nothing explains, which each row of them links to.
fn command(rows: &[Row<'_>]) -> Markup {
    let unexplained = rows.iter().find(|(_, stall)| stall.ledger.is_none());
    html! {
        @if let Some((record, stall)) = unexplained {
            p.remark #explain {
                "Where such time goes is found by tracing the kernel, as root, under the same "
                "load; tracing adds to every latency:"
            }
            pre tabindex="0" {
                code { (explain_command(record.record, stall.worst.latency_ns)) }
            }
        }
    }
}
