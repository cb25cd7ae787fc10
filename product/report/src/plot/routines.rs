//! The routines of a kernel, as in figure 4 of scordino2020: a stroke from the smallest to the
//! largest value of each, on a logarithmic axis upwards, with the median marked.
//!
//! ```text
//!  100 µs ┤            │
//!   10 µs ┤   │        │        │ 100 loops    ┃ 1 000 000 loops
//!    1 µs ┤   ┃     ╎  ┃
//!  100 ns ┤  │●     ╎ │●
//!   10 ns ┤   ┃     ╎  ┃
//!           act …      isrentry, signal …
//! ```
//!
//! Horizontal places are percentages, so that text keeps its size on a telephone; text under and
//! above the strokes stands upright for the same reason.

use maud::PreEscaped;
use quietcore_record::record::Trigger;

use super::axis::{Scale, time_mark};
use super::svg::{Anchor, Svg, X};
use crate::figures;
use crate::section::routines::{KernelSummary, RoutineCell, RoutineRow};

const HEIGHT: f64 = 400.0;
/// Room for the maxima, which are written above the strokes.
const TOP: f64 = 62.0;
/// Room for the names of the routines.
const BOTTOM: f64 = HEIGHT - 104.0;
/// Places where the strokes begin and end, in per cent: on the left is room for the marks of the
/// axis.
const LEFT: f64 = 11.5;
const RIGHT: f64 = 99.5;

/// The most runs that are drawn: the first and those with the most loops.
pub(crate) const RUNS_MAX: usize = 2;

/// Value that anything smaller is drawn at, in ns, because it can't be told from nothing.
const LEAST: f64 = 1.0;

/// Classes of the runs that are drawn, the last one as the accent.
const CLASSES: [&str; RUNS_MAX] = ["few", "many"];

/// Returns the indices of the runs that are drawn, at most [`RUNS_MAX`].
pub(crate) fn drawn(kernel: &KernelSummary<'_>) -> Vec<usize> {
    match kernel.runs.len() {
        count if count <= RUNS_MAX => (0..count).collect(),
        count => vec![0, count - 1],
    }
}

/// Returns the class of a run that is drawn, by its place among `count` runs.
pub(crate) fn class_of(place: usize, count: usize) -> &'static str {
    CLASSES[(place + RUNS_MAX - count.min(RUNS_MAX)).min(RUNS_MAX - 1)]
}

/// Draws the routines of a kernel; `None` where there is no value.
pub(crate) fn routines(kernel: &KernelSummary<'_>) -> Option<PreEscaped<String>> {
    let scale = scale_of(kernel)?;
    let runs = drawn(kernel);
    let title = format!("Routines of the kernel, {}", kernel.partition);
    let mut svg = Svg::stretched("routines", HEIGHT, &title, &about(kernel));
    marks(&mut svg, scale);
    let width = (RIGHT - LEFT) / kernel.rows.len().max(1) as f64;
    let highest = highest(kernel, &runs);
    for (index, row) in kernel.rows.iter().enumerate() {
        let left = LEFT + width * index as f64;
        let other =
            |trigger: Option<Trigger>| trigger != Some(Trigger::Software) && trigger.is_some();
        let is_first =
            other(row.trigger) && index > 0 && kernel.rows[index - 1].trigger != row.trigger;
        if is_first {
            svg.line("border", (X::Percent(left), TOP - 6.0), (X::Percent(left), HEIGHT));
        }
        let middle = X::Percent(left + width / 2.0);
        svg.upright("name", (middle, BOTTOM + 8.0), Anchor::Start, &row.label());
        for (place, run) in runs.iter().enumerate() {
            let Some(cell) = &row.cells[*run] else { continue };
            let part = (place as f64 + 1.0) / (runs.len() as f64 + 1.0);
            let x = X::Percent(left + width * part);
            stroke(&mut svg, scale, x, class_of(place, runs.len()), cell);
            if place + 1 == runs.len() {
                let class = if Some(index) == highest { "value highest" } else { "value" };
                let above = y(scale, cell.figures.max_ns) - 7.0;
                let text = figures::nanos_f64(cell.figures.max_ns);
                svg.upright(class, (x, above), Anchor::End, &text);
            }
        }
        let corner = (X::Percent(left), TOP);
        let size = (X::Percent(width), BOTTOM - TOP);
        svg.begin("hover");
        svg.rect("column", corner, size, Some(&tooltip(kernel, row)));
        svg.end();
    }
    Some(svg.finish())
}

