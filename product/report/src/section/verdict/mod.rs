//! The verdict: an answer for each partition, and a table of many.

mod certainty;
mod imported;
mod overview;

use quietcore_evidence::Origin;
use quietcore_record::verdict::Verdict;

use super::content::{Answer, Content, NEUTRAL, Span, Tile, bold, plain};
use crate::figures;
use crate::html::{sentence, tone};
use crate::summary::{PartitionSummary, QuickLook, RecordSummary, Summary, quick_look};

pub(crate) use certainty::content as certainty;

/// Returns anchor and title of the section.
pub(crate) fn name(summary: &Summary<'_>) -> (&'static str, &'static str) {
    match summary.evidence.manifest.origin {
        Origin::Import => ("verdict", "What was imported"),
        Origin::Campaign | Origin::Probe => ("verdict", "Verdict"),
    }
}

/// The most partitions that each get an answer of their own; more are shown as a table.
pub(crate) const ANSWERS_MAX: usize = 2;

/// Makes the content of the section; empty where the evidence has no partition.
pub(crate) fn content(summary: &Summary<'_>) -> Content {
    let mut content = Content::default();
    if summary.partitions.is_empty() {
        return content;
    }
    if summary.evidence.manifest.origin == Origin::Import {
        imported::add(&mut content, summary);
    } else if summary.partitions.len() > ANSWERS_MAX {
        content.answers.extend(overview::answer(summary));
        content.blocks.push(overview::table(summary));
    } else {
        let answers = summary.partitions.iter().map(|partition| answer(partition, summary));
        content.answers.extend(answers);
    }
    content
}

/// Makes the answer of evidence without any record.
pub(crate) fn nothing_measured() -> Answer {
    Answer {
        tone: tone(Verdict::NotProven),
        verdict: Some(Verdict::NotProven),
        word: Verdict::NotProven.to_string(),
        why: vec![vec![plain("This evidence holds no record: nothing was measured.")]],
        ..Answer::default()
    }
}

/// Makes the answer of an experiment that ended too early.
pub(crate) fn nothing_compared() -> Answer {
    Answer {
        tone: "unproven",
        word: "? NOT KNOWN".to_owned(),
        why: vec![vec![plain("The experiment was ended before anything could be compared.")]],
        ..Answer::default()
    }
}

/// Makes the answer for one partition.
fn answer(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Answer {
    let Some(declared) = &partition.declared else {
        return undeclared(partition, summary);
    };
    let overall = &declared.overall;
    let (title, cycle) = match declared.class {
        Some(class) => (class.title.as_str(), class.cycle_ns.map(figures::set_nanos)),
        None => (declared.name, None),
    };
    let mut who = vec![plain("Partition "), bold(partition.name), plain(" for "), bold(title)];
    if let Some(cycle) = &cycle {
        who.extend([plain(", cycle "), bold(cycle.as_str())]);
    }
    let quick = quick_look(partition, summary);
    let mut because = vec![Span::Marked(sentence(&overall.because))];
    if let Some(index) = overall.record {
        because.extend([plain(" "), Span::Place(summary.records[index].label())]);
    }
    let limited = quick.map(|quick| vec![Span::Marked(quick.sentence())]);
    Answer {
        tone: tone(overall.verdict),
        who,
        verdict: Some(overall.verdict),
        word: overall.verdict.to_string(),
        is_quick_look: quick.is_some(),
        lead: Some(plain_answer(overall.verdict, quick, cycle.as_deref())),
        why: [because].into_iter().chain(limited).collect(),
        tiles: Some(tiles(partition, summary)),
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

/// Makes the answer for a partition without a declared class: the classes that it qualifies for.
fn undeclared(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Answer {
    let who = vec![bold(partition.name), plain(" declares no class; it is judged against all")];
    let why = match &partition.fastest {
        Ok(fastest) => {
            format!(
                "It qualifies for cycles of {} and longer.",
                figures::set_nanos(fastest.cycle_ns)
            )
        }
        Err(because) => format!("No cycle is proven: {because}."),
    };
    Answer {
        tone: NEUTRAL,
        who,
        word: format!("{} classes PASS", passed_of_all(partition)),
        why: vec![vec![plain(why)]],
        tiles: Some(tiles(partition, summary)),
        ..Answer::default()
    }
}

/// Counts the classes that a partition passes, of all.
fn passed_of_all(partition: &PartitionSummary<'_>) -> String {
    let passed = partition.rows.iter().filter(|row| row.overall.verdict == Verdict::Pass).count();
    format!("{passed} of {}", partition.rows.len())
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

/// Makes the three figures behind the answer.
fn tiles(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Vec<Tile> {
    let (value, note) = match &partition.fastest {
        Ok(fastest) if fastest.limited_by_period => (
            figures::set_nanos(fastest.cycle_ns),
            "limited by the period of the measurement; a faster one may be possible".to_owned(),
        ),
        Ok(fastest) => (
            figures::set_nanos(fastest.cycle_ns),
            format!("limited by the largest latency, {}", summary.records[fastest.record].label()),
        ),
        Err(because) => ("none proven".to_owned(), unsaid(because, partition)),
    };
    let title = if partition.has_other_rule() {
        "Fastest cycle if no release may be later than a tenth of it"
    } else {
        "Fastest cycle it qualifies for"
    };
    let mut tiles = vec![Tile::new(title, value, note)];
    let Some(worst) = worst_record(partition, summary) else { return tiles };
    let cycles = figures::count(worst.statistics.count);
    tiles.push(Tile::new(
        "Largest release latency",
        figures::maximum(&worst.statistics),
        format!("{}, in {cycles} cycles", worst.label()),
    ));
    if let Some((limit, bound)) = exclusion(partition, summary, worst) {
        tiles.push(Tile::new(
            &format!("Later than {limit}, with 95 % confidence, in less than"),
            figures::one_in(bound),
            "cycles, if cycles are independent of each other",
        ));
    }
    tiles
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
