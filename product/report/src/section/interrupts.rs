//! Interrupts: the results of the probe `irq`, and published figures of the same quantity.

use quietcore_record::histogram::Quantile;
use quietcore_record::published::{self, Figure, Table};
use quietcore_record::record::{InterruptRun, Record};
use quietcore_record::statistics::Statistics;

use super::content::{
    self, Answer, Block, Cell, Column, Content, NEUTRAL, Row, Tile, bold, plain, text,
};
use super::{Kind, ListedConditions, Reader, Section};
use crate::figures::{self, NONE};
use crate::plot::{self, Range, Scale};
use crate::summary::RecordSummary;

pub(super) const KIND: Kind = Kind {
    anchor: "interrupts",
    title: "Interrupts",
    holds: |record| record.interrupt().is_some(),
    content,
    conditions: ListedConditions::Releases,
};

/// Published tables of the same quantity: physical machines, then virtual ones.
const TABLES: [&str; 2] = ["kong2021/table-1", "kong2021/table-2"];
/// Columns before a fact's name in a terminal, and columns of the name.
const FACTS: (usize, usize) = (0, 12);
/// Columns of a row's name.
const NAME: usize = 38;
/// Columns of a time, in µs.
const TIME: usize = 10;
/// Columns of a count.
const COUNT: usize = 11;

/// A record with its quantities.
struct Measured<'s> {
    record: &'s Record,
    run: &'s InterruptRun,
    lines: [InterruptLine; 4],
}

/// One quantity of an interrupt.
#[derive(Debug)]
struct InterruptLine {
    /// The heading of the row.
    name: &'static str,
    /// Definition: the events between which it is measured.
    meaning: &'static str,
    /// `true` if the published figures are of this quantity.
    is_published: bool,
    /// Statistics of the measured values.
    statistics: Statistics,
}

/// A published row; all times in ns.
#[derive(Clone, Debug, PartialEq)]
struct Beside {
    /// The system, as the paper names it.
    label: String,
    /// Identifier of the table.
    table: &'static str,
    /// Smallest of all values.
    min_ns: f64,
    /// Mean of all values.
    mean_ns: f64,
    /// Largest of all values.
    max_ns: f64,
}

fn content(section: &Section<'_>, reader: Reader) -> Content {
    let measured = section.records.iter().filter_map(|summary| {
        let run = summary.record.interrupt()?;
        Some(Measured { record: summary.record, run, lines: lines(summary, run) })
    });
    let all: Vec<Measured<'_>> = measured.collect();
    let mut content = Content::default();
    let published = beside();
    match reader {
        _ if all.is_empty() => {}
        Reader::Page => {
            content.answers = all.iter().map(answer).collect();
            of_page(&mut content, &all, &published);
            content.method(method());
        }
        Reader::Terminal => {
            all.iter().for_each(|one| of_terminal(&mut content, one));
            published_in_terminal(&mut content, &published);
        }
    }
    content
}

fn answer(measured: &Measured<'_>) -> Answer {
    let Measured { record, lines, .. } = measured;
    let first = &lines[0].statistics;
    let count = figures::count(first.count);
    let mut why = vec![plain(format!("{count} interrupts, {}. ", record.conditions.mode))];
    if !record.is_valid() {
        why.push(bold("The timing is not valid; see the reasons below. "));
    }
    why.push(plain("No class judges an interrupt."));
    let longest = figures::maximum(first);
    let tile = |line: &InterruptLine| Tile {
        label: line.name.to_owned(),
        value: figures::or_dash(line.statistics.mean_ns, figures::nanos_f64),
        note: format!("mean; {}", line.meaning),
    };
    Answer {
        tone: NEUTRAL,
        who: vec![plain("Interrupts, "), bold(&*record.partition)],
        word: format!("At most {longest} until its ISR has read the register"),
        why: vec![why],
        tiles: Some(lines.iter().map(tile).collect()),
        ..Answer::default()
    }
}