/// Returns an axis that holds all values; `None` where there is none.
fn scale_of(kernel: &KernelSummary<'_>) -> Option<Scale> {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for cell in kernel.cells().filter(|cell| cell.run.raw.count() > 0) {
        least = least.min(cell.figures.min_ns.max(LEAST));
        most = most.max(cell.figures.max_ns.max(LEAST));
    }
    least.is_finite().then(|| Scale::logarithmic_around(least, most))
}

fn y(scale: Scale, value_ns: f64) -> f64 {
    BOTTOM - scale.part(value_ns) * (BOTTOM - TOP)
}

/// Returns the row with the largest maximum, which is written even where there is no room for
/// others.
fn highest(kernel: &KernelSummary<'_>, runs: &[usize]) -> Option<usize> {
    let last = *runs.last()?;
    let of =
        |row: &RoutineRow<'_>| row.cells[last].as_ref().map_or(0.0, |cell| cell.figures.max_ns);
    let rows = kernel.rows.iter().enumerate();
    rows.max_by(|one, other| of(one.1).total_cmp(&of(other.1))).map(|(index, _)| index)
}

fn marks(svg: &mut Svg, scale: Scale) {
    for tick in scale.ticks(time_mark) {
        let height = y(scale, tick.value);
        if tick.label.is_empty() {
            continue;
        }
        svg.line("grid", (X::Percent(LEFT), height), (X::Percent(RIGHT), height));
        svg.text("tick", (X::Percent(LEFT - 1.0), height + 4.0), Anchor::End, &tick.label);
    }
    svg.text("tick", (X::Percent(0.0), 11.0), Anchor::Start, "↑ time, logarithmic");
    svg.line("base", (X::Percent(LEFT), BOTTOM), (X::Percent(RIGHT), BOTTOM));
}

/// Draws a stroke from the smallest to the largest value, and the median.
fn stroke(svg: &mut Svg, scale: Scale, x: X, class: &str, cell: &RoutineCell<'_>) {
    let (low, high) = (y(scale, cell.figures.min_ns), y(scale, cell.figures.max_ns));
    // A stroke without length would not be seen.
    let high = high.min(low - 2.0);
    svg.line(&format!("span {class}"), (x, low), (x, high));
    if let Some(median) = cell.figures.median_ns {
        svg.circle(&format!("middle {class}"), (x, y(scale, median)), 3.0, None);
    }
}

/// Describes all runs of a routine.
fn tooltip(kernel: &KernelSummary<'_>, row: &RoutineRow<'_>) -> String {
    let mut text = format!("{}: {}", row.label(), row.routine.meaning());
    for (run, cell) in kernel.runs.iter().zip(&row.cells) {
        let Some(cell) = cell else { continue };
        let median = cell.figures.median_ns.map_or_else(String::new, figures::nanos_f64);
        text.push_str(&format!(
            "\n{} loops: minimum {}, median {median}, maximum {}",
            figures::count(run.loops),
            figures::nanos_f64(cell.figures.min_ns),
            figures::nanos_f64(cell.figures.max_ns)
        ));
    }
    text
}

fn about(kernel: &KernelSummary<'_>) -> String {
    let mut text = "Time upwards, logarithmic; each stroke from minimum to maximum, a ring at the \
                    median."
        .to_owned();
    for row in &kernel.rows {
        if let Some(cell) = row.longest() {
            let median = figures::or_dash(cell.figures.median_ns, figures::nanos_f64);
            text.push_str(&format!(" {}: median {median}.", row.label()));
        }
    }
    text
}
