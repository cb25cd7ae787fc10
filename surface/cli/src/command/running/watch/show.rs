//! The look of watched variables: as a table, as lines, as JSON, on a screen. This module is pure.

use quietcore_program::Value;
use quietcore_record::verdict::thousands;
use quietcore_supervisor::monitor::watch::{Row, Sample};
use serde_json::json;

use crate::table::Table;
use crate::terminal::{Palette, visible};

/// Lines of a screen that hold no variable: the heading, the table's heading, and one below.
const OTHER_LINES: usize = 3;

/// The values last shown, by which the variables that have changed since are found.
#[derive(Debug)]
pub(super) struct Changes {
    deadband: f64,
    generation: u32,
    /// Value and forced mark of each variable as last shown; `None` if it never was.
    shown: Vec<Option<(Value, bool)>>,
}

impl Changes {
    pub(super) fn new(deadband: f64) -> Self {
        Self { deadband, generation: 0, shown: Vec::new() }
    }

    /// Returns the rows that have changed; all of them if the program was replaced.
    pub(super) fn of<'s>(&mut self, sample: &'s Sample) -> Vec<&'s Row> {
        if self.generation != sample.generation || self.shown.len() != sample.rows.len() {
            self.generation = sample.generation;
            self.shown = vec![None; sample.rows.len()];
        }
        let mut changed = Vec::new();
        for (row, shown) in sample.rows.iter().zip(&mut self.shown) {
            let same = shown.as_ref().is_some_and(|(value, forced)| {
                *forced == row.forced && is_near(value, &row.value, self.deadband)
            });
            if !same {
                *shown = Some((row.value.clone(), row.forced));
                changed.push(row);
            }
        }
        changed
    }
}

/// Returns `true` if two values differ by no more than the deadband. Values that are not numbers
/// must be equal.
fn is_near(one: &Value, other: &Value, deadband: f64) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(a), Some(b)) if a.is_nan() || b.is_nan() => a.is_nan() && b.is_nan(),
        // Exact, also for whole numbers that a float doesn't hold.
        _ if deadband == 0.0 => one == other,
        (Some(a), Some(b)) => a == b || (a - b).abs() <= deadband,
        _ => one == other,
    }
}

/// Returns the line above the values: label, build and cycle, and a warning if there is one.
fn heading(label: &str, sample: &Sample) -> String {
    let cycle = thousands(sample.cycle);
    let mut text = format!("{label}  build {}  cycle {cycle}", sample.generation);
    if sample.silent {
        text.push_str("  no cycle comes");
    } else if !sample.consistent {
        text.push_str("  values of different cycles: the program computes without pause");
    }
    text
}

fn rows_of(rows: &[&Row]) -> Vec<String> {
    let mut table = Table::new(&["variable", ">value", "type", "class", ""]);
    for row in rows {
        table.row([
            row.path.to_string(),
            row.value.to_string(),
            row.kind.to_string(),
            row.access.to_string(),
            if row.forced { "forced" } else { "" }.to_owned(),
        ]);
    }
    table.lines()
}

/// Returns a heading and a table.
pub(super) fn table(label: &str, sample: &Sample, rows: &[&Row]) -> String {
    let mut text = heading(label, sample) + "\n";
    for line in rows_of(rows) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Returns a line per variable: cycle, path, value, and a mark if it is forced.
pub(super) fn lines(sample: &Sample, rows: &[&Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let forced = if row.forced { " forced" } else { "" };
        let path = visible(&row.path);
        text.push_str(&format!("{} {path} {}{forced}\n", sample.cycle, row.value));
    }
    text
}

/// Returns an object on one line.
pub(super) fn json(label: &str, sample: &Sample, rows: &[&Row]) -> String {
    let values: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "path": &*row.path,
                "value": json_value(&row.value),
                "type": row.kind.to_string(),
                "class": row.access.to_string(),
                "forced": row.forced,
            })
        })
        .collect();
    let object = json!({
        "schema": "quietcore.watch/1",
        "partition": label,
        "build": sample.generation,
        "cycle": sample.cycle,
        "consistent": sample.consistent,
        "silent": sample.silent,
        "values": values,
    });
    format!("{object}\n")
}

/// Returns a number where JSON has it; `NaN`, the infinities, names and addresses are strings.
pub(in crate::command::running) fn json_value(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(value) => json!(value),
        Value::Signed(value) => json!(value),
        Value::Unsigned(value) => json!(value),
        Value::Double(value) if value.is_finite() => json!(value),
        // As short as a person would write it, not as its double would be.
        Value::Single(value) if value.is_finite() => {
            value.to_string().parse::<f64>().map_or(serde_json::Value::Null, |it| json!(it))
        }
        other => json!(other.to_string()),
    }
}

/// A table that is drawn over the previous one.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// Number of lines on the screen from the last time.
    drawn: usize,
    before: Option<Sample>,
}

impl Screen {
    /// Returns the sample in `size` columns and rows. Changes since the last one are bold.
    pub(super) fn draw(
        &mut self,
        label: &str,
        sample: &Sample,
        size: (u16, u16),
        palette: &Palette,
    ) -> String {
        let (columns, rows) = (usize::from(size.0).max(20), usize::from(size.1).max(5));
        let room = rows.saturating_sub(OTHER_LINES + 1).max(1);
        let shown: Vec<&Row> = sample.rows.iter().take(room).collect();
        let mut lines = vec![format!(
            "{}{}{}",
            palette.bold,
            cut(&heading(label, sample), columns),
            palette.reset
        )];
        for (index, line) in rows_of(&shown).iter().enumerate() {
            let color = match index.checked_sub(1).map(|index| self.has_changed(sample, index)) {
                None => palette.dim,
                Some(_) if sample.rows[index - 1].forced => palette.yellow,
                Some(true) => palette.bold,
                Some(false) => "",
            };
            let reset = if color.is_empty() { "" } else { palette.reset };
            lines.push(format!("{color}{}{reset}", cut(line, columns)));
        }
        if sample.rows.len() > shown.len() {
            let more = sample.rows.len() - shown.len();
            let text = format!("… and {more} more; name fewer, or use --once");
            lines.push(cut(&text, columns));
        }
        let back = if self.drawn > 0 { format!("\x1b[{}F", self.drawn) } else { String::new() };
        self.drawn = lines.len();
        self.before = Some(sample.clone());
        // Each line is cleared as it is written: clearing all at once would flicker.
        let lines: String = lines.iter().map(|line| format!("{line}\x1b[K\n")).collect();
        format!("{back}{lines}\x1b[J")
    }

    fn has_changed(&self, sample: &Sample, index: usize) -> bool {
        let before = self.before.as_ref().and_then(|before| before.rows.get(index));
        before.is_some_and(|before| before.value != sample.rows[index].value)
    }
}

/// Cuts a line to at most `columns`, so that it never wraps.
fn cut(line: &str, columns: usize) -> String {
    if line.chars().count() < columns {
        return line.to_owned();
    }
    line.chars().take(columns - 2).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
