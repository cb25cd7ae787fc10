//! Box plots as strips below each other on one logarithmic axis.
//!
//! ```text
//!   p2.5    q1  median  q3   p97.5       worst spikes      maximum
//!    ├──────┌─────┬──────┐─────┤           ·  ·· ·            ▏
//!           └─────┴──────┘   ◆mean
//! ```
//!
//! A quantile that lies in an overflow is known only from below: the part that it ends is left open
//! and has an arrow. Places are percentages, so that text keeps its size on a telephone.

use maud::PreEscaped;
use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_record::statistics::Statistics;

use super::axis::{Scale, time_mark};
use super::bars::values;
use super::frame::Limit;
use super::labels::named;
use super::svg::{Anchor, Svg, X};
use crate::figures;

const HEIGHT: f64 = 30.0;
const MIDDLE: f64 = HEIGHT / 2.0;
const BOX: f64 = 14.0;

/// Height by which the grid reaches beyond a strip, so that it goes through from row to row.
const SPILL: f64 = 6.5;

/// The most spikes that are drawn one by one.
const SPIKES_MAX: usize = 32;

/// The end of a part of the box, in ns: at a value, or somewhere beyond a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    At(f64),
    Beyond(f64),
}

impl End {
    const fn value(self) -> f64 {
        match self {
            Self::At(value) | Self::Beyond(value) => value,
        }
    }

    const fn is_open(self) -> bool {
        matches!(self, Self::Beyond(_))
    }
}

impl From<Quantile> for End {
    fn from(quantile: Quantile) -> Self {
        match quantile {
            Quantile::Exactly(value) => Self::At(value as f64),
            Quantile::AtLeast { at_least } => Self::Beyond(at_least as f64),
        }
    }
}

/// The figures of one box plot, in ns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoxFigures {
    pub(crate) whisker_low: End,
    pub(crate) q1: End,
    pub(crate) median: End,
    pub(crate) mean: Option<f64>,
    pub(crate) q3: End,
    pub(crate) whisker_high: End,
    pub(crate) max: Option<f64>,
    pub(crate) spikes: Vec<f64>,
}

impl BoxFigures {
    /// Makes the box plot of a sample with its worst single values, the worst first; `None` where
    /// nothing was measured.
    pub(crate) fn of(
        histogram: &Histogram,
        statistics: &Statistics,
        worst: impl Iterator<Item = u64>,
    ) -> Option<Self> {
        let mut spikes: Vec<f64> = worst.take(SPIKES_MAX).map(|spike| spike as f64).collect();
        if spikes.is_empty() {
            // Imported data have no spikes: the highest bins beyond the whisker stand for them.
            let beyond = statistics.p97_5_ns?.lower_bound();
            let all: Vec<u64> = values(histogram).map(|(value_ns, _)| value_ns).collect();
            let highest = all.iter().rev().take(SPIKES_MAX);
            spikes = highest.filter(|value| **value > beyond).map(|value| *value as f64).collect();
        }
        Some(Self {
            whisker_low: statistics.p2_5_ns?.into(),
            q1: statistics.q1_ns?.into(),
            median: statistics.median_ns?.into(),
            mean: statistics.mean_ns,
            q3: statistics.q3_ns?.into(),
            whisker_high: statistics.p97_5_ns?.into(),
            max: statistics.max_ns.map(|max| max as f64),
            spikes,
        })
    }

    /// Returns the smallest and the largest value above zero, in ns; `None` where all are zero,
    /// because a source prints values below its resolution so. Those are drawn at the axis' begin.
    pub(crate) fn extent(&self) -> Option<(f64, f64)> {
        let ends = [self.whisker_low, self.q1, self.median, self.q3, self.whisker_high];
        let all = ends.map(End::value).into_iter().chain(self.max);
        let extent = all
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        (extent.1 > 0.0).then_some(extent)
    }

    fn about(&self) -> String {
        let written = |end: End| {
            let bound = if end.is_open() { "≥ " } else { "" };
            format!("{bound}{}", figures::nanos_f64(end.value()))
        };
        let optional = |value: Option<f64>| figures::or_dash(value, figures::nanos_f64);
        format!(
            "whiskers {} to {}, quartiles {} to {}, median {}, mean {}, maximum {}",
            written(self.whisker_low),
            written(self.whisker_high),
            written(self.q1),
            written(self.q3),
            written(self.median),
            optional(self.mean),
            optional(self.max),
        )
    }
}

/// Room at both ends of a strip, in per cent of its width.
const MARGIN: f64 = 1.5;

fn percent(scale: Scale, value_ns: f64) -> f64 {
    MARGIN + scale.part(value_ns) * (100.0 - 2.0 * MARGIN)
}

