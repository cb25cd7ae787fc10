//! The latency histogram of one record.
//!
//! Latency runs to the right, the number of releases upwards on a logarithmic axis, as in the
//! plots of the OSADL test farm. The release latency is filled; the wake-up latency, which
//! `cyclictest` would see, is a line. Limits stand as dashed lines, and the maximum is named.

use std::fmt::Write as _;

use maud::PreEscaped;
use quietcore_record::histogram::Histogram;

use super::axis::{Scale, plain, time_mark, unit_for};
use super::bars::Edges;
use super::frame::{Frame, Limit};
use super::labels::{LINE, LabelPosition, Labels, Marker, NamedLimit, named};
use super::svg::{Anchor, Short, Svg};
use crate::figures;
use crate::summary::RecordSummary;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 276.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = HEIGHT - 38.0;

/// Base line of the name of the upward axis, and of the sample's size.
const HEAD: f64 = 11.0;
/// Base line of the limits' names; leaders go down from there to their lines.
const NAMES: f64 = TOP - 14.0;

/// The most columns that answer to the pointer.
const TOOLTIPS_MAX: usize = 100;

/// The drawing area, which maps values to places.
struct Area<'a> {
    frame: &'a Frame,
}

impl Area<'_> {
    fn x(&self, latency_ns: f64) -> f64 {
        LEFT + self.frame.latency.part(latency_ns) * (RIGHT - LEFT)
    }

    fn y(&self, count: f64) -> f64 {
        if count <= 0.0 { BOTTOM } else { BOTTOM - self.frame.count.part(count) * (BOTTOM - TOP) }
    }
}

/// Draws the histogram of a record.
pub(crate) fn histogram(summary: &RecordSummary<'_>, frame: &Frame) -> PreEscaped<String> {
    let record = summary.record;
    let area = Area { frame };
    let edges = Edges::new(frame.latency, record.release.resolution_ns());
    let release = edges.counts(&record.release);
    let wakeup = summary.wakeup.as_ref().and(record.wakeup.as_ref());
    let wakeup_counts = wakeup.map(|wakeup| edges.counts(wakeup));
    let title = format!("Release latency, {} of {}", summary.label(), record.partition);
    let mut svg = Svg::scaled("plot", WIDTH, HEIGHT, &title, &about(summary, &edges));
    let mut labels = Labels::within([LEFT - 4.0, TOP - 2.0, WIDTH, BOTTOM]);
    grid(&mut svg, &area, &edges);
    draw_limits(&mut svg, &area, &frame.limits_of(record));
    svg.path("release", &steps(&release, &edges, &area, true));
    if let Some(counts) = &wakeup_counts {
        svg.path("wakeup", &steps(counts, &edges, &area, false));
    }
    if record.release.overflow() > 0 {
        overflow(&mut svg, &record.release, &area, &mut labels);
    }
    let tallest = taller(&release, wakeup_counts.as_deref());
    name_maximum(&mut svg, summary, (&release, &tallest), &edges, &area, &mut labels);
    let same =
        if wakeup.is_none() && record.wakeup.is_some() { "release = wake-up" } else { "release" };
    name_series(&mut svg, ("release-label", same), &release, &edges, &area, &mut labels);
    if let Some(counts) = &wakeup_counts {
        let name = ("wakeup-label", "wake-up");
        name_series(&mut svg, name, counts, &edges, &area, &mut labels);
    }
    tooltips(&mut svg, &release, wakeup_counts.as_deref(), &edges, &area);
    svg.finish()
}

/// Describes the plot for readers who don't see it.
fn about(summary: &RecordSummary<'_>, edges: &Edges) -> String {
    let statistics = &summary.statistics;
    let bins = match edges.width_ns() {
        Some(width_ns) => format!("bars of {}", figures::set_nanos(width_ns)),
        None => "bars of a 24th of a decade".to_owned(),
    };
    format!(
        "Histogram of {} releases in {bins}, count on a logarithmic axis. Median {}, maximum {}.",
        figures::count(statistics.count),
        figures::or_dash(statistics.median_ns, figures::quantile),
        figures::maximum(statistics),
    )
}

