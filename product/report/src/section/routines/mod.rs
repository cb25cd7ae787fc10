//! The routines of a kernel: the results of the probe `osek`.

mod kernel;

use quietcore_record::reason::Reason;
use quietcore_record::record::{Routine, Trigger};

use super::content::{
    Answer, Block, Cell, Column, Content, Figure, NEUTRAL, Paragraph, Row, Table, Tile, bold,
    plain, text,
};
use super::{Kind, ListedConditions, Reader, Section};
use crate::figures::{self, NONE};
use crate::plot;
pub(crate) use kernel::{KernelSummary, RoutineCell, RoutineRow, kernels};

pub(super) const KIND: Kind = Kind {
    anchor: "routines",
    title: "Routines of the kernel",
    holds: |record| record.routine().is_some(),
    content,
    conditions: ListedConditions::Untimed,
};

/// Columns before a fact's name in a terminal, and columns of the name.
const FACTS: (usize, usize) = (0, 8);
/// Columns before and of the name of the reasons why figures can't be trusted.
const INVALID: (usize, usize) = (0, 9);
/// Columns of a routine's name with the way of its interrupt.
const NAME: usize = 19;
/// Columns of a time, in ns.
const TIME: usize = 9;
/// Columns of the largest time.
const MAXIMUM: usize = 12;
/// Columns of a count.
const COUNT: usize = 7;

/// Columns of a run on the page: heading and meaning.
const COLUMNS: [(&str, &str); 8] = [
    ("min", "The smallest value, without the empty measurement."),
    ("median", "Half of all values were at most this."),
    (
        "mean",
        "Mean without a twentieth of the values at either end, less that of the empty measurement; \
         finer than the median where the clock counts in steps.",
    ),
    ("p99", "99 % quantile; given where at least ten values lie beyond it."),
    ("p99.99", "99.99 % quantile; given where at least ten values lie beyond it."),
    ("max", "The largest value seen; an observed maximum, never a worst case."),
    ("counts", "The median in counts of the clock."),
    ("clamped", "Values below the empty measurement, which count as zero."),
];

fn content(section: &Section<'_>, reader: Reader) -> Content {
    let kernels = kernel::kernels(section.evidence);
    let mut content = Content::default();
    match reader {
        _ if kernels.is_empty() => {}
        Reader::Page => {
            content.answers = kernels.iter().map(answer).collect();
            for kernel in &kernels {
                if kernels.len() > 1 {
                    let title = format!("Kernel on {}", kernel.partition);
                    content.blocks.push(Block::Heading(title, None));
                }
                of_page(&mut content, kernel);
            }
            content.method(method(&kernels));
        }
        Reader::Terminal => kernels.iter().for_each(|kernel| of_terminal(&mut content, kernel)),
    }
    content
}

/// Makes the answer, where the evidence is about a kernel alone.
fn answer(kernel: &KernelSummary<'_>) -> Answer {
    let median = |routine| {
        let cell = kernel.row(routine).and_then(RoutineRow::longest);
        figures::or_dash(cell.and_then(|cell| cell.figures.median_ns), figures::nanos_f64)
    };
    let tiles = [
        (Routine::Act, "ActivateTask, until the higher task runs"),
        (Routine::Actl, "ActivateTask of a lower task"),
        (Routine::Terml, "TerminateTask, until the lower task runs"),
        (Routine::Isr2entry, "interrupt, until its ISR 2 runs"),
    ];
    let tile = |(routine, what): (Routine, &str)| Tile {
        label: routine.name().to_owned(),
        value: median(routine),
        note: what.to_owned(),
    };
    let loops = kernel.runs.last().map_or_else(|| NONE.to_owned(), |run| figures::count(run.loops));
    let loops = format!("Median of {loops} loops, the empty measurement subtracted. ");
    let mut why = vec![plain(loops)];
    if kernel.cells().any(|cell| !cell.record.is_valid()) {
        why.push(bold("The timing is not valid; see the reasons below. "));
    }
    why.push(plain("Routines have no period and no deadline, so no class judges them."));
    Answer {
        tone: NEUTRAL,
        who: vec![plain("The kernel's routines, "), bold(kernel.partition)],
        word: format!("A switch to a higher task takes {}", median(Routine::Act)),
        why: vec![why],
        tiles: Some(tiles.map(tile).into()),
        ..Answer::default()
    }
}

