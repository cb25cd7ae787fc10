//! Strips of backends on one axis of time, each with the reference drawn in: a row for each time of
//! a cycle, or for each routine, the reference above in grey, the backend below in colour.
//!
//! ```text
//! kvm
//! release latency    ··○·────│··────◇···       p99 of the reference
//!                      ··○·────│··────◇··      p99 +1.20 µs, 1.35×
//! execution time     …
//!                 ┼────────┼────────┼──
//!                1 µs    10 µs    100 µs
//! ```

use maud::PreEscaped;
use quietcore_record::experiment::{
    BackendCost, Cost, CostFigure, CostMeasure, CostRound, Figure, Finding,
};

use super::super::axis::{Scale, time_mark};
use super::super::svg::{Anchor, Svg, X};
use crate::figures;
use crate::section::experiment::cost::{found, signed};

/// The heights of a strip's name and of a row.
const NAME: f64 = 30.0;
const ROW: f64 = 38.0;
const TOP: f64 = 4.0;
/// Room for the marks of the axis.
const AXIS: f64 = 40.0;
/// Places where times begin and end, and where words stand, in per cent.
const LEFT: f64 = 15.0;
const RIGHT: f64 = 74.0;
const WORDS: f64 = 76.0;
/// Distances of the reference's and of the backend's stroke from the top of a row.
const REFERENCE: f64 = 11.0;
const OWN: f64 = 25.0;

/// The times of the reference, or those of the backend: over the rounds, and in one.
type Side = (fn(&CostFigure) -> f64, fn(&CostRound) -> f64);

/// Draws a strip for each backend.
pub(crate) fn strips(cost: &Cost) -> PreEscaped<String> {
    let of = |backend: &BackendCost| NAME + ROW * rows(backend).len() as f64;
    let bottom = TOP + cost.backends.iter().map(of).sum::<f64>();
    let title = "What each backend costs";
    let mut svg = Svg::stretched("ranges costs", bottom + AXIS, title, &about(cost));
    let scale = scale_of(cost);
    for tick in scale.ticks(time_mark) {
        let class = if tick.label.is_empty() { "minor" } else { "grid" };
        svg.line(class, (x(scale, tick.value), TOP), (x(scale, tick.value), bottom));
        if !tick.label.is_empty() {
            svg.text("tick", (x(scale, tick.value), bottom + 16.0), Anchor::Middle, &tick.label);
        }
    }
    svg.text("tick", (X::Percent(RIGHT), bottom + 32.0), Anchor::End, "time, logarithmic →");
    let mut top = TOP;
    for backend in &cost.backends {
        strip(&mut svg, scale, top, cost, backend);
        top += of(backend);
    }
    svg.finish()
}

fn strip(svg: &mut Svg, scale: Scale, top: f64, cost: &Cost, backend: &BackendCost) {
    svg.line("edge", (X::Percent(0.0), top), (X::Percent(100.0), top));
    let doubt = if backend.valid { "" } else { ": timing not valid" };
    let name = format!("{}{doubt}", backend.backend);
    svg.text("strip", (X::Percent(0.0), top + 20.0), Anchor::Start, &name);
    for (index, of_row) in rows(backend).into_iter().enumerate() {
        row(svg, scale, top + NAME + ROW * index as f64, (cost, backend), &of_row);
    }
}

