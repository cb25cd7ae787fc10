//! The look of `top`. This module is pure: it draws a snapshot and a view onto a frame, or as text.
//!
//! ```text
//! press-line                                    20:15:03  sorted by site file
//! partition state   period  cycles missed over worst  CPU fieldbus
//! axis      running 1.00 ms 61 234      0    2 187 µs   1 OP ×3
//! ─ axis · release latency · 61 166 values, up to 50 000 a bar, both logarithmic ─
//! █ bars: count, logarithmic            release     p50 …  max …
//! █▁▁   ▁                               worst cases: latency, cycle, CPU
//! 1 µs       10 µs      100 µs
//! ↑↓ partition  ←→ histogram  s sort  q end
//! ```

use std::ops::Range;

use quietcore_exchange::Spike;
use quietcore_record::record::{self, LateRelease, Stall};
use quietcore_record::verdict::thousands;
use quietcore_report::table::{self as columns, Side, cut};
use quietcore_supervisor::control::Activity;
use quietcore_supervisor::monitor::{LogBars, TaskFigures};
use quietcore_units::Nanos;
use quietcore_wording::hanging;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::collect::{Pane, Snapshot};
use super::view::{Shown, View};
use crate::command::running::ps::{NONE, fieldbus, of_program};
use crate::table::Table;

/// Columns of the figures beside the histogram.
const FIGURES: u16 = 46;
/// Columns of the figures' names.
const NAMES: usize = 10;
/// The fewest columns of a histogram.
const HISTOGRAM_MIN: u16 = 30;
/// The largest number of worst cases shown.
const WORST_MAX: usize = 8;

