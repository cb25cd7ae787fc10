//! The worst stalls: a row for each, with its cause where it was observed, and otherwise with the
//! command that finds it.

use maud::{Markup, html};
use quietcore_record::record::joined;

use super::super::elements::quantity;
use super::name;
use crate::figures;
use crate::plot;
use crate::summary::{RecordSummary, Stall, Summary, explain_command, stalls};

/// The most stalls in the table over all records.
const WORST_MAX: usize = 16;

/// The most stalls in the table of one record.
const OWN_MAX: usize = 64;

/// Divisor of the period: a release that is late by this part of it, or more, is a row; of the
/// others only the worst few are.
const WORTH_OF_PERIOD: u64 = 100;

/// Number of releases that are a row however little late they are.
const ROWS_MIN: usize = 3;

/// Number of causes that a row names.
const NAMED_MAX: usize = 2;

type Row<'a> = (&'a RecordSummary<'a>, Stall<'a>);

/// Renders the section; empty where no record tells of a late release.
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

/// Renders the causes that the ledger has; without one, what was sampled meanwhile, and a link to
/// the command that finds the cause.
fn cause(stall: &Stall<'_>) -> Markup {
    html! {
        @if let Some(ledger) = stall.ledger {
            @for part in ledger.shares.iter().take(NAMED_MAX) {
                div { (plot::tooltip(part, ledger.latency_ns)) }
            }
        } @else {
            @if !stall.worst.conditions.is_empty() {
                div { "Meanwhile: " (joined(&stall.worst.conditions, "; ")) }
            }
            div { a href="#explain" { "Not explained; this command finds out" } }
        }
    }
}

/// Renders the command for the worst of the stalls that nothing explains; each of their rows links
/// to it.
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
