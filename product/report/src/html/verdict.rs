//! The verdict: the answer first, then the classes, then how sure it is.

use maud::{Markup, html};
use quietcore_record::class::Class;
use quietcore_record::statistics::{cycles_needed, exceedance_bound};
use quietcore_record::verdict::Verdict;

use super::elements::{badge, quantity, sentence, tone};
use crate::figures;
use crate::summary::{Cell, Column, Figure, Notice, NoticeKind, PartitionSummary, Summary};

/// Spans of measurement whose worth is told, in ns: an hour, a shift, a day.
const SPANS: [(&str, u64); 3] =
    [("1 h", 3_600_000_000_000), ("8 h", 28_800_000_000_000), ("24 h", 86_400_000_000_000)];

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    let (grave, others): (Vec<_>, Vec<_>) =
        summary.notices.iter().partition(|notice| notice.kind <= NoticeKind::Damaged);
    html! {
        @for notice in grave { (alarm(notice)) }
        @if summary.partitions.is_empty() {
            div class="hero unproven" {
                p.word { span.sign aria-hidden="true" { "?" } " NOT PROVEN" }
                p.why { "There is no record in this evidence: nothing was measured, so nothing is shown." }
            }
        }
        @for partition in &summary.partitions { (hero(partition, summary)) }
        @if !others.is_empty() {
            div.notices { @for notice in others { (remark(notice)) } }
        }
        @if !summary.records.is_empty() {
            (class_tables(summary))
            (certainty(summary))
        }
    }
}

/// What makes all numbers worthless, as large as a verdict.
fn alarm(notice: &Notice) -> Markup {
    html! {
        div.alarm role="alert" {
            p.word { (notice.title) }
            p { (sentence(&notice.what)) " " (notice.cost) " " (notice.remedy) }
            (concerns(notice))
        }
    }
}

fn remark(notice: &Notice) -> Markup {
    html! {
        div.notice {
            h4 { (notice.title) }
            p { (sentence(&notice.what)) }
            (concerns(notice))
            p.cost { b { "Cost: " } (notice.cost) }
            p.cost { b { "Remedy: " } (notice.remedy) }
        }
    }
}

fn concerns(notice: &Notice) -> Markup {
    html! {
        @match notice.concerns.as_slice() {
            [] => {},
            few if few.len() <= 6 => p.concerns { "Concerns " (few.join(", ")) "." },
            many => details.concerns {
                summary { "Concerns " (many.len()) " records" }
                p { (many.join(", ")) }
            },
        }
    }
}

/// The answer for one partition.
fn hero(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    let Some(declared) = &partition.declared else {
        return undeclared(partition, summary);
    };
    let overall = &declared.overall;
    let (title, cycle) = match declared.class {
        Some(class) => (class.title.as_str(), class.cycle_ns.map(figures::nanos)),
        None => (declared.name, None),
    };
    let where_ = overall.record.map(|index| summary.records[index].label());
    html! {
        div class=(format!("hero {}", tone(overall.verdict))) {
            div.answer {
                p.who {
                    "Partition " b { (partition.name) } " for " b { (title) }
                    @if let Some(cycle) = &cycle { ", cycle " b { (cycle) } }
                }
                p.word {
                    span.sign aria-hidden="true" { (figures::sign(overall.verdict)) }
                    " " (overall.verdict)
                }
                p.lead { (plain_answer(overall.verdict, cycle.as_deref())) }
                p.why {
                    (sentence(&overall.because))
                    @if let Some(place) = where_ { " " span.where { "(" (place) ")" } }
                }
            }
            (tiles(partition, summary))
        }
    }
}

fn plain_answer(verdict: Verdict, cycle: Option<&str>) -> String {
    let program = match cycle {
        Some(cycle) => format!("A control program with a cycle of {cycle}"),
        None => "A control program of this class".to_owned(),
    };
    match verdict {
        Verdict::Pass => format!("{program} may move here, under the conditions below."),
        Verdict::Fail => format!("{program} must not move here: a limit does not hold."),
        Verdict::NotProven => {
            format!("{program} may not move here yet: the evidence does not suffice.")
        }
    }
}

