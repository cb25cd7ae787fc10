//! Causes of late releases: a bar and a row for each, and all of them together.

use maud::{Markup, html};
use quietcore_record::ledger::{Cause, Ledger, Ledgers, Means, Share};

use super::elements::quantity;
use super::gantt;
use crate::figures;
use crate::plot;
use crate::section::course::name;
use crate::summary::{RecordSummary, Summary};

/// The most bars of one record, the worst releases.
const BARS_MAX: usize = 12;
/// Number of causes that a row names; the others can be opened.
const NAMED_MAX: usize = 3;
/// Number of functions of a stack that a row names.
const FUNCTIONS_MAX: usize = 4;

/// Renders the section; empty where no record has ledgers.
pub(super) fn section(summary: &Summary<'_>) -> Markup {
    let with: Vec<(&RecordSummary<'_>, &Ledgers)> = summary
        .records
        .iter()
        .filter_map(|record| Some((record, record.record.ledgers.as_ref()?)))
        .collect();
    if with.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Where the time of late releases went" }
        @if with.iter().any(|(_, ledgers)| ledgers.means != Means::Nothing) {
            p.remark {
                "Each bar is a release, cut by cause, the largest part first; the parts add up to "
                "its latency. Observing costs time itself, which is part of every latency here."
            }
        }
        (legend(&with))
        @for (record, ledgers) in &with { (of_record(record, ledgers, summary)) }
    }
}

