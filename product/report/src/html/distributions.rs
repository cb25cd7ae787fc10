//! The latency histograms, profile by profile.

use maud::{Markup, html};
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::Verdict;

use super::elements::badge;
use crate::figures;
use crate::plot::{self, Frame};
use crate::summary::{Column, PartitionSummary, RecordSummary, Summary};

pub(super) fn section(summary: &Summary<'_>, frame: &Frame) -> Markup {
    if summary.records.is_empty() {
        return html! { p.empty { "There is no record to draw." } };
    }
    let resolution =
        summary.records.iter().map(|record| record.record.release.resolution_ns()).max();
    let woken = summary.records.iter().any(|record| record.wakeup.is_some());
    html! {
        p.remark {
            "All plots have the same axes: " (plot::caption(frame, resolution.unwrap_or(1)))
            ". Dashed lines are latency limits, a tenth of the cycle they are named after."
            @if woken {
                " The line named wake-up is what cyclictest would see; waking early and "
                "spinning to the instant hides most of it from the release."
            }
        }
        @for partition in &summary.partitions {
            @if !partition.columns.is_empty() { (figures_of(partition, summary, frame)) }
        }
    }
}

fn figures_of(partition: &PartitionSummary<'_>, summary: &Summary<'_>, frame: &Frame) -> Markup {
    // With one task for each profile, the profiles stand beside each other; with several, each
    // profile has a row of its own.
    let single = partition.columns.iter().all(|column| column.records.len() == 1);
    html! {
        @if summary.partitions.len() > 1 { h3 { (summary.partition_word()) " " (partition.name) } }
        @if single {
            div.plots {
                @for column in &partition.columns { (panels(column, summary, frame, partition)) }
            }
        } @else {
            @for column in &partition.columns {
                @if partition.columns.len() > 1 || !column.description.is_empty() {
                    h4 {
                        (column.profile)
                        @if !column.description.is_empty() { span.sub { (column.description) } }
                    }
                }
                div.plots { (panels(column, summary, frame, partition)) }
            }
        }
    }
}

fn panels(
    column: &Column<'_>,
    summary: &Summary<'_>,
    frame: &Frame,
    partition: &PartitionSummary<'_>,
) -> Markup {
    html! {
        @for index in &column.records {
            @let record = &summary.records[*index];
            figure.dim[!column.reserved] {
                figcaption {
                    span.name { (record.label()) }
                    (verdict_of(record, partition, summary))
                    @if !column.reserved { span.tag { "comparison" } }
                    @if column.records.len() == 1 && !column.description.is_empty() {
                        span.sub { (column.description) }
                    }
                }
                (plot::histogram(record, frame))
                p.numbers { (numbers(record)) }
                @if let Some(woken) = woken(record) { p.numbers { (woken) } }
            }
        }
    }
}

/// Returns the verdict of this record on the class that its partition declares.
fn verdict_of(
    record: &RecordSummary<'_>,
    partition: &PartitionSummary<'_>,
    summary: &Summary<'_>,
) -> Markup {
    let verdict: Option<Verdict> = partition.declared.as_ref().map(|declared| {
        summary
            .evidence
            .judgements
            .iter()
            .filter(|judgement| {
                judgement.record == record.record.name && judgement.class == declared.name
            })
            .map(|judgement| judgement.verdict)
            .max()
            .unwrap_or(Verdict::NotProven)
    });
    html! { @if let Some(verdict) = verdict { (badge(verdict)) } }
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
