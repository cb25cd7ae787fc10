//! Imported data of another program: their amount, their figures, and the classes that can be
//! judged.

use maud::{Markup, html};

use super::super::elements::{quantity, with_code};
use super::passed;
use crate::figures::{self, NONE};
use crate::summary::{PartitionSummary, RecordSummary, Summary};

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    let records = &summary.records;
    let values = records.iter().map(|record| record.statistics.count).sum::<u64>();
    let largest = records
        .iter()
        .filter(|record| record.statistics.count > 0)
        .max_by_key(|record| record.statistics.max_ns);
    let files = summary.partitions.len();
    let program = records.first().map_or("another program", |record| &record.record.probe);
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { "Imported from " b { (program) } }
                p.word {
                    (files) @if files == 1 { " file, " } @else { " files, " }
                    (figures::count(values)) " values"
                }
                p.why { (with_code(&judged(summary))) }
            }
            div.tiles {
                @if let Some(largest) = largest {
                    div.tile {
                        p.label { "Largest value" }
                        p.value { (figures::maximum(&largest.statistics)) }
                        p.note { (of(largest, summary)) }
                    }
                }
                div.tile {
                    p.label { "Measured every" }
                    p.value { (period(summary)) }
                    p.note { "as the files, or who imported them, say" }
                }
                div.tile {
                    p.label { "Histograms" }
                    p.value { (records.len()) }
                    p.note { (overflows(records)) }
                }
            }
        }
        (table(summary))
    }
}

/// Tells whether classes are judged, and what is missing where none can pass.
fn judged(summary: &Summary<'_>) -> String {
    if summary.records.iter().any(|record| record.record.period_ns.is_none()) {
        return "The data do not say with which period they were measured, so no class can pass. \
                Who knows it imports the files again with `--interval`, such as `--interval 1ms`."
            .to_owned();
    }
    let all = summary.evidence.manifest.classes.len();
    format!("Each file is judged against all {all} classes, which are below.")
}

/// Names a record, with its file where there are several.
fn of(record: &RecordSummary<'_>, summary: &Summary<'_>) -> String {
    let (file, label) = (&record.record.partition, record.label());
    if *file == label || summary.partitions.len() == 1 {
        return label;
    }
    format!("{file} · {label}")
}

fn period(summary: &Summary<'_>) -> String {
    let mut periods: Vec<Option<u64>> =
        summary.records.iter().map(|record| record.record.period_ns).collect();
    periods.sort_unstable();
    periods.dedup();
    match periods.as_slice() {
        [Some(one)] => figures::set_nanos(*one),
        [None] | [] => "not known".to_owned(),
        _ => "it differs".to_owned(),
    }
}

fn overflows(records: &[RecordSummary<'_>]) -> String {
    let over = records.iter().map(|record| record.statistics.overflow).sum::<u64>();
    match over {
        0 => "no value lies beyond its histogram".to_owned(),
        over => {
            format!("{} values were only counted, beyond their histograms", figures::count(over))
        }
    }
}

/// Renders a table with a row for each file.
fn table(summary: &Summary<'_>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="What was imported" {
            table.overview {
                thead {
                    tr {
                        th scope="col" { "Record" }
                        th.n scope="col" { "Values" }
                        th.n scope="col" { "Minimum" }
                        th.n scope="col" { "Median" }
                        th.n scope="col" { "p99.9" }
                        th.n scope="col" { "Maximum" }
                        th.n scope="col" title="Values that were only counted" { "Overflow" }
                        th.n scope="col" { "Fastest cycle" }
                        th.n scope="col" { "Classes passed" }
                    }
                }
                tbody {
                    @for partition in &summary.partitions {
                        @for (index, record) in partition.all_records().into_iter().enumerate() {
                            (row(partition, &summary.records[record], summary, index == 0))
                        }
                    }
                }
            }
        }
    }
}

fn row(
    partition: &PartitionSummary<'_>,
    record: &RecordSummary<'_>,
    summary: &Summary<'_>,
    is_first: bool,
) -> Markup {
    let statistics = &record.statistics;
    let quantile = |value: Option<_>| quantity(&figures::or_dash(value, figures::quantile));
    let minimum =
        || if statistics.count == 0 { NONE.to_owned() } else { figures::nanos(statistics.min_ns) };
    html! {
        tr {
            th scope="row" { b { (of(record, summary)) } }
            td.n { (figures::count(statistics.count)) }
            td.n { (quantity(&minimum())) }
            td.n { (quantile(statistics.median_ns)) }
            td.n { (quantile(statistics.p99_9_ns)) }
            td.n { (quantity(&figures::maximum(statistics))) }
            td.n { (figures::count(statistics.overflow)) }
            td.n {
                @match &partition.fastest {
                    Ok(fastest) if is_first => (quantity(&figures::set_nanos(fastest.cycle_ns))),
                    Err(because) if is_first => span.dim title=(because) { "none proven" },
                    _ => {},
                }
            }
            td.n { @if is_first { (passed(partition)) " of " (partition.rows.len()) } }
        }
    }
}