fn of_page(content: &mut Content, kernel: &KernelSummary<'_>) {
    if let Some(cell) = kernel.cells().next() {
        let held = &cell.record.conditions;
        let clock = held.machine.get("clock_of_routines").filter(|clock| !clock.is_empty());
        let clock = clock.map_or_else(String::new, |clock| format!(". Clock: {clock}"));
        let thread = format!("{} on CPU {}", held.policy, held.affinity);
        content.remark(format!("{}. {thread}{clock}.", cell.run.kernel));
    }
    content.blocks.extend(figure(kernel));
    for (index, run) in kernel.runs.iter().enumerate() {
        let published = (run.loops == 100).then(|| "as published".to_owned());
        content.blocks.push(Block::Heading(run.label(), published));
        let cells = kernel.rows.iter().filter_map(|row| Some((row, row.cells[index].as_ref()?)));
        let column = |(name, meaning)| Column::new(name, 0).meaning(meaning);
        content.blocks.push(Block::Table(Table {
            name: format!("Routines, {}", run.profile),
            lead: Column::new("Routine", 0),
            columns: COLUMNS.map(column).into(),
            rows: cells.map(|(row, cell)| page_row(row, cell)).collect(),
            ..Table::default()
        }));
    }
}

fn figure(kernel: &KernelSummary<'_>) -> Option<Block> {
    let svg = plot::routines(kernel)?;
    let runs = plot::drawn(kernel);
    let legend = runs.iter().enumerate().map(|(place, run)| {
        (plot::class_of(place, runs.len()).to_owned(), kernel.runs[*run].label())
    });
    let name = "Minimum to maximum of each routine, the median as a ring".to_owned();
    let sub = "time upwards, logarithmic, what is shorter than its begin drawn there; the maximum \
               is written above";
    Some(Block::Figure(Figure {
        layout: Some("routines"),
        caption: Some((name, sub.to_owned())),
        legend: legend.collect(),
        ..Figure::new(svg)
    }))
}

fn page_row(row: &RoutineRow<'_>, cell: &RoutineCell<'_>) -> Row {
    let found = &cell.figures;
    let trigger = row.trigger.map(|trigger| trigger.name().to_owned());
    let invalid = (!cell.record.is_valid()).then(|| "invalid".to_owned());
    let times = [
        Some(found.min_ns),
        found.median_ns,
        found.mean_ns,
        found.p99_ns,
        found.p99_99_ns,
        Some(found.max_ns),
    ];
    let counts =
        [figures::or_dash(found.median_counts, figures::count), figures::count(cell.run.clamped)];
    Row {
        name: row.routine.name().to_owned(),
        subs: trigger.into_iter().chain(invalid).collect(),
        meaning: Some(row.routine.meaning().to_owned()),
        cells: times.map(Cell::time).into_iter().chain(counts.map(Cell::plain)).collect(),
        ..Row::default()
    }
}

fn of_terminal(content: &mut Content, kernel: &KernelSummary<'_>) {
    conditions(content, kernel);
    for (index, run) in kernel.runs.iter().enumerate() {
        let published = if run.loops == 100 { ", as published" } else { "" };
        content.remark(format!("{}{published}", run.label()));
        let cells = kernel.rows.iter().filter_map(|row| Some((row, row.cells[index].as_ref()?)));
        let times = ["min ns", "median ns", "mean ns", "p99 ns", "p99.99 ns"];
        let mut columns = Column::all(times, TIME);
        columns.push(Column::new("max ns", MAXIMUM));
        columns.extend(Column::all(["counts", "clamped"], COUNT));
        content.blocks.push(Block::Table(Table {
            name: format!("Routines, {}", run.profile),
            lead: Column::new("routine", NAME),
            columns,
            rows: cells.map(|(row, cell)| terminal_row(row, cell)).collect(),
            ..Table::default()
        }));
        content.blocks.push(Block::Gap);
    }
    columns_in_words(content, kernel);
    let distrusted = kernel.cells().filter(|cell| !cell.record.is_valid());
    let mut reasons: Vec<&Reason> = Vec::new();
    for because in distrusted.flat_map(|cell| &cell.record.invalid_because) {
        if !reasons.contains(&because) {
            reasons.push(because);
        }
    }
    reasons.iter().for_each(|because| content.fact(INVALID, "invalid:", &because.to_string()));
    content.blocks.push(Block::Gap);
}

