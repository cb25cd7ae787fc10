//! Box plots of all records side by side, and published ones beside them on the same axis.

use maud::{Markup, html};
use quietcore_record::histogram::Histogram;
use quietcore_record::statistics::Statistics;

use super::content::{Block, Content, Figure};
use crate::figures;
use crate::plot::{self, BoxFigures, End, Frame, Limit, Scale};
use crate::summary::{RecordSummary, Summary};
use crate::{Published, PublishedBox};

/// A row of the comparison: its name, its colour and its box.
pub(crate) struct Row {
    label: String,
    class: &'static str,
    tag: Option<&'static str>,
    note: String,
    figures: Option<BoxFigures>,
    link: Option<String>,
}

impl Row {
    /// Returns the row with a mark beside its name.
    pub(crate) fn tagged(self, tag: &'static str) -> Self {
        Self { tag: Some(tag), ..self }
    }
}

/// Rows under a heading of their own.
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
}

/// Draws groups of rows on one axis; `None` where there is nothing to draw.
pub(crate) fn row_groups(groups: &[Group]) -> Option<Markup> {
    let scale = scale_of(groups.iter().flat_map(|group| &group.rows))?;
    Some(html! {
        div.boxes {
            (axis(scale, &[]))
            @for group in groups.iter().filter(|group| !group.rows.is_empty()) {
                p.group { (group.title) }
                (rows(&group.rows, scale, &[]))
            }
        }
    })
}

/// Anchor and title of the section.
pub(crate) const NAME: (&str, &str) = ("comparison", "Side by side");

/// Makes the content of the section; empty where there is nothing to compare.
pub(crate) fn content(summary: &Summary<'_>, frame: &Frame, published: &[Published]) -> Content {
    let mut content = Content::default();
    let woken = summary.records.iter().filter_map(|record| wakeup_row(record, summary));
    let mut of_tables = Vec::new();
    for table in published {
        of_tables.push((
            table,
            table.rows.iter().map(|row| published_row(row, &table.source)).collect(),
        ));
    }
    let groups = Groups {
        single: summary.records.iter().map(|record| record_row(record, summary)).collect(),
        merged: merged_rows(summary),
        woken: woken.collect(),
        published: of_tables,
    };
    let Some(scale) = scale_of(groups.all()) else { return content };
    content.remark(
        "One logarithmic axis for all. Boxes reach from the lower to the upper quartile, the \
         stroke is the median, the diamond the mean, whiskers end at p2.5 and p97.5 \
         (queiroz2023). Circles are the worst single releases, the tall stroke is the maximum. \
         Dashed lines are latency limits: a tenth of 1, 10 and 100 ms, and of the declared cycle.",
    );
    let drawing = groups.drawing(scale, &limits(frame, scale));
    content.blocks.push(Block::Figure(Figure::new(drawing)));
    if !groups.published.is_empty() {
        content.remark(
            "Published figures hold for other machines, loads and lengths, and their whiskers \
             follow the definition of their source: compare orders of magnitude. Values that a \
             source rounds to zero lie at the left edge.",
        );
    }
    content
}

/// All rows, group by group.
struct Groups<'a> {
    /// Each record by itself.
    single: Vec<Row>,
    /// The tasks of each profile together; empty where each has one.
    merged: Vec<Row>,
    /// Wake-up latencies, where tasks woke early.
    woken: Vec<Row>,
    /// Boxes of publications, each table with its rows.
    published: Vec<(&'a Published, Vec<Row>)>,
}

impl Groups<'_> {
    fn all(&self) -> impl Iterator<Item = &Row> {
        let own = self.single.iter().chain(&self.merged).chain(&self.woken);
        own.chain(self.published.iter().flat_map(|(_, rows)| rows))
    }

    fn drawing(&self, scale: Scale, limits: &[&Limit]) -> Markup {
        let Self { single, merged, woken, published } = self;
        let own = if merged.is_empty() { single } else { merged };
        let is_alone = published.is_empty() && merged.is_empty() && woken.is_empty();
        html! {
            div.boxes {
                (axis(scale, limits))
                @if !own.is_empty() {
                    @if !is_alone {
                        p.group {
                            "Release latency of this evidence"
                            @if !merged.is_empty() {
                                span.sub { "all tasks of a profile together" }
                            }
                        }
                    }
                    (rows(own, scale, limits))
                }
                @if !woken.is_empty() {
                    p.group {
                        "Wake-up latency of the same runs"
                        span.sub { "what cyclictest measures, and what published figures are of" }
                    }
                    (rows(woken, scale, limits))
                }
                @for (table, of_table) in published {
                    p.group { (table.title) span.sub { (table.source) } }
                    (rows(of_table, scale, limits))
                }
                @if !merged.is_empty() {
                    details {
                        summary { "Each task by itself" }
                        (rows(single, scale, limits))
                    }
                }
            }
        }
    }
}