/// Describes the width of the bars and the kind of axis, for the caption.
pub(crate) fn caption(frame: &Frame, resolution_ns: u64) -> String {
    let edges = Edges::new(frame.latency, resolution_ns);
    match edges.width_ns() {
        Some(width_ns) if width_ns < 1_000 => {
            format!(
                "bars of {}, finer than 1 µs because the latencies are small",
                figures::set_nanos(width_ns)
            )
        }
        Some(width_ns) => format!("bars of {}", figures::set_nanos(width_ns)),
        None => "the range is so wide that latency has a logarithmic axis too, with 24 bars a \
                 decade"
            .to_owned(),
    }
}

fn grid(svg: &mut Svg, area: &Area<'_>, edges: &Edges) {
    svg.begin("axis");
    for tick in area.frame.count.ticks(short_count) {
        let y = area.y(tick.value);
        if !tick.label.is_empty() && tick.value >= 1.0 {
            svg.line("grid", (LEFT, y), (RIGHT, y));
            svg.text("tick", (LEFT - 6.0, y + 3.5), Anchor::End, &tick.label);
        }
    }
    svg.line("base", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    let scale = area.frame.latency;
    let (unit, size) = unit_for(scale.end());
    let ticks = match scale {
        Scale::Linear { .. } => scale.ticks(|value| plain(value / size)),
        Scale::Logarithmic { .. } => scale.ticks(time_mark),
    };
    for tick in ticks {
        let x = area.x(tick.value);
        let length = if tick.label.is_empty() { 3.0 } else { 5.0 };
        svg.line("mark", (x, BOTTOM), (x, BOTTOM + length));
        if !tick.label.is_empty() {
            let anchor = if x > RIGHT - 10.0 { Anchor::End } else { Anchor::Middle };
            svg.text("tick", (x, BOTTOM + 16.0), anchor, &tick.label);
        }
    }
    let named = if scale.is_logarithmic() {
        "latency, logarithmic →".to_owned()
    } else {
        format!("latency in {unit} →")
    };
    svg.text("name", (RIGHT, HEIGHT - 6.0), Anchor::End, &named);
    let per = match edges.width_ns() {
        Some(width_ns) => format!("↑ releases per {}, logarithmic", time_mark(width_ns as f64)),
        None => "↑ releases per bar, logarithmic".to_owned(),
    };
    svg.text("name", (0.0, HEAD), Anchor::Start, &per);
    svg.end();
}

/// Formats a power of ten in few characters: `1`, `10`, `100`, `1 k` …
fn short_count(value: f64) -> String {
    match value {
        value if value >= 1e9 => format!("{}\u{a0}G", plain(value / 1e9)),
        value if value >= 1e6 => format!("{}\u{a0}M", plain(value / 1e6)),
        value if value >= 1e3 => format!("{}\u{a0}k", plain(value / 1e3)),
        value => plain(value),
    }
}

/// Returns the outline of bars, from gap to gap; a filled one returns to the base line.
fn steps(counts: &[u64], edges: &Edges, area: &Area<'_>, filled: bool) -> String {
    let mut data = String::new();
    let mut open = false;
    for (index, count) in counts.iter().enumerate() {
        let (low, high) = edges.range(index);
        if *count == 0 {
            if open {
                close(&mut data, filled);
                open = false;
            }
            continue;
        }
        let (left, right, y) = (area.x(low as f64), area.x(high as f64), area.y(*count as f64));
        if !open {
            let _ = write!(data, "M{} {}", Short(left), Short(BOTTOM));
            open = true;
        }
        let _ = write!(data, "V{}H{}", Short(y), Short(right));
    }
    if open {
        close(&mut data, filled);
    }
    data
}

fn close(data: &mut String, filled: bool) {
    let _ = write!(data, "V{}", Short(BOTTOM));
    if filled {
        data.push('Z');
    }
}

/// Draws limits within the range as lines, and the next one beyond it as an arrow, each with its
/// name.
fn draw_limits(svg: &mut Svg, area: &Area<'_>, limits: &[Limit]) {
    let (begin, end) = (area.frame.latency.begin(), area.frame.latency.end());
    let beyond = |limit: &&Limit| limit.limit_ns as f64 > end;
    let next = limits.iter().find(|limit| limit.declared && beyond(limit));
    let next = next.or_else(|| limits.iter().find(beyond));
    let within = limits.iter().filter(|limit| {
        let at = limit.limit_ns as f64;
        at > begin && at <= end
    });
    let shown: Vec<&Limit> = within.chain(next).collect();
    let line = |limit: &Limit| {
        let at = limit.limit_ns as f64;
        (at <= end).then(|| area.x(at))
    };
    for one in named(&shown, line, 1.0, (0.0, WIDTH)) {
        limit_line(svg, &one);
    }
}

/// Draws a line from the axis up to its name.
fn limit_line(svg: &mut Svg, one: &NamedLimit<'_>) {
    let limit = one.limit;
    svg.begin(if limit.declared { "limit declared" } else { "limit" });
    if let Some(x) = one.line {
        let tooltip =
            format!("{}, {}: {}", limit.label, time_mark(limit.limit_ns as f64), limit.classes);
        svg.line("leader", (one.name, NAMES + 3.0), (x, TOP - 2.0));
        svg.line("line", (x, TOP - 2.0), (x, BOTTOM));
        svg.rect("limit-hover", (x - 3.0, TOP - 2.0), (6.0, BOTTOM - TOP), Some(&tooltip));
    }
    svg.text("label", (one.name, NAMES), Anchor::Middle, &one.text);
    svg.end();
}

/// Draws the values that another program only counted: they lie somewhere between the end of its
/// bins and its maximum.
fn overflow(svg: &mut Svg, histogram: &Histogram, area: &Area<'_>, labels: &mut Labels) {
    let from = area.x(histogram.overflow_from_ns() as f64);
    let to = area.x(histogram.max_ns() as f64).max(from + 4.0);
    let y = area.y(histogram.overflow() as f64);
    let text = format!(
        "≥ {}: {}",
        time_mark(histogram.overflow_from_ns() as f64),
        figures::count(histogram.overflow())
    );
    let tooltip = format!("{text} releases that the program only counted");
    svg.rect("overflow", (from, y), (to - from, BOTTOM - y), Some(&tooltip));
    let places = [-6.0, -6.0 - LINE, -6.0 - 2.0 * LINE].map(|above| LabelPosition {
        x: (from + to) / 2.0,
        y: y + above,
        anchor: if to > RIGHT - 40.0 { Anchor::End } else { Anchor::Middle },
    });
    if let Some(place) = labels.place(&text, places) {
        svg.text("overflow-label", (place.x, place.y), place.anchor, &text);
    }
}

/// Returns the taller of two series, bar by bar.
fn taller(release: &[u64], wakeup: Option<&[u64]>) -> Vec<u64> {
    let other = |index: usize| wakeup.map_or(0, |wakeup| wakeup[index]);
    release.iter().enumerate().map(|(index, count)| *count.max(&other(index))).collect()
}

/// Names the maximum with its value, and the size of the sample.
fn name_maximum(
    svg: &mut Svg,
    summary: &RecordSummary<'_>,
    (counts, tallest): (&[u64], &[u64]),
    edges: &Edges,
    area: &Area<'_>,
    labels: &mut Labels,
) {
    let Some(max_ns) = summary.statistics.max_ns else {
        svg.text("empty", ((LEFT + RIGHT) / 2.0, HEIGHT / 2.0), Anchor::Middle, "nothing measured");
        return;
    };
    let size = format!("n = {}", figures::count(summary.statistics.count));
    svg.text("size", (RIGHT, HEAD), Anchor::End, &size);
    let max = max_ns as f64;
    let last = counts.iter().rposition(|count| *count > 0);
    let height = last.map_or(1.0, |index| counts[index] as f64);
    let x = match last {
        Some(index) if summary.record.release.overflow() == 0 => {
            let (low, high) = edges.range(index);
            (area.x(low as f64) + area.x(high as f64)) / 2.0
        }
        _ => area.x(max),
    };
    let y = area.y(height);
    let marker = Marker { x, y: y - 3.0 };
    let text = format!("max {}", figures::nanos(max_ns));
    let clear = |left: f64, right: f64| {
        let span = (0..counts.len()).filter(|index| {
            let (low, high) = edges.range(*index);
            area.x(high as f64) > left && area.x(low as f64) < right
        });
        area.y(span.map(|index| tallest[index]).max().unwrap_or(0) as f64)
    };
    marker.draw(svg, &text, (LEFT + RIGHT) / 2.0, labels, clear);
}

/// Writes the name of a series at its peak, or to the right of it.
fn name_series(
    svg: &mut Svg,
    (class, name): (&str, &str),
    counts: &[u64],
    edges: &Edges,
    area: &Area<'_>,
    labels: &mut Labels,
) {
    let Some(peak) = (0..counts.len()).max_by_key(|index| (counts[*index], usize::MAX - index))
    else {
        return;
    };
    if counts[peak] == 0 {
        return;
    }
    let top = area.y(counts[peak] as f64);
    // Down its right flank, the curve leaves room beside it.
    let flank = (peak..counts.len()).filter(|index| counts[*index] > 0).step_by(2).take(60);
    let beside = flank.map(|index| {
        let (_, high) = edges.range(index);
        let tallest = counts[index..].iter().copied().max().unwrap_or(0);
        LabelPosition {
            x: area.x(high as f64) + 6.0,
            y: area.y(tallest as f64) + 3.0,
            anchor: Anchor::Start,
        }
    });
    let (low, high) = edges.range(peak);
    let x = (area.x(low as f64) + area.x(high as f64)) / 2.0;
    let above = LabelPosition { x, y: (top - 5.0).max(TOP + 8.0), anchor: Anchor::Middle };
    let above_right = LabelPosition { x: x + 4.0, anchor: Anchor::Start, ..above };
    if let Some(place) = labels.place(name, [above, above_right].into_iter().chain(beside)) {
        svg.text(class, (place.x, place.y), place.anchor, name);
    }
}

/// Draws invisible columns that tell what lies below the pointer.
fn tooltips(
    svg: &mut Svg,
    release: &[u64],
    wakeup: Option<&[u64]>,
    edges: &Edges,
    area: &Area<'_>,
) {
    svg.begin("hover");
    let group = release.len().div_ceil(TOOLTIPS_MAX);
    for first in (0..release.len()).step_by(group.max(1)) {
        let last = (first + group).min(release.len());
        let sum = |counts: &[u64]| counts[first..last].iter().sum::<u64>();
        let (count, woken) = (sum(release), wakeup.map(sum));
        if count == 0 && woken.unwrap_or(0) == 0 {
            continue;
        }
        let (low, _) = edges.range(first);
        let (_, high) = edges.range(last - 1);
        let mut text = format!(
            "{} to {}: {} releases",
            figures::nanos(low),
            figures::nanos(high),
            figures::count(count)
        );
        if let Some(woken) = woken {
            let _ = write!(text, ", {} wake-ups", figures::count(woken));
        }
        let (left, right) = (area.x(low as f64), area.x(high as f64));
        svg.rect("", (left, TOP), ((right - left).max(1.0), BOTTOM - TOP), Some(&text));
    }
    svg.end();
}
