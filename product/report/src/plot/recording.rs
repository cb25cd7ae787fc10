//! Variables of a program over time: a panel each, one below the other, with one axis of time.

mod marks;
mod scale;

use std::fmt::Write as _;

use maud::PreEscaped;
use quietcore_record::trace::{Band, Mark, Recording};

use self::marks::Board;
use self::scale::Scale;
use super::axis::nice_step;
use super::svg::{Anchor, Short, Svg};
use crate::figures;

const WIDTH: f64 = 720.0;
/// Room for the text beside the axes: the least, the most, and the width of a character.
const LEFT_MIN: f64 = 66.0;
const LEFT_MAX: f64 = 140.0;
const CHARACTER: f64 = 6.2;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 8.0;
/// Room above a panel for its name.
const NAME: f64 = 20.0;
const GAP: f64 = 12.0;
/// Room below the last panel for the axis of time.
const AXIS: f64 = 40.0;

/// The most points of a line; no plot is wider.
const POINTS_MAX: usize = 640;

/// A linear axis from one number to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    /// Makes an axis that holds both numbers, with some room beyond them.
    fn around(low: f64, high: f64) -> Self {
        let air = if high > low { (high - low) * 0.06 } else { (high.abs() * 0.1).max(0.5) };
        // Numbers near the limits of a float leave no room beyond them.
        Self { low: (low - air).max(f64::MIN / 4.0), high: (high + air).min(f64::MAX / 4.0) }
    }

    fn part(self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Lists a few round numbers on the axis, about `wanted` of them.
    fn ticks(self, wanted: f64) -> Vec<f64> {
        let size = self.high - self.low;
        let decade = 10_f64.powf(size.log10().floor());
        // `nice_step` is made for numbers near one.
        let step = nice_step(size / decade / wanted) * decade;
        let first = (self.low / step).ceil();
        let last = (self.high / step).floor();
        if !(step > 0.0 && step.is_finite() && last - first < 20.0) {
            return Vec::new();
        }
        (0..=(last - first) as u32).map(|index| (first + f64::from(index)) * step).collect()
    }
}

