//! The worst stalls: a row for each, with its cause where it was observed, and otherwise with the
//! command that finds it.

use quietcore_record::record::joined;

use super::name;
use crate::figures;
use crate::plot;
use crate::section::content::{Block, Cell, Column, Command, Content, Row, Span, Table, plain};
use crate::summary::{RecordSummary, Stall, Summary, explain_command, stalls};

/// The most stalls in the table over all records.
const WORST_MAX: usize = 16;

/// The most stalls in the table of one record.
const OWN_MAX: usize = 64;

/// Divisor of the period: a release that is late by this part of it, or more, is a row; of the
/// others only the worst few are.
const WORTH_OF_PERIOD: u64 = 100;

/// Number of releases that are a row however little late they are.
const ROWS_MIN: usize = 3;

/// Anchor of the command that finds a cause.
const EXPLAIN: &str = "explain";

/// Number of causes that a row names.
const NAMED_MAX: usize = 2;

type Found<'a> = (&'a RecordSummary<'a>, Stall<'a>);

/// Adds the stalls; nothing where no record tells of a late release.
pub(super) fn add(content: &mut Content, summary: &Summary<'_>) {
    let mut all: Vec<Found<'_>> = Vec::new();
    for record in &summary.records {
        all.extend(stalls(record.record).into_iter().map(|stall| (record, stall)));
    }
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|(_, stall)| std::cmp::Reverse(stall.worst.latency_ns));
    let worth = all.iter().filter(|(record, stall)| is_worth(record, stall)).count();
    let rows = worth.max(ROWS_MIN).min(all.len());
    let shown = &all[..rows.min(WORST_MAX)];
    content.blocks.push(Block::Heading("The worst late releases".to_owned(), None));
    let left_out = if rows < all.len() {
        " Those that were late by less than a hundredth of their period are left out, but for \
         the three worst."
    } else {
        ""
    };
    content.remark(format!(
        "Releases that were due while the one before had not started yet are one stall, and one \
         row: what is told is the latest of them.{left_out}"
    ));
    content.blocks.push(table("Worst late releases", shown, Some(summary)));
    content.blocks.extend(command(&all));
    if rows > shown.len() {
        let blocks = summary.records.iter().flat_map(|record| of_one(record, summary));
        content.blocks.push(Block::details("The worst of each record", blocks.collect()));
    }
}

/// Makes the heading and the table of one record; nothing where none of its stalls is worth a row.
fn of_one(record: &RecordSummary<'_>, summary: &Summary<'_>) -> Vec<Block> {
    let found = stalls(record.record).into_iter().filter(|stall| is_worth(record, stall));
    let own: Vec<Found<'_>> = found.take(OWN_MAX).map(|stall| (record, stall)).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let name = name(record, summary);
    let table = table(&format!("Worst late releases of {name}"), &own, None);
    vec![Block::SubHeading(name, None), table]
}

fn is_worth(record: &RecordSummary<'_>, stall: &Stall<'_>) -> bool {
    let period_ns = record.record.period_ns.unwrap_or(0);
    stall.worst.latency_ns >= period_ns / WORTH_OF_PERIOD
}

/// Makes a table, whose rows name their records where they are of several, of this `summary`.
fn table(name: &str, found: &[Found<'_>], summary: Option<&Summary<'_>>) -> Block {
    Block::Table(Table {
        name: name.to_owned(),
        layout: Some("compact stalls"),
        lead: summary.map_or_else(Column::default, |_| Column::new("Record", 0)),
        columns: vec![
            Column::new("Release latency", 0)
                .short("Late by")
                .meaning("Due instant to start of the work"),
            Column::new("Wake-up latency", 0)
                .short("Woken late by")
                .meaning("Requested wake-up to running"),
            Column::new("At", 0).short("At").meaning("Since the first release"),
            Column::new("Releases", 0).short("Release"),
            Column::new("CPU", 0).short("CPU"),
            Column::reasons("Where the time went"),
        ],
        rows: found.iter().map(|found| row(found, summary)).collect(),
        ..Table::default()
    })
}

fn row((record, stall): &Found<'_>, summary: Option<&Summary<'_>>) -> Row {
    let worst = stall.worst;
    let (first, last) = stall.releases;
    let mut releases = Cell::plain(figures::count(first));
    if last > first {
        releases.text.push_str(&format!(" to {}", figures::count(last)));
        releases.below.push(Cell::plain(format!("{} late by one stall", stall.count)));
    }
    let time = |ns| Cell::quantity(figures::nanos(ns));
    let times = [worst.latency_ns, worst.wakeup_ns, worst.at_ns].map(time);
    let others = [releases, Cell::plain(worst.cpu.to_string()), Cell::lines(cause(stall))];
    let name = summary.map_or_else(String::new, |summary| name(record, summary));
    Row::new(name, times.into_iter().chain(others).collect())
}

/// Tells the causes that the ledger has; without one, what was sampled meanwhile, with a link to
/// the command that finds the cause.
fn cause(stall: &Stall<'_>) -> Vec<Vec<Span>> {
    if let Some(ledger) = stall.ledger {
        let shares = ledger.shares.iter().take(NAMED_MAX);
        return shares.map(|share| vec![plain(plot::tooltip(share, ledger.latency_ns))]).collect();
    }
    let sampled = (!stall.worst.conditions.is_empty())
        .then(|| vec![plain(format!("Meanwhile: {}", joined(&stall.worst.conditions, "; ")))]);
    let link = vec![Span::Link(EXPLAIN, "Not explained; this command finds out")];
    sampled.into_iter().chain([link]).collect()
}

/// Makes the command for the worst of the stalls that nothing explains; each of their rows links
/// to it.
fn command(found: &[Found<'_>]) -> Option<Block> {
    let (record, stall) = found.iter().find(|(_, stall)| stall.ledger.is_none())?;
    Some(Block::Command(Command {
        anchor: EXPLAIN,
        purpose: "Where such time goes is found by tracing the kernel, as root, under the same \
                  load; tracing adds to every latency:"
            .to_owned(),
        command: explain_command(record.record, stall.worst.latency_ns),
    }))
}
