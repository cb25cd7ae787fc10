//! All classes against all profiles: each cell has its verdict and the figure that decides.

use maud::{Markup, html};
use quietcore_record::class::Class;

use super::elements::{badge, mini, quantity, sentence, with_code};
use crate::figures;
use crate::summary::{Cell, Column, Figure, PartitionSummary, Summary};

/// The most partitions with one profile each that still share one table.
const JOINT_MAX: usize = 8;

/// A column of the table of classes.
struct Shown<'a> {
    head: Markup,
    dim: bool,
    /// Cells in the manifest's order of classes.
    cells: Vec<&'a Cell>,
}

pub(super) fn class_tables(summary: &Summary<'_>) -> Markup {
    let measured: Vec<_> =
        summary.partitions.iter().filter(|partition| !partition.columns.is_empty()).collect();
    let comparison =
        measured.iter().flat_map(|partition| &partition.columns).any(|column| !column.reserved);
    let joint = (2..=JOINT_MAX).contains(&measured.len())
        && measured.iter().all(|partition| partition.columns.len() == 1);
    html! {
        p.remark {
            "A cell is the worst record of a profile: its verdict and the figure that decides."
            @if !joint {
                " " b { "Overall" } " is the worst over the profiles that keep the partition's "
                "reservation"
                @if comparison { "; the dimmed ones are for comparison and do not count" }
                "."
            }
        }
        @if is_unjudged(summary) {
            p {
                "No class can be judged: the data do not say with which period they were measured."
            }
            details {
                summary { "All classes with their limits" }
                @if joint { (joint_table(&measured, summary)) }
                @else { @for partition in &measured { (partition_table(partition, summary)) } }
            }
        } @else if joint {
            (joint_table(&measured, summary))
        } @else {
            @for (index, partition) in measured.iter().enumerate() {
                @if measured.len() == 1 {
                    (partition_table(partition, summary))
                } @else {
                    details open=[(index == 0).then_some("")] {
                        summary { (summary.partition_word()) " " (partition.name) }
                        (partition_table(partition, summary))
                    }
                }
            }
        }
        @if !summary.evidence.manifest.classes.is_empty() {
            (sources(&summary.evidence.manifest.classes))
            p.more { a href="#reasons" { "Every verdict with its reason" } }
        }
    }
}

/// Returns `true` if no cell could say more than that the period or the cycle is not known.
fn is_unjudged(summary: &Summary<'_>) -> bool {
    let rows = summary.partitions.iter().flat_map(|partition| &partition.rows);
    let mut cells = rows.flat_map(|row| &row.cells).peekable();
    cells.peek().is_some()
        && cells.all(|cell| matches!(cell.figure, Figure::Period(None) | Figure::NoCycle))
}

/// Renders one table of all partitions, where each has one profile only.
fn joint_table(measured: &[&PartitionSummary<'_>], summary: &Summary<'_>) -> Markup {
    let columns: Vec<Shown<'_>> = measured
        .iter()
        .map(|partition| Shown {
            head: html! { (partition.name) (column_notes(&partition.columns[0])) },
            dim: !partition.columns[0].reserved,
            cells: partition.rows.iter().map(|row| &row.cells[0]).collect(),
        })
        .collect();
    table(&columns, None, summary)
}

fn partition_table(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    let columns: Vec<Shown<'_>> = partition
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| Shown {
            head: html! {
                span title=(column.description) { (column.profile) }
                (column_notes(column))
            },
            dim: !column.reserved,
            cells: partition.rows.iter().map(|row| &row.cells[index]).collect(),
        })
        .collect();
    table(&columns, Some(partition), summary)
}

fn column_notes(column: &Column<'_>) -> Markup {
    html! {
        @if column.records.len() > 1 { span.sub { "worst of " (column.records.len()) } }
        @if !column.reserved { span.sub { "comparison" } }
    }
}

