//! The slowdown over the neighbours' bandwidth, with onset and knee marked.

use maud::PreEscaped;
use quietcore_record::slowdown::{ONSET, Pressure};

use super::super::axis::{Scale, plain};
use super::super::labels::{LabelPosition, Labels};
use super::super::svg::{Anchor, Svg};
use super::{class_of, line_through};
use crate::figures;

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 52.0;
/// Unit of the axis of rates, in bytes per second.
const GIGA: f64 = 1e9;

/// Draws a pressure; `None` where there is no point.
pub(crate) fn pressure(pressure: &Pressure) -> Option<PreEscaped<String>> {
    let points = &pressure.points;
    let last = points.last()?;
    let most = points.iter().map(|it| it.ratio.high.unwrap_or(it.ratio.median)).fold(1.9, f64::max);
    // The axis of rates counts in tenths, so that a slow machine has marks too.
    let rates = Scale::linear_beyond(last.bytes_per_second / GIGA * 10.0);
    let ratios = Scale::linear_beyond(most);
    let x = |rate: f64| LEFT + rates.part(rate / GIGA * 10.0) * (RIGHT - LEFT);
    let y = |ratio: f64| BOTTOM - ratios.part(ratio) * (BOTTOM - TOP);
    let class = class_of(pressure.pattern);
    let title = "Slowdown by the neighbours' bandwidth";
    let mut svg = Svg::scaled("plot pressure", WIDTH, HEIGHT, title, &about(pressure));
    for tick in ratios.ticks(plain) {
        svg.line("grid", (LEFT, y(tick.value)), (RIGHT, y(tick.value)));
        let label = format!("{}×", tick.label);
        svg.text("tick", (LEFT - 8.0, y(tick.value) + 4.0), Anchor::End, &label);
    }
    for tick in rates.ticks(|tenths| plain(tenths / 10.0)) {
        let at = x(tick.value / 10.0 * GIGA);
        svg.line("mark", (at, BOTTOM), (at, BOTTOM + 5.0));
        svg.text("tick", (at, BOTTOM + 19.0), Anchor::Middle, &tick.label);
    }
    svg.line("base", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    svg.line("unity", (LEFT, y(1.0)), (RIGHT, y(1.0)));
    let middle = f64::midpoint(LEFT, RIGHT);
    let axis = "neighbours achieved, GB/s";
    svg.text("tick", (middle, BOTTOM + 38.0), Anchor::Middle, axis);
    svg.text("tick", (LEFT - 8.0, TOP - 12.0), Anchor::End, "slowdown");
    if let Some(onset) = pressure.onset_bytes_per_second {
        svg.line("onset", (x(onset), TOP), (x(onset), BOTTOM));
    }
    let ways = points.iter().map(|it| (x(it.bytes_per_second), y(it.ratio.median)));
    // Without neighbours there is no slowdown.
    let line = line_through([(x(0.0), y(1.0))].into_iter().chain(ways));
    svg.path(&format!("curve {class}"), &line);
    for point in points {
        let at = x(point.bytes_per_second);
        if let (Some(low), Some(high)) = (point.ratio.low, point.ratio.high) {
            svg.line(&format!("interval {class}"), (at, y(low)), (at, y(high)));
        }
        let text = format!(
            "{} ({:.1} % of full pace): {}",
            figures::rate(point.bytes_per_second),
            f64::from(point.asked_permille) / 10.0,
            figures::ratio(&point.ratio)
        );
        svg.circle(&format!("dot {class}"), (at, y(point.ratio.median)), 3.5, Some(&text));
    }
    named(&mut svg, pressure, x, y);
    Some(svg.finish())
}

/// Names onset and knee.
fn named(svg: &mut Svg, pressure: &Pressure, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
    let mut labels = Labels::within([LEFT, 2.0, WIDTH, BOTTOM]);
    for point in &pressure.points {
        let (at, height) = (x(point.bytes_per_second), y(point.ratio.median));
        labels.take([at - 5.0, height - 5.0, at + 5.0, height + 5.0]);
    }
    let place = |x: f64, y: f64, anchor| LabelPosition { x, y, anchor };
    if let Some(knee) = pressure.knee {
        let (at, height) = (x(knee.bytes_per_second), y(knee.ratio));
        svg.circle("knee", (at, height), 8.0, None);
        let rate = figures::rate(knee.bytes_per_second);
        let text = format!("knee {rate}, {:.2}×", knee.ratio);
        let places = [
            place(at + 12.0, height + 22.0, Anchor::Start),
            place(at - 12.0, height - 14.0, Anchor::End),
            place(at + 12.0, height + 36.0, Anchor::Start),
            place(at - 12.0, height - 28.0, Anchor::End),
            place(at - 12.0, height + 26.0, Anchor::End),
        ];
        if let Some(place) = labels.place(&text, places) {
            svg.text("label knee-name", (place.x, place.y), place.anchor, &text);
        }
    }
    if let Some(onset) = pressure.onset_bytes_per_second {
        let text = format!("surely above {ONSET}× from {}", figures::rate(onset));
        let at = x(onset);
        let places =
            [place(at + 6.0, TOP - 2.0, Anchor::Start), place(at - 6.0, TOP - 2.0, Anchor::End)];
        if let Some(place) = labels.place(&text, places) {
            svg.text("label onset-name", (place.x, place.y), place.anchor, &text);
        }
    }
}

fn about(pressure: &Pressure) -> String {
    let set = figures::bytes(pressure.working_set_bytes);
    let mut text = format!("Slowdown of {} accesses to {set}.", pressure.pattern.name());
    for point in &pressure.points {
        let rate = figures::rate(point.bytes_per_second);
        text.push_str(&format!(" {rate}: {}.", figures::ratio(&point.ratio)));
    }
    text
}