/// A partition without a declared class: what it qualifies for is the answer.
fn undeclared(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    let passed = partition.rows.iter().filter(|row| row.overall.verdict == Verdict::Pass).count();
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { b { (partition.name) } " declares no class; it is judged against all" }
                p.word { (passed) " of " (partition.rows.len()) " classes PASS" }
                p.why {
                    @match &partition.fastest {
                        Ok(fastest) => {
                            "It qualifies for cycles of " (figures::nanos(fastest.cycle_ns))
                            " and longer."
                        },
                        Err(because) => {
                            "No cycle is proven: " (because.as_str()) "."
                        },
                    }
                }
            }
            (tiles(partition, summary))
        }
    }
}

/// The three figures behind the answer.
fn tiles(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    let counted = partition.columns.iter().filter(|column| column.reserved);
    let worst = counted
        .flat_map(|column| &column.records)
        .map(|index| &summary.records[*index])
        .filter(|record| record.statistics.count > 0)
        .max_by_key(|record| record.statistics.max_ns);
    html! {
        div.tiles {
            div.tile {
                p.label { "Fastest cycle it qualifies for" }
                @match &partition.fastest {
                    Ok(fastest) => {
                        p.value { (figures::nanos(fastest.cycle_ns)) }
                        p.note {
                            @if fastest.limited_by_period {
                                "limited by the period of the measurement; a faster one may be possible"
                            } @else {
                                "limited by the largest latency, "
                                (summary.records[fastest.record].label())
                            }
                        }
                    },
                    Err(because) => {
                        p.value { "none proven" }
                        p.note { (because) }
                    },
                }
            }
            @if let Some(worst) = worst {
                div.tile {
                    p.label { "Largest release latency" }
                    p.value { (figures::maximum(&worst.statistics)) }
                    p.note {
                        (worst.label()) ", in " (figures::count(worst.statistics.count)) " cycles"
                    }
                }
                @if let Some(bound) = worst.statistics.bound_95 {
                    div.tile {
                        p.label { "Exceeded, with 95 % confidence, in less than" }
                        p.value { (figures::one_in(bound)) }
                        p.note { "cycles, if cycles are independent of each other" }
                    }
                }
            }
        }
    }
}

fn class_tables(summary: &Summary<'_>) -> Markup {
    let manifest = &summary.evidence.manifest;
    html! {
        h3 { "All classes" }
        p.remark {
            "A cell is the worst record of a profile: its verdict and the figure that decides. "
            b { "Overall" } " is the worst over the profiles that keep the partition's reservation"
            @if summary.partitions.iter().flat_map(|p| &p.columns).any(|column| !column.reserved) {
                "; the dimmed ones are for comparison and do not count"
            }
            "."
        }
        @for (index, partition) in summary.partitions.iter().enumerate() {
            @if !partition.columns.is_empty() {
                @if summary.partitions.len() == 1 {
                    (class_table(partition, summary))
                } @else {
                    details open=[(index == 0).then_some("")] {
                        summary { "Partition " (partition.name) }
                        (class_table(partition, summary))
                    }
                }
            }
        }
        @if !manifest.classes.is_empty() { (sources(&manifest.classes)) (reasons(summary)) }
    }
}

