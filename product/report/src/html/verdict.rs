//! The verdict: the answer first, and then its limitations.

mod certainty;
mod imported;
pub(super) mod notices;

use maud::{Markup, html};
use quietcore_evidence::Origin;
use quietcore_record::verdict::Verdict;

use super::Contents;
use super::elements::{mini, quantity, sentence, tone, with_code};
use crate::figures;
use crate::section::content::Content;
use crate::section::experiment::{disturbance, tuning};
use crate::section::{Reader, page};
use crate::summary::{PartitionSummary, QuickLook, RecordSummary, Summary, quick_look};
use notices::alarm;

pub(super) use certainty::certainty;

/// The most partitions that each get an answer of their own; more are shown as a table.
const HEROES_MAX: usize = 2;

pub(super) fn section(summary: &Summary<'_>, contents: &Contents) -> Markup {
    let grave = summary.notices.iter().filter(|notice| notice.is_grave());
    html! {
        @for notice in grave { (alarm(notice)) }
        @if summary.partitions.is_empty() && !summary.trials.is_empty() {
            (experiments(summary))
        } @else if summary.partitions.is_empty() && let Some(content) = answering(contents) {
            (page::answers(content, HEROES_MAX))
        } @else if summary.partitions.is_empty() {
            div class="hero unproven" {
                p.word { span.sign aria-hidden="true" { "?" } " NOT PROVEN" }
                p.why { "This evidence holds no record: nothing was measured." }
            }
        } @else if summary.evidence.manifest.origin == Origin::Import {
            (imported::section(summary))
        } @else if summary.partitions.len() > HEROES_MAX {
            (overall(summary))
            (overview(summary))
        } @else {
            @for partition in &summary.partitions { (hero(partition, summary)) }
        }
    }
}

/// Renders the answers of experiments.
fn experiments(summary: &Summary<'_>) -> Markup {
    let controls = tuning::content(&summary.tunings, Reader::Page);
    let neighbours = disturbance::content(&summary.disturbances, Reader::Page);
    let invalid = summary.trials.iter().any(|trial| !trial.record.is_valid());
    html! {
        @for content in [&controls, &neighbours] { (page::answers(content, usize::MAX)) }
        @if summary.tunings.is_empty() && summary.disturbances.is_empty() {
            div class="hero unproven" {
                p.word { span.sign aria-hidden="true" { "?" } " NOT KNOWN" }
                p.why { "The experiment was ended before anything could be compared." }
            }
        }
        @if invalid {
            p.remark {
                "Some blocks may not be trusted, for the reasons below; they are no part of any "
                "ratio."
            }
        }
    }
}

/// Returns the content of the first section with an answer.
fn answering(contents: &Contents) -> Option<&Content> {
    contents.iter().map(|(_, content)| content).find(|content| !content.answers.is_empty())
}

/// Renders the answer for one partition.
fn hero(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    let Some(declared) = &partition.declared else {
        return undeclared(partition, summary);
    };
    let overall = &declared.overall;
    let (title, cycle) = match declared.class {
        Some(class) => (class.title.as_str(), class.cycle_ns.map(figures::set_nanos)),
        None => (declared.name, None),
    };
    let where_ = overall.record.map(|index| summary.records[index].label());
    let quick = quick_look(partition, summary);
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
                    @if quick.is_some() { " " span.quick { "quick look" } }
                }
                p.lead { (plain_answer(overall.verdict, quick, cycle.as_deref())) }
                p.why {
                    (with_code(&sentence(&overall.because)))
                    @if let Some(place) = where_ { " " span.where { "(" (place) ")" } }
                }
                @if let Some(quick) = quick { p.why { (with_code(&quick.sentence())) } }
            }
            (tiles(partition, summary))
        }
    }
}

fn plain_answer(verdict: Verdict, quick: Option<QuickLook>, cycle: Option<&str>) -> String {
    let program = match cycle {
        Some(cycle) => format!("A control program with a cycle of {cycle}"),
        None => "A control program of this class".to_owned(),
    };
    match verdict {
        Verdict::Pass if quick.is_some() => {
            format!("{program} may move here as far as a quick look can tell.")
        }
        Verdict::Pass => format!("{program} may move here, under the conditions below."),
        Verdict::Fail => format!("{program} must not move here: a limit does not hold."),
        Verdict::NotProven => {
            format!("{program} may not move here yet: the evidence does not suffice.")
        }
    }
}