/// Explains the columns and the figures.
fn columns_in_words(content: &mut Content, kernel: &KernelSummary<'_>) {
    let quantiles = if kernel.cells().any(|cell| cell.figures.p99_99_ns.is_none()) {
        " A quantile takes ten values beyond it."
    } else {
        ""
    };
    content.remark(format!(
        "Without the empty measurement: its median is subtracted from every value, its mean from \
         the mean, which leaves out a twentieth of the values at either end. counts: the median \
         in counts of the clock. clamped: values below the empty measurement, which count as \
         zero.{quantiles}"
    ));
    let ways = triggers(std::slice::from_ref(kernel));
    let ways: Vec<String> =
        ways.iter().map(|way| format!("{}: {}.", way.name(), way.meaning())).collect();
    if !ways.is_empty() {
        content.remark(ways.join(" "));
    }
}

/// Adds the conditions that the figures hold for.
fn conditions(content: &mut Content, kernel: &KernelSummary<'_>) {
    let Some(cell) = kernel.cells().next() else { return };
    let held = &cell.record.conditions;
    let of = |words: Option<&String>| words.filter(|words| !words.is_empty()).cloned();
    let locked = of(held.activity.get("memory_locked"));
    let locked = locked.map_or_else(String::new, |locked| format!(", {locked} locked"));
    content.fact(FACTS, "kernel", &cell.run.kernel);
    content.fact(FACTS, "thread", &format!("{} on CPU {}{locked}", held.policy, held.affinity));
    if let Some(clock) = of(held.machine.get("clock_of_routines")) {
        content.fact(FACTS, "clock", &clock);
    }
    for load in &held.loads {
        let rate = figures::amount(load.operations_per_second);
        let load = format!(
            "{} × {}: {rate} {}, {:.2} CPUs",
            load.workers, load.kind, load.unit, load.cpu_share
        );
        content.fact(FACTS, "load", &load);
    }
    content.blocks.push(Block::Gap);
}

fn terminal_row(row: &RoutineRow<'_>, cell: &RoutineCell<'_>) -> Row {
    let found = &cell.figures;
    let trigger = row.trigger.map_or_else(String::new, |trigger| format!(", {}", trigger.name()));
    let cells = [
        nanoseconds(Some(found.min_ns)),
        nanoseconds(found.median_ns),
        nanoseconds(found.mean_ns),
        nanoseconds(found.p99_ns),
        nanoseconds(found.p99_99_ns),
        nanoseconds(Some(found.max_ns)),
        figures::or_dash(found.median_counts, figures::count),
        figures::count(cell.run.clamped),
    ];
    Row {
        name: format!("{}{trigger}", row.routine.name()),
        subs: Vec::new(),
        meaning: None,
        cells: cells.map(Cell::plain).into(),
        ..Row::default()
    }
}

/// Formats a time in ns, its decimals below those of the others: with one below 1 µs, without from
/// there on.
fn nanoseconds(value_ns: Option<f64>) -> String {
    match value_ns {
        None => format!("{NONE}  "),
        Some(value) if value < 999.95 => format!("{value:.1}"),
        Some(value) => format!("{}  ", figures::count(value.round() as u64)),
    }
}

/// Lists the ways in which interrupts were brought.
fn triggers(kernels: &[KernelSummary<'_>]) -> Vec<Trigger> {
    let rows = || kernels.iter().flat_map(|kernel| &kernel.rows);
    let is_there = |way: &Trigger| rows().any(|row| row.trigger == Some(*way));
    Trigger::ALL.into_iter().filter(is_there).collect()
}

/// Explains the events between which each routine is measured, and the ways of its interrupt.
fn method(kernels: &[KernelSummary<'_>]) -> Vec<Paragraph> {
    let mut paragraphs = vec![text(
        "The ten routines are those of scordino2020, section IV-A, each from the statement before \
         to the statement after, in a program of one task for each of four priorities. An empty \
         measurement, two readings of the same shape, is made in the same run; its median is \
         subtracted from every value of the others, and shown as a row of its own. The paper \
         prints its figure 4 without numbers, so none of its figures stand here.",
    )];
    let ways = triggers(kernels);
    if ways.len() > 1 {
        paragraphs.push(text(
            "An interrupt is brought in several ways. By software is how the paper brought its \
             own; where one comes by itself, the interrupted task waits for it in a loop of two \
             loads.",
        ));
        let word = |way: &Trigger| (way.name().to_owned(), format!("{}.", way.meaning()));
        paragraphs.push(Paragraph::Glossary(ways.iter().map(word).collect()));
    }
    let word =
        |routine: Routine| (routine.name().to_owned(), format!("From {}.", routine.meaning()));
    paragraphs.push(Paragraph::Glossary(Routine::ALL.into_iter().map(word).collect()));
    paragraphs
}