fn class_table(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    let declared = partition.declared.as_ref().map(|declared| declared.name);
    // The declared class leads; the others keep the order of the catalogue.
    let mut rows: Vec<_> = partition.rows.iter().collect();
    rows.sort_by_key(|row| Some(row.class.name.as_str()) != declared);
    html! {
        div.scroll tabindex="0" role="region" aria-label=(format!("Classes, {}", partition.name)) {
            table.classes {
                thead {
                    tr {
                        th scope="col" { "Class" }
                        th scope="col" { "Overall" }
                        th.n scope="col" { "Cycle" }
                        th.n scope="col" title="A tenth of the cycle (seed 003)" { "Latency ≤" }
                        th.n scope="col" title="The published limit" { "Jitter ≤" }
                        @for column in &partition.columns { (column_head(column)) }
                    }
                }
                tbody {
                    @for row in rows {
                        @let is_declared = Some(row.class.name.as_str()) == declared;
                        tr.declared[is_declared] {
                            th scope="row" title=(row.class.source) {
                                (row.class.title)
                                (source_mark(row.class, &summary.evidence.manifest.classes))
                                @if is_declared { span.tag { "declared" } }
                            }
                            td title=(row.overall.because) { (badge(row.overall.verdict)) }
                            (limit(row.class.cycle_ns))
                            (limit(row.class.latency_limit_ns()))
                            (limit(row.class.jitter_ns))
                            @for (cell, column) in row.cells.iter().zip(&partition.columns) {
                                (cell_of(cell, column, summary))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn column_head(column: &Column<'_>) -> Markup {
    html! {
        th.dim[!column.reserved] scope="col" title=(column.description) {
            (column.profile)
            @if column.records.len() > 1 {
                span.sub { "worst of " (column.records.len()) }
            }
            @if !column.reserved { span.sub { "comparison" } }
        }
    }
}

fn limit(value_ns: Option<u64>) -> Markup {
    html! {
        td.n { @match value_ns { Some(ns) => (quantity(&figures::nanos(ns))), None => (figures::NONE) } }
    }
}

fn cell_of(cell: &Cell, column: &Column<'_>, summary: &Summary<'_>) -> Markup {
    let figure = match cell.figure {
        Figure::Latency(ns) => format!("max {}", figures::nanos(ns)),
        Figure::Jitter(Some(ns)) => format!("jitter {}", figures::nanos(ns)),
        Figure::Jitter(None) => "jitter in the overflow".to_owned(),
        Figure::Nothing => "no data".to_owned(),
    };
    let reason = format!("{}: {}", summary.records[cell.record].label(), cell.because);
    html! {
        td.dim[!column.reserved] title=(reason) {
            span class=(format!("mini {}", tone(cell.verdict))) {
                span.sign aria-hidden="true" { (figures::sign(cell.verdict)) } " " (cell.verdict)
            }
            span.sub { (figure) }
        }
    }
}

/// The distinct sources in the order of the classes.
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

/// Every verdict in words, for those who can't hover and for print.
fn reasons(summary: &Summary<'_>) -> Markup {
    html! {
        details.reasons {
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
                                        td { (sentence(&cell.because)) }
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

/// How sure the verdicts are, and what more time would buy.
fn certainty(summary: &Summary<'_>) -> Markup {
    let exceedance = summary.evidence.manifest.exceedance;
    let needed = cycles_needed(exceedance);
    // The shortest run that counts says the least; what holds for it holds for all.
    let shortest = summary
        .records
        .iter()
        .filter(|record| record.record.reserved && record.statistics.count > 0)
        .min_by_key(|record| record.statistics.count);
    html! {
        h3 { "How sure is that?" }
        p {
            "A PASS needs enough cycles without an exceedance to say, with 95 % confidence, that "
            "fewer than " (figures::one_in(exceedance)) " cycles exceeds a limit: "
            b { (figures::count(needed)) " cycles" } " without a single one."
        }
        @if let Some(record) = shortest {
            p {
                "The shortest record that counts, " (record.label()) " of "
                (record.record.partition) ", has " (figures::count(record.statistics.count))
                " cycles. What more time would buy:"
            }
            (worth(record.statistics.count, record.record.period_ns, needed))
        }
        p.remark {
            "The rule assumes that cycles are independent of each other. They are not quite: "
            "disturbances come in bursts and follow the hour. Take the bound as the best case, "
            "and let the measurement see what the machine will do in service."
        }
    }
}

fn worth(count: u64, period_ns: Option<u64>, needed: u64) -> Markup {
    let row = |label: String, cycles: u64| {
        let bound = exceedance_bound(0, cycles);
        let time = period_ns.map(|period| figures::time_of(cycles, period));
        let apart = period_ns.map(|period| figures::time_of((1.0 / bound) as u64, period));
        html! {
            tr {
                th scope="row" { (label) }
                td.n { (figures::count(cycles)) }
                td.n { (time.unwrap_or_else(|| figures::NONE.to_owned())) }
                td.n { (figures::one_in(bound)) }
                td.n { (apart.unwrap_or_else(|| figures::NONE.to_owned())) }
            }
        }
    };
    html! {
        div.scroll tabindex="0" {
            table.compact {
                thead {
                    tr {
                        th scope="col" { "Measured without exceedance" }
                        th.n scope="col" { "Cycles" }
                        th.n scope="col" { "Time" }
                        th.n scope="col" { "Excludes more than" }
                        th.n scope="col" title="At the period of the measurement" { "One every" }
                    }
                }
                tbody {
                    (row("so far".to_owned(), count))
                    (row("asked for".to_owned(), needed))
                    @if let Some(period) = period_ns.filter(|period| *period > 0) {
                        @for (label, span) in SPANS { (row(label.to_owned(), span / period)) }
                    }
                }
            }
        }
    }
}