/// Renders the answer for a partition without a declared class: the classes that it qualifies for.
fn undeclared(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { b { (partition.name) } " declares no class; it is judged against all" }
                p.word { (passed(partition)) " of " (partition.rows.len()) " classes PASS" }
                p.why {
                    @match &partition.fastest {
                        Ok(fastest) => {
                            "It qualifies for cycles of " (figures::set_nanos(fastest.cycle_ns))
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

/// Renders the answer for many partitions together.
fn overall(summary: &Summary<'_>) -> Markup {
    let Some(verdict) = summary.verdict() else {
        return html! {};
    };
    let declared = summary.partitions.iter().filter_map(|partition| partition.declared.as_ref());
    let (mut passed, mut all) = (0, 0);
    for declared in declared {
        all += 1;
        passed += usize::from(declared.overall.verdict == Verdict::Pass);
    }
    html! {
        div class=(format!("hero {}", tone(verdict))) {
            p.who { "All partitions together, each for the class it declares" }
            p.word {
                span.sign aria-hidden="true" { (figures::sign(verdict)) } " " (verdict)
            }
            p.lead { (passed) " of " (all) " partitions PASS; the worst of them decides." }
        }
    }
}

/// Renders many partitions, one row for each.
fn overview(summary: &Summary<'_>) -> Markup {
    let declared = summary.partitions.iter().any(|partition| partition.declared.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Partitions" {
            table.overview {
                thead {
                    tr {
                        th scope="col" { (summary.partition_word()) }
                        @if declared { th scope="col" { "Class" } th scope="col" { "Verdict" } }
                        @else { th.n scope="col" { "Classes passed" } }
                        th.n scope="col" { "Fastest cycle" }
                        th.n scope="col" { "Largest latency" }
                        th.n scope="col" title="More than the largest latency, at 95 %" {
                            "Exceeded in less than"
                        }
                        th scope="col" { "Why" }
                    }
                }
                tbody {
                    @for partition in &summary.partitions {
                        (overview_row(partition, summary, declared))
                    }
                }
            }
        }
    }
}

fn overview_row(partition: &PartitionSummary<'_>, summary: &Summary<'_>, declared: bool) -> Markup {
    let worst = worst_record(partition, summary);
    let why = match (&partition.declared, &partition.fastest) {
        (Some(declared), _) => sentence(&declared.overall.because),
        (None, Err(because)) => sentence(&format!("no cycle is proven: {because}")),
        (None, Ok(fastest)) if fastest.limited_by_period => {
            "The period of the measurement limits the cycle.".to_owned()
        }
        (None, Ok(_)) => "The largest latency limits the cycle.".to_owned(),
    };
    html! {
        tr {
            th scope="row" { b { (partition.name) } }
            @match &partition.declared {
                Some(of) => {
                    td { (of.class.map_or(of.name, |class| class.title.as_str())) }
                    td {
                        (mini(of.overall.verdict))
                        @if quick_look(partition, summary).is_some() { span.sub { "quick look" } }
                    }
                },
                None if declared => { td { (figures::NONE) } td { (figures::NONE) } },
                None => td.n { (passed(partition)) " of " (partition.rows.len()) },
            }
            td.n {
                @match &partition.fastest {
                    Ok(fastest) => (quantity(&figures::set_nanos(fastest.cycle_ns))),
                    Err(_) => "none proven",
                }
            }
            td.n {
                (quantity(&worst
                    .map(|worst| figures::maximum(&worst.statistics))
                    .unwrap_or_else(|| figures::NONE.to_owned())))
            }
            td.n {
                (worst
                    .and_then(|worst| worst.statistics.bound_95)
                    .map_or_else(|| figures::NONE.to_owned(), figures::one_in))
            }
            td.because { (with_code(&why)) }
        }
    }
}

fn passed(partition: &PartitionSummary<'_>) -> usize {
    partition.rows.iter().filter(|row| row.overall.verdict == Verdict::Pass).count()
}

/// Returns the record with the largest latency among those that count.
fn worst_record<'a>(
    partition: &PartitionSummary<'_>,
    summary: &'a Summary<'_>,
) -> Option<&'a RecordSummary<'a>> {
    partition
        .columns
        .iter()
        .filter(|column| column.reserved)
        .flat_map(|column| &column.records)
        .map(|index| &summary.records[*index])
        .filter(|record| record.statistics.count > 0)
        .max_by_key(|record| record.statistics.max_ns)
}

/// Renders the three figures behind the answer.
fn tiles(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Markup {
    let worst = worst_record(partition, summary);
    html! {
        div.tiles {
            div.tile {
                p.label { "Fastest cycle it qualifies for" }
                @match &partition.fastest {
                    Ok(fastest) => {
                        p.value { (figures::set_nanos(fastest.cycle_ns)) }
                        p.note {
                            @if fastest.limited_by_period {
                                "limited by the period of the measurement; a faster one may be "
                                "possible"
                            } @else {
                                "limited by the largest latency, "
                                (summary.records[fastest.record].label())
                            }
                        }
                    },
                    Err(because) => {
                        p.value { "none proven" }
                        p.note { (with_code(&unsaid(because, partition))) }
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
                @if let Some((limit, bound)) = exclusion(partition, summary, worst) {
                    div.tile {
                        p.label { "Later than " (limit) ", with 95 % confidence, in less than" }
                        p.value { (figures::one_in(bound)) }
                        p.note { "cycles, if cycles are independent of each other" }
                    }
                }
            }
        }
    }
}

/// Returns why no cycle is proven, without the part that the answer beside it already tells.
fn unsaid(because: &str, partition: &PartitionSummary<'_>) -> String {
    let said = partition.declared.as_ref().map_or("", |declared| &declared.overall.because);
    match because.split_once(said).filter(|_| !said.is_empty()) {
        None => because.to_owned(),
        Some((_, "")) => "for the same reason".to_owned(),
        Some((_, rest)) => rest.trim_start_matches("; ").to_owned(),
    }
}

/// Returns what the evidence excludes: a latency, and the bound on the probability of exceeding it.
/// With a declared class that is the class's limit, with the largest bound of the records that
/// count; without one it is the largest latency that was seen.
fn exclusion(
    partition: &PartitionSummary<'_>,
    summary: &Summary<'_>,
    worst: &RecordSummary<'_>,
) -> Option<(String, f64)> {
    let Some(declared) = &partition.declared else {
        return Some((figures::maximum(&worst.statistics), worst.statistics.bound_95?));
    };
    let counts = |name: &str| {
        let columns = partition.columns.iter().filter(|column| column.reserved);
        columns
            .flat_map(|column| &column.records)
            .any(|index| summary.records[*index].record.name == name)
    };
    let judgements = summary.evidence.judgements.iter();
    judgements
        .filter(|judgement| judgement.class == declared.name && counts(&judgement.record))
        .filter_map(|judgement| {
            Some((figures::set_nanos(judgement.latency_limit_ns?), judgement.bound_95?))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
}
