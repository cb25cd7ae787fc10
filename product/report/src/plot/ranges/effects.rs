//! Ratios with their intervals below each other on one logarithmic axis with 1 marked: a ratio to
//! the right of it is larger without the control, which therefore helps.
//!
//! ```text
//! interrupts        │   ├──●──┤   p99
//!                   │ ├────○────┤ maximum
//! timers          ├─●─┤
//!               ──┼─┼───────┼──
//!              0.5× 1×      2×
//! ```

use maud::PreEscaped;
use quietcore_record::experiment::{ControlEffect, Effect, Figure, Ratio};

use super::super::axis::Scale;
use super::super::svg::{Anchor, Svg, X};
use crate::figures;
use crate::section::experiment::name_of;

/// The height of a row.
const ROW: f64 = 46.0;
const TOP: f64 = 6.0;
/// Room for the marks of the axis.
const AXIS: f64 = 40.0;
/// Places where strokes begin and end, in per cent.
const LEFT: f64 = 2.0;
const RIGHT: f64 = 98.0;
/// Distance of the name and of the strokes from the top of a row.
const NAME: f64 = 12.0;
const STROKES: [(Figure, f64, &str); 2] =
    [(Figure::P99Ns, 24.0, "many"), (Figure::MaxNs, 34.0, "few")];
/// Ratio that the axis reaches to both sides at least.
const REACH_MIN: f64 = 2.0;
/// Ratio that the axis reaches at most; a larger one is drawn at its end.
const REACH_MAX: f64 = 1000.0;

/// Draws the effects of controls.
pub(crate) fn effects(effects: &[&ControlEffect]) -> PreEscaped<String> {
    let bottom = TOP + ROW * effects.len() as f64;
    let title = "What each control does";
    let mut svg = Svg::stretched("ranges effects", bottom + AXIS, title, &about(effects));
    let scale = scale_of(effects);
    for tick in scale.ticks(times) {
        let class = if tick.label.is_empty() { "minor" } else { "grid" };
        svg.line(class, (x(scale, tick.value), TOP), (x(scale, tick.value), bottom));
        if !tick.label.is_empty() {
            svg.text("tick", (x(scale, tick.value), bottom + 16.0), Anchor::Middle, &tick.label);
        }
    }
    svg.line("unity", (x(scale, 1.0), TOP), (x(scale, 1.0), bottom));
    let sides = [(0.0, Anchor::Start, "← hurts"), (100.0, Anchor::End, "helps →")];
    for (at, anchor, word) in sides {
        svg.text("tick", (X::Percent(at), bottom + 34.0), anchor, word);
    }
    for (index, effect) in effects.iter().enumerate() {
        row(&mut svg, scale, TOP + ROW * index as f64, effect);
    }
    svg.finish()
}

fn row(svg: &mut Svg, scale: Scale, top: f64, effect: &ControlEffect) {
    let name = format!("{}: {}", name_of(effect), effect.effect.title());
    let class = if effect.effect == Effect::NotShown { "name dim" } else { "name" };
    svg.text(class, (X::Percent(LEFT), top + NAME), Anchor::Start, &name);
    for (figure, below, class) in STROKES {
        let Some(ratio) = effect.ratios.iter().find(|ratio| ratio.figure == figure) else {
            continue;
        };
        let Some(estimate) = ratio.ratio else { continue };
        svg.begin(class);
        if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
            let (from, to) = (x(scale, low), x(scale, high));
            svg.line("stroke", (from, top + below), (to, top + below));
            for end in [from, to] {
                svg.line("end", (end, top + below - 3.0), (end, top + below + 3.0));
            }
        }
        let place = (x(scale, estimate.median), top + below);
        svg.circle("ring", place, 3.5, Some(&tooltip(effect, ratio)));
        svg.end();
    }
}

/// Returns an axis that reaches as far to one side of 1 as to the other.
fn scale_of(effects: &[&ControlEffect]) -> Scale {
    let shown = |ratio: &&Ratio| STROKES.iter().any(|(figure, ..)| *figure == ratio.figure);
    let estimates =
        effects.iter().flat_map(|it| &it.ratios).filter(shown).filter_map(|it| it.ratio);
    let ends = estimates.flat_map(|it| [it.low.unwrap_or(it.median), it.high.unwrap_or(it.median)]);
    let reach = ends.map(|end| end.max(1.0 / end)).fold(REACH_MIN, f64::max).min(REACH_MAX);
    Scale::Logarithmic { begin: 1.0 / reach, end: reach }
}

fn x(scale: Scale, value: f64) -> X {
    X::Percent(LEFT + (RIGHT - LEFT) * scale.part(value))
}

fn times(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}×") } else { format!("{value}×") }
}

fn tooltip(effect: &ControlEffect, ratio: &Ratio) -> String {
    let text = figures::or_dash(ratio.ratio.as_ref(), figures::ratio);
    format!("{}, {} without it: {text}", name_of(effect), ratio.figure.title())
}

fn about(effects: &[&ControlEffect]) -> String {
    let words = effects.iter().map(|effect| {
        format!("{}: {}, {}.", name_of(effect), effect.effect.title(), effect.sentence)
    });
    words.collect::<Vec<_>>().join(" ")
}
