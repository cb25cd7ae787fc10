//! Latency over time: the maximum and the mean of each stretch.

use std::fmt::Write as _;

use maud::PreEscaped;
use quietcore_record::record::Record;

use super::axis::{plain, time_mark, unit_for};
use super::frame::Frame;
use super::labels::{LINE, LabelPosition, Labels, Marker};
use super::svg::{Anchor, Short, Svg};
use crate::figures;
use crate::summary::RecordSummary;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 236.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 32.0;
const BOTTOM: f64 = HEIGHT - 38.0;

/// The most stretches drawn; more are merged, and the maximum of a merged one is kept.
const STRETCHES_MAX: usize = 240;

/// A stretch of time as it is drawn, with its maximum and its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    from_ns: f64,
    to_ns: f64,
    count: u64,
    max_ns: u64,
    mean_ns: f64,
}

/// Returns the time of one release in ns: the period, or the run's length divided by its releases.
pub(super) fn cycle_of(record: &Record) -> f64 {
    match record.period_ns {
        Some(period_ns) => period_ns as f64,
        None => record.conditions.duration_ns as f64 / record.release.count().max(1) as f64,
    }
}

fn stretches(record: &Record) -> Vec<Stretch> {
    let slots = &record.timeline.slots;
    let group = slots.len().div_ceil(STRETCHES_MAX).max(1);
    let cycle = cycle_of(record);
    let mut before = 0_u64;
    let mut stretches = Vec::with_capacity(slots.len().div_ceil(group));
    for chunk in slots.chunks(group) {
        let count = chunk.iter().fold(0_u64, |all, slot| all.saturating_add(slot.0));
        let sum = chunk.iter().fold(0_u64, |all, slot| all.saturating_add(slot.2));
        let from_ns = before as f64 * cycle;
        before = before.saturating_add(count);
        if count > 0 {
            stretches.push(Stretch {
                from_ns,
                to_ns: before as f64 * cycle,
                count,
                max_ns: chunk.iter().map(|slot| slot.1).max().unwrap_or(0),
                mean_ns: sum as f64 / count as f64,
            });
        }
    }
    stretches
}

/// Draws a record's latency over time; `None` where it has no time line, as for imported data.
pub(crate) fn timeline(summary: &RecordSummary<'_>, frame: &Frame) -> Option<PreEscaped<String>> {
    let record = summary.record;
    let stretches = stretches(record);
    let last = stretches.last()?;
    let x = |time_ns: f64| LEFT + frame.time.part(time_ns) * (RIGHT - LEFT);
    let y = |latency_ns: f64| BOTTOM - frame.level.part(latency_ns) * (BOTTOM - TOP);
    let title = format!("Latency over time, {} of {}", summary.label(), record.partition);
    let about = format!(
        "Maximum and mean release latency in {} stretches over {}; the largest is {}.",
        stretches.len(),
        figures::nanos(last.to_ns as u64),
        figures::maximum(&summary.statistics),
    );
    let mut svg = Svg::scaled("plot", WIDTH, HEIGHT, &title, &about);
    let mut labels = Labels::within([LEFT - 4.0, TOP - 14.0, WIDTH, BOTTOM]);
    grid(&mut svg, frame);
    let (maxima, means) = outlines(&stretches, x, y);
    svg.path("release", &maxima);
    svg.path("mean", &means);
    draw_limits(&mut svg, frame, record, &y, &mut labels);
    name_maximum(&mut svg, summary, &stretches, (&x, &y), &mut labels);
    name_lines(&mut svg, &stretches, (&x, &y), &mut labels);
    if record.interrupted {
        let at = x(last.to_ns);
        svg.line("interrupted", (at, TOP), (at, BOTTOM));
        let anchor = if at > (LEFT + RIGHT) / 2.0 { Anchor::End } else { Anchor::Start };
        let places = [BOTTOM - 6.0, BOTTOM - 6.0 - LINE].map(|y| LabelPosition {
            x: if anchor == Anchor::End { at - 4.0 } else { at + 4.0 },
            y,
            anchor,
        });
        if let Some(place) = labels.place("interrupted", places) {
            svg.text("interrupted-label", (place.x, place.y), place.anchor, "interrupted");
        }
    }
    tooltips(&mut svg, &stretches, x);
    Some(svg.finish())
}

/// Draws the limits that the record has for the declared classes across the plot.
fn draw_limits(svg: &mut Svg, frame: &Frame, record: &Record, y: Mapping<'_>, labels: &mut Labels) {
    for limit in frame.limits_of(record).iter().filter(|limit| limit.declared) {
        let at = limit.limit_ns as f64;
        if at > frame.level.begin() && at < frame.level.end() {
            svg.begin("limit declared");
            svg.line("line", (LEFT, y(at)), (RIGHT, y(at)));
            // Each limit is named; where two are close, one name goes below its line or further
            // left.
            let step = super::labels::width_of(&limit.label) + 8.0;
            let places = [0.0, 1.0, 2.0, 3.0].into_iter().flat_map(|steps| {
                let x = RIGHT - steps * step;
                [y(at) - 4.0, y(at) + 10.0].map(|y| LabelPosition { x, y, anchor: Anchor::End })
            });
            if let Some(place) = labels.place(&limit.label, places) {
                svg.text("label", (place.x, place.y), place.anchor, &limit.label);
            }
            svg.end();
        }
    }
}