/// Formats a number without needless digits.
fn written(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Formats a measured number with four significant digits.
fn rounded(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !(1e-3..1e6).contains(&size) {
        return written(value);
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// Returns the unit of a time axis that is `seconds` long, and its size in seconds.
fn unit_for(seconds: f64) -> (&'static str, f64) {
    match seconds {
        seconds if seconds < 2e-3 => ("µs", 1e-6),
        seconds if seconds < 2.0 => ("ms", 1e-3),
        seconds if seconds < 180.0 => ("s", 1.0),
        _ => ("min", 60.0),
    }
}

/// Draws a recording. `name` is the site and the partition that were recorded.
pub(crate) fn recording(recording: &Recording, name: &str) -> PreEscaped<String> {
    let panels = recording.variables.len();
    let scales: Vec<Scale> = (0..panels).map(|index| scale_of(recording, index)).collect();
    let heights = scales.iter().map(|scale| NAME + scale.height + GAP);
    let height = TOP + heights.sum::<f64>() + AXIS;
    let stretches = recording.course.stretches();
    let title = format!("Recording of {name}");
    let about = format!(
        "{} variables over time, {} samples, {} lost.",
        panels,
        figures::count(recording.samples),
        figures::count(recording.lost)
    );
    let mut svg = Svg::scaled("plot recording", WIDTH, height, &title, &about);
    let (Some(first), Some(last)) = (stretches.first(), stretches.last()) else {
        svg.text("empty", (WIDTH / 2.0, height / 2.0), Anchor::Middle, "nothing recorded");
        return svg.finish();
    };
    let length = (last.to_seconds - first.from_seconds).max(1e-9);
    let time = Span { low: first.from_seconds, high: first.from_seconds + length };
    let across = Across { left: left_of(&scales), time };
    let mut top = TOP;
    for (index, scale) in scales.iter().enumerate() {
        top += NAME;
        panel(&mut svg, recording, index, scale, across, top);
        top += scale.height + GAP;
    }
    time_axis(&mut svg, recording, across, height);
    svg.finish()
}

fn scale_of(recording: &Recording, index: usize) -> Scale {
    let meaning = recording.meanings.get(index).cloned().unwrap_or_default();
    match recording.course.range(index) {
        Some((low, high)) => Scale::of(&meaning, low, high),
        None => Scale::empty(),
    }
}

/// Returns the left end of all panels, where the longest label has room.
fn left_of(scales: &[Scale]) -> f64 {
    let labels = scales.iter().flat_map(|scale| &scale.labels);
    let longest = labels.map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    (longest as f64 * CHARACTER + 14.0).clamp(LEFT_MIN, LEFT_MAX)
}

/// The axis of time on the paper.
#[derive(Clone, Copy)]
struct Across {
    left: f64,
    time: Span,
}

impl Across {
    fn x(self, seconds: f64) -> f64 {
        self.at(self.time.part(seconds))
    }

    fn at(self, part: f64) -> f64 {
        self.left + part * (RIGHT - self.left)
    }
}

fn panel(
    svg: &mut Svg,
    recording: &Recording,
    index: usize,
    scale: &Scale,
    across: Across,
    top: f64,
) {
    let (left, bottom) = (across.left, top + scale.height);
    svg.text("panel", (left, top - 6.0), Anchor::Start, &recording.variables[index]);
    if recording.course.range(index).is_none() {
        svg.text("empty", (left + 8.0, top + scale.height / 2.0), Anchor::Start, "no number");
        return;
    }
    if let Some(extremes) = &scale.extremes {
        svg.text("size", (RIGHT, top - 6.0), Anchor::End, extremes);
    }
    let y = |value: f64| top + scale.y(value);
    svg.begin("axis");
    if let Some(unit) = &scale.unit {
        svg.text("name", (left - 6.0, top - 6.0), Anchor::End, unit);
    }
    for (value, label) in &scale.labels {
        svg.line("grid", (left, y(*value)), (RIGHT, y(*value)));
        svg.text("tick", (left - 6.0, y(*value) + 3.5), Anchor::End, label);
    }
    svg.line("base", (left, bottom), (RIGHT, bottom));
    svg.end();
    let (band, line) = outlines(recording, index, |seconds| across.x(seconds), y);
    if let Some(ground) = scale.ground {
        svg.path("level", &level(recording, index, |seconds| across.x(seconds), y, ground));
    } else {
        svg.path("release", &band);
    }
    svg.path("mean", &line);
    for (seconds, lost) in &recording.gaps {
        let at = across.x(*seconds);
        svg.line("interrupted", (at, top), (at, bottom));
        let tooltip = format!("{} samples lost before this", figures::count(*lost));
        svg.rect("limit-hover", (at - 3.0, top), (6.0, scale.height), Some(&tooltip));
    }
    let taken = trigger(svg, recording, index, across, (top, bottom));
    let own = recording.marks.iter().filter(|mark| mark.variable == index);
    let placed = own.filter_map(|mark| Some((across.x(recording.seconds_of(mark.cycle)?), mark)));
    let mut placed: Vec<(f64, &Mark)> = placed.collect();
    placed.sort_by(|one, other| one.0.total_cmp(&other.0));
    marks::draw(svg, &Board { edges: (top, bottom), left, taken }, &placed);
}

/// Draws the trigger, with its name in the first panel; returns the range that the name takes
/// there.
fn trigger(
    svg: &mut Svg,
    recording: &Recording,
    index: usize,
    across: Across,
    (top, bottom): (f64, f64),
) -> Option<(f64, f64)> {
    if !recording.has_pre_trigger() {
        return None;
    }
    let at = across.x(0.0);
    svg.begin("limit declared");
    svg.line("line", (at, top), (at, bottom));
    let room = 44.0;
    let taken = if at < RIGHT - 60.0 { (at, at + room) } else { (at - room, at) };
    if index == 0 {
        let is_right = taken.0 >= at;
        let (x, anchor) =
            if is_right { (at + 4.0, Anchor::Start) } else { (at - 4.0, Anchor::End) };
        svg.rect("back", (taken.0 + 2.0, top), (room - 2.0, 13.0), None);
        svg.text("label", (x, top + 10.0), anchor, "trigger");
    }
    svg.end();
    (index == 0).then_some(taken)
}

/// Makes the band from the smallest to the largest value of each stretch, and the line of the last
/// values. A value holds until the next one, so the line goes in steps.
fn outlines(
    recording: &Recording,
    index: usize,
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) -> (String, String) {
    let stretches = recording.course.stretches();
    let group = stretches.len().div_ceil(POINTS_MAX).max(1);
    let (mut band, mut line) = (String::new(), String::new());
    let mut drawing = false;
    for chunk in stretches.chunks(group) {
        let bands = || chunk.iter().filter_map(|stretch| stretch.bands.get(index));
        let numbers =
            || bands().filter(|band: &&Band| band.low.is_finite() && band.high.is_finite());
        let low = numbers().map(|band| band.low).fold(f64::INFINITY, f64::min);
        let high = numbers().map(|band| band.high).fold(f64::NEG_INFINITY, f64::max);
        let last = numbers().next_back().map(|band| band.last).filter(|value| value.is_finite());
        let (Some(last), Some(first), Some(end)) = (last, chunk.first(), chunk.last()) else {
            drawing = false;
            continue;
        };
        let (left, right) = (x(first.from_seconds), x(end.to_seconds));
        if high > low {
            let (top, bottom) = (Short(y(high)), Short(y(low)));
            let (left, right) = (Short(left), Short(right.max(left + 0.7)));
            let _ = write!(band, "M{left} {top}H{right}V{bottom}H{left}Z");
        }
        let (at, value, end) = (Short(left), Short(y(last)), Short(right));
        if drawing {
            let _ = write!(line, "H{at}V{value}H{end}");
        } else {
            let _ = write!(line, "M{at} {value}H{end}");
        }
        drawing = true;
    }
    (band, line)
}

/// Makes the area between a line and its `ground`, as far as the two differ. A stretch in which the
/// variable was at the top at all is filled, so that no short pulse is lost.
fn level(
    recording: &Recording,
    index: usize,
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
    ground: f64,
) -> String {
    let mut area = String::new();
    let mut begun: Option<(f64, f64)> = None;
    let fill = |area: &mut String, (from, value): (f64, f64), to: f64| {
        let [left, right, value, ground] = [x(from), x(to), y(value), y(ground)].map(Short);
        let _ = write!(area, "M{left} {value}H{right}V{ground}H{left}Z");
    };
    for stretch in recording.course.stretches() {
        let high = stretch.bands.get(index).map(|band| band.high).filter(|high| high.is_finite());
        let value = high.filter(|high| *high > ground);
        match (begun, value) {
            (Some((_, before)), Some(value)) if before == value => {}
            (before, value) => {
                // A value holds until the next one.
                before.into_iter().for_each(|it| fill(&mut area, it, stretch.from_seconds));
                begun = value.map(|value| (stretch.from_seconds, value));
            }
        }
    }
    if let (Some(begun), Some(last)) = (begun, recording.course.stretches().last()) {
        fill(&mut area, begun, last.to_seconds);
    }
    area
}

fn time_axis(svg: &mut Svg, recording: &Recording, across: Across, height: f64) {
    let time = across.time;
    let (unit, size) = unit_for(time.high - time.low);
    let scaled = Span { low: time.low / size, high: time.high / size };
    let base = height - AXIS - GAP;
    svg.begin("axis");
    for tick in scaled.ticks(8.0) {
        let x = across.at(scaled.part(tick));
        svg.line("mark", (x, base), (x, base + 4.0));
        svg.text("tick", (x, base + 16.0), Anchor::Middle, &written(tick));
    }
    let from = if recording.has_pre_trigger() { "the trigger" } else { "the start" };
    let named = format!("time in {unit}, from {from}");
    svg.text("name", (RIGHT, base + 32.0), Anchor::End, &named);
    let mut size = format!("n = {}", figures::count(recording.samples));
    if let Some((first, last)) = recording.cycles {
        let _ = write!(size, ", cycles {} to {}", figures::count(first), figures::count(last));
    }
    if recording.lost > 0 {
        let _ = write!(size, ", {} samples lost", figures::count(recording.lost));
    }
    svg.text("size", (across.left, base + 32.0), Anchor::Start, &size);
    svg.end();
}

#[cfg(test)]
mod tests;