/// Draws one box plot. `class` sets its colours.
pub(crate) fn strip(
    figures: &BoxFigures,
    title: &str,
    class: &str,
    scale: Scale,
    limits: &[&Limit],
) -> PreEscaped<String> {
    let x = |value: f64| X::Percent(percent(scale, value));
    let mut svg = Svg::stretched(&format!("strip {class}"), HEIGHT, title, &figures.about());
    background(&mut svg, scale, limits);
    let high_end = figures.whisker_high.value();
    svg.line("whisker", (x(figures.whisker_low.value()), MIDDLE), (x(high_end), MIDDLE));
    let cap = |svg: &mut Svg, value: f64| {
        svg.line("whisker", (x(value), MIDDLE - 4.0), (x(value), MIDDLE + 4.0));
    };
    cap(&mut svg, figures.whisker_low.value());
    if !figures.whisker_high.is_open() {
        cap(&mut svg, high_end);
    }
    let (left, right) = (percent(scale, figures.q1.value()), percent(scale, figures.q3.value()));
    let (top, width) = (MIDDLE - BOX / 2.0, X::Percent((right - left).max(0.3)));
    let shape = if figures.q3.is_open() { "box open" } else { "box" };
    svg.rect(shape, (X::Percent(left), top), (width, BOX), Some(&figures.about()));
    if !figures.median.is_open() {
        let median = figures.median.value();
        svg.line("median", (x(median), top), (x(median), top + BOX));
    }
    for spike in &figures.spikes {
        let tooltip = format!("spike of {}", crate::figures::nanos_f64(*spike));
        svg.circle("spike", (x(*spike), MIDDLE), 2.2, Some(&tooltip));
    }
    if let Some(mean) = figures.mean {
        let tooltip = format!("mean {}", crate::figures::nanos_f64(mean));
        svg.diamond("mean-sign", (x(mean), MIDDLE), 6.4, Some(&tooltip));
    }
    if let Some(max) = figures.max {
        let tooltip = format!("maximum {}", crate::figures::nanos_f64(max));
        svg.line("maximum-line", (x(max), MIDDLE - 8.0), (x(max), MIDDLE + 8.0));
        svg.circle("maximum-hover", (x(max), MIDDLE), 7.0, Some(&tooltip));
    }
    let first_open =
        [figures.median, figures.q3, figures.whisker_high].into_iter().find(|end| end.is_open());
    if let Some(bound) = first_open {
        let text = format!("→ ≥ {}", crate::figures::nanos_f64(bound.value()));
        let at = percent(scale, bound.value());
        let anchor = if at > 70.0 { Anchor::End } else { Anchor::Start };
        svg.text("bound", (X::Percent(at), MIDDLE - 8.0), anchor, &text);
    }
    svg.finish()
}

fn background(svg: &mut Svg, scale: Scale, limits: &[&Limit]) {
    for tick in scale.ticks(time_mark).iter().filter(|tick| !tick.label.is_empty()) {
        let x = X::Percent(percent(scale, tick.value));
        svg.line("grid", (x, -SPILL), (x, HEIGHT + SPILL));
    }
    for limit in limits {
        let x = X::Percent(percent(scale, limit.limit_ns as f64));
        let class = if limit.declared { "limit-line declared" } else { "limit-line" };
        svg.line(class, (x, -SPILL), (x, HEIGHT + SPILL));
    }
}

/// Width of the narrowest strip, in pixels: that of a telephone. A name that has room there has it
/// anywhere.
const NARROWEST: f64 = 320.0;

/// Draws the axis above the strips: its name, the limits with theirs, then the marks.
pub(crate) fn axis_strip(scale: Scale, limits: &[&Limit]) -> PreEscaped<String> {
    const AXIS_HEIGHT: f64 = 62.0;
    const TICKS: f64 = 26.0;
    const NAMES: f64 = 44.0;
    let about = "Release latency, logarithmic, the same for all rows";
    let mut svg = Svg::stretched("strip axis", AXIS_HEIGHT, "Axis", about);
    svg.text("name", (X::Percent(100.0), 10.0), Anchor::End, "latency, logarithmic →");
    for tick in scale.ticks(time_mark).iter().filter(|tick| !tick.label.is_empty()) {
        let at = percent(scale, tick.value);
        svg.line("grid", (X::Percent(at), TICKS + 4.0), (X::Percent(at), AXIS_HEIGHT));
        svg.text("tick", (X::Percent(at), TICKS), anchor_at(at), &tick.label);
    }
    let line = |limit: &Limit| Some(percent(scale, limit.limit_ns as f64));
    let short: Vec<Limit> = limits.iter().map(|limit| limit.shortened()).collect();
    let short: Vec<&Limit> = short.iter().collect();
    for one in named(&short, line, 100.0 / NARROWEST, (0.0, 100.0)) {
        let Some(at) = one.line.map(X::Percent) else { continue };
        let (leader, class) = if one.limit.declared {
            ("limit-line declared", "limit-name declared")
        } else {
            ("limit-line", "limit-name")
        };
        let name = X::Percent(one.name);
        svg.line(&format!("{leader} leader"), (name, NAMES + 3.0), (at, AXIS_HEIGHT - 6.0));
        svg.line(leader, (at, AXIS_HEIGHT - 6.0), (at, AXIS_HEIGHT + SPILL));
        svg.text(class, (name, NAMES), Anchor::Middle, &one.limit.short);
    }
    svg.finish()
}

/// Returns the anchor of a text in a strip: near an end it grows inwards.
fn anchor_at(percent: f64) -> Anchor {
    match percent {
        at if at < 8.0 => Anchor::Start,
        at if at > 92.0 => Anchor::End,
        _ => Anchor::Middle,
    }
}
