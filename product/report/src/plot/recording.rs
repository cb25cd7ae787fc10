//! Variables of a program over time: a panel each, one below the other, with one axis of time.

use std::fmt::Write as _;

use maud::PreEscaped;
use quietcore_record::trace::{Band, Recording};

use super::axis::nice_step;
use super::svg::{Anchor, Short, Svg};
use crate::figures;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 8.0;
/// Room above a panel for its name.
const NAME: f64 = 20.0;
const PANEL: f64 = 84.0;
const GAP: f64 = 12.0;
/// Room below the last panel for the axis of time.
const AXIS: f64 = 40.0;

/// The most points of a line; a plot is not wider.
const POINTS_MAX: usize = 640;

/// A linear axis from one number to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    /// An axis that holds both numbers with some air.
    fn around(low: f64, high: f64) -> Self {
        let air = if high > low { (high - low) * 0.06 } else { (high.abs() * 0.1).max(0.5) };
        // Numbers at the end of what a float holds leave no air.
        Self { low: (low - air).max(f64::MIN / 4.0), high: (high + air).min(f64::MAX / 4.0) }
    }

    fn part(self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Round numbers in it, a few.
    fn ticks(self, wanted: f64) -> Vec<f64> {
        let size = self.high - self.low;
        let decade = 10_f64.powf(size.log10().floor());
        // The steps are made for numbers near one.
        let step = nice_step(size / decade / wanted) * decade;
        let first = (self.low / step).ceil();
        let last = (self.high / step).floor();
        if !(step > 0.0 && step.is_finite() && last - first < 20.0) {
            return Vec::new();
        }
        (0..=(last - first) as u32).map(|index| (first + f64::from(index)) * step).collect()
    }
}