fn row(
    svg: &mut Svg,
    scale: Scale,
    top: f64,
    (cost, backend): (&Cost, &BackendCost),
    of_row: &[&CostFigure],
) {
    let title = of_row.first().map_or("", |figure| figure.title());
    svg.text("name", (X::Percent(0.0), top + 21.0), Anchor::Start, title);
    let of_reference: Side = (|it: &CostFigure| it.reference_ns, |it: &CostRound| it.reference_ns);
    marks(svg, scale, ("reference", top + REFERENCE), of_row, of_reference);
    let class = if backend.valid { "own" } else { "own doubtful" };
    let of_backend: Side = (|it: &CostFigure| it.backend_ns, |it: &CostRound| it.backend_ns);
    marks(svg, scale, (class, top + OWN), of_row, of_backend);
    let headline = cost.measure.headline();
    let told = of_row.iter().find(|figure| figure.ratio.figure == headline);
    let Some(told) = told else { return };
    let difference =
        told.difference_ns.map_or(String::new(), |it| signed(told.quantity, it.median));
    let times = figures::times(told.ratio.median());
    let words = format!("{} {difference}, {times}", headline.title());
    let class = if told.ratio.finding == Finding::More { "name" } else { "name dim" };
    svg.text(class, (X::Percent(WORDS), top + 14.0), Anchor::Start, &words);
    let word = found(cost, backend, told);
    svg.text("name dim", (X::Percent(WORDS), top + 28.0), Anchor::Start, word);
}

/// Draws the rounds of each figure, and their medians joined by a stroke.
fn marks(
    svg: &mut Svg,
    scale: Scale,
    (class, at): (&str, f64),
    of_row: &[&CostFigure],
    (whole, round): Side,
) {
    let place = |ns: f64| x(scale, ns);
    svg.begin(class);
    if let [first, .., last] = of_row {
        svg.line("stroke", (place(whole(first)), at), (place(whole(last)), at));
    }
    for figure in of_row {
        for it in &figure.of_rounds {
            svg.circle("dot", (place(round(it)), at), 1.8, None);
        }
    }
    for figure in of_row {
        let ns = whole(figure);
        let tooltip = format!("{}: {}", figure.ratio.figure.title(), figures::nanos_f64(ns));
        match figure.ratio.figure {
            Figure::MaxNs => svg.diamond("ring", (place(ns), at), 7.0, Some(&tooltip)),
            Figure::MeanNs | Figure::MedianNs => {
                svg.circle("ring", (place(ns), at), 4.0, Some(&tooltip));
            }
            Figure::P99Ns | Figure::P999Ns => {
                svg.line("end", (place(ns), at - 5.0), (place(ns), at + 5.0));
            }
        }
    }
    svg.end();
}

/// Returns the figures of each time, in their order.
fn rows(backend: &BackendCost) -> Vec<Vec<&CostFigure>> {
    let of_one_time = |one: &CostFigure, other: &CostFigure| one.title() == other.title();
    backend.figures.chunk_by(of_one_time).map(|figures| figures.iter().collect()).collect()
}

/// Returns the value that anything smaller is drawn at, in ns.
const fn least_of(measure: CostMeasure) -> f64 {
    match measure {
        CostMeasure::Routines => 1.0,
        CostMeasure::Releases | CostMeasure::RoundTrips => 10.0,
    }
}

/// Returns an axis that holds every round of every backend.
fn scale_of(cost: &Cost) -> Scale {
    let figures = cost.backends.iter().flat_map(|backend| &backend.figures);
    let rounds = figures.flat_map(|figure| &figure.of_rounds);
    let all = rounds.flat_map(|it| [it.reference_ns, it.backend_ns]);
    let least = least_of(cost.measure);
    let (mut min, mut max) = (f64::INFINITY, least);
    all.for_each(|ns| (min, max) = (min.min(ns.max(least)), max.max(ns)));
    Scale::logarithmic_around(min.min(max), max)
}

fn x(scale: Scale, value: f64) -> X {
    X::Percent(LEFT + (RIGHT - LEFT) * scale.part(value))
}

fn about(cost: &Cost) -> String {
    let words = cost.backends.iter().flat_map(|backend| {
        backend.figures.iter().map(move |figure| {
            format!(
                "{}, {} {}: {} against {}, {}.",
                backend.backend,
                figure.title(),
                figure.ratio.figure.title(),
                figures::nanos_f64(figure.backend_ns),
                figures::nanos_f64(figure.reference_ns),
                found(cost, backend, figure)
            )
        })
    });
    words.collect::<Vec<_>>().join(" ")
}
