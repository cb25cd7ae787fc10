//! Ranges below each other on one axis: a stroke from the smallest to the largest value of each,
//! with the mean marked. Published ranges are drawn in the quieter colour.
//!
//! ```text
//! by the register     ├──○────────────┤ 21.9 µs
//! VxWorks 6.8         ├○┤ 4.42 µs
//!                 ┼────────┼────────┼──
//!                1 µs    10 µs    100 µs
//! ```

mod cost;
mod effects;

use maud::PreEscaped;

pub(crate) use cost::strips as cost_strips;
pub(crate) use effects::effects;

use super::axis::{Scale, time_mark};
use super::svg::{Anchor, Svg, X};
use crate::figures;

/// The height of a row.
const ROW: f64 = 34.0;
const TOP: f64 = 6.0;
/// Room for the marks of the axis.
const AXIS: f64 = 40.0;
/// Places where strokes begin and end, in per cent; the maximum is written behind them.
const LEFT: f64 = 1.0;
const RIGHT: f64 = 84.0;
/// Value that anything smaller is drawn at, in ns, because it can't be told from nothing.
const LEAST: f64 = 1.0;
/// Distances of the label and of the stroke from the top of a row.
const LABEL: f64 = 13.0;
const STROKE: f64 = 24.0;

/// A range of times, as a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    /// Name of the row.
    pub(crate) label: String,
    /// The smallest value, in ns.
    pub(crate) min_ns: f64,
    /// The mean, in ns; `None` where none is known.
    pub(crate) mean_ns: Option<f64>,
    /// The largest value, in ns.
    pub(crate) max_ns: f64,
    /// `true` if others measured it.
    pub(crate) is_published: bool,
}

/// Returns an axis that holds all of these ranges; shared by those that are to be compared.
pub(crate) fn scale_of<'a>(ranges: impl Iterator<Item = &'a Range> + Clone) -> Scale {
    let min = ranges.clone().map(|range| range.min_ns.max(LEAST)).fold(f64::INFINITY, f64::min);
    let max = ranges.map(|range| range.max_ns.max(LEAST)).fold(LEAST, f64::max);
    Scale::logarithmic_around(min.min(max), max)
}

/// Draws ranges, one row for each.
pub(crate) fn ranges(title: &str, scale: Scale, ranges: &[Range]) -> PreEscaped<String> {
    let bottom = TOP + ROW * ranges.len() as f64;
    let mut svg = Svg::stretched("ranges", bottom + AXIS, title, &about(ranges));
    for tick in scale.ticks(time_mark) {
        let at = x(scale, tick.value);
        let class = if tick.label.is_empty() { "minor" } else { "grid" };
        svg.line(class, (at, TOP), (at, bottom));
        if !tick.label.is_empty() {
            svg.text("tick", (at, bottom + 16.0), Anchor::Middle, &tick.label);
        }
    }
    svg.text("tick", (X::Percent(RIGHT), bottom + 32.0), Anchor::End, "time, logarithmic →");
    for (index, range) in ranges.iter().enumerate() {
        let top = TOP + ROW * index as f64;
        let class = if range.is_published { "few" } else { "many" };
        let (from, to) = (x(scale, range.min_ns.max(LEAST)), x(scale, range.max_ns.max(LEAST)));
        svg.begin(class);
        svg.text("name", (X::Percent(LEFT), top + LABEL), Anchor::Start, &range.label);
        svg.line("stroke", (from, top + STROKE), (to, top + STROKE));
        for end in [from, to] {
            svg.line("end", (end, top + STROKE - 4.0), (end, top + STROKE + 4.0));
        }
        if let Some(mean) = range.mean_ns {
            svg.circle("ring", (x(scale, mean), top + STROKE), 3.5, Some(&tooltip(range)));
        }
        let behind = X::Percent(place(scale, range.max_ns.max(LEAST)) + 1.2);
        let text = figures::nanos_f64(range.max_ns);
        svg.text("value", (behind, top + STROKE + 4.0), Anchor::Start, &text);
        svg.end();
    }
    svg.finish()
}

fn place(scale: Scale, value: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * scale.part(value)
}

fn x(scale: Scale, value: f64) -> X {
    X::Percent(place(scale, value))
}

fn tooltip(range: &Range) -> String {
    let mean = range.mean_ns.map(|mean| format!(", mean {}", figures::nanos_f64(mean)));
    format!(
        "{}: {} to {}{}",
        range.label,
        figures::nanos_f64(range.min_ns),
        figures::nanos_f64(range.max_ns),
        mean.unwrap_or_default()
    )
}

fn about(ranges: &[Range]) -> String {
    ranges.iter().map(tooltip).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_drawn_with_its_label_and_maximum() {
        let of = |label: &str, min_ns, max_ns, is_published| Range {
            label: label.to_owned(),
            min_ns,
            mean_ns: Some((min_ns + max_ns) / 2.0),
            max_ns,
            is_published,
        };
        let both = [of("a", 0.0, 2_000.0, false), of("b<", 4_170.0, 4_420.0, true)];
        let drawn = ranges("t", scale_of(both.iter()), &both);
        let parsed = roxmltree::Document::parse(&drawn.0).unwrap();
        let texts: Vec<_> = parsed
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .filter_map(|node| node.text())
            .collect();
        for text in ["a", "b<", "2.00\u{a0}µs", "4.42\u{a0}µs"] {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
    }
}