/// A number without needless digits.
fn written(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A measured number with four significant digits.
fn rounded(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !(1e-3..1e6).contains(&size) {
        return written(value);
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// The unit of an axis of time that is so long, and its size in seconds.
fn unit_for(seconds: f64) -> (&'static str, f64) {
    match seconds {
        seconds if seconds < 2e-3 => ("µs", 1e-6),
        seconds if seconds < 2.0 => ("ms", 1e-3),
        seconds if seconds < 180.0 => ("s", 1.0),
        _ => ("min", 60.0),
    }
}

/// Draws a recording. `name` says what was recorded.
pub(crate) fn recording(recording: &Recording, name: &str) -> PreEscaped<String> {
    let panels = recording.variables.len();
    let height = TOP + (NAME + PANEL + GAP) * panels as f64 + AXIS;
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
    for index in 0..panels {
        let top = TOP + NAME + (NAME + PANEL + GAP) * index as f64;
        panel(&mut svg, recording, index, time, top);
    }
    time_axis(&mut svg, recording, time, height);
    svg.finish()
}

fn x_of(time: Span, seconds: f64) -> f64 {
    LEFT + time.part(seconds) * (RIGHT - LEFT)
}

fn panel(svg: &mut Svg, recording: &Recording, index: usize, time: Span, top: f64) {
    let name = &recording.variables[index];
    svg.text("panel", (LEFT, top - 6.0), Anchor::Start, name);
    let Some((low, high)) = recording.course.range(index) else {
        svg.text("empty", (LEFT + 8.0, top + PANEL / 2.0), Anchor::Start, "no number");
        return;
    };
    let extremes = format!("min {}, max {}", rounded(low), rounded(high));
    svg.text("size", (RIGHT, top - 6.0), Anchor::End, &extremes);
    let values = Span::around(low, high);
    let y = |value: f64| top + PANEL - values.part(value) * PANEL;
    svg.begin("axis");
    for tick in values.ticks(5.0) {
        svg.line("grid", (LEFT, y(tick)), (RIGHT, y(tick)));
        svg.text("tick", (LEFT - 6.0, y(tick) + 3.5), Anchor::End, &written(tick));
    }
    svg.line("base", (LEFT, top + PANEL), (RIGHT, top + PANEL));
    svg.end();
    let (band, line) = outlines(recording, index, |seconds| x_of(time, seconds), y);
    svg.path("release", &band);
    svg.path("mean", &line);
    for (seconds, lost) in &recording.gaps {
        let at = x_of(time, *seconds);
        svg.line("interrupted", (at, top), (at, top + PANEL));
        let tooltip = format!("{} samples lost before this", figures::count(*lost));
        svg.rect("limit-hover", (at - 3.0, top), (6.0, PANEL), Some(&tooltip));
    }
    if recording.has_pre_trigger() {
        let at = x_of(time, 0.0);
        svg.begin("limit declared");
        svg.line("line", (at, top), (at, top + PANEL));
        if index == 0 {
            let (x, anchor) =
                if at < RIGHT - 60.0 { (at + 4.0, Anchor::Start) } else { (at - 4.0, Anchor::End) };
            svg.text("label", (x, top + 10.0), anchor, "trigger");
        }
        svg.end();
    }
}

/// The band from the smallest to the largest of each stretch, and the line of their last values. A
/// value holds until the next one, so the line goes in steps.
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

fn time_axis(svg: &mut Svg, recording: &Recording, time: Span, height: f64) {
    let (unit, size) = unit_for(time.high - time.low);
    let scaled = Span { low: time.low / size, high: time.high / size };
    let base = height - AXIS - GAP;
    svg.begin("axis");
    for tick in scaled.ticks(8.0) {
        let x = LEFT + scaled.part(tick) * (RIGHT - LEFT);
        svg.line("mark", (x, base), (x, base + 4.0));
        svg.text("tick", (x, base + 16.0), Anchor::Middle, &written(tick));
    }
    let from = if recording.has_pre_trigger() { "the trigger" } else { "the begin" };
    let named = format!("time in {unit}, from {from}");
    svg.text("name", (RIGHT, base + 32.0), Anchor::End, &named);
    let mut size = format!("n = {}", figures::count(recording.samples));
    if let Some((first, last)) = recording.cycles {
        let _ = write!(size, ", cycles {} to {}", figures::count(first), figures::count(last));
    }
    if recording.lost > 0 {
        let _ = write!(size, ", {} samples lost", figures::count(recording.lost));
    }
    svg.text("size", (LEFT, base + 32.0), Anchor::Start, &size);
    svg.end();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quietcore_record::trace::Moment;

    fn of(values: &[f64], begin: f64) -> Recording {
        let mut recording = Recording::new(vec!["a<b>.x".to_owned(), "none".to_owned()]);
        for (index, value) in values.iter().enumerate() {
            let seconds = begin + index as f64 / 1e3;
            let lost_before = u64::from(index == 2) * 5;
            let moment = Moment { cycle: index as u64, monotonic_ns: 0, seconds, lost_before };
            recording.push(&moment, &[*value, f64::NAN]);
        }
        recording
    }

    #[test]
    fn panels_are_named_and_say_extremes_losses_and_trigger() {
        let drawn = recording(&of(&[1.0, -0.25, 3.0, 2.0], -0.001), "line/axis").into_string();
        for words in [
            "a&lt;b&gt;.x",
            "min -0.25, max 3",
            "no number",
            "5 samples lost before this",
            "trigger",
            "time in ms, from the trigger",
            "n = 4, cycles 0 to 3, 5 samples lost",
        ] {
            assert!(drawn.contains(words), "`{words}` in {drawn}");
        }
        roxmltree::Document::parse(&drawn).unwrap();
        let empty = recording(&of(&[], 0.0), "line/axis").into_string();
        assert!(empty.contains("nothing recorded"), "{empty}");
    }

    #[test]
    fn numbers_of_an_axis_are_short() {
        for (value, text) in [(0.0, "0"), (-0.00001, "-1.00e-5"), (2.5, "2.5"), (3e9, "3.00e9")] {
            assert_eq!(written(value), text);
        }
        for (value, text) in [(0.0, "0"), (252.17512, "252.2"), (-2.4707, "-2.471"), (1.0, "1")] {
            assert_eq!(rounded(value), text);
        }
    }

    proptest! {
        #[test]
        fn any_numbers_make_a_sound_drawing(
            values in proptest::collection::vec(any::<f64>(), 1..40),
            begin in -1e6_f64..1e6,
        ) {
            let drawn = recording(&of(&values, begin), "x").into_string();
            prop_assert!(roxmltree::Document::parse(&drawn).is_ok());
            prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
        }

        #[test]
        fn ticks_lie_on_the_axis_and_are_few(low in -1e12_f64..1e12, size in 1e-9_f64..1e12) {
            let span = Span::around(low, low + size);
            let ticks = span.ticks(5.0);
            prop_assert!(ticks.len() <= 12, "{} of {:?}", ticks.len(), span);
            let air = (span.high - span.low) * 1e-6;
            prop_assert!(ticks.iter().all(|it| *it >= span.low - air && *it <= span.high + air));
        }
    }
}
