//! Latency over time, and the worst late releases.

mod stability;
mod stalls;

use super::content::{Block, Content, Figure};
use crate::plot::{self, Frame};
use crate::summary::{RecordSummary, Summary};

/// Anchor and title of the section.
pub(crate) const NAME: (&str, &str) = ("course", "Over time");

/// Makes the content of the section; empty where there is no record to draw.
pub(crate) fn content(summary: &Summary<'_>, frame: &Frame) -> Content {
    let mut content = Content::default();
    if summary.records.is_empty() {
        return content;
    }
    let plots = summary.records.iter().filter_map(|record| of_record(record, summary, frame));
    let plots: Vec<Figure> = plots.collect();
    if plots.is_empty() {
        content.remark("No record has a time line; imported data carry none.");
    } else {
        content.remark(
            "All plots have the same axes. A run is cut into equal stretches; the filled outline \
             is the maximum of each, the line its mean.",
        );
        content.blocks.push(Block::Plots(plots));
    }
    stability::add(&mut content, summary);
    stalls::add(&mut content, summary);
    content
}

fn of_record(record: &RecordSummary<'_>, summary: &Summary<'_>, frame: &Frame) -> Option<Figure> {
    let plot = plot::timeline(record, frame)?;
    let comparison = (!record.record.reserved).then_some("comparison");
    let interrupted = record.record.interrupted.then_some("interrupted");
    Some(Figure {
        caption: Some((name(record, summary), String::new())),
        tags: comparison.into_iter().chain(interrupted).collect(),
        is_dim: !record.record.reserved,
        ..Figure::new(plot)
    })
}

/// Names a record, with its partition where there are several.
pub(crate) fn name(record: &RecordSummary<'_>, summary: &Summary<'_>) -> String {
    if summary.partitions.len() > 1 {
        format!("{} · {}", record.record.partition, record.label())
    } else {
        record.label()
    }
}