/// Renders the causes that occur, with their colours.
fn legend(with: &[(&RecordSummary<'_>, &Ledgers)]) -> Markup {
    let occurs = |cause: &Cause| with.iter().any(|(_, ledgers)| ledgers.sums.contains_key(cause));
    html! {
        p.legend.causes {
            @for cause in Cause::ALL.into_iter().filter(occurs) {
                span.key title=(cause.meaning()) {
                    span class=(format!("swatch {}", plot::class(cause))) {}
                    (cause.title())
                }
            }
        }
    }
}

fn of_record(record: &RecordSummary<'_>, ledgers: &Ledgers, summary: &Summary<'_>) -> Markup {
    let longest = ledgers.kept.first().map_or(0, |ledger| ledger.latency_ns);
    let all: Vec<Share> = ledgers
        .sums
        .iter()
        .map(|(cause, ns)| Share { cause: *cause, what: String::new(), ns: *ns, times: 0 })
        .collect();
    let sum: u64 = all.iter().map(|part| part.ns).sum();
    html! {
        h4 { (name(record, summary)) }
        p { (how_many(ledgers)) }
        @if !ledgers.kept.is_empty() {
            div.boxes.ledgers {
                div.row {
                    div.label { "All together" span.sub { (figures::nanos(sum)) } }
                    (plot::ledger("All late releases together", &all, sum))
                }
                @for ledger in ledgers.kept.iter().take(BARS_MAX) {
                    div.row {
                        div.label {
                            (figures::nanos(ledger.latency_ns))
                            span.sub { "release " (figures::count(ledger.release)) }
                        }
                        (plot::ledger(
                            &format!("Release {}", figures::count(ledger.release)),
                            &ledger.shares,
                            longest,
                        ))
                    }
                }
            }
            (worst(&ledgers.kept[0]))
            (table(&ledgers.kept))
            details {
                summary { "Every share of each" }
                @for ledger in &ledgers.kept { (whole(ledger)) }
            }
        }
        (observed(ledgers))
    }
}

/// Tells how many releases were late, and how many of them are explained.
pub(crate) fn how_many(ledgers: &Ledgers) -> String {
    let limit = figures::set_nanos(ledgers.limit_ns);
    let means = match ledgers.means {
        Means::Trace => "by the kernel's trace, stopped within the late cycle",
        Means::Counters => "by counters, which bound and do not time",
        Means::Nothing => {
            let because = ledgers.not_observed.first().map_or("", |missing| &missing.because);
            return match ledgers.above {
                0 => format!("No release was later than {limit}."),
                above => format!(
                    "{} releases were later than {limit}; none is explained: {because}.",
                    figures::count(above)
                ),
            };
        }
    };
    match (ledgers.above, ledgers.not_ledgered()) {
        (0, _) => format!("No release was later than {limit}."),
        (above, 0) => {
            format!(
                "{} releases were later than {limit}, all explained {means}.",
                figures::count(above)
            )
        }
        (above, without) => format!(
            "{} releases were later than {limit}; {} of them are explained {means}. The other {} \
             came before the explaining was ready again, or in the moment when the run ended.",
            figures::count(above),
            figures::count(ledgers.ledgered),
            figures::count(without),
        ),
    }
}

/// Renders the course of the worst release; empty where it was not traced.
fn worst(ledger: &Ledger) -> Markup {
    if ledger.course.is_empty() {
        return html! {};
    }
    html! {
        p.group { "From due to start: release " (figures::count(ledger.release)) ", the worst" }
        (gantt::chart(ledger))
        @for remark in &ledger.remarks { p.remark { "Of this release: " (remark) "." } }
    }
}

fn table(ledgers: &[Ledger]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Late releases by cause" {
            table.compact {
                thead {
                    tr {
                        th.n scope="col" { "Release latency" }
                        th.n scope="col" { "Release" }
                        th scope="col" { "Where the time went" }
                        th scope="col" title="The kernel's functions in which the thread was when \
                                              the task was woken, innermost first" {
                            "Woken while in"
                        }
                    }
                }
                tbody {
                    @for ledger in ledgers.iter().take(BARS_MAX) {
                        tr {
                            td.n { (quantity(&figures::nanos(ledger.latency_ns))) }
                            td.n { (figures::count(ledger.release)) }
                            td.because {
                                @for part in ledger.shares.iter().take(NAMED_MAX) {
                                    div { (plot::tooltip(part, ledger.latency_ns)) }
                                }
                                @if ledger.shares.len() > NAMED_MAX {
                                    div.dim { "and " (ledger.shares.len() - NAMED_MAX) " more" }
                                }
                                @for remark in &ledger.remarks { div.dim { (remark) } }
                            }
                            td.because {
                                @let functions = ledger.interrupted();
                                @if ledger.stack.is_empty() {
                                    span.dim { "not traced" }
                                } @else if functions.is_empty() {
                                    span.dim { "no function of the kernel" }
                                } @else {
                                    @for function in functions.iter().take(FUNCTIONS_MAX) {
                                        div { code { (function) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders all shares of one ledger, its course, its counters and its stack.
fn whole(ledger: &Ledger) -> Markup {
    html! {
        h4 {
            "Release " (figures::count(ledger.release)) ", "
            (figures::nanos(ledger.at_ns)) " after the first, on CPU " (ledger.cpu) ": "
            (figures::nanos(ledger.latency_ns))
        }
        ul {
            @for share in &ledger.shares {
                li title=(share.cause.meaning()) {
                    (plot::tooltip(share, ledger.latency_ns))
                    @if share.times > 1 { ", " (figures::count(share.times)) " times" }
                }
            }
        }
        (gantt::chart(ledger))
        @if !ledger.counted.is_empty() {
            p.remark {
                "Counted beside it: "
                @for (index, counted) in ledger.counted.iter().enumerate() {
                    @if index > 0 { "; " }
                    (counted.what) " " (figures::count(counted.count))
                    " in " (figures::nanos(counted.within_ns))
                }
                "."
            }
        }
        @if !ledger.stack.is_empty() {
            p.remark { "Stack at the waking of the task: " code { (ledger.stack.join(" ← ")) } "." }
        }
    }
}

fn observed(ledgers: &Ledgers) -> Markup {
    html! {
        details {
            summary { "What was observed, and what was not" }
            ul { @for what in &ledgers.observed { li { "Observed: " (what) "." } } }
            ul {
                @for missed in &ledgers.not_observed {
                    li { strong { "Not observed: " (missed.what) "." } " " (missed.because) "." }
                }
            }
        }
    }
}
