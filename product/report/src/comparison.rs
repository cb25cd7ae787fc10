//! Comparisons for the terminal: run against run, and a run beside a published table.

use std::fmt::Write as _;

use quietcore_record::compare::{
    Comparison, Finding, RunComparison, SideBySide, SideFigure, SideRow, Value,
};
use quietcore_record::published::Figure;
use quietcore_units::Nanos;

/// Columns of a figure.
const FIGURE: usize = 12;

/// The one statistic that is a number and no time.
const MISSED: &str = "missed_cycles";

/// Run A against run B, as text of at most 100 columns.
pub fn runs(comparison: &RunComparison) -> String {
    let mut text = String::new();
    for pair in &comparison.comparisons {
        write_pair(&mut text, pair);
    }
    for (side, names) in [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)] {
        if !names.is_empty() {
            line(&mut text, &format!("Only in {side}: {}", names.join(", ")));
        }
    }
    if !comparison.left_out.is_empty() {
        let names = comparison.left_out.join(", ");
        line(&mut text, &format!("Compared within a run only, by `show`: {names}"));
    }
    if comparison.comparisons.is_empty() {
        line(&mut text, "The runs have no record of the same partition, profile and CPU.");
    }
    text
}

fn write_pair(text: &mut String, pair: &Comparison) {
    line(text, &format!("{} against {}", pair.b, pair.a));
    line(text, &format!("  {:<28} {:>FIGURE$} {:>FIGURE$} {:>8}  finding", "", "A", "B", "B / A"));
    for statistic in &pair.statistics {
        let show = if statistic.statistic == MISSED { count } else { time };
        let value = |value: Option<Value>| value.map_or_else(|| "–".to_owned(), show);
        let ratio = statistic.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"));
        let sure = match (statistic.finding, statistic.p_corrected) {
            (Finding::NotComparable, _) | (_, None) => String::new(),
            (_, Some(p)) if p < 0.001 => " (p < 0.001)".to_owned(),
            (_, Some(p)) => format!(" (p = {p:.3})"),
        };
        line(
            text,
            &format!(
                "  {:<28} {:>FIGURE$} {:>FIGURE$} {ratio:>8}  {}{sure}",
                statistic.title,
                value(statistic.a),
                value(statistic.b),
                statistic.finding
            ),
        );
    }
    line(text, "");
    let differing =
        pair.statistics.iter().filter(|statistic| statistic.finding == Finding::Differs);
    for statistic in differing {
        wrapped(text, "  ", &statistic.sentence);
    }
    if let Some(beyond) = &pair.beyond {
        wrapped(text, "  ", &beyond.sentence);
    }
    for remark in &pair.remarks {
        wrapped(text, "  remark: ", remark);
    }
    for assumption in &pair.assumptions {
        wrapped(text, "  assumed: ", assumption);
    }
    line(text, "");
}

/// A run beside a published table, as text of at most 100 columns.
pub fn beside(beside: &SideBySide) -> String {
    let mut text = String::new();
    wrapped(&mut text, "", &format!("{} ({})", beside.title, beside.table));
    wrapped(&mut text, "", &beside.source);
    line(&mut text, "");
    for row in &beside.rows {
        write_row(&mut text, row);
    }
    for remark in &beside.remarks {
        wrapped(&mut text, "remark: ", remark);
    }
    for name in &beside.left_out {
        wrapped(&mut text, "left out: ", name);
    }
    text
}

fn write_row(text: &mut String, row: &SideRow) {
    let other = if row.same_profile { "" } else { " (other conditions)" };
    wrapped(text, "", &format!("{} beside {}{other}", row.record, row.published));
    line(
        text,
        &format!("  {:<18} {:>FIGURE$} {:>FIGURE$} {:>10}", "", "measured", "published", "ratio"),
    );
    for figure in &row.figures {
        let measured = figure.measured_ns.map_or_else(|| "–".to_owned(), time);
        line(
            text,
            &format!(
                "  {:<18} {measured:>FIGURE$} {:>FIGURE$} {:>10}",
                name(figure.figure),
                nanos(figure.published_ns),
                ratio(figure)
            ),
        );
    }
    line(text, "");
}

/// The ratio with the room that rounding of the printed figure leaves.
fn ratio(figure: &SideFigure) -> String {
    match (figure.ratio, figure.ratio_low, figure.ratio_high) {
        (Some(ratio), _, _) if ratio >= 0.001 => format!("{ratio:.3}"),
        (Some(_), ..) => "< 0.001".to_owned(),
        (None, Some(low), None) => format!("≥ {low:.2}"),
        _ => "–".to_owned(),
    }
}

fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::Minimum => "minimum",
        Figure::LowerWhisker => "lower whisker",
        Figure::LowerQuartile => "lower quartile",
        Figure::Median => "median",
        Figure::Mean => "mean",
        Figure::StandardDeviation => "standard deviation",
        Figure::UpperQuartile => "upper quartile",
        Figure::UpperWhisker => "upper whisker",
        Figure::Maximum => "maximum",
        Figure::JitterWhiskers => "jitter, whiskers",
    }
}

fn time(value: Value) -> String {
    match value {
        Value::Exactly(value) => nanos(value),
        Value::AtLeast { at_least } => format!("≥ {}", nanos(at_least)),
    }
}

fn count(value: Value) -> String {
    format!("{:.0}", value.lower_bound())
}

fn nanos(value: f64) -> String {
    Nanos::new(value.max(0.0).round() as u64).to_string()
}

fn line(text: &mut String, words: &str) {
    writeln!(text, "{}", words.trim_end()).expect("writing to a string cannot fail");
}

/// Breaks text at spaces so that it fits 100 columns; the lines after the first are indented alike.
fn wrapped(text: &mut String, head: &str, words: &str) {
    const WIDTH: usize = 100;
    let indent = " ".repeat(head.chars().count());
    let mut current = head.to_owned();
    let mut length = 0;
    for word in words.split_whitespace() {
        if length > 0 && current.chars().count() + 1 + word.chars().count() > WIDTH {
            line(text, &current);
            current.clone_from(&indent);
            length = 0;
        }
        if length > 0 {
            current.push(' ');
        }
        // What a file says must not move the cursor.
        current.extend(word.chars().filter(|c| !c.is_control()));
        length += 1;
    }
    line(text, &current);
}
