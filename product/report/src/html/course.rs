//! Latency over time, the worst single releases, and where the time of late ones went.

mod ledger;

use maud::{Markup, html};
use quietcore_record::record::Spike;

pub(crate) use ledger::how_many;

use super::elements::quantity;
use crate::figures;
use crate::plot::{self, Frame};
use crate::summary::{RecordSummary, Summary};

/// Spikes in the table over all records.
const WORST_MAX: usize = 16;

/// Spikes in the table of one record.
const SPIKES_MAX: usize = 64;

pub(super) fn section(summary: &Summary<'_>, frame: &Frame) -> Markup {
    let plots: Vec<_> = summary
        .records
        .iter()
        .filter_map(|record| Some((record, plot::timeline(record, frame)?)))
        .collect();
    html! {
        @if plots.is_empty() {
            p.empty { "No record has a time line; imported data carry none." }
        } @else {
            p.remark {
                "All plots have the same axes. A run is cut into equal stretches; the filled "
                "outline is the maximum of each, the line its mean."
            }
            div.plots {
                @for (record, plot) in &plots {
                    figure.dim[!record.record.reserved] {
                        figcaption {
                            span.name { (name(record, summary)) }
                            @if !record.record.reserved { span.tag { "comparison" } }
                            @if record.record.interrupted { span.tag { "interrupted" } }
                        }
                        (plot)
                    }
                }
            }
        }
        (worst(summary))
        (ledger::section(summary))
    }
}

fn name(record: &RecordSummary<'_>, summary: &Summary<'_>) -> String {
    if summary.partitions.len() > 1 {
        format!("{} · {}", record.record.partition, record.label())
    } else {
        record.label()
    }
}

fn worst(summary: &Summary<'_>) -> Markup {
    let mut spikes: Vec<(&RecordSummary<'_>, &Spike)> = summary
        .records
        .iter()
        .flat_map(|record| record.record.spikes.iter().map(move |spike| (record, spike)))
        .collect();
    if spikes.is_empty() {
        return html! {};
    }
    spikes.sort_by_key(|(_, spike)| std::cmp::Reverse(spike.latency_ns));
    let all = spikes.len();
    spikes.truncate(WORST_MAX);
    html! {
        h3 { "The worst single releases" }
        (table(&spikes, summary, true))
        @if all > spikes.len() {
            details {
                summary { "The worst of each record" }
                @for record in &summary.records {
                    @let own: Vec<_> =
                        record.record.spikes.iter().take(SPIKES_MAX).map(|s| (record, s)).collect();
                    @if !own.is_empty() {
                        h4 { (name(record, summary)) }
                        (table(&own, summary, false))
                    }
                }
            }
        }
    }
}

fn table(
    spikes: &[(&RecordSummary<'_>, &Spike)],
    summary: &Summary<'_>,
    with_record: bool,
) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Worst releases" {
            table.compact {
                thead {
                    tr {
                        @if with_record { th scope="col" { "Record" } }
                        th.n scope="col" title="Due instant to start of the work" {
                            "Release latency"
                        }
                        th.n scope="col" title="Requested wake-up to running" { "Wake-up latency" }
                        th.n scope="col" title="Since the first release" { "At" }
                        th.n scope="col" { "Release" }
                        th.n scope="col" { "CPU" }
                        th scope="col" title="Sampled on that CPU around that time" {
                            "What else happened"
                        }
                    }
                }
                tbody {
                    @for (record, spike) in spikes {
                        tr {
                            @if with_record { th scope="row" { (name(record, summary)) } }
                            td.n { (quantity(&figures::nanos(spike.latency_ns))) }
                            td.n { (quantity(&figures::nanos(spike.wakeup_ns))) }
                            td.n { (quantity(&figures::nanos(spike.at_ns))) }
                            td.n { (figures::count(spike.release)) }
                            td.n { (spike.cpu) }
                            td.because {
                                @if spike.conditions.is_empty() {
                                    span.dim { "nothing was sampled" }
                                } @else { (spike.conditions.join("; ")) }
                            }
                        }
                    }
                }
            }
        }
    }
}