/// Returns `partition · what`, or `what` alone where there is only one partition.
fn named(partition: &str, what: &str, summary: &Summary<'_>) -> String {
    match summary.partitions.len() {
        0 | 1 => what.to_owned(),
        _ if what.is_empty() => partition.to_owned(),
        _ => format!("{partition} · {what}"),
    }
}

/// Makes the row of a sample that was measured here.
pub(crate) fn own_row(
    label: String,
    reserved: bool,
    statistics: &Statistics,
    figures: Option<BoxFigures>,
) -> Row {
    let median = figures::or_dash(statistics.median_ns, figures::quantile);
    Row {
        label,
        class: if reserved { "own" } else { "own dim" },
        tag: (!reserved).then_some("comparison"),
        note: format!("median {median}, max {}", figures::maximum(statistics)),
        figures,
        link: None,
    }
}

fn record_row(record: &RecordSummary<'_>, summary: &Summary<'_>) -> Row {
    let label = named(&record.record.partition, &record.label(), summary);
    let worst = record.record.spikes.iter().map(|spike| spike.latency_ns);
    let figures = BoxFigures::of(&record.record.release, &record.statistics, worst);
    own_row(label, record.record.reserved, &record.statistics, figures)
}

/// Makes the row of the wake-up latency of a task that woke early; `None` where it slept to its
/// release.
fn wakeup_row(record: &RecordSummary<'_>, summary: &Summary<'_>) -> Option<Row> {
    let (wakeup, statistics) = (record.record.wakeup.as_ref()?, record.wakeup.as_ref()?);
    let label = named(&record.record.partition, &record.label(), summary);
    // A release that had to wait for the previous cycle was not slept for, so it has no wake-up.
    let worst = record.record.spikes.iter().map(|spike| spike.wakeup_ns).filter(|ns| *ns > 0);
    let figures = BoxFigures::of(wakeup, statistics, worst);
    let mut row = own_row(label, record.record.reserved, statistics, figures);
    row.class = if record.record.reserved { "woken" } else { "woken dim" };
    Some(row)
}

/// Makes a row for each profile, its tasks together; empty where every profile has only one task.
fn merged_rows(summary: &Summary<'_>) -> Vec<Row> {
    let columns = || {
        let partitions = summary.partitions.iter();
        partitions.flat_map(|p| p.columns.iter().map(move |column| (p, column)))
    };
    if columns().all(|(_, column)| column.records.len() == 1) {
        return Vec::new();
    }
    columns()
        .map(|(partition, column)| {
            let mut together = Histogram::new();
            let mut worst: Vec<u64> = Vec::new();
            for index in &column.records {
                let record = summary.records[*index].record;
                together.merge(&record.release);
                worst.extend(record.spikes.iter().map(|spike| spike.latency_ns));
            }
            worst.sort_unstable_by(|a, b| b.cmp(a));
            let statistics = Statistics::of_histogram(&together);
            let figures = BoxFigures::of(&together, &statistics, worst.into_iter());
            let profile = if column.is_imported() { "" } else { column.profile };
            let label = match (named(partition.name, profile, summary), column.records.len()) {
                (name, 1) => name,
                (name, tasks) if name.is_empty() => format!("{tasks} tasks"),
                (name, tasks) => format!("{name} · {tasks} tasks"),
            };
            own_row(label, column.reserved, &statistics, figures)
        })
        .collect()
}

/// Makes the row of a published box plot.
pub(crate) fn published_row(row: &PublishedBox, source: &str) -> Row {
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
        link: Some(source.to_owned()),
    }
}

/// Returns a scale that holds all boxes; `None` where there is none.
fn scale_of<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<Scale> {
    let boxes: Vec<_> = rows.filter_map(|row| row.figures.as_ref()).collect();
    if boxes.is_empty() {
        return None;
    }
    let (low, high) = boxes
        .iter()
        .filter_map(|figures| figures.extent())
        .reduce(|(least, most), (low, high)| (least.min(low), most.max(high)))
        .unwrap_or((1.0, 1_000.0));
    Some(Scale::logarithmic_around(low.max(1.0), high.max(10.0)))
}

fn limits(frame: &Frame, scale: Scale) -> Vec<&Limit> {
    frame
        .limits
        .iter()
        .filter(|limit| limit.declared || limit.usual)
        .filter(|limit| {
            let at = limit.limit_ns as f64;
            at > scale.begin() && at <= scale.end()
        })
        .collect()
}

fn axis(scale: Scale, limits: &[&Limit]) -> Markup {
    html! {
        div.row {
            div.label {}
            (plot::axis_strip(scale, limits))
        }
    }
}

fn rows(rows: &[Row], scale: Scale, limits: &[&Limit]) -> Markup {
    html! {
        @for row in rows {
            div.row {
                div.label title=[row.link.as_deref()] {
                    span.name { (row.label) }
                    @if let Some(tag) = row.tag { " " span.tag { (tag) } }
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
