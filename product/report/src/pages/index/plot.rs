//! The trend of a partition: its maximum and its p99.9 run by run, with the limit, and a line where
//! conditions changed.
//!
//! Horizontal places are percentages, so that text keeps its size on a telephone.

use maud::PreEscaped;
use quietcore_record::histogram::Quantile;

use super::{Course, CourseRun};
use crate::figures;
use crate::html::tone;
use crate::plot::{Anchor, Scale, Svg, X, time_mark};

const HEIGHT: f64 = 220.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = HEIGHT - 44.0;
/// Horizontal places of the first and the last run, in per cent.
const LEFT: f64 = 12.0;
const RIGHT: f64 = 96.0;

/// Draws the trend; `None` where no run has a value, or there is only one run.
pub(super) fn trend(course: &Course<'_>) -> Option<PreEscaped<String>> {
    let scale = scale_of(course).filter(|_| course.runs.len() > 1)?;
    let title = format!("Trend of {}", course.partition);
    let mut svg = Svg::stretched("trend", HEIGHT, &title, &about(course));
    for tick in scale.ticks(time_mark).iter().filter(|tick| !tick.label.is_empty()) {
        let y = y(scale, tick.value);
        svg.line("grid", (X::Percent(LEFT - 2.0), y), (X::Percent(100.0), y));
        svg.text("tick", (X::Percent(LEFT - 3.0), y + 4.0), Anchor::End, &tick.label);
    }
    svg.text("name", (X::Percent(0.0), 11.0), Anchor::Start, "↑ release latency, logarithmic");
    svg.text("name", (X::Percent(100.0), HEIGHT - 4.0), Anchor::End, "runs, the newest last →");
    limit(&mut svg, scale, course);
    for (index, run) in course.runs.iter().enumerate() {
        if run.changes.as_ref().is_some_and(|changes| !changes.is_empty()) {
            let at = X::Percent(between(index, course.runs.len()));
            svg.line("changed", (at, TOP - 12.0), (at, BOTTOM));
            svg.text("changed-sign", (at, TOP - 14.0), Anchor::Middle, "◇");
        }
    }
    series(&mut svg, scale, course, "few", |run| run.found.max_ns.map(|ns| ns as f64));
    series(&mut svg, scale, course, "many", |run| {
        run.found.p99_9.map(|quantile| quantile.lower_bound() as f64)
    });
    names(&mut svg, scale, course);
    for (index, run) in course.runs.iter().enumerate() {
        let at = X::Percent(place(index, course.runs.len()));
        let class = format!("sign {}", tone(run.found.verdict));
        svg.text(&class, (at, BOTTOM + 18.0), Anchor::Middle, figures::sign(run.found.verdict));
    }
    Some(svg.finish())
}

/// Returns an axis that holds all values and limits; `None` where no run has a value.
fn scale_of(course: &Course<'_>) -> Option<Scale> {
    let values = course.runs.iter().flat_map(|run| {
        let p99_9 = run.found.p99_9.map(Quantile::lower_bound);
        [p99_9, run.found.max_ns, run.found.limit_ns].into_iter().flatten()
    });
    let ends = values.filter(|ns| *ns > 0).fold(None, |ends: Option<(u64, u64)>, ns| {
        Some(ends.map_or((ns, ns), |(low, high)| (low.min(ns), high.max(ns))))
    });
    let measured = course.runs.iter().any(|run| run.found.max_ns.is_some());
    let (low, high) = ends.filter(|_| measured)?;
    Some(Scale::logarithmic_around(low as f64, high as f64))
}

fn y(scale: Scale, value_ns: f64) -> f64 {
    BOTTOM - scale.part(value_ns) * (BOTTOM - TOP)
}

/// Returns the horizontal place of a run, in per cent.
fn place(index: usize, count: usize) -> f64 {
    let steps = count.saturating_sub(1).max(1) as f64;
    LEFT + (RIGHT - LEFT) * index as f64 / steps
}

/// Returns the middle between a run and the one before it, in per cent.
fn between(index: usize, count: usize) -> f64 {
    f64::midpoint(place(index.saturating_sub(1), count), place(index, count))
}

/// Draws the limit of the class that the newest run declares.
fn limit(svg: &mut Svg, scale: Scale, course: &Course<'_>) {
    let Some(limit_ns) = course.runs.last().and_then(|run| run.found.limit_ns) else { return };
    let at = y(scale, limit_ns as f64);
    svg.line("limit-line declared", (X::Percent(LEFT - 2.0), at), (X::Percent(100.0), at));
    let name = format!("limit {}", figures::set_nanos(limit_ns));
    svg.text("limit-name declared", (X::Percent(LEFT - 1.5), at - 4.0), Anchor::Start, &name);
}

fn series(
    svg: &mut Svg,
    scale: Scale,
    course: &Course<'_>,
    class: &str,
    value: impl Fn(&CourseRun<'_>) -> Option<f64>,
) {
    let count = course.runs.len();
    let points: Vec<Option<(f64, f64)>> = (course.runs.iter().enumerate())
        .map(|(index, run)| Some((place(index, count), y(scale, value(run)?))))
        .collect();
    svg.begin(class);
    for pair in points.windows(2) {
        if let [Some(from), Some(to)] = pair {
            svg.line("stroke", (X::Percent(from.0), from.1), (X::Percent(to.0), to.1));
        }
    }
    for (point, run) in points.iter().zip(&course.runs) {
        if let Some((x, y)) = point {
            svg.circle("ring", (X::Percent(*x), *y), 3.5, Some(&tooltip(run)));
        }
    }
    svg.end();
}

/// Names the two series at their last points, the one above and the other below.
fn names(svg: &mut Svg, scale: Scale, course: &Course<'_>) {
    let Some((index, run)) = course.runs.iter().enumerate().next_back() else { return };
    let at = X::Percent(place(index, course.runs.len()) + 1.5);
    let max = run.found.max_ns.map(|ns| y(scale, ns as f64));
    let p99_9 = run.found.p99_9.map(|quantile| y(scale, quantile.lower_bound() as f64));
    if let Some(max) = max {
        svg.text("label few", (at, max - 8.0), Anchor::End, "maximum");
    }
    if let Some(p99_9) = p99_9 {
        svg.text("label many", (at, p99_9 + 16.0), Anchor::End, "p99.9");
    }
}

fn tooltip(run: &CourseRun<'_>) -> String {
    let max = figures::or_dash(run.found.max_ns, figures::nanos);
    let p99_9 = figures::or_dash(run.found.p99_9, figures::quantile);
    format!(
        "{}: {}, p99.9 {p99_9}, maximum {max}",
        figures::moment(&run.entry.started_at),
        run.found.verdict
    )
}

fn about(course: &Course<'_>) -> String {
    course.runs.iter().map(tooltip).collect::<Vec<_>>().join("; ")
}
