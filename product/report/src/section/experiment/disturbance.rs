//! The disturbance matrix: neighbours × places as a heat map, with what each achieved and why
//! releases were late beside it.

use quietcore_record::experiment::{Disturbance, DisturbanceCell, Finding, Ratio};

use super::super::Reader;
use super::super::content::{
    Answer, Block, Cell, Column, Content, Figure, NEUTRAL, Row, Table, Tile, plain,
};
use super::heat::heat;
use super::{METHOD, ratio, releases, too_few, too_few_on_page};
use crate::figures::{self, NONE};
use crate::summary::{above, achieved, cause, exceedances, worst_cell};

/// Anchor and title of the section on the page.
pub(crate) const NAME: (&str, &str) = ("disturbance", "Disturbance");

/// Columns of a ratio with its interval.
const WITH_INTERVAL: usize = 24;

/// Makes the content of all matrices; empty where there is none.
pub(crate) fn content(matrices: &[Disturbance], reader: Reader) -> Content {
    let mut content = Content::default();
    let add = match reader {
        Reader::Page => page,
        Reader::Terminal => terminal,
    };
    matrices.iter().for_each(|matrix| add(matrix, &mut content));
    content
}

/// Names the neighbour that disturbs most, with its figures.
fn answer(matrix: &Disturbance) -> Answer {
    let worst = worst_cell(matrix);
    let word = match worst {
        Some(cell) => format!(
            "{} on the {} disturbs most: p99.9 {}",
            capital(&cell.aggressor.title()),
            cell.aggressor.placement.title(),
            figures::times(cell.p99_9.median())
        ),
        None => "No neighbour surely disturbs it".to_owned(),
    };
    let shown = |finding: Finding| {
        matrix.cells.iter().filter(|cell| cell.p99_9.finding == finding).count().to_string()
    };
    let quiet = format!(
        "maximum {} of {} releases",
        figures::nanos(matrix.quiet_max_ns),
        figures::count(matrix.quiet_cycles)
    );
    let latest = matrix.cells.iter().max_by_key(|cell| cell.max_ns).map(|cell| {
        let (kind, place) = (cell.aggressor.title(), cell.aggressor.placement.title());
        let beside = format!("beside {kind}, {place}");
        Tile::new("latest release", figures::nanos(cell.max_ns), beside)
    });
    let mut tiles = vec![Tile::new("quiet p99.9", figures::nanos(matrix.quiet_p99_9_ns), quiet)];
    tiles.extend(latest);
    let everywhere = "of all neighbours at all places";
    tiles.push(Tile::new("surely disturb", shown(Finding::More), everywhere));
    tiles.push(Tile::new("surely do not (within 5 %)", shown(Finding::NoDifference), ""));
    let cause = worst.and_then(cause).map(|cause| plain(format!("{}.", capital(&cause))));
    Answer {
        tone: NEUTRAL,
        who: vec![plain(format!("{} · {}", matrix.partition, matrix.task))],
        word,
        why: cause.into_iter().map(|cause| vec![cause]).collect(),
        tiles: Some(tiles),
        ..Answer::default()
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

fn page(matrix: &Disturbance, content: &mut Content) {
    content.answers.push(answer(matrix));
    let name = format!("{} · {}", matrix.partition, matrix.task);
    let rounds = format!("{} rounds for each neighbour", matrix.rounds);
    content.blocks.push(Block::Heading(name, Some(rounds)));
    too_few_on_page(content, matrix.rounds, matrix.rounds_needed);
    content.remark(METHOD);
    content.blocks.push(Block::Figure(Figure {
        layout: Some("wide"),
        caption: Some((
            "Release latency beside a neighbour over that of the quiet run".to_owned(),
            "p99.9 large, maximum below; shaded where the p99.9 was shown to differ".to_owned(),
        )),
        scrolls: Some("Disturbance matrix"),
        ..Figure::new(heat(matrix))
    }));
    content.blocks.push(Block::Table(neighbours(matrix)));
}

fn neighbours(matrix: &Disturbance) -> Table {
    let quiet_p99_9 = figures::nanos(matrix.quiet_p99_9_ns);
    let none = || Cell::plain(NONE);
    let quiet = Row {
        subs: vec![format!("p99.9 {quiet_p99_9}")],
        ..Row::new(
            "quiet",
            vec![
                none(),
                none(),
                releases(&matrix.quiet_above),
                Cell::quantity(figures::nanos(matrix.quiet_max_ns)),
                none(),
                none(),
                none(),
            ],
        )
    };
    Table {
        name: "Neighbours".to_owned(),
        lead: Column::new("Neighbour", 0),
        columns: vec![
            Column::new("p99.9", 0).below("over quiet"),
            Column::new("maximum", 0).below("over quiet"),
            Column::new("releases", 0).below(format!("above {quiet_p99_9}")),
            Column::new("latest", 0),
            Column::new("missed", 0),
            Column::words("achieved", 0),
            Column::reasons("cause of late releases"),
        ],
        rows: [quiet].into_iter().chain(matrix.cells.iter().map(neighbour)).collect(),
        ..Table::default()
    }
}

fn neighbour(cell: &DisturbanceCell) -> Row {
    let aggressor = &cell.aggressor;
    let invalid = (cell.invalid_blocks > 0)
        .then(|| Cell::plain(format!("{} blocks are invalid", cell.invalid_blocks)));
    let cells = vec![
        ratio(&cell.p99_9),
        ratio(&cell.max),
        releases(&cell.above_quiet),
        Cell::quantity(figures::nanos(cell.max_ns)),
        Cell::plain(figures::count(cell.missed_cycles)),
        Cell { below: invalid.into_iter().collect(), ..Cell::plain(achieved(cell)) },
        Cell::plain(cause(cell).unwrap_or_else(|| NONE.to_owned())),
    ];
    Row {
        subs: vec![format!("{} on CPU {}", aggressor.workers, aggressor.cpus)],
        ..Row::new(format!("{}, {}", aggressor.title(), aggressor.placement.title()), cells)
    }
}

fn terminal(matrix: &Disturbance, content: &mut Content) {
    content.remark(format!(
        "{} · {}: quiet p99.9 {} ({} above), maximum {} in {} rounds; ratios are beside a \
         neighbour over quiet",
        matrix.partition,
        matrix.task,
        figures::nanos(matrix.quiet_p99_9_ns),
        above(&matrix.quiet_above),
        figures::nanos(matrix.quiet_max_ns),
        matrix.rounds
    ));
    too_few(content, matrix.rounds, matrix.rounds_needed);
    let row = |cell: &DisturbanceCell| {
        let ratio = |it: &Ratio| it.ratio.as_ref().map_or(NONE.to_owned(), figures::ratio);
        let values = [ratio(&cell.p99_9), ratio(&cell.max)].map(Cell::plain);
        let place = Cell::plain(cell.aggressor.placement.title());
        Row::new(cell.aggressor.title(), [place].into_iter().chain(values).collect())
    };
    let ratios = ["p99.9 (95 %)", "maximum (95 %)"].map(|name| Column::new(name, WITH_INTERVAL));
    content.blocks.push(Block::Table(Table {
        name: "Neighbours".to_owned(),
        lead: Column::new("neighbour", "neighbour".len()),
        columns: [Column::words("place", 0)].into_iter().chain(ratios).collect(),
        rows: matrix.cells.iter().map(row).collect(),
        ..Table::default()
    }));
    content.blocks.push(Block::Gap);
    matrix.cells.iter().for_each(|cell| content.fact((2, 0), "", &in_words(cell)));
    content.blocks.push(Block::Gap);
}

fn in_words(cell: &DisturbanceCell) -> String {
    let mut more = vec![achieved(cell), exceedances(&cell.above_quiet)];
    more.extend(cause(cell));
    if cell.missed_cycles > 0 {
        more.push(format!("{} missed cycles", figures::count(cell.missed_cycles)));
    }
    if cell.invalid_blocks > 0 {
        more.push(format!("{} blocks are invalid", cell.invalid_blocks));
    }
    let (kind, place) = (cell.aggressor.title(), cell.aggressor.placement.title());
    format!("{kind}, {place}, CPU {}: {}", cell.aggressor.cpus, more.join("; "))
}
