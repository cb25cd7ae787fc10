//! Many partitions: one answer for all of them, and a row for each.

use quietcore_record::verdict::Verdict;

use super::{passed_of_all, worst_record};
use crate::figures::{self, NONE};
use crate::html::{sentence, tone};
use crate::section::content::{Answer, Block, Cell, Column, Row, Table, plain};
use crate::summary::{PartitionSummary, Summary, quick_look};

/// Makes the answer for all partitions together; `None` where none declares a class.
pub(super) fn answer(summary: &Summary<'_>) -> Option<Answer> {
    let verdict = summary.verdict()?;
    let declared = summary.partitions.iter().filter_map(|partition| partition.declared.as_ref());
    let verdicts: Vec<Verdict> = declared.map(|declared| declared.overall.verdict).collect();
    let passed = verdicts.iter().filter(|verdict| **verdict == Verdict::Pass).count();
    Some(Answer {
        tone: tone(verdict),
        who: vec![plain("All partitions together, each for the class it declares")],
        verdict: Some(verdict),
        word: verdict.to_string(),
        lead: Some(format!(
            "{passed} of {} partitions PASS; the worst of them decides.",
            verdicts.len()
        )),
        ..Answer::default()
    })
}

/// Makes the table of all partitions.
pub(super) fn table(summary: &Summary<'_>) -> Block {
    let has_declared = summary.partitions.iter().any(|partition| partition.declared.is_some());
    let first = if has_declared {
        vec![Column::words("Class", 0), Column::words("Verdict", 0)]
    } else {
        vec![Column::new("Classes passed", 0)]
    };
    let others = [
        Column::new("Fastest cycle", 0),
        Column::new("Largest latency", 0),
        Column::new("Exceeded in less than", 0).meaning("More than the largest latency, at 95 %"),
        Column::reasons("Why"),
    ];
    let rows = summary.partitions.iter().map(|partition| row(partition, summary, has_declared));
    Block::Table(Table {
        name: "Partitions".to_owned(),
        layout: Some("overview"),
        lead: Column::new(summary.partition_word(), 0),
        columns: first.into_iter().chain(others).collect(),
        rows: rows.collect(),
        ..Table::default()
    })
}

fn row(partition: &PartitionSummary<'_>, summary: &Summary<'_>, has_declared: bool) -> Row {
    let mut cells = match &partition.declared {
        Some(of) => {
            let title = of.class.map_or(of.name, |class| class.title.as_str());
            let mut verdict = Cell::verdict(of.overall.verdict, of.overall.because.as_str());
            if quick_look(partition, summary).is_some() {
                verdict.below.push(Cell::plain("quick look"));
            }
            vec![Cell::plain(title), verdict]
        }
        None if has_declared => vec![Cell::plain(NONE), Cell::plain(NONE)],
        None => vec![Cell::plain(passed_of_all(partition))],
    };
    let worst = worst_record(partition, summary);
    let largest = figures::or_dash(worst, |worst| figures::maximum(&worst.statistics));
    let bound = worst.and_then(|worst| worst.statistics.bound_95);
    cells.extend([
        fastest(partition),
        Cell::quantity(largest),
        Cell::plain(figures::or_dash(bound, figures::one_in)),
        Cell::marked(why(partition)),
    ]);
    Row::new(partition.name, cells)
}

/// Makes the cell of the fastest cycle that a partition qualifies for.
pub(super) fn fastest(partition: &PartitionSummary<'_>) -> Cell {
    match &partition.fastest {
        Ok(fastest) => Cell::quantity(figures::set_nanos(fastest.cycle_ns)),
        Err(because) => Cell { because: Some(because.clone()), ..Cell::plain("none proven") },
    }
}

fn why(partition: &PartitionSummary<'_>) -> String {
    match (&partition.declared, &partition.fastest) {
        (Some(declared), _) => sentence(&declared.overall.because),
        (None, Err(because)) => sentence(&format!("no cycle is proven: {because}")),
        (None, Ok(fastest)) if fastest.limited_by_period => {
            "The period of the measurement limits the cycle.".to_owned()
        }
        (None, Ok(_)) => "The largest latency limits the cycle.".to_owned(),
    }
}
