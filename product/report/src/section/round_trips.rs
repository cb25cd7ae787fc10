//! Round trips of EtherCAT frames: the results of the probe `ethercat`.

use quietcore_record::record::RoundTripRun;

use super::content::{
    Answer, Block, Cell, Column, Content, NEUTRAL, Row, Table, bold, plain, text,
};
use super::{Kind, ListedConditions, Reader, Section};
use crate::figures;
use crate::summary::RecordSummary;
use crate::text::spread;

pub(super) const KIND: Kind = Kind {
    anchor: "round-trips",
    title: "Round trips",
    holds: |record| record.round_trip().is_some(),
    content,
    conditions: ListedConditions::Releases,
};

/// Columns before a fact's name in a terminal, and columns of the name.
const FACTS: (usize, usize) = (2, 12);

fn content(section: &Section<'_>, reader: Reader) -> Content {
    let runs = section.records.iter().filter_map(|it| Some((it, it.record.round_trip()?)));
    let runs: Vec<(&RecordSummary<'_>, &RoundTripRun)> = runs.collect();
    let mut content = Content::default();
    match reader {
        _ if runs.is_empty() => {}
        Reader::Page => {
            content.answers = runs.iter().map(|(summary, run)| answer(summary, run)).collect();
            content.blocks.push(table(&runs));
            runs.iter().for_each(|(summary, run)| remarks(&mut content, summary, run));
            content.blocks.push(Block::Prose(vec![text(
                "A round trip is what the caller of a cycle waits for: from before the first frame \
                 is handed over until the last one is back and its data are in the process image. \
                 A cycle that lost a frame is counted apart: its time is that of the time-out.",
            )]));
        }
        Reader::Terminal => {
            runs.iter().for_each(|(summary, run)| facts(&mut content, summary, run));
        }
    }
    content
}

fn answer(summary: &RecordSummary<'_>, run: &RoundTripRun) -> Answer {
    let mut why = vec![plain(format!("{} SubDevices; {}. ", run.subdevices, losses(run)))];
    if !summary.record.is_valid() {
        why.push(bold("The timing is not valid; see the reasons below. "));
    }
    why.push(plain("No class judges a round trip."));
    Answer {
        tone: NEUTRAL,
        who: vec![plain("EtherCAT on "), bold(&*run.interface)],
        word: format!("At most {} out and back", figures::maximum(&summary.statistics)),
        why: vec![why],
        ..Answer::default()
    }
}

fn table(runs: &[(&RecordSummary<'_>, &RoundTripRun)]) -> Block {
    let row = |(summary, run): &(&RecordSummary<'_>, &RoundTripRun)| {
        let found = &summary.statistics;
        let quantile =
            |value: Option<_>| Cell::quantity(figures::or_dash(value, figures::quantile));
        Row {
            name: run.interface.clone(),
            subs: vec![format!("{} SubDevices", run.subdevices)],
            meaning: None,
            cells: vec![
                Cell::quantity(figures::or_dash(found.min_ns, figures::nanos)),
                quantile(found.median_ns),
                Cell::time(found.mean_ns),
                quantile(found.p99_ns),
                Cell::quantity(figures::maximum(found)),
                Cell::plain(figures::count(found.count)),
            ],
            ..Row::default()
        }
    };
    Block::Table(Table {
        name: "Round trips".to_owned(),
        lead: Column::new("Interface", 0),
        columns: Column::all(["min", "median", "mean", "p99", "max", "count"], 0),
        rows: runs.iter().map(row).collect(),
        ..Table::default()
    })
}

fn remarks(content: &mut Content, summary: &RecordSummary<'_>, run: &RoundTripRun) {
    content.remark(format!("{}: {}; {}.", run.interface, rates(run), losses(run)));
    summary.record.invalid_because.iter().for_each(|because| content.not_valid(because));
}

fn facts(content: &mut Content, summary: &RecordSummary<'_>, run: &RoundTripRun) {
    let held = &summary.record.conditions;
    content.remark(format!("EtherCAT on {}, {} SubDevices", run.interface, run.subdevices));
    let mode = format!("{}; {} on CPU {}", held.mode, held.policy, held.affinity);
    content.fact(FACTS, "mode", &mode);
    content.fact(FACTS, "round trip", &spread(&summary.statistics));
    content.fact(FACTS, "rate", &rates(run));
    content.fact(FACTS, "frames", &losses(run));
    if let Some(alarm) = &run.first_alarm {
        content.fact(FACTS, "first alarm", alarm);
    }
    for because in &summary.record.invalid_because {
        content.fact(FACTS, "invalid", &because.to_string());
    }
    for because in &summary.record.degraded {
        content.fact(FACTS, "degraded", &because.to_string());
    }
    content.blocks.push(Block::Gap);
}

/// Tells how many cycles per second there were, on average and in the slowest thousand.
fn rates(run: &RoundTripRun) -> String {
    let mean = format!("mean {} cycles/s", figures::amount(run.mean_cycles_per_second));
    match run.sustained_cycles_per_second {
        Some(rate) => {
            format!("{mean}, {} in the slowest thousand cycles", figures::amount(rate))
        }
        None => mean,
    }
}

/// Tells how many cycles lost a frame or came back wrong.
fn losses(run: &RoundTripRun) -> String {
    format!(
        "of {} cycles {} lost a frame, {} came back with a wrong working counter",
        figures::count(run.cycles),
        figures::count(run.lost),
        figures::count(run.incomplete)
    )
}
