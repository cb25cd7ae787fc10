//! The tables of accesses to memory: their time in each cache, and the cost of neighbours.

use quietcore_record::record::AccessPattern;
use quietcore_record::slowdown::{Estimate, Pressure, RoutineSlowdown};

use super::super::content::{Block, Cell, Column, Row, Table};
use super::{MemorySummary, Plateau};
use crate::figures::{self, NONE};

/// Columns of a row's name.
const NAME: usize = 22;
/// Columns of a size, a time or a rate.
const VALUE: usize = 12;
/// Columns of a ratio with its interval.
const RATIO: usize = 22;

/// Tabulates the time of an access in each cache and beyond, on the page.
pub(super) fn plateaus(memory: &MemorySummary<'_>, ways: Option<u32>) -> Option<Block> {
    let of = |pattern| memory.plateaus(ways, pattern).into_iter().map(move |it| (pattern, it));
    let row = |(pattern, plateau): (AccessPattern, Plateau)| Row {
        name: pattern.name().to_owned(),
        subs: vec![place(&plateau)],
        meaning: None,
        cells: vec![
            Cell::plain(figures::bytes(plateau.working_set_bytes)),
            Cell::time(plateau.alone.map(|it| it.median)),
            Cell::time(plateau.beside.map(|it| it.median)),
            ratio(plateau.slowdown),
        ],
        ..Row::default()
    };
    let rows: Vec<Row> = AccessPattern::ALL.into_iter().flat_map(of).map(row).collect();
    let working_set = "The working set that stands for it: the largest one of at most three \
                       quarters of the cache";
    let slowdown = "Median of the ratios of pairs, with its 95 % interval";
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            name: "Access time in each cache".to_owned(),
            lead: Column::new("Access", 0),
            columns: vec![
                Column::new("working set", 0).meaning(working_set),
                Column::new("alone", 0),
                Column::new("beside neighbours", 0),
                Column::new("slowdown", 0).meaning(slowdown),
            ],
            rows,
            ..Table::default()
        })
    })
}

/// Tabulates the same of one pattern, for a terminal.
pub(super) fn plateaus_in_terminal(pattern: AccessPattern, plateaus: &[Plateau]) -> Block {
    let time = |it: Option<Estimate>| {
        Cell::plain(it.map_or_else(|| NONE.to_owned(), |it| format!("{:.2}", it.median)))
    };
    let row = |plateau: &Plateau| Row {
        name: format!("  {}", place(plateau)),
        subs: Vec::new(),
        meaning: None,
        cells: vec![
            Cell::plain(figures::bytes(plateau.working_set_bytes)),
            time(plateau.alone),
            time(plateau.beside),
            ratio(plateau.slowdown),
        ],
        ..Row::default()
    };
    let mut columns = Column::all(["working set", "alone ns", "beside ns"], VALUE);
    columns.push(Column::new("slowdown (95 %)", RATIO));
    Block::Table(Table {
        name: "Access time in each cache".to_owned(),
        lead: Column::new(format!("{} access", pattern.name()), NAME),
        columns,
        rows: plateaus.iter().map(row).collect(),
        ..Table::default()
    })
}

fn place(plateau: &Plateau) -> String {
    match plateau.cache_bytes {
        Some(bytes) => format!("in {} of {}", plateau.place, figures::bytes(bytes)),
        None => format!("in {}", plateau.place),
    }
}

/// Tabulates the slowdown over the neighbours' rate, for a terminal; the page has a drawing of it.
pub(super) fn pressure(pressure: &Pressure) -> Block {
    let mut columns = Column::all(["asked", "achieved"], VALUE);
    columns.push(Column::new("slowdown (95 %)", RATIO));
    let rows = pressure.points.iter().map(|point| Row {
        name: String::new(),
        subs: Vec::new(),
        meaning: None,
        cells: vec![
            Cell::plain(format!("{:.1} %", f64::from(point.asked_permille) / 10.0)),
            Cell::plain(figures::rate(point.bytes_per_second)),
            Cell::plain(figures::ratio(&point.ratio)),
        ],
        ..Row::default()
    });
    Block::Table(Table {
        name: "Pressure".to_owned(),
        lead: Column::new("pressure, neighbours", NAME),
        columns,
        rows: rows.collect(),
        ..Table::default()
    })
}

/// Tabulates the cost of neighbours for each routine, on the page.
pub(super) fn routines(rows: &[RoutineSlowdown]) -> Block {
    let row = |row: &RoutineSlowdown| Row {
        name: figures::routine(row.routine, row.trigger),
        subs: Vec::new(),
        meaning: Some(row.routine.meaning().to_owned()),
        cells: vec![
            Cell::quantity(figures::nanos_f64(row.alone_mean_ns)),
            ratio(row.ratio),
            Cell::plain(format!("{:.1}×", row.relative_alone[2])),
            Cell::plain(format!("{:.1}×", row.relative_beside[2])),
            Cell::plain(published(row, "≤ ", "")),
        ],
        ..Row::default()
    };
    let largest = "Largest value over the mean alone";
    let slowdown = "Median of the ratios of blocks, with its 95 % interval";
    Block::Table(Table {
        name: "Routines beside neighbours".to_owned(),
        lead: Column::new("Routine", 0),
        columns: vec![
            Column::new("mean alone", 0),
            Column::new("slowdown", 0).meaning(slowdown),
            Column::new("max alone", 0).meaning(largest),
            Column::new("max beside", 0).meaning(largest),
            Column::new("scordino2020", 0).meaning("Bounds that the text on figure 6 gives"),
        ],
        rows: rows.iter().map(row).collect(),
        ..Table::default()
    })
}

/// Tabulates the same for a terminal.
pub(super) fn routines_in_terminal(rows: &[RoutineSlowdown]) -> Block {
    let row = |row: &RoutineSlowdown| Row {
        name: figures::routine(row.routine, row.trigger),
        subs: Vec::new(),
        meaning: None,
        cells: vec![
            Cell::plain(format!("{:.1}", row.alone_mean_ns)),
            ratio(row.ratio),
            Cell::plain(published(row, "at most ", "×")),
        ],
        ..Row::default()
    };
    let mut columns = Column::all(["alone ns"], VALUE);
    columns.extend(Column::all(["slowdown (95 %)", "scordino2020, figure 6"], RATIO));
    Block::Table(Table {
        name: "Routines beside neighbours".to_owned(),
        lead: Column::new("routine beside", NAME),
        columns,
        rows: rows.iter().map(row).collect(),
        ..Table::default()
    })
}

fn ratio(estimate: Option<Estimate>) -> Cell {
    Cell::plain(figures::or_dash(estimate.as_ref(), figures::ratio))
}

/// Formats the published bounds; `sign` stands behind the lower one, too.
fn published(row: &RoutineSlowdown, at_most: &str, sign: &str) -> String {
    row.published.map_or_else(
        || NONE.to_owned(),
        |bounds| match bounds.least {
            Some(least) => format!("{least}{sign} to {}×", bounds.most),
            None => format!("{at_most}{}×", bounds.most),
        },
    )
}