fn grid(svg: &mut Svg, frame: &Frame) {
    svg.begin("axis");
    for tick in frame.level.ticks(time_mark) {
        if !tick.label.is_empty() {
            let y = BOTTOM - frame.level.part(tick.value) * (BOTTOM - TOP);
            svg.line("grid", (LEFT, y), (RIGHT, y));
            svg.text("tick", (LEFT - 6.0, y + 3.5), Anchor::End, &tick.label);
        }
    }
    svg.line("base", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    let (unit, size) = time_unit(frame.time.end());
    let scaled = super::axis::Scale::Linear { end: frame.time.end() / size };
    for tick in scaled.ticks(plain) {
        let x = LEFT + scaled.part(tick.value) * (RIGHT - LEFT);
        svg.line("mark", (x, BOTTOM), (x, BOTTOM + 4.0));
        let anchor = if x > RIGHT - 10.0 { Anchor::End } else { Anchor::Middle };
        svg.text("tick", (x, BOTTOM + 16.0), anchor, &tick.label);
    }
    svg.text("name", (RIGHT, HEIGHT - 6.0), Anchor::End, &format!("time in {unit} →"));
    svg.text("name", (0.0, 11.0), Anchor::Start, "↑ release latency, logarithmic");
    svg.end();
}

/// Returns the unit of a run's length, and its size in ns.
fn time_unit(end_ns: f64) -> (&'static str, f64) {
    match end_ns {
        end if end >= 7.2e12 => ("h", 3.6e12),
        end if end >= 1.2e11 => ("min", 6e10),
        end => unit_for(end),
    }
}

/// Makes the maxima as a filled outline, and the means as a line.
fn outlines(
    stretches: &[Stretch],
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) -> (String, String) {
    let (mut maxima, mut means) = (String::new(), String::new());
    for (index, stretch) in stretches.iter().enumerate() {
        let (left, right) = (x(stretch.from_ns), x(stretch.to_ns));
        if index == 0 {
            let _ = write!(maxima, "M{} {}", Short(left), Short(BOTTOM));
            let _ = write!(means, "M{} {}", Short(left), Short(y(stretch.mean_ns)));
        }
        let _ = write!(maxima, "V{}H{}", Short(y(stretch.max_ns as f64)), Short(right));
        let _ = write!(means, "V{}H{}", Short(y(stretch.mean_ns)), Short(right));
    }
    let _ = write!(maxima, "V{}Z", Short(BOTTOM));
    (maxima, means)
}

type Mapping<'a> = &'a dyn Fn(f64) -> f64;

fn name_maximum(
    svg: &mut Svg,
    summary: &RecordSummary<'_>,
    stretches: &[Stretch],
    (x, y): (Mapping<'_>, Mapping<'_>),
    labels: &mut Labels,
) {
    let Some(worst) = stretches.iter().max_by_key(|stretch| stretch.max_ns) else {
        return;
    };
    let at = (x(worst.from_ns) + x(worst.to_ns)) / 2.0;
    let top = y(worst.max_ns as f64);
    // A spike has the exact instant; without one the begin of the stretch stands for it.
    let spike = summary.record.spikes.iter().find(|spike| spike.latency_ns == worst.max_ns);
    let instant = spike.map_or(worst.from_ns as u64, |spike| spike.at_ns);
    let text = format!("max {} at {}", figures::nanos(worst.max_ns), figures::nanos(instant));
    let clear = |left: f64, right: f64| {
        let span = stretches.iter().filter(|it| x(it.to_ns) > left && x(it.from_ns) < right);
        span.map(|it| y(it.max_ns as f64)).fold(BOTTOM, f64::min)
    };
    Marker { x: at, y: top - 3.0 }.draw(svg, &text, (LEFT + RIGHT) / 2.0, labels, clear);
}

/// Names the two lines at their beginning.
fn name_lines(
    svg: &mut Svg,
    stretches: &[Stretch],
    (x, y): (Mapping<'_>, Mapping<'_>),
    labels: &mut Labels,
) {
    let Some(first) = stretches.first() else {
        return;
    };
    let head = &stretches[..stretches.len().min(stretches.len() / 4 + 1)];
    let highest = head.iter().map(|stretch| stretch.max_ns).max().unwrap_or(first.max_ns);
    let mean = head.iter().map(|stretch| stretch.mean_ns).fold(0.0, f64::max);
    let left = x(first.from_ns) + 6.0;
    let rows = |from: f64| [0.0, -LINE, -2.0 * LINE].map(|row| from + row);
    for (class, name, from) in [
        ("mean-label", "mean", y(mean) - 5.0),
        ("release-label", "maximum", y(highest as f64) - 5.0),
    ] {
        let places = rows(from).map(|y| LabelPosition { x: left, y, anchor: Anchor::Start });
        if let Some(place) = labels.place(name, places) {
            svg.text(class, (place.x, place.y), place.anchor, name);
        }
    }
}

fn tooltips(svg: &mut Svg, stretches: &[Stretch], x: impl Fn(f64) -> f64) {
    svg.begin("hover");
    for stretch in stretches {
        let text = format!(
            "{} to {}: max {}, mean {}, {} releases",
            figures::nanos(stretch.from_ns as u64),
            figures::nanos(stretch.to_ns as u64),
            figures::nanos(stretch.max_ns),
            figures::nanos_f64(stretch.mean_ns),
            figures::count(stretch.count)
        );
        let (left, right) = (x(stretch.from_ns), x(stretch.to_ns));
        svg.rect("", (left, TOP), ((right - left).max(1.0), BOTTOM - TOP), Some(&text));
    }
    svg.end();
}
