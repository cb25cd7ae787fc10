//! The cost of backends: each against the one that the others are compared with, as a strip and as
//! a table.

use quietcore_record::experiment::{BackendCost, Cost, CostFigure, CostQuantity, Finding};
use quietcore_record::slowdown::Estimate;

use super::super::Reader;
use super::super::content::{
    Answer, Block, Cell, Column, Content, Figure, NEUTRAL, Row, Span, Table, Tile, bold, plain,
};
use super::{METHOD, too_few, too_few_on_page};
use crate::figures::{self, NONE};
use crate::plot;

/// Anchor and title of the section on the page.
pub(crate) const NAME: (&str, &str) = ("cost", "Cost of backends");

/// Columns of a figure's name, of a time, and of a ratio with its interval.
const FIGURE: usize = 22;
const TIME: usize = 10;
const WITH_INTERVAL: usize = 22;

/// Makes the content of all costs; empty where there is none.
pub(crate) fn content(costs: &[Cost], reader: Reader) -> Content {
    let mut content = Content::default();
    let add = match reader {
        Reader::Page => page,
        Reader::Terminal => terminal,
    };
    costs.iter().for_each(|cost| add(cost, &mut content));
    content
}

/// Returns the figure that surely costs most time; `None` where none surely costs any.
pub(crate) fn dearest(backend: &BackendCost) -> Option<&CostFigure> {
    let dear = backend.figures.iter().filter(|figure| figure.ratio.finding == Finding::More);
    // Of equal ones the first: response times hold what release latencies cost.
    dear.rev().max_by(|one, other| difference_of(one).total_cmp(&difference_of(other)))
}

fn difference_of(figure: &CostFigure) -> f64 {
    figure.difference_ns.map_or(0.0, |difference| difference.median)
}

/// Tells what was found about a figure.
pub(crate) fn found(cost: &Cost, backend: &BackendCost, figure: &CostFigure) -> &'static str {
    let contains_one = |ratio: &Estimate| {
        ratio.low.zip(ratio.high).is_none_or(|(low, high)| low <= 1.0 && high >= 1.0)
    };
    match figure.ratio.finding {
        _ if !backend.valid => "timing not valid",
        Finding::More => "costs more",
        Finding::Less => "costs less",
        Finding::NoDifference => "no difference",
        Finding::NotKnown if cost.rounds < cost.rounds_needed => "too few rounds",
        Finding::NotKnown if figure.ratio.ratio.as_ref().is_none_or(contains_one) => {
            "no difference found"
        }
        Finding::NotKnown => "not sure",
    }
}

/// Names a figure: `p99 of release latency`.
pub(crate) fn name_of(figure: &CostFigure) -> String {
    format!("{} of {}", figure.ratio.figure.title(), figure.quantity.title())
}

