//! The isolation matrix in sentences, and the part of its differences that is chance.

use quietcore_record::isolation::{IsolationFigures, IsolationMatrix, IsolationRow, Row};

use super::Summary;
use crate::figures;

/// Returns the runtime of the container that the partition of a matrix was; `None` where its
/// records tell of none.
pub(crate) fn container<'a>(summary: &Summary<'a>, matrix: &IsolationMatrix) -> Option<&'a str> {
    let mut records = summary.records.iter().map(|it| it.record);
    let first =
        records.find(|record| matrix.rows.iter().any(|row| row.records.contains(&record.name)));
    first?.conditions.machine.get("container").map(String::as_str)
}

/// Lists why a row's figures do not belong to its conditions, or why it has none.
pub(crate) fn reasons(
    summary: &Summary<'_>,
    matrix: &IsolationMatrix,
    row: &IsolationRow,
) -> Vec<String> {
    let missing = summary.evidence.missing();
    let missing =
        missing.filter(|it| it.partition == matrix.partition && it.profile == row.profile);
    row.not_as_asked.iter().cloned().chain(missing.map(|it| it.because.clone())).collect()
}

/// Makes the sentences above a matrix: with and without load, the rows with the fewest and with the
/// most values beyond a tenth of 1 ms; then the differences that chance alone makes.
pub(crate) fn answer(matrix: &IsolationMatrix) -> Vec<String> {
    let with_load = |wanted: bool| -> Vec<MeasuredRow<'_>> {
        let rows = matrix.rows.iter().filter(|row| is_loaded(row) == wanted);
        rows.filter_map(|row| Some((row, sound(row)?))).collect()
    };
    // Where the partition wakes early there are two matrices; the sentences are about wake-ups.
    let is_woken = matrix.rows.iter().any(|row| row.wakeup.is_some());
    let what = if is_woken { "wake-up latencies" } else { "release latencies" };
    let mut sentences = Vec::new();
    for (when, rows) in [("Without load", with_load(false)), ("Under load", with_load(true))] {
        sentences.extend(extremes(when, what, &rows));
    }
    let repeated: Vec<String> =
        matrix.rows.iter().filter_map(|row| repeated(matrix, row)).collect();
    if !repeated.is_empty() {
        let said = repeated.join("; ");
        sentences.push(format!(
            "Measured in the same way were, by {what}, {said}. Smaller differences between other \
             rows prove nothing."
        ));
    }
    sentences
}

/// A row that was measured, with its figures.
type MeasuredRow<'a> = (&'a IsolationRow, &'a IsolationFigures);

/// Returns the figures of a row that was measured as asked.
fn sound(row: &IsolationRow) -> Option<&IsolationFigures> {
    row.as_slept().filter(|_| row.not_as_asked.is_empty())
}

fn is_loaded(row: &IsolationRow) -> bool {
    Row::of_profile(&row.profile).is_some_and(|row| row.on_one_kernel().load.is_some())
}

/// Names the rows with the fewest and the most exceedances, where there is something to compare.
fn extremes(when: &str, what: &str, rows: &[MeasuredRow<'_>]) -> Option<String> {
    let share = |found: &MeasuredRow<'_>| found.1.exceedances.first().map_or(0.0, |it| it.share);
    let order = |one: &&MeasuredRow<'_>, other: &&MeasuredRow<'_>| {
        share(one).total_cmp(&share(other)).then(one.1.max_ns.cmp(&other.1.max_ns))
    };
    let (least, most) = (rows.iter().min_by(order)?, rows.iter().max_by(order)?);
    if least.0.row == most.0.row {
        return None;
    }
    let told = |(row, figures): &MeasuredRow<'_>| {
        let beyond = figures.exceedances.first()?;
        Some(format!(
            "row {} ({}): {} of {}, maximum {}",
            row.row,
            row.on_one_kernel,
            figures::count(beyond.count),
            figures::count(figures.count),
            figures::nanos(figures.max_ns)
        ))
    };
    let (least, most) = (told(least)?, told(most)?);
    Some(format!("{when}, fewest {what} beyond 100\u{a0}µs in {least}; most in {most}."))
}

/// Compares two rows that are the same on one kernel: their difference is no effect of the
/// isolation.
fn repeated(matrix: &IsolationMatrix, row: &IsolationRow) -> Option<String> {
    let same = matrix.rows.iter().find(|other| Some(other.row) == row.same_as)?;
    let (first, second) = (sound(same)?, sound(row)?);
    let beyond = |figures: &IsolationFigures| {
        let count = figures.exceedances.first().map_or(0, |it| it.count);
        figures::count(count)
    };
    Some(format!(
        "rows {} and {}: {} and {} beyond 100\u{a0}µs, maxima {} and {}",
        same.row,
        row.row,
        beyond(first),
        beyond(second),
        figures::nanos(first.max_ns),
        figures::nanos(second.max_ns)
    ))
}
