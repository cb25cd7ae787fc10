//! Latency over time, the worst late releases, and the causes of late ones.

mod ledger;
mod stalls;

use maud::{Markup, html};

pub(crate) use ledger::how_many;

use crate::plot::{self, Frame};
use crate::summary::{RecordSummary, Summary};

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
        (stalls::section(summary))
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
