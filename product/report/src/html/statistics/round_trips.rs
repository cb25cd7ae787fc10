//! Round trips of EtherCAT frames: the answer and the table.

use maud::{Markup, html};
use quietcore_record::record::RoundTripRun;

use crate::figures;
use crate::html::elements::{quantity, time, with_code};
use crate::summary::{RecordSummary, Summary, losses, rates};

/// The answer, where the evidence is about round trips alone.
pub(in crate::html) fn hero(summary: &RecordSummary<'_>) -> Markup {
    let Some(run) = &summary.record.round_trip else { return html! {} };
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { "EtherCAT on " b { (run.interface) } }
                p.word { "At most " (figures::maximum(&summary.statistics)) " out and back" }
                p.why {
                    (run.subdevices) " SubDevices; " (losses(run)) ". "
                    @if !summary.record.is_valid() {
                        b { "The timing is not valid; see the reasons below. " }
                    }
                    "No class judges a round trip."
                }
            }
        }
    }
}

pub(in crate::html) fn section(summary: &Summary<'_>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Round trips" {
            table.statistics {
                thead {
                    tr {
                        th scope="col" { "Interface" }
                        @for name in ["min", "median", "mean", "p99", "max", "count"] {
                            th.n scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for record in &summary.round_trips {
                        @if let Some(run) = &record.record.round_trip { (row(record, run)) }
                    }
                }
            }
        }
        @for record in &summary.round_trips {
            @if let Some(run) = &record.record.round_trip {
                p.remark { (run.interface) ": " (rates(run)) "; " (losses(run)) "." }
            }
            @for because in &record.record.invalid_because {
                p.remark { b { "Not valid: " } (with_code(&because.to_string())) "." }
            }
        }
        div.prose {
            p {
                "A round trip is what the caller of a cycle waits for: from before the first frame "
                "is handed over until the last one is back and its data are in the process image. "
                "A cycle that lost a frame is counted apart: its time is that of the time-out."
            }
        }
    }
}

fn row(record: &RecordSummary<'_>, run: &RoundTripRun) -> Markup {
    let found = &record.statistics;
    let quantile = |value: Option<_>| quantity(&figures::or_dash(value, figures::quantile));
    html! {
        tr {
            th scope="row" { (run.interface) span.sub { (run.subdevices) " SubDevices" } }
            td.n { (quantity(&figures::nanos(found.min_ns))) }
            td.n { (quantile(found.median_ns)) }
            td.n { (time(found.mean_ns)) }
            td.n { (quantile(found.p99_ns)) }
            td.n { (quantity(&figures::maximum(found))) }
            td.n { (figures::count(found.count)) }
        }
    }
}
