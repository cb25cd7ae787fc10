//! The routines of a kernel beside neighbours, as in figure 6 of scordino2020: minimum, mean and
//! maximum over the mean without neighbours, and the bounds that the paper gives for each.
//!
//! Horizontal places are percentages, so that text keeps its size on a telephone.

use maud::PreEscaped;
use quietcore_record::record::Trigger;
use quietcore_record::slowdown::RoutineSlowdown;

use super::super::axis::{Scale, plain};
use super::super::svg::{Anchor, Svg, X};
use crate::figures;

const HEIGHT: f64 = 380.0;
/// Room for the ratios, which are written above the strokes.
const TOP: f64 = 40.0;
/// Room for the names of the routines.
const BOTTOM: f64 = HEIGHT - 104.0;
/// Places where the strokes begin and end, in per cent.
const LEFT: f64 = 7.0;
const RIGHT: f64 = 99.5;
/// Ends of the axis at least: a published slowdown of 6.5 is always on it.
const LEAST: f64 = 0.5;
const MOST: f64 = 10.0;

/// Draws the routines; `None` where there are none.
pub(crate) fn slowed_routines(routines: &[RoutineSlowdown]) -> Option<PreEscaped<String>> {
    if routines.is_empty() {
        return None;
    }
    let values =
        || routines.iter().flat_map(|it| it.relative_alone.iter().chain(&it.relative_beside));
    let most = values().copied().filter(|it| it.is_finite()).fold(MOST, f64::max);
    let least = values().copied().filter(|it| *it > 0.0).fold(LEAST, f64::min).max(0.05);
    let scale = Scale::logarithmic_around(least, most);
    let y = |ratio: f64| BOTTOM - scale.part(ratio) * (BOTTOM - TOP);
    let title = "Routines of the kernel beside neighbours";
    let mut svg = Svg::stretched("routines", HEIGHT, title, &about(routines));
    for tick in scale.ticks(plain) {
        if tick.label.is_empty() {
            continue;
        }
        svg.line("grid", (X::Percent(LEFT), y(tick.value)), (X::Percent(RIGHT), y(tick.value)));
        let label = format!("{}×", tick.label);
        svg.text("tick", (X::Percent(LEFT - 1.0), y(tick.value) + 4.0), Anchor::End, &label);
    }
    svg.line("base", (X::Percent(LEFT), BOTTOM), (X::Percent(RIGHT), BOTTOM));
    svg.line("unity", (X::Percent(LEFT), y(1.0)), (X::Percent(RIGHT), y(1.0)));
    let width = (RIGHT - LEFT) / routines.len() as f64;
    for (index, row) in routines.iter().enumerate() {
        let left = LEFT + width * index as f64;
        let at = |part: f64| X::Percent(left + width * part);
        if is_other(row.trigger) && (index == 0 || !is_other(routines[index - 1].trigger)) {
            svg.line("border", (at(0.0), TOP - 6.0), (at(0.0), HEIGHT));
        }
        if let Some(bounds) = row.published {
            let (low, high) = (y(bounds.least.unwrap_or(1.0)), y(bounds.most));
            let corner = (at(0.14), high);
            svg.rect("published", corner, (X::Percent(width * 0.72), (low - high).max(3.0)), None);
        }
        for (part, class, values) in
            [(0.36, "few", row.relative_alone), (0.64, "many", row.relative_beside)]
        {
            let [min, mean, max] = values.map(|value| value.max(scale.begin()));
            svg.line(
                &format!("span {class}"),
                (at(part), y(min)),
                (at(part), y(max).min(y(min) - 2.0)),
            );
            svg.circle(&format!("middle {class}"), (at(part), y(mean)), 3.0, None);
        }
        if let Some(ratio) = row.ratio {
            let text = format!("{:.2}×", ratio.median);
            svg.text("value", (at(0.5), TOP - 12.0), Anchor::Middle, &text);
        }
        let name = figures::routine(row.routine, row.trigger);
        svg.upright("name", (at(0.5), BOTTOM + 8.0), Anchor::Start, &name);
        svg.begin("hover");
        let area = (X::Percent(width), BOTTOM - TOP);
        svg.rect("column", (at(0.0), TOP), area, Some(&tooltip(row)));
        svg.end();
    }
    Some(svg.finish())
}

fn is_other(trigger: Option<Trigger>) -> bool {
    trigger.is_some_and(|trigger| trigger != Trigger::Software)
}

fn tooltip(row: &RoutineSlowdown) -> String {
    let values = |values: [f64; 3]| {
        let [min, mean, max] = values.map(|value| format!("{value:.2}×"));
        format!("minimum {min}, mean {mean}, maximum {max}")
    };
    let ratio = row.ratio.as_ref().map_or_else(String::new, figures::ratio);
    format!(
        "{}: {}\nslowdown {ratio}\nalone: {}\nbeside: {}",
        figures::routine(row.routine, row.trigger),
        row.routine.meaning(),
        values(row.relative_alone),
        values(row.relative_beside)
    )
}

fn about(routines: &[RoutineSlowdown]) -> String {
    let mut text =
        "Ratios upwards, logarithmic; each stroke from minimum to maximum over the mean \
                    without neighbours, a ring at the mean."
            .to_owned();
    for row in routines {
        if let Some(ratio) = &row.ratio {
            let name = figures::routine(row.routine, row.trigger);
            text.push_str(&format!(" {name}: {}.", figures::ratio(ratio)));
        }
    }
    text
}