fn of_page(content: &mut Content, all: &[Measured<'_>], published: &[Beside]) {
    let drawn: Vec<_> = all.iter().map(|one| ranges_of(&one.lines, published)).collect();
    let scale = plot::scale_of(drawn.iter().flatten());
    for (Measured { record, run, lines }, ranges) in all.iter().zip(&drawn) {
        let held = &record.conditions;
        content.blocks.push(Block::Heading(held.mode.to_string(), None));
        let thread = format!("{} on CPU {}", held.policy, held.affinity);
        content.remark(format!("{}. {}. {thread}.", run.path, run.kernel));
        record.invalid_because.iter().for_each(|because| content.not_valid(because));
        content.blocks.push(figure(ranges, scale, !record.is_valid()));
        content.blocks.push(table(lines, published));
        if run.left_out > 0 {
            let left_out = figures::count(run.left_out);
            content.remark(format!(
                "{left_out} interrupts more were left out: they came while the task of the one \
                 before was still at work, or the board's thread came too late to raise them."
            ));
        }
    }
}

/// Lists the ranges that are drawn of a record: its own quantities, and the published rows.
fn ranges_of(lines: &[InterruptLine], published: &[Beside]) -> Vec<Range> {
    let measured = lines.iter().filter_map(|line| {
        Some(Range {
            label: line.name.to_owned(),
            min_ns: line.statistics.min_ns? as f64,
            mean_ns: line.statistics.mean_ns,
            max_ns: line.statistics.max_ns? as f64,
            is_published: false,
        })
    });
    let published = published.iter().map(|row| Range {
        label: row.label.clone(),
        min_ns: row.min_ns,
        mean_ns: Some(row.mean_ns),
        max_ns: row.max_ns,
        is_published: true,
    });
    measured.chain(published).collect()
}

fn figure(ranges: &[Range], scale: Scale, invalid: bool) -> Block {
    let not_valid = if invalid { "; what was measured here is emulated or not valid" } else { "" };
    let sub = "time to the right, logarithmic; the maximum is written behind";
    let name = "Minimum to maximum, the mean as a ring".to_owned();
    let legend = [("many", "measured"), ("few", "published, kong2021, tables 1 and 2")];
    Block::Figure(content::Figure {
        layout: Some("ranges"),
        caption: Some((name, format!("{sub}{not_valid}"))),
        legend: legend.map(|(class, words)| (class.to_owned(), words.to_owned())).into(),
        ..content::Figure::new(plot::ranges("Interrupt response", scale, ranges))
    })
}

fn time(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

fn table(lines: &[InterruptLine], published: &[Beside]) -> Block {
    let measured = lines.iter().map(|line| {
        let found = &line.statistics;
        Row {
            name: line.name.to_owned(),
            subs: vec!["measured".to_owned()],
            meaning: Some(line.meaning.to_owned()),
            cells: vec![
                Cell::time(time(found.min_ns)),
                Cell::time(found.mean_ns),
                Cell::time(time(found.p99_ns.map(Quantile::lower_bound))),
                Cell::time(time(found.max_ns)),
                Cell::time(time(found.jitter_peak_to_peak_ns)),
                Cell::plain(figures::count(found.count)),
            ],
            ..Row::default()
        }
    });
    let published = published.iter().map(|row| Row {
        name: row.label.clone(),
        subs: vec![row.table.to_owned()],
        meaning: None,
        cells: vec![
            Cell::time(Some(row.min_ns)),
            Cell::time(Some(row.mean_ns)),
            Cell::time(None),
            Cell::time(Some(row.max_ns)),
            Cell::time(Some(row.max_ns - row.min_ns)),
            Cell::plain(figures::count(10_000)),
        ],
        ..Row::default()
    });
    Block::Table(content::Table {
        name: "Interrupts".to_owned(),
        lead: Column::new("Interrupt", 0),
        columns: Column::all(["min", "mean", "p99", "max", "max − min", "count"], 0),
        rows: measured.chain(published).collect(),
        ..content::Table::default()
    })
}

fn of_terminal(content: &mut Content, measured: &Measured<'_>) {
    let Measured { record, run, lines } = measured;
    let held = &record.conditions;
    content.fact(FACTS, "interrupt", &format!("{}; {}", held.mode, run.path));
    content.fact(FACTS, "kernel", &run.kernel);
    content.fact(FACTS, "thread", &format!("{} on CPU {}", held.policy, held.affinity));
    for key in ["guest", "guest_exits", "clock_board"] {
        if let Some(text) = held.activity.get(key) {
            content.fact(FACTS, &key.replace('_', " "), text);
        }
    }
    for because in &record.invalid_because {
        content.fact(FACTS, "invalid", &because.to_string());
    }
    for because in &record.degraded {
        content.fact(FACTS, "degraded", &because.to_string());
    }
    content.blocks.push(Block::Gap);
    let row = |line: &InterruptLine| {
        let found = &line.statistics;
        let times = [
            time(found.min_ns),
            found.mean_ns,
            time(found.p99_ns.map(Quantile::lower_bound)),
            time(found.max_ns),
        ];
        let name = format!("{}{}", line.name, if line.is_published { " *" } else { "" });
        terminal_row(name, times, figures::count(found.count))
    };
    content.blocks.push(terminal_table("", lines.iter().map(row).collect()));
    if run.left_out > 0 {
        let left_out = figures::count(run.left_out);
        content.remark(format!("{left_out} interrupts more were left out, and not measured"));
    }
    content.blocks.push(Block::Gap);
}

/// Adds the published figures, and the quantity that they are of.
fn published_in_terminal(content: &mut Content, published: &[Beside]) {
    let row = |row: &Beside| {
        let times = [Some(row.min_ns), Some(row.mean_ns), None, Some(row.max_ns)];
        terminal_row(format!("  {}", row.label), times, "10 000".to_owned())
    };
    let name = "* published, 10 ms, another machine";
    content.blocks.push(terminal_table(name, published.iter().map(row).collect()));
    content.remark(
        "The register is what the paper read of its clock board in the ISR: tables 1 (physical \
         machines) and 2 (virtual ones) of kong2021.",
    );
    content.blocks.push(Block::Gap);
}

fn terminal_table(name: &str, rows: Vec<Row>) -> Block {
    let mut columns = Column::all(["min µs", "mean µs", "p99 µs", "max µs"], TIME);
    columns.push(Column::new("count", COUNT));
    let lead = Column::new(name, NAME);
    Block::Table(content::Table {
        name: "Interrupts".to_owned(),
        lead,
        columns,
        rows,
        ..content::Table::default()
    })
}

fn terminal_row(name: String, times_ns: [Option<f64>; 4], count: String) -> Row {
    let microseconds = |ns: Option<f64>| {
        Cell::plain(ns.map_or_else(|| NONE.to_owned(), |ns| format!("{:.2}", ns / 1e3)))
    };
    let mut cells: Vec<Cell> = times_ns.map(microseconds).into();
    cells.push(Cell::plain(count));
    Row { name, subs: Vec::new(), meaning: None, cells, ..Row::default() }
}

fn method() -> Vec<content::Paragraph> {
    vec![
        text(
            "A clock board raises an interrupt at the begin of each period and counts 10 ns from \
             there in a register, which the ISR reads: that is how kong2021 measured the \
             published figures, on a board of their own. Here the board is a device of the \
             virtual machine monitor. Its register is readable without leaving the guest: a page \
             holds the time stamp counter at the instant at which the interrupt was raised, and \
             the guest's driver subtracts it from its own counter. The interrupt is an event file \
             that KVM makes an interrupt of by itself.",
        ),
        text(
            "Published figures are of other machines and other systems, with a period of 10 ms \
             and 10 000 interrupts. They are drawn on the same axis; nothing is derived from \
             their ratio.",
        ),
    ]
}

/// Returns the quantities of a record of interrupts.
fn lines(summary: &RecordSummary<'_>, run: &InterruptRun) -> [InterruptLine; 4] {
    let of = Statistics::of_histogram;
    [
        InterruptLine {
            name: "by the register",
            meaning: "the clock board's register, which counts 10 ns from the interrupt on, as the \
                      ISR read it",
            is_published: true,
            statistics: of(&run.register),
        },
        InterruptLine {
            name: "by the counter",
            meaning: "the interrupt to the first statement of its ISR, by the time stamp counter",
            is_published: false,
            statistics: summary.statistics.clone(),
        },
        InterruptLine {
            name: "context switch",
            meaning: "before ActivateTask in the ISR to the first statement of the task",
            is_published: false,
            statistics: of(&run.switch),
        },
        InterruptLine {
            name: "until the task",
            meaning: "the interrupt to the first statement of the task that its ISR activates",
            is_published: false,
            statistics: of(&run.until_task),
        },
    ]
}

/// Reads the published rows of all tables.
fn beside() -> Vec<Beside> {
    let tables = TABLES.iter().filter_map(|id| published::find(id).ok());
    tables.flat_map(|table| table.rows.iter().filter_map(move |row| of_row(table, row))).collect()
}

fn of_row(table: &'static Table, row: &[published::Cell]) -> Option<Beside> {
    let figure = |figure| Some(table.nanos(row, table.figure(figure)?)?.0);
    Some(Beside {
        label: table.label(row),
        table: table.id,
        min_ns: figure(Figure::Minimum)?,
        mean_ns: figure(Figure::Mean)?,
        max_ns: figure(Figure::Maximum)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_five_rows_of_the_paper_stand_beside() {
        let rows = beside();
        let labels: Vec<_> = rows.iter().map(|row| (row.table, &*row.label)).collect();
        assert_eq!(
            labels,
            [
                ("kong2021/table-1", "VxWorks 6.8"),
                ("kong2021/table-1", "JARI-Works 3.2"),
                ("kong2021/table-2", "Wind River Hypervisor, VxWorks 6.8"),
                ("kong2021/table-2", "Linux+KVM+RT Patch, VxWorks 6.8"),
                ("kong2021/table-2", "Linux+KVM+RT Patch, JARI-Works 3.2"),
            ]
        );
        let last = &rows[4];
        let error = (last.min_ns - 18_320.0).abs()
            + (last.mean_ns - 19_760.0).abs()
            + (last.max_ns - 21_850.0).abs();
        assert!(error < 1e-6, "{last:?}");
    }
}
