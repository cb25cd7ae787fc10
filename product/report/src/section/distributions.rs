//! The latency histograms, profile by profile.

use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::Verdict;

use super::content::{Block, Content, Figure};
use crate::figures;
use crate::plot::{self, Frame};
use crate::summary::{Column, PartitionSummary, RecordSummary, Summary};

/// Anchor and title of the section.
pub(crate) const NAME: (&str, &str) = ("distributions", "Latency by profile");

/// Makes the content of the section; empty where there is no record to draw.
pub(crate) fn content(summary: &Summary<'_>, frame: &Frame) -> Content {
    let mut content = Content::default();
    let resolutions = summary.records.iter().map(|record| record.record.release.resolution_ns());
    let Some(resolution) = resolutions.max() else { return content };
    let is_woken = summary.records.iter().any(|record| record.wakeup.is_some());
    let woken = if is_woken {
        " The line named wake-up is what cyclictest would see; waking early and spinning to the \
         instant hides most of it from the release."
    } else {
        ""
    };
    let has_stated = summary.states_latency();
    let stated = if has_stated { ", or the latency that a source gives" } else { "" };
    content.remark(format!(
        "All plots have the same axes: {}. Dashed lines are latency limits, a tenth of the cycle \
         they are named after{stated}.{woken}",
        plot::caption(frame, resolution)
    ));
    for partition in summary.partitions.iter().filter(|it| !it.columns.is_empty()) {
        add_plots(&mut content, partition, summary, frame);
    }
    content
}

/// Adds the plots of a partition: with one task for each profile, the profiles stand beside each
/// other; with several, each profile has a row of its own.
fn add_plots(
    content: &mut Content,
    partition: &PartitionSummary<'_>,
    summary: &Summary<'_>,
    frame: &Frame,
) {
    if summary.partitions.len() > 1 {
        let heading = format!("{} {}", summary.partition_word(), partition.name);
        content.blocks.push(Block::Heading(heading, None));
    }
    let columns = &partition.columns;
    let plots = |column| plots_of(column, summary, frame, partition);
    if columns.iter().all(|column| column.records.len() == 1) {
        content.blocks.push(Block::Plots(columns.iter().flat_map(plots).collect()));
        return;
    }
    for column in columns {
        let description = (!column.description.is_empty()).then(|| column.description.to_owned());
        if columns.len() > 1 || description.is_some() {
            content.blocks.push(Block::SubHeading(column.profile.to_owned(), description));
        }
        content.blocks.push(Block::Plots(plots(column)));
    }
}

fn plots_of(
    column: &Column<'_>,
    summary: &Summary<'_>,
    frame: &Frame,
    partition: &PartitionSummary<'_>,
) -> Vec<Figure> {
    let description = if column.records.len() == 1 { column.description } else { "" };
    let plot = |index: &usize| {
        let record = &summary.records[*index];
        Figure {
            caption: Some((record.label(), description.to_owned())),
            verdict: verdict_of(record, partition, summary),
            tags: if column.reserved { Vec::new() } else { vec!["comparison"] },
            is_dim: !column.reserved,
            numbers: [numbers(record)].into_iter().chain(woken(record)).collect(),
            ..Figure::new(plot::histogram(record, frame))
        }
    };
    column.records.iter().map(plot).collect()
}

/// Returns the verdict of this record on the class that its partition declares.
fn verdict_of(
    record: &RecordSummary<'_>,
    partition: &PartitionSummary<'_>,
    summary: &Summary<'_>,
) -> Option<Verdict> {
    let declared = partition.declared.as_ref()?;
    let own = summary.evidence.judgements.iter().filter(|judgement| {
        judgement.record == record.record.name && judgement.class == declared.name
    });
    Some(own.map(|judgement| judgement.verdict).max().unwrap_or(Verdict::NotProven))
}

fn numbers(record: &RecordSummary<'_>) -> String {
    let statistics = &record.statistics;
    let mut text = format!("n = {}, {}", figures::count(statistics.count), three_of(statistics));
    if let Some(missed) = statistics.missed_cycles {
        text.push_str(&format!(", missed cycles {}", figures::count(missed)));
    }
    text
}

/// Describes the wake-up latency, which is what cyclictest measures; `None` where it was not
/// recorded.
fn woken(record: &RecordSummary<'_>) -> Option<String> {
    record.record.wakeup.as_ref()?;
    Some(match &record.wakeup {
        Some(wakeup) => format!("wake-up, as cyclictest measures: {}", three_of(wakeup)),
        None => {
            "it slept until each release, as cyclictest does: the wake-up is the release".to_owned()
        }
    })
}

fn three_of(statistics: &Statistics) -> String {
    let quantile = |value: Option<_>| figures::or_dash(value, figures::quantile);
    format!(
        "median {}, p99.9 {}, max {}",
        quantile(statistics.median_ns),
        quantile(statistics.p99_9_ns),
        figures::maximum(statistics),
    )
}
