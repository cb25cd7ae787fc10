//! Box plots of all records side by side, and published ones beside them on the same axis.

use maud::{Markup, html};

use crate::figures;
use crate::plot::{self, BoxFigures, End, Frame, Limit, Scale};
use crate::published::{Published, PublishedBox};
use crate::summary::Summary;

/// Cycles whose tenth is always drawn, in ns: 1, 10 and 100 ms, as in seed 003.
const USUAL_CYCLES: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// A row: what it is, how it is coloured, and its box.
struct Row<'a> {
    label: String,
    class: &'static str,
    tag: Option<&'static str>,
    note: String,
    figures: Option<BoxFigures>,
    link: Option<&'a str>,
}

pub(super) fn section(summary: &Summary<'_>, frame: &Frame, published: &[Published]) -> Markup {
    let several = summary.partitions.len() > 1;
    let own: Vec<Row<'_>> = summary
        .records
        .iter()
        .map(|record| {
            let label = record.label();
            let statistics = &record.statistics;
            let median =
                statistics.median_ns.map_or_else(|| figures::NONE.to_owned(), figures::quantile);
            Row {
                label: if several {
                    format!("{} · {label}", record.record.partition)
                } else {
                    label
                },
                class: if record.record.reserved { "own" } else { "own dim" },
                tag: (!record.record.reserved).then_some("comparison"),
                note: format!("median {median}, max {}", figures::maximum(statistics)),
                figures: BoxFigures::of(record),
                link: None,
            }
        })
        .collect();
    let tables: Vec<(&Published, Vec<Row<'_>>)> = published
        .iter()
        .map(|table| (table, table.rows.iter().map(|row| published_row(row, table)).collect()))
        .collect();
    let all = || own.iter().chain(tables.iter().flat_map(|(_, rows)| rows));
    let Some(scale) = scale_of(all()) else {
        return html! { p.empty { "There is nothing to compare." } };
    };
    let limits = limits(frame, scale);
    html! {
        p.remark {
            "One logarithmic axis for all. Boxes reach from the lower to the upper quartile, the "
            "stroke is the median, the dot the mean, whiskers end at p2.5 and p97.5 (seed 000). "
            "Circles are the worst single releases, the tall stroke is the maximum. Dashed lines are "
            "latency limits: a tenth of 1, 10 and 100 ms, and of the declared cycle."
        }
        div.boxes {
            (axis(scale, &limits))
            @if !own.is_empty() {
                @if !tables.is_empty() { p.group { "This evidence" } }
                (rows(&own, scale, &limits))
            }
            @for (table, published) in &tables {
                p.group { (table.title) span.sub { (table.source) } }
                (rows(published, scale, &limits))
            }
        }
        @if !tables.is_empty() {
            p.remark {
                "Published figures hold for other machines, loads and lengths, and their whiskers "
                "follow the definition of their source: compare orders of magnitude. Values that "
                "a source rounds to zero lie at the left edge."
            }
        }
    }
}

fn published_row<'a>(row: &PublishedBox, table: &'a Published) -> Row<'a> {
    let max = row.max_ns.map_or_else(String::new, |max| format!(", max {}", figures::nanos(max)));
    Row {
        label: row.label.clone(),
        class: "other",
        tag: None,
        note: format!("median {}{max}", figures::nanos(row.median_ns)),
        figures: Some(BoxFigures {
            whisker_low: End::At(row.lower_whisker_ns as f64),
            q1: End::At(row.q1_ns as f64),
            median: End::At(row.median_ns as f64),
            mean: row.mean_ns.map(|mean| mean as f64),
            q3: End::At(row.q3_ns as f64),
            whisker_high: End::At(row.upper_whisker_ns as f64),
            max: row.max_ns.map(|max| max as f64),
            spikes: Vec::new(),
        }),
        link: Some(&table.source),
    }
}

/// A scale that holds all boxes; `None` where there is none.
fn scale_of<'a>(rows: impl Iterator<Item = &'a Row<'a>>) -> Option<Scale> {
    let mut extent: Option<(f64, f64)> = None;
    for (low, high) in rows.filter_map(|row| row.figures.as_ref()).map(BoxFigures::extent) {
        // A published 0 is a value below its resolution and would stretch the axis without end.
        let low = if low > 0.0 { low } else { high.max(1.0) };
        extent = Some(match extent {
            None => (low, high),
            Some((least, most)) => (least.min(low), most.max(high)),
        });
    }
    let (low, high) = extent?;
    Some(Scale::logarithmic_around(low.max(1.0), high.max(10.0)))
}

fn limits(frame: &Frame, scale: Scale) -> Vec<&Limit> {
    frame
        .limits
        .iter()
        .filter(|limit| {
            limit.declared || USUAL_CYCLES.iter().any(|cycle| cycle / 10 == limit.limit_ns)
        })
        .filter(|limit| {
            let at = limit.limit_ns as f64;
            at > scale.begin() && at <= scale.end()
        })
        .collect()
}

fn axis(scale: Scale, limits: &[&Limit]) -> Markup {
    html! {
        div.row {
            div.label { span.sub { "release latency, logarithmic" } }
            (plot::axis_strip(scale, limits))
        }
    }
}

fn rows(rows: &[Row<'_>], scale: Scale, limits: &[&Limit]) -> Markup {
    html! {
        @for row in rows {
            div.row {
                div.label title=[row.link] {
                    span.name { (row.label) }
                    @if let Some(tag) = row.tag { span.tag { (tag) } }
                    span.sub { (row.note) }
                }
                @match &row.figures {
                    Some(figures) => (plot::strip(figures, &row.label, row.class, scale, limits)),
                    None => p.empty { "nothing measured" },
                }
            }
        }
    }
}
