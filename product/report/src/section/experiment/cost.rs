//! The cost of backends: each against the one that the others are compared with, as a strip and as
//! a table.

use quietcore_record::experiment::{
    BackendCost, Cost, CostFigure, CostMeasure, CostQuantity, Figure as CostOf, Finding,
};
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

/// Names a figure: `p99 of release latency`, `mean of routine act`.
pub(crate) fn name_of(figure: &CostFigure) -> String {
    let routine = if figure.routine.is_some() { "routine " } else { "" };
    format!("{} of {routine}{}", figure.ratio.figure.title(), figure.title())
}

/// Formats a difference of times with its sign; one of routines, which take some tens of ns, with
/// what is below a nanosecond.
pub(crate) fn signed(quantity: CostQuantity, difference_ns: f64) -> String {
    let is_fine = quantity == CostQuantity::Routine;
    let told = if is_fine { difference_ns } else { difference_ns.round() };
    let sign = match told {
        0.0 => "±",
        less if less < 0.0 => "−",
        _ => "+",
    };
    let size =
        if is_fine { figures::nanos_f64(told.abs()) } else { figures::nanos(told.abs() as u64) };
    format!("{sign}{size}")
}

/// Formats the interval of a difference; `None` where there is none.
fn signed_interval(quantity: CostQuantity, difference: &Estimate) -> Option<String> {
    let (low, high) = difference.low.zip(difference.high)?;
    Some(format!("{} to {}", signed(quantity, low), signed(quantity, high)))
}

/// Describes the rounds and their blocks.
fn rounds_of(cost: &Cost) -> String {
    let Cost { rounds, reference, seed, .. } = cost;
    let (count, unit) = (figures::count(cost.cycles_in_block), cost.measure.unit());
    let blocks = match cost.measure {
        CostMeasure::Releases | CostMeasure::RoundTrips => {
            format!("{count} {unit} in each backend")
        }
        CostMeasure::Routines => {
            format!("{count} {unit} as a {reference}, and of as much time in each backend")
        }
    };
    format!("{rounds} rounds of {blocks}, in chance order by seed {seed}")
}

/// Explains what a measure is a measure of, beside the backends; `None` for releases.
const fn explanation(measure: CostMeasure) -> Option<&'static str> {
    match measure {
        CostMeasure::Releases => None,
        CostMeasure::Routines => Some(
            "The routines are those of scordino2020, without the readings of the clock. An \
             interrupt is raised by the interrupted task itself, or where both backends can, in \
             the way that the name ends with. A process and a container run the kernel on its \
             hosted port, and a guest on the bare one: a ratio is that of the ports as well.",
        ),
        CostMeasure::RoundTrips => Some(
            "A round trip is what the caller of a cycle waits for: from before the first frame is \
             handed over until the last one is back and its data are in the process image.",
        ),
    }
}

/// Names the kernels whose routines are compared, a line for each backend.
fn kernels(cost: &Cost) -> Vec<String> {
    let each = cost.backends.iter().map(|backend| (&backend.backend, &backend.kernel));
    let all = std::iter::once((&cost.reference, &cost.kernel)).chain(each);
    let named = all.filter_map(|(backend, kernel)| Some((backend, kernel.as_ref()?)));
    named.map(|(backend, kernel)| format!("Kernel in {backend}: {kernel}.")).collect()
}

/// Explains the signs of the figures in the drawing.
fn signs(measure: CostMeasure) -> String {
    let sign = |figure: &CostOf| match figure {
        CostOf::MeanNs => "ring: mean",
        CostOf::MedianNs => "ring: median",
        CostOf::P99Ns | CostOf::P999Ns => "bar: p99",
        CostOf::MaxNs => "diamond: maximum",
    };
    let all: Vec<&str> = measure.figures().iter().map(sign).collect();
    format!("{}, each over the rounds; a dot is a round", all.join(", "))
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
            signed(figure.quantity, difference_of(figure)),
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
        Some(figure) => (signed(figure.quantity, difference_of(figure)), name_of(figure)),
        None if cost.rounds < cost.rounds_needed => {
            ("too few rounds".to_owned(), format!("{} of {}", cost.rounds, cost.rounds_needed))
        }
        None => ("no cost found".to_owned(), "in any of the figures".to_owned()),
    };
    Tile::new(&backend.backend, value, note)
}

fn page(cost: &Cost, content: &mut Content) {
    content.answers.push(answer(cost));
    let name = format!("{} · {}", cost.partition, cost.task);
    content.blocks.push(Block::Heading(name, Some(rounds_of(cost))));
    too_few_on_page(content, cost.rounds, cost.rounds_needed);
    // Once for what a partition was measured by beside its tasks.
    if content.answers.len() == 1 || cost.measure == CostMeasure::Releases {
        content.remark(METHOD);
    }
    explanation(cost.measure).into_iter().for_each(|words| content.remark(words));
    if cost.kernel.is_some() {
        content.remark(kernels(cost).join(" "));
    }
    let legend =
        [("reference", format!("as a {}", cost.reference)), ("own", "in the backend".into())];
    content.blocks.push(Block::Figure(Figure {
        layout: Some("wide"),
        caption: Some((
            format!("Each backend, with the {} drawn in above it", cost.reference),
            signs(cost.measure),
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
                below: below(difference.and_then(|it| signed_interval(figure.quantity, &it))),
                ..of(difference.map(|it| signed(figure.quantity, it.median)))
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
    let mut bands: Vec<(String, usize)> = Vec::new();
    for figure in &backend.figures {
        match bands.last_mut().filter(|(name, _)| name == figure.title()) {
            Some((_, count)) => *count += 1,
            None => bands.push((figure.title().to_owned(), 1)),
        }
    }
    bands
}

fn terminal(cost: &Cost, content: &mut Content) {
    content.remark(format!(
        "{} · {}: {}; medians over the rounds, and differences and ratios of the same round",
        cost.partition,
        cost.task,
        rounds_of(cost)
    ));
    kernels(cost).into_iter().for_each(|words| content.remark(words));
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
        let difference = figure.difference_ns;
        let difference =
            difference.map_or(NONE.to_owned(), |it| signed(figure.quantity, it.median));
        let cells = vec![
            Cell::plain(figures::nanos_f64(figure.reference_ns)),
            Cell::plain(figures::nanos_f64(figure.backend_ns)),
            Cell::plain(difference),
            Cell::plain(ratio),
            Cell::plain(found(cost, backend, figure)),
        ];
        Row::new(format!("{} {}", figure.title(), figure.ratio.figure.title()), cells)
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
