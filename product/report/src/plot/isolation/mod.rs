//! The isolation matrix on one axis: for each row the measured latency, and below it that of the
//! paper with its three kernels, each from the smallest to the largest value with the mean marked.
//!
//! ```text
//! 3: pinned, no load            ┊100 µs          ┊10 ms
//!      ├──○────────────┤ 537 µs ┊                ┊
//!    ├─────────────────┊────────┊────○───────────┊────────┤ Standard 834 ms
//!    ├─────────────────┊────────┊─────○──────────┊─────────┤ Xenomai 940 ms
//! ```

use maud::PreEscaped;
use quietcore_record::isolation::{CYCLES_NS, IsolationMatrix, IsolationRow};

use super::axis::{Scale, time_mark};
use super::svg::{Anchor, Svg, X};
use crate::figures;

/// Room for the names of the limits.
const TOP: f64 = 18.0;
/// Height of the line with a row's words.
const HEAD: f64 = 15.0;
/// Height of a stroke with its text.
const STROKE: f64 = 11.5;
/// Room below a row.
const GAP: f64 = 9.0;
/// Room for the marks of the axis.
const AXIS: f64 = 40.0;
/// Places where strokes begin and end, in per cent; the maximum is written behind them.
const LEFT: f64 = 0.6;
const RIGHT: f64 = 86.0;
/// Value at which strokes begin where the paper prints 0 µs, in ns: the most that this can be.
const LEAST: f64 = 500.0;

/// A stroke: its name and its three figures in ns.
struct Stroke<'a> {
    name: &'a str,
    min_ns: f64,
    mean_ns: f64,
    max_ns: f64,
    class: &'static str,
}

/// Draws a matrix. The axis holds all of its rows, measured and published.
pub(crate) fn isolation(matrix: &IsolationMatrix) -> PreEscaped<String> {
    let rows: Vec<(&IsolationRow, Vec<Stroke<'_>>)> =
        matrix.rows.iter().map(|row| (row, strokes(row))).collect();
    let all = || rows.iter().flat_map(|(_, strokes)| strokes);
    let least = all().map(|it| it.min_ns).fold(f64::INFINITY, f64::min);
    let most = all().map(|it| it.max_ns).fold(LEAST, f64::max);
    let scale = Scale::logarithmic_around(least.min(most).max(1.0), most);
    let height: f64 = rows.iter().map(|(_, strokes)| height_of(strokes)).sum();
    let title = format!("Isolation matrix of {}", matrix.partition);
    let mut svg = Svg::stretched("ranges isolation", TOP + height + AXIS, &title, &about(&rows));
    background(&mut svg, scale, TOP + height);
    let mut top = TOP;
    for (row, strokes) in &rows {
        head(&mut svg, row, top);
        for (index, stroke) in strokes.iter().enumerate() {
            draw(&mut svg, scale, stroke, top + HEAD + STROKE * (index as f64 + 0.5));
        }
        top += height_of(strokes);
    }
    svg.finish()
}

/// Makes the strokes of a row, the measured one first.
fn strokes(row: &IsolationRow) -> Vec<Stroke<'_>> {
    let class = if row.not_as_asked.is_empty() { "many" } else { "many doubtful" };
    let own = row.as_slept().map(|figures| Stroke {
        name: "",
        min_ns: figures.min_ns as f64,
        mean_ns: figures.mean_ns,
        max_ns: figures.max_ns as f64,
        class,
    });
    let published = row.published.iter().map(|line| Stroke {
        name: &line.kernel,
        min_ns: (line.min_us * 1e3).max(LEAST),
        mean_ns: line.mean_us * 1e3,
        max_ns: line.max_us * 1e3,
        class: "few",
    });
    own.into_iter().chain(published).collect()
}

fn height_of(strokes: &[Stroke<'_>]) -> f64 {
    HEAD + STROKE * strokes.len() as f64 + GAP
}

fn background(svg: &mut Svg, scale: Scale, bottom: f64) {
    for tick in scale.ticks(time_mark).iter().filter(|tick| !tick.label.is_empty()) {
        let at = x(scale, tick.value);
        svg.line("grid", (at, TOP), (at, bottom));
        svg.text("tick", (at, bottom + 16.0), Anchor::Middle, &tick.label);
    }
    svg.text("tick", (X::Percent(RIGHT), bottom + 32.0), Anchor::End, "time, logarithmic →");
    for cycle_ns in CYCLES_NS {
        let limit_ns = cycle_ns / 10;
        let at = x(scale, limit_ns as f64);
        svg.line("limit-line", (at, TOP), (at, bottom));
        let name = format!("tenth of {}", figures::set_nanos(cycle_ns));
        svg.text("limit-name", (at, TOP - 6.0), Anchor::Middle, &name);
    }
}

fn head(svg: &mut Svg, row: &IsolationRow, top: f64) {
    let same = match row.same_as {
        Some(same) => format!(" (as row {same})"),
        None => String::new(),
    };
    let state = match (row.as_slept().is_some(), row.not_as_asked.is_empty()) {
        (false, _) => ", not measured",
        (true, false) => ", not as asked",
        (true, true) => "",
    };
    let words = format!("{}{same}{state}: {}", row.row, row.on_one_kernel);
    svg.text("name", (X::Percent(LEFT), top + 11.0), Anchor::Start, &words);
}

fn draw(svg: &mut Svg, scale: Scale, stroke: &Stroke<'_>, y: f64) {
    let (from, to) = (x(scale, stroke.min_ns), x(scale, stroke.max_ns));
    svg.begin(stroke.class);
    svg.line("stroke", (from, y), (to, y));
    for end in [from, to] {
        svg.line("end", (end, y - 3.0), (end, y + 3.0));
    }
    svg.circle("ring", (x(scale, stroke.mean_ns), y), 3.0, Some(&tooltip(stroke)));
    let space = if stroke.name.is_empty() { "" } else { " " };
    let text = format!("{}{space}{}", stroke.name, figures::nanos_f64(stroke.max_ns));
    let behind = X::Percent(place(scale, stroke.max_ns) + 0.9);
    svg.text("value", (behind, y + 3.6), Anchor::Start, &text);
    svg.end();
}

fn place(scale: Scale, value: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * scale.part(value)
}

fn x(scale: Scale, value: f64) -> X {
    X::Percent(place(scale, value))
}

fn tooltip(stroke: &Stroke<'_>) -> String {
    let name = if stroke.name.is_empty() { "measured" } else { stroke.name };
    format!(
        "{name}: {} to {}, mean {}",
        figures::nanos_f64(stroke.min_ns),
        figures::nanos_f64(stroke.max_ns),
        figures::nanos_f64(stroke.mean_ns)
    )
}

fn about(rows: &[(&IsolationRow, Vec<Stroke<'_>>)]) -> String {
    let told = rows.iter().map(|(row, strokes)| {
        let strokes: Vec<String> = strokes.iter().map(tooltip).collect();
        format!("{}, {}: {}", row.row, row.on_one_kernel, strokes.join("; "))
    });
    told.collect::<Vec<_>>().join(". ")
}