fn table(
    columns: &[Shown<'_>],
    partition: Option<&PartitionSummary<'_>>,
    summary: &Summary<'_>,
) -> Markup {
    let classes = &summary.evidence.manifest.classes;
    let declared = partition.and_then(|p| p.declared.as_ref()).map(|declared| declared.name);
    // The declared class leads; the others keep the order of the catalogue.
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|index| Some(classes[*index].name.as_str()) != declared);
    html! {
        div.scroll tabindex="0" role="region" aria-label="All classes" {
            table.classes {
                thead {
                    tr {
                        th scope="col" { "Class" }
                        @if partition.is_some() { th scope="col" { "Overall" } }
                        th.n scope="col" { "Cycle" }
                        th.n scope="col" title="A tenth of the cycle (hofer2019)" { "Latency ≤" }
                        th.n scope="col" title="The published limit" { "Jitter ≤" }
                        @for column in columns {
                            th.dim[column.dim] scope="col" { (column.head) }
                        }
                    }
                }
                tbody {
                    @for index in order {
                        @let class = &classes[index];
                        @let is_declared = Some(class.name.as_str()) == declared;
                        tr.declared[is_declared] {
                            (class_head(class, classes, is_declared))
                            @if let Some(partition) = partition {
                                @let overall = &partition.rows[index].overall;
                                td title=(overall.because) { (mini(overall.verdict)) }
                            }
                            (limit(class.cycle_ns))
                            (limit(class.latency_limit_ns()))
                            (limit(class.jitter_ns))
                            @for column in columns {
                                (cell_of(column.cells[index], column.dim, summary))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn class_head(class: &Class, classes: &[Class], is_declared: bool) -> Markup {
    html! {
        th scope="row" title=(class.source) {
            (class.title)
            (source_mark(class, classes))
            @if is_declared { " " span.tag { "declared" } }
        }
    }
}

fn limit(value_ns: Option<u64>) -> Markup {
    html! {
        td.n {
            @match value_ns {
                Some(ns) => (quantity(&figures::set_nanos(ns))),
                None => span.dim { (quantity(figures::NONE)) },
            }
        }
    }
}

fn cell_of(cell: &Cell, dim: bool, summary: &Summary<'_>) -> Markup {
    let figure = figures::deciding(cell.figure);
    let reason = format!("{}: {}", summary.records[cell.record].label(), cell.because);
    html! {
        td.dim[dim] title=(reason) {
            (mini(cell.verdict))
            span.sub { (figure) }
        }
    }
}

/// Lists the distinct sources in the order of the classes.
fn distinct(classes: &[Class]) -> Vec<&str> {
    let mut sources: Vec<&str> = Vec::new();
    for class in classes {
        if !sources.contains(&class.source.as_str()) {
            sources.push(&class.source);
        }
    }
    sources
}

fn source_mark(class: &Class, classes: &[Class]) -> Markup {
    let number = distinct(classes).iter().position(|source| *source == class.source);
    html! {
        @if let Some(number) = number {
            sup { a href=(format!("#source-{}", number + 1)) { (number + 1) } }
        }
    }
}

fn sources(classes: &[Class]) -> Markup {
    html! {
        ol.sources {
            @for (index, source) in distinct(classes).iter().enumerate() {
                li id=(format!("source-{}", index + 1)) { (source) }
            }
        }
    }
}

/// Renders every verdict in words, for readers who can't hover and for print.
pub(super) fn reasons(summary: &Summary<'_>) -> Markup {
    html! {
        details.reasons #reasons {
            summary { "Every verdict with its reason" }
            @for partition in &summary.partitions {
                @for (index, column) in partition.columns.iter().enumerate() {
                    h4 { (partition.name) " · " (column.profile) }
                    div.scroll tabindex="0" {
                        table {
                            tbody {
                                @for row in &partition.rows {
                                    @let cell = &row.cells[index];
                                    tr {
                                        th scope="row" { (row.class.title) }
                                        td { (badge(cell.verdict)) }
                                        td { (with_code(&sentence(&cell.because))) }
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
