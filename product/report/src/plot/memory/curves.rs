//! Access time over the working set, and the slowdown by neighbours over the same axis.
//!
//! ```text
//! 100 ns ┤  L1 48 KiB │ L2 2 MiB   │ L3 480 MiB ╎ memory
//!  10 ns ┤            │     ┌ ─ ─ ─│─ ─ ─ ─ ─   random, beside
//!   1 ns ┤────────────┘─────┘──────│──────────  random
//!     4× ┤                         │   ╱╲       the ratio of each pair, with its interval
//!     1× ┤─────────────────────────│──╱──╲────
//!         1 KiB   32 KiB   1 MiB   32 MiB
//! ```

use maud::PreEscaped;
use quietcore_record::record::{CacheLevel, PointEntry};
use quietcore_record::slowdown::{Estimate, MemorySlowdown, ONSET};

use super::super::axis::{Scale, plain};
use super::super::labels::{LabelPosition, Labels};
use super::super::svg::{Anchor, Svg};
use super::{area_between, class_of, line_through};
use crate::figures;
use crate::section::memory::{CurveSummary, MemorySummary};

const WIDTH: f64 = 980.0;
const LEFT: f64 = 58.0;
/// Room for the names of the curves behind their ends.
const RIGHT: f64 = WIDTH - 200.0;
/// Room for the names of the caches.
const TOP: f64 = 34.0;
const BOTTOM: f64 = 360.0;
/// Top of the panel of the slowdown.
const TOP_RATIO: f64 = 398.0;
const BOTTOM_RATIO: f64 = 548.0;
/// Height with the marks of the working sets.
const HEIGHT: f64 = 590.0;
const HEIGHT_ALONE: f64 = 402.0;
/// Octaves from one mark with a label to the next.
const OCTAVES: u32 = 2;

/// The axes of a drawing.
struct Axes {
    sets: Scale,
    time: Scale,
    ratio: Option<Scale>,
}

impl Axes {
    fn x(&self, bytes: u64) -> f64 {
        LEFT + self.sets.part(bytes as f64) * (RIGHT - LEFT)
    }

    fn y(&self, time_ns: f64) -> f64 {
        BOTTOM - self.time.part(time_ns) * (BOTTOM - TOP)
    }

    fn y_ratio(&self, ratio: f64) -> f64 {
        let part = self.ratio.map_or(0.0, |scale| scale.part(ratio));
        BOTTOM_RATIO - part * (BOTTOM_RATIO - TOP_RATIO)
    }

    /// Returns the lower end of the drawing area.
    fn bottom(&self) -> f64 {
        if self.ratio.is_some() { BOTTOM_RATIO } else { BOTTOM }
    }
}

/// Draws the curves with `ways` of the partition's own; `None` where there are none. The axes are
/// those of all curves, so that drawings can be compared.
pub(crate) fn curves(memory: &MemorySummary<'_>, ways: Option<u32>) -> Option<PreEscaped<String>> {
    let axes = axes_of(memory)?;
    let drawn: Vec<&CurveSummary<'_>> = memory.curves_of(ways).collect();
    let caches = &drawn.first()?.run.caches;
    let height = if axes.ratio.is_some() { HEIGHT } else { HEIGHT_ALONE };
    let title = "Time of an access to memory by working set";
    let mut svg = Svg::scaled("plot memory", WIDTH, height, title, &about(&drawn));
    zones(&mut svg, &axes, caches);
    marks(&mut svg, &axes);
    for curve in &drawn {
        draw(&mut svg, &axes, curve);
    }
    names(&mut svg, &axes, &drawn);
    if axes.ratio.is_some() {
        ratios(&mut svg, &axes, memory, ways);
    }
    hover(&mut svg, &axes, &drawn, memory, ways);
    Some(svg.finish())
}

/// Makes axes that hold all curves.
fn axes_of(memory: &MemorySummary<'_>) -> Option<Axes> {
    let points = || memory.curves.iter().flat_map(|curve| &curve.points);
    let sets = points().map(|point| point.working_set_bytes as f64);
    let (least, most) = extent(sets)?;
    let times = points().flat_map(|point| {
        let shown = &point.access_ns;
        [shown.median, shown.low.unwrap_or(shown.median), shown.high.unwrap_or(shown.median)]
    });
    let (fastest, slowest) = extent(times)?;
    let ratios = memory.slowdowns.iter().flat_map(|slowdown| &slowdown.points);
    let ratio = extent(ratios.flat_map(|point| {
        let shown = &point.ratio;
        [shown.median, shown.high.unwrap_or(shown.median)]
    }));
    Some(Axes {
        sets: Scale::Logarithmic { begin: least, end: most.max(least * 2.0) },
        time: Scale::logarithmic_around(fastest.max(0.01), slowest),
        ratio: ratio.map(|(_, most)| Scale::linear_beyond(most.max(1.9))),
    })
}

/// Returns the smallest and the largest value above zero.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values = values.filter(|value| value.is_finite() && *value > 0.0);
    values.fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((least, most)) => Some((value.min(least), value.max(most))),
    })
}