/// Formats a difference of times with its sign.
pub(crate) fn signed(difference_ns: f64) -> String {
    let sign = match difference_ns.round() {
        0.0 => "±",
        less if less < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{}", figures::nanos(difference_ns.abs().round() as u64))
}

/// Formats the interval of a difference; `None` where there is none.
fn signed_interval(difference: &Estimate) -> Option<String> {
    let (low, high) = difference.low.zip(difference.high)?;
    Some(format!("{} to {}", signed(low), signed(high)))
}

/// Names the backend that surely costs most, and what each costs.
fn answer(cost: &Cost) -> Answer {
    let dear = cost.backends.iter().filter_map(|it| Some((it, dearest(it)?)));
    let most =
        dear.max_by(|(_, one), (_, other)| difference_of(one).total_cmp(&difference_of(other)));
    let word = match most {
        Some((backend, figure)) => format!(
            "{} costs most: {} in the {}",
            backend.backend,
            signed(difference_of(figure)),
            name_of(figure)
        ),
        None if cost.backends.iter().all(|backend| !backend.valid) => {
            "No cost can be told: timing not valid".to_owned()
        }
        None if cost.rounds < cost.rounds_needed => format!(
            "Too few rounds to tell what a backend costs: {} of {}",
            cost.rounds, cost.rounds_needed
        ),
        None => "No backend was shown to cost anything".to_owned(),
    };
    Answer {
        tone: NEUTRAL,
        who: vec![plain(format!("{} · {}", cost.partition, cost.task))],
        word,
        tiles: Some(cost.backends.iter().map(|backend| tile(cost, backend)).collect()),
        ..Answer::default()
    }
}

fn tile(cost: &Cost, backend: &BackendCost) -> Tile {
    let (value, note) = match dearest(backend) {
        _ if !backend.valid => ("timing not valid".to_owned(), String::new()),
        Some(figure) => (signed(difference_of(figure)), name_of(figure)),
        None if cost.rounds < cost.rounds_needed => {
            ("too few rounds".to_owned(), format!("{} of {}", cost.rounds, cost.rounds_needed))
        }
        None => ("no cost found".to_owned(), "in any of the figures".to_owned()),
    };
    Tile::new(&backend.backend, value, note)
}

fn page(cost: &Cost, content: &mut Content) {
    content.answers.push(answer(cost));
    let rounds = format!(
        "{} rounds of {} releases in each backend, in chance order by seed {}",
        cost.rounds,
        figures::count(cost.cycles_in_block),
        cost.seed
    );
    let name = format!("{} · {}", cost.partition, cost.task);
    content.blocks.push(Block::Heading(name, Some(rounds)));
    too_few_on_page(content, cost.rounds, cost.rounds_needed);
    content.remark(METHOD);
    let legend =
        [("reference", format!("as a {}", cost.reference)), ("own", "in the backend".into())];
    content.blocks.push(Block::Figure(Figure {
        layout: Some("wide"),
        caption: Some((
            format!("Each backend, with the {} drawn in above it", cost.reference),
            "ring: median, bar: p99, diamond: maximum, each over the rounds; a dot is a round"
                .to_owned(),
        )),
        legend: legend.map(|(class, word)| (class.to_owned(), word)).into(),
        scrolls: Some("Cost of each backend"),
        ..Figure::new(plot::cost_strips(cost))
    }));
    for backend in &cost.backends {
        let heading = format!("{} against {}", backend.backend, cost.reference);
        content.blocks.push(Block::SubHeading(heading, None));
        invalid(backend, content);
        content.blocks.push(Block::Table(figures_of(cost, backend)));
    }
}

/// Says of a backend whose times mean nothing why, and what its figures are good for.
fn invalid(backend: &BackendCost, content: &mut Content) {
    if !backend.valid {
        content.blocks.push(Block::Remark(vec![
            bold("Not valid: "),
            Span::Marked(because(backend)),
            plain(". Its figures show that it works, and nothing is judged by them."),
        ]));
    } else if backend.invalid_blocks > 0 {
        let count = backend.invalid_blocks;
        content
            .remark(format!("{count} blocks may not be trusted, and are no part of the figures."));
    }
}

/// Tells the first reason, and how many others there are: each block may have its own.
fn because(backend: &BackendCost) -> String {
    match &backend.invalid_because[..] {
        [] => "no block may be trusted".to_owned(),
        [only] => only.clone(),
        [first, others @ ..] => format!("{first} (and {} more)", others.len()),
    }
}

fn figures_of(cost: &Cost, backend: &BackendCost) -> Table {
    let row = |figure: &CostFigure| {
        let word = found(cost, backend, figure);
        let tone = match figure.ratio.finding {
            Finding::More if backend.valid => "fail",
            Finding::Less if backend.valid => "pass",
            _ => "neutral",
        };
        let difference = figure.difference_ns;
        let of = |text: Option<String>| Cell::plain(text.unwrap_or_else(|| NONE.to_owned()));
        let below = |text: Option<String>| text.into_iter().map(Cell::plain).collect();
        let ratio = figure.ratio.ratio;
        let cells = vec![
            Cell::quantity(figures::nanos_f64(figure.reference_ns)),
            Cell::quantity(figures::nanos_f64(figure.backend_ns)),
            Cell {
                below: below(difference.as_ref().and_then(signed_interval)),
                ..of(difference.map(|it| signed(it.median)))
            },
            Cell {
                below: below(ratio.as_ref().and_then(figures::interval)),
                ..of(ratio.map(|it| figures::times(it.median)))
            },
            Cell::plain(word).tone(tone),
        ];
        Row::new(figure.ratio.figure.title(), cells)
    };
    Table {
        name: format!("Cost of {}", backend.backend),
        lead: Column::new("Figure", 0),
        columns: vec![
            Column::new(format!("as a {}", cost.reference), 0),
            Column::new(format!("in {}", backend.backend), 0),
            Column::new("difference", 0).below("95 % interval"),
            Column::new("ratio", 0).below("95 % interval"),
            Column::words("found", 0),
        ],
        rows: backend.figures.iter().map(row).collect(),
        bands: bands(backend),
        ..Table::default()
    }
}

/// Returns the name of each time that the backend has figures of, and their number.
fn bands(backend: &BackendCost) -> Vec<(String, usize)> {
    let of = |quantity| backend.figures.iter().filter(|it| it.quantity == quantity).count();
    let all = CostQuantity::ALL.into_iter().map(|quantity| (quantity, of(quantity)));
    let there = all.filter(|(_, count)| *count > 0);
    there.map(|(quantity, count)| (quantity.title().to_owned(), count)).collect()
}

fn terminal(cost: &Cost, content: &mut Content) {
    content.remark(format!(
        "{} · {}: {} rounds of {} releases in each backend, in chance order by seed {}; medians \
         over the rounds, and differences and ratios of the same round",
        cost.partition,
        cost.task,
        cost.rounds,
        figures::count(cost.cycles_in_block),
        cost.seed
    ));
    too_few(content, cost.rounds, cost.rounds_needed);
    content.blocks.push(Block::Gap);
    for backend in &cost.backends {
        content.blocks.push(Block::Table(in_columns(cost, backend)));
        if !backend.valid {
            let words = format!("{}: not valid: {}", backend.backend, because(backend));
            content.fact((0, 2), "!", &words);
        }
        if backend.invalid_blocks > 0 && backend.valid {
            let words =
                format!("{}: {} blocks are invalid", backend.backend, backend.invalid_blocks);
            content.fact((0, 2), "!", &words);
        }
        content.blocks.push(Block::Gap);
    }
}

fn in_columns(cost: &Cost, backend: &BackendCost) -> Table {
    let row = |figure: &CostFigure| {
        let ratio = figure.ratio.ratio.as_ref().map_or(NONE.to_owned(), figures::ratio);
        let difference = figure.difference_ns.map_or(NONE.to_owned(), |it| signed(it.median));
        let cells = vec![
            Cell::plain(figures::nanos_f64(figure.reference_ns)),
            Cell::plain(figures::nanos_f64(figure.backend_ns)),
            Cell::plain(difference),
            Cell::plain(ratio),
            Cell::plain(found(cost, backend, figure)),
        ];
        Row::new(format!("{} {}", figure.quantity.title(), figure.ratio.figure.title()), cells)
    };
    Table {
        name: format!("Cost of {}", backend.backend),
        lead: Column::new(&*backend.backend, FIGURE),
        columns: vec![
            Column::new(&*cost.reference, TIME),
            Column::new(&*backend.backend, TIME),
            Column::new("difference", TIME),
            Column::new("ratio (95 %)", WITH_INTERVAL),
            Column::words("found", 0),
        ],
        rows: backend.figures.iter().map(row).collect(),
        ..Table::default()
    }
}
