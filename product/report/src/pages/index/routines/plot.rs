//! The figure: a column for each routine, in it a stroke for each backend from the smallest to the
//! largest time, with a ring at the median.
//!
//! Horizontal places are percentages, so that text keeps its size on a telephone; the names below
//! the columns stand upright for the same reason.

use maud::PreEscaped;
use quietcore_record::record::Routine;

use super::{RoutineTimes, System};
use crate::figures;
use crate::plot::{Anchor, Scale, Svg, X, time_mark};

const HEIGHT: f64 = 360.0;
const TOP: f64 = 22.0;
/// Room for the names of the routines.
const BOTTOM: f64 = HEIGHT - 84.0;
/// Places where the columns begin and end, in per cent: on the left is room for the axis.
const LEFT: f64 = 11.5;
const RIGHT: f64 = 99.5;

/// Value that anything smaller is drawn at, in ns, because it can't be told from nothing.
const LEAST: f64 = 1.0;

/// Draws the routines of all systems; `None` where there is no value.
pub(super) fn strokes(systems: &[System<'_>]) -> Option<PreEscaped<String>> {
    let scale = scale_of(systems)?;
    let title = "Routines of the kernel by backend";
    let mut svg = Svg::stretched("routines", HEIGHT, title, &about(systems));
    for tick in scale.ticks(time_mark).iter().filter(|tick| !tick.label.is_empty()) {
        let height = y(scale, tick.value);
        svg.line("grid", (X::Percent(LEFT), height), (X::Percent(RIGHT), height));
        svg.text("tick", (X::Percent(LEFT - 1.0), height + 4.0), Anchor::End, &tick.label);
    }
    svg.text("tick", (X::Percent(0.0), 11.0), Anchor::Start, "↑ time, logarithmic");
    svg.line("base", (X::Percent(LEFT), BOTTOM), (X::Percent(RIGHT), BOTTOM));
    let width = (RIGHT - LEFT) / Routine::ALL.len() as f64;
    for (index, routine) in Routine::ALL.into_iter().enumerate() {
        let left = LEFT + width * index as f64;
        if index > 0 {
            svg.line("border", (X::Percent(left), TOP - 6.0), (X::Percent(left), BOTTOM));
        }
        let middle = X::Percent(left + width / 2.0);
        svg.upright("name", (middle, BOTTOM + 8.0), Anchor::Start, routine.name());
        for (place, system) in systems.iter().enumerate() {
            let Some(times) = system.kernel.times[index] else { continue };
            let part = (place as f64 + 1.0) / (systems.len() as f64 + 1.0);
            stroke(&mut svg, scale, X::Percent(left + width * part), system, times);
        }
        let (corner, size) = ((X::Percent(left), TOP), (X::Percent(width), BOTTOM - TOP));
        svg.begin("hover");
        svg.rect("column", corner, size, Some(&tooltip(systems, index, routine)));
        svg.end();
    }
    Some(svg.finish())
}

fn stroke(svg: &mut Svg, scale: Scale, x: X, system: &System<'_>, times: RoutineTimes) {
    let class = system.class;
    let doubtful = if system.kernel.distrusted.is_some() { " doubtful" } else { "" };
    let (low, high) = (y(scale, times.min_ns), y(scale, times.max_ns));
    // A stroke without length would not be seen.
    svg.line(&format!("span {class}{doubtful}"), (x, low), (x, high.min(low - 2.0)));
    if let Some(median) = times.median_ns {
        svg.circle(&format!("middle {class}"), (x, y(scale, median)), 3.0, None);
    }
}

/// Returns an axis that holds all values; `None` where there is none.
fn scale_of(systems: &[System<'_>]) -> Option<Scale> {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for times in systems.iter().flat_map(|system| system.kernel.times.iter().flatten()) {
        least = least.min(times.min_ns.max(LEAST));
        most = most.max(times.max_ns.max(LEAST));
    }
    least.is_finite().then(|| Scale::logarithmic_around(least, most))
}

fn y(scale: Scale, value_ns: f64) -> f64 {
    BOTTOM - scale.part(value_ns) * (BOTTOM - TOP)
}

fn tooltip(systems: &[System<'_>], index: usize, routine: Routine) -> String {
    let mut text = format!("{}: {}", routine.name(), routine.meaning());
    for system in systems {
        let Some(times) = system.kernel.times[index] else { continue };
        text.push_str(&format!(
            "\n{}: minimum {}, median {}, maximum {}",
            system.kernel.backend,
            figures::nanos_f64(times.min_ns),
            figures::or_dash(times.median_ns, figures::nanos_f64),
            figures::nanos_f64(times.max_ns)
        ));
    }
    text
}

fn about(systems: &[System<'_>]) -> String {
    let mut text = "Time upwards, logarithmic; for each routine a stroke of each backend from \
                    minimum to maximum, a ring at the median."
        .to_owned();
    for system in systems {
        text.push_str(&format!(" Medians of {}:", system.kernel.backend));
        for (routine, times) in Routine::ALL.into_iter().zip(&system.kernel.times) {
            let median = times.and_then(|it| it.median_ns);
            let median = figures::or_dash(median, figures::nanos_f64);
            text.push_str(&format!(" {} {median}", routine.name()));
        }
        text.push('.');
    }
    text
}