/// Draws the caches as zones, each with its name and size at the line where it ends.
fn zones(svg: &mut Svg, axes: &Axes, caches: &[CacheLevel]) {
    let mut from = LEFT;
    let bottom = axes.bottom();
    for (index, cache) in caches.iter().enumerate() {
        let is_beyond = cache.bytes as f64 > axes.sets.end();
        let to = if is_beyond { RIGHT } else { axes.x(cache.bytes).max(LEFT) };
        if to - from < 1.0 {
            continue;
        }
        let class = if index % 2 == 0 { "zone even" } else { "zone odd" };
        svg.rect(class, (from, TOP), (to - from, bottom - TOP), None);
        if !is_beyond {
            svg.line("cache-end", (to, TOP - 6.0), (to, bottom));
        }
        let name = format!("L{}", cache.level);
        let size = figures::bytes(cache.bytes);
        let text = if to - from > 74.0 { format!("{name} · {size}") } else { name };
        svg.text("zone-name", (f64::midpoint(from, to), TOP - 10.0), Anchor::Middle, &text);
        from = to;
    }
    if RIGHT - from > 44.0 {
        let middle = f64::midpoint(from, RIGHT);
        svg.text("zone-name", (middle, TOP - 10.0), Anchor::Middle, "memory");
    }
}

fn marks(svg: &mut Svg, axes: &Axes) {
    for tick in axes.time.ticks(time) {
        let y = axes.y(tick.value);
        let class = if tick.label.is_empty() { "grid minor" } else { "grid" };
        svg.line(class, (LEFT, y), (RIGHT, y));
        svg.text("tick", (LEFT - 8.0, y + 4.0), Anchor::End, &tick.label);
    }
    svg.text("tick", (LEFT - 8.0, TOP - 10.0), Anchor::End, "access");
    for tick in axes.ratio.map(|scale| scale.ticks(plain)).unwrap_or_default() {
        let y = axes.y_ratio(tick.value);
        svg.line("grid", (LEFT, y), (RIGHT, y));
        let label = format!("{}×", tick.label);
        svg.text("tick", (LEFT - 8.0, y + 4.0), Anchor::End, &label);
    }
    let bottom = axes.bottom();
    let first = (axes.sets.begin().log2().ceil() as u32).min(63);
    let last = (axes.sets.end().log2().floor() as u32).min(63);
    for octave in first..=last {
        let x = axes.x(1 << octave);
        let is_written = (octave - first).is_multiple_of(OCTAVES);
        svg.line("mark", (x, bottom), (x, bottom + if is_written { 6.0 } else { 3.0 }));
        if is_written {
            svg.text("tick", (x, bottom + 19.0), Anchor::Middle, &figures::bytes(1 << octave));
        }
    }
    svg.line("base", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    svg.line("base", (LEFT, bottom), (RIGHT, bottom));
    let middle = f64::midpoint(LEFT, RIGHT);
    svg.text("tick", (middle, bottom + 37.0), Anchor::Middle, "working set, logarithmic");
}

/// Formats a time of the axis: below a nanosecond with decimals.
fn time(value_ns: f64) -> String {
    if value_ns < 1_000.0 {
        format!("{}\u{a0}ns", plain(value_ns))
    } else {
        figures::nanos_f64(value_ns)
    }
}

/// Draws a curve with the interval of its median.
fn draw(svg: &mut Svg, axes: &Axes, curve: &CurveSummary<'_>) {
    let class = class_of(curve.run.pattern);
    let at = |point: &PointEntry, time_ns: f64| (axes.x(point.working_set_bytes), axes.y(time_ns));
    let bound = |of: fn(&Estimate) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = curve.points.iter();
        points.filter_map(|point| Some(at(point, of(&point.access_ns)?))).collect()
    };
    let band = area_between(&bound(|it| it.high), &bound(|it| it.low));
    if !band.is_empty() {
        svg.path(&format!("band {class}"), &band);
    }
    let data = line_through(curve.points.iter().map(|point| at(point, point.access_ns.median)));
    svg.path(&format!("curve {class}{}", dashed(curve)), &data);
}