/// Draws the whole screen: list, histogram, figures and keys.
pub(super) fn draw(frame: &mut Frame<'_>, snapshot: &Snapshot, view: &View) {
    let panes = view.sorted(snapshot);
    let place = view.place(&panes);
    let height = frame.area().height;
    // A third of the screen for the list; one line of it is its heading.
    let rows = (panes.len() as u16 + 1).min((height / 3).max(3));
    let [head, list, gap, body, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(rows),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let paint = Paint { color: view.color };
    frame.render_widget(heading(snapshot, view, head.width, paint), head);
    frame.render_widget(Paragraph::new(list_lines(&panes, place, list, paint)), list);
    let Some(pane) = panes.get(place) else {
        frame.render_widget(Paragraph::new("no partitions"), body);
        return;
    };
    let title = title_of(pane, view.shown);
    let rule = "─".repeat(usize::from(gap.width).saturating_sub(title.chars().count()));
    frame.render_widget(Line::styled(title + &rule, paint.dim()), gap);
    // The last column is left out first; the chosen partition's is shown below.
    let fits = self::list(&panes).fits(usize::from(list.width));
    let left_out = (!fits && pane.state.fieldbus.is_some()).then(|| fieldbus(&pane.state));
    draw_body(frame, pane, view, body, left_out, paint);
    let help = "↑↓ partition  ←→ histogram  s sort  q end";
    frame.render_widget(Line::styled(help, paint.dim()), keys);
}

/// Returns the line above the histogram: its quantity, number of values and tallest bar.
fn title_of(pane: &Pane, shown: Shown) -> String {
    let mut title = format!("─ {} · {}", pane.state.name, shown.name());
    if let Some(bars) = pane.tasks.first().map(|task| bars_of(task, shown)) {
        let tallest = bars.counts.iter().copied().max().unwrap_or(0);
        let (total, tallest) = (thousands(bars.total), thousands(tallest));
        title.push_str(&format!(" · {total} values, up to {tallest} a bar, both logarithmic"));
    }
    title + " "
}

fn bars_of(task: &TaskFigures, shown: Shown) -> &LogBars {
    match shown {
        Shown::Release => &task.release,
        Shown::Execution => &task.execution,
        Shown::Response => &task.response,
    }
}

/// Styles, without colour if none is wanted.
#[derive(Clone, Copy)]
struct Paint {
    color: bool,
}

impl Paint {
    fn of(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    fn dim(self) -> Style {
        if self.color { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
    }

    fn state(self, state: &Activity) -> Style {
        match state {
            Activity::Running => Style::new(),
            Activity::Starting | Activity::Paused | Activity::Shed { .. } => self.of(Color::Yellow),
            _ => self.of(Color::Red).add_modifier(Modifier::BOLD),
        }
    }
}

fn heading<'a>(snapshot: &Snapshot, view: &View, width: u16, paint: Paint) -> Line<'a> {
    let time = snapshot.at.get(11..19).unwrap_or(&snapshot.at);
    let right = format!("{time} UTC  sorted by {}", view.sort.name());
    let used = snapshot.site.chars().count() + right.chars().count();
    let room = " ".repeat(usize::from(width).saturating_sub(used).max(1));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    Line::from(vec![
        Span::styled(snapshot.site.clone(), bold),
        Span::styled(format!("{room}{right}"), paint.dim()),
    ])
}

fn list(panes: &[&Pane]) -> columns::Table {
    let mut table = columns::Table::new()
        .leading("partition", Side::Left)
        .column("state", Side::Left, 0)
        .numbers(["period", "cycles", "missed", "over", "worst", "CPU"], 0)
        .column("fieldbus", Side::Left, 0);
    for pane in panes {
        let state = &pane.state;
        table.row([
            state.name.clone(),
            state.state.word().to_owned(),
            of_program(state, state.period.to_string()),
            of_program(state, thousands(state.cycles)),
            of_program(state, thousands(state.missed_cycles)),
            of_program(state, thousands(state.overruns)),
            of_program(state, state.release_max.to_string()),
            state.cpu.map_or_else(|| "–".to_owned(), |cpu| cpu.to_string()),
            fieldbus(state),
        ]);
    }
    table
}

/// Returns the list for `area`, scrolled so that it includes the chosen partition. Columns that do
/// not fit are left out.
fn list_lines<'a>(panes: &[&Pane], place: usize, area: Rect, paint: Paint) -> Vec<Line<'a>> {
    let mut lines = list(panes).lines(usize::from(area.width), false).into_iter();
    let room = usize::from(area.height).saturating_sub(1).max(1);
    let first = (place + 1).saturating_sub(room);
    let mut drawn: Vec<Line<'a>> =
        lines.next().map(|it| Line::styled(it, paint.dim())).into_iter().collect();
    for (index, (line, pane)) in lines.zip(panes).enumerate().skip(first).take(room) {
        let mut style = paint.state(&pane.state.state);
        if index == place {
            style = style.add_modifier(Modifier::REVERSED);
        }
        drawn.push(Line::styled(line, style));
    }
    drawn
}

fn draw_body(
    frame: &mut Frame<'_>,
    pane: &Pane,
    view: &View,
    area: Rect,
    left_out: Option<String>,
    paint: Paint,
) {
    let Some(task) = pane.tasks.first() else {
        let why = pane.state.state.why().unwrap_or("its statistics can't be read now");
        frame.render_widget(Paragraph::new(crate::terminal::visible(why)), area);
        return;
    };
    let [left, _, right] = if area.width >= HISTOGRAM_MIN + FIGURES + 2 {
        Layout::horizontal([
            Constraint::Min(HISTOGRAM_MIN),
            Constraint::Length(2),
            Constraint::Length(FIGURES),
        ])
        .areas(area)
    } else {
        let height = area.height / 2;
        Layout::vertical([Constraint::Length(height), Constraint::Length(0), Constraint::Min(0)])
            .areas(area)
    };
    let bars = bars_of(task, view.shown);
    let histogram = histogram(bars, usize::from(left.width), usize::from(left.height));
    let count = histogram.len().saturating_sub(1);
    let lines = histogram.into_iter().enumerate().map(|(row, line)| {
        let style = if row < count { paint.of(Color::Cyan) } else { paint.dim() };
        Line::styled(line, style)
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), left);
    let mut lines: Vec<Line<'_>> = Vec::new();
    if let Some(why) = pane.state.state.why() {
        let style = paint.state(&pane.state.state);
        lines.push(Line::styled(crate::terminal::visible(why), style));
    }
    if let Some(bus) = left_out {
        lines.push(Line::from(format!("fieldbus {bus}")));
    }
    for task in &pane.tasks {
        lines.extend(figures(task, pane.tasks.len() > 1).into_iter().map(Line::from));
    }
    frame.render_widget(Paragraph::new(lines), right);
}

/// Returns the bars of a histogram; the last line is an axis that names the decades.
fn histogram(bars: &LogBars, width: usize, height: usize) -> Vec<String> {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if height < 2 || width == 0 {
        return Vec::new();
    }
    if bars.total == 0 {
        return vec!["nothing measured yet".to_owned()];
    }
    let rows = height - 1;
    let used = bars.used();
    let columns = bars.columns(&used, width);
    let tallest = columns.iter().copied().max().unwrap_or(0);
    // One alone is still an eighth of a row high.
    let scale = (rows * 8 - 1) as f64 / ((tallest.max(1)) as f64).ln().max(1e-9);
    let level = |count: u64| match count {
        0 => 0,
        1 if tallest == 1 => rows * 8,
        count => 1 + ((count as f64).ln() * scale).round() as usize,
    };
    let levels: Vec<usize> = columns.iter().map(|count| level(*count)).collect();
    let mut lines: Vec<String> = (0..rows)
        .rev()
        .map(|row| {
            levels.iter().map(|level| LEVELS[level.saturating_sub(row * 8).min(8)]).collect()
        })
        .collect();
    lines.push(axis(&used, width));
    lines
}

/// Returns the values below the bars: ones, twos and fives of each decade if there is room.
fn axis(bars: &Range<usize>, width: usize) -> String {
    let decades = (2..=10).map(|exponent| 10_u64.pow(exponent));
    let values = decades.flat_map(|decade| [1, 2, 5].map(|digit| Nanos::new(digit * decade)));
    let mut line = String::new();
    for value in values {
        let place = LogBars::place_among(value, bars) * width as f64;
        let mark = mark(value);
        let used = line.chars().count();
        // Between two marks there are two spaces.
        let from = if used > 0 { used + 2 } else { 0 };
        let is_on_it = place >= from as f64 && place < width as f64;
        let at = place.max(0.0) as usize;
        if is_on_it && at + mark.chars().count() <= width {
            line.push_str(&" ".repeat(at - used));
            line.push_str(&mark);
        }
    }
    line
}

/// Returns a value as people write it: `10 µs`.
fn mark(value: Nanos) -> String {
    let text = value.to_string();
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Returns a task's quantiles and its worst cases.
fn figures(task: &TaskFigures, named: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut name = if named { task.name.as_str() } else { "" };
    if name.chars().count() > NAMES {
        lines.push(cut(&crate::terminal::visible(name), usize::from(FIGURES)));
        name = "";
    }
    lines.push(format!("{name:<NAMES$}{:>9}{:>9}{:>9}{:>9}", "p50", "p99", "p99.99", "max"));
    let rows =
        [("release", &task.release), ("execution", &task.execution), ("response", &task.response)];
    for (name, bars) in rows {
        let figures =
            [bars.shown_median(), bars.shown_p99(), bars.shown_p99_99(), bars.shown_max()];
        let [median, p99, p99_99, max] =
            figures.map(|it| it.map_or_else(|| NONE.to_owned(), |it| it.to_string()));
        lines.push(format!("{name:<NAMES$}{median:>9}{p99:>9}{p99_99:>9}{max:>9}"));
    }
    let scan = &task.snapshot.scan;
    let counters = &task.snapshot.counters;
    let missed = thousands(counters.missed_cycles);
    lines.push(format!("missed {missed}, longest run {}", thousands(counters.longest_miss_run)));
    let overruns = thousands(scan.overruns);
    lines.push(format!("overruns {overruns}, watchdog {}", thousands(scan.watchdog_hits)));
    let mut worst = Table::new(&[">worst release", ">cycle", ">CPU", ">late by it"]);
    for Stall { worst: spike, releases } in stalls(&task.snapshot.spikes).iter().take(WORST_MAX) {
        worst.row([
            Nanos::new(spike.latency_ns).to_string(),
            thousands(spike.release),
            spike.cpu.to_string(),
            thousands(releases.len() as u64),
        ]);
    }
    lines.extend(worst.lines());
    lines
}

/// Returns the stalls behind the worst releases, as the report tells them. Entries without a
/// release are left out.
fn stalls(spikes: &[Spike]) -> Vec<Stall<Spike>> {
    let late = |spike: &Spike| LateRelease { due_ns: spike.due_ns, latency_ns: spike.latency_ns };
    record::stalls(spikes.iter().copied().filter(|spike| spike.due_ns != 0), late)
}

/// Returns everything as text in lines of at most `columns`, for `--once`.
pub(super) fn text(snapshot: &Snapshot, columns: usize) -> String {
    let panes: Vec<&Pane> = snapshot.partitions.iter().collect();
    let mut lines = vec![format!("{}  {}", snapshot.site, snapshot.at)];
    lines.extend(list(&panes).lines(columns, false));
    for pane in panes {
        lines.push(String::new());
        lines.push(match pane.state.state.why() {
            Some(_) => format!("{}: {}", pane.state.name, pane.state.state),
            None => format!("{}: {}", pane.state.name, pane.state.class),
        });
        for task in &pane.tasks {
            lines.extend(figures(task, pane.tasks.len() > 1));
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| crate::terminal::visible(line)).collect();
    hanging(&lines.join("\n"), columns, 2) + "\n"
}

#[cfg(test)]
mod tests;