fn dashed(curve: &CurveSummary<'_>) -> &'static str {
    if curve.run.interference.is_some() { " beside" } else { "" }
}

/// Writes the name of each curve at its end, or as near to it as there is room.
fn names(svg: &mut Svg, axes: &Axes, drawn: &[&CurveSummary<'_>]) {
    let mut labels = Labels::within([RIGHT, TOP - 8.0, WIDTH + 12.0, BOTTOM + 8.0]);
    let mut ends: Vec<(f64, &CurveSummary<'_>)> = drawn
        .iter()
        .filter_map(|curve| Some((axes.y(curve.points.last()?.access_ns.median), *curve)))
        .collect();
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (y, curve) in ends {
        let name = curve.label();
        let place = |step: i32| LabelPosition {
            x: RIGHT + 8.0,
            y: y + 4.0 + f64::from(step) * 7.0,
            anchor: Anchor::Start,
        };
        let around = (0..24).flat_map(|step| [place(step), place(-step)]);
        if let Some(place) = labels.place(&name, around) {
            let class = format!("curve-name {}", class_of(curve.run.pattern));
            svg.text(&class, (place.x, place.y), place.anchor, &name);
        }
    }
}

/// Draws the slowdown of each pattern with its interval, and names the largest one where it is
/// sure.
fn ratios(svg: &mut Svg, axes: &Axes, memory: &MemorySummary<'_>, ways: Option<u32>) {
    svg.text("panel", (LEFT, TOP_RATIO - 12.0), Anchor::Start, "Slowdown by neighbours");
    let one = axes.y_ratio(1.0);
    svg.line("unity", (LEFT, one), (RIGHT, one));
    let mut labels = Labels::within([LEFT, TOP_RATIO - 22.0, WIDTH + 12.0, BOTTOM_RATIO]);
    for slowdown in memory.slowdowns_of(ways) {
        let class = class_of(slowdown.pattern);
        let points = || slowdown.points.iter();
        let at = |bytes: u64, ratio: f64| (axes.x(bytes), axes.y_ratio(ratio));
        let bound = |of: fn(&Estimate) -> Option<f64>| -> Vec<(f64, f64)> {
            points().filter_map(|it| Some(at(it.working_set_bytes, of(&it.ratio)?))).collect()
        };
        let band = area_between(&bound(|it| it.high), &bound(|it| it.low));
        if !band.is_empty() {
            svg.path(&format!("band {class}"), &band);
        }
        let line = line_through(points().map(|it| at(it.working_set_bytes, it.ratio.median)));
        svg.path(&format!("curve {class}"), &line);
        let worst = slowdown.worst().filter(|worst| worst.ratio.is_surely_above(ONSET));
        let Some(worst) = worst else { continue };
        let (x, y) = at(worst.working_set_bytes, worst.ratio.median);
        svg.circle(&format!("worst {class}"), (x, y), 4.0, None);
        let text =
            format!("{:.2}× at {}", worst.ratio.median, figures::bytes(worst.working_set_bytes));
        let place = |dx: f64, dy: f64, anchor| LabelPosition { x: x + dx, y: y + dy, anchor };
        let places = [
            place(-8.0, -8.0, Anchor::End),
            place(8.0, -8.0, Anchor::Start),
            place(-8.0, 16.0, Anchor::End),
            place(8.0, 16.0, Anchor::Start),
        ];
        if let Some(place) = labels.place(&text, places) {
            svg.text(&format!("label {class}"), (place.x, place.y), place.anchor, &text);
        }
    }
}

/// Draws a column for each working set, with all its figures as a tooltip.
fn hover(
    svg: &mut Svg,
    axes: &Axes,
    drawn: &[&CurveSummary<'_>],
    memory: &MemorySummary<'_>,
    ways: Option<u32>,
) {
    let mut sizes: Vec<u64> =
        drawn.iter().flat_map(|it| &it.points).map(|point| point.working_set_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    svg.begin("hover");
    for (index, size) in sizes.iter().enumerate() {
        let x = axes.x(*size);
        let before = index.checked_sub(1).map_or(LEFT, |it| f64::midpoint(axes.x(sizes[it]), x));
        let behind = sizes.get(index + 1).map_or(RIGHT, |it| f64::midpoint(axes.x(*it), x));
        let corner = (before, TOP);
        let area = (behind - before, axes.bottom() - TOP);
        let text = tooltip(*size, drawn, memory.slowdowns_of(ways));
        svg.rect("column", corner, area, Some(&text));
    }
    svg.end();
}

fn tooltip<'s>(
    size: u64,
    drawn: &[&CurveSummary<'_>],
    slowdowns: impl Iterator<Item = &'s MemorySlowdown>,
) -> String {
    let mut text = figures::bytes(size);
    for curve in drawn {
        let Some(point) = curve.points.iter().find(|it| it.working_set_bytes == size) else {
            continue;
        };
        let load = point.load_bytes_per_second;
        let load = if load > 0.0 {
            format!(", neighbours {}", figures::rate(load))
        } else {
            String::new()
        };
        let median = figures::nanos_f64(point.access_ns.median);
        text.push_str(&format!("\n{}: {median}{load}", curve.label()));
    }
    for slowdown in slowdowns {
        if let Some(point) = slowdown.points.iter().find(|it| it.working_set_bytes == size) {
            let name = slowdown.pattern.name();
            text.push_str(&format!("\n{name}: {}", figures::ratio(&point.ratio)));
        }
    }
    text
}

fn about(drawn: &[&CurveSummary<'_>]) -> String {
    let mut text = "Time of an access upwards, working set to the right, both logarithmic; below \
                    them the slowdown by neighbours."
        .to_owned();
    for curve in drawn {
        let ends = [curve.points.first(), curve.points.last()];
        for point in ends.into_iter().flatten() {
            let set = figures::bytes(point.working_set_bytes);
            let median = figures::nanos_f64(point.access_ns.median);
            text.push_str(&format!(" {}, {set}: {median}.", curve.label()));
        }
    }
    text
}
