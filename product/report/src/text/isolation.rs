//! The isolation matrix as a table of the terminal, with the paper's figures.

use quietcore_record::isolation::{IsolationFigures, IsolationMatrix, IsolationRow};

use super::Page;
use super::table::{TIME, fit};
use crate::figures::{self, NONE};
use crate::summary::{Summary, isolation_answer, isolation_container, isolation_reasons};
use crate::table::{Side, Table};

/// Columns of a row's profile, with an asterisk where it is not as asked.
const NAME: usize = 6;
/// Columns of the paper's means.
const MEANS: usize = 15;
const MAXIMA: usize = 17;

impl Page {
    /// Appends the matrix of each partition.
    pub(super) fn isolation(&mut self, summary: &Summary<'_>) {
        for matrix in &summary.isolation {
            let woken = matrix.rows.iter().any(|row| row.wakeup.is_some());
            let what = if woken { "wake-up latency" } else { "release latency" };
            let name = &matrix.partition;
            let container = match isolation_container(summary, matrix) {
                Some(runtime) => format!(", a container of {runtime}"),
                None => String::new(),
            };
            self.paragraph("", &format!("Isolation matrix of {name}{container}, {what}"));
            self.matrix(matrix, IsolationRow::as_slept, true);
            if woken {
                self.paragraph("", &format!("Isolation matrix of {name}, release latency"));
                self.matrix(matrix, |row| row.release.as_ref(), false);
            }
            self.rows(summary, matrix);
            for sentence in isolation_answer(matrix) {
                self.paragraph("", &sentence);
            }
            self.paragraph(
                "",
                "Paper: hofer2019, table I, cyclictest in a guest of VirtualBox, the least and the \
                 most of its three kernels. The report has each.",
            );
            self.line("");
        }
    }

    fn matrix(
        &mut self,
        matrix: &IsolationMatrix,
        figures_of: impl Fn(&IsolationRow) -> Option<&IsolationFigures>,
        beside: bool,
    ) {
        let mut table = Table::new()
            .leading(&fit("row", NAME), Side::Left)
            .numbers(["min", "mean", "σ", "max", "> 100 µs", "> 10 ms"], TIME);
        if beside {
            table = table.numbers(["paper's mean"], MEANS).numbers(["paper's max"], MAXIMA);
        }
        for row in &matrix.rows {
            let mark = if row.not_as_asked.is_empty() { "" } else { "*" };
            let mut fields = vec![format!("{}{mark}", row.profile)];
            fields.extend(values(figures_of(row)));
            if beside {
                let means: Vec<f64> = row.published.iter().map(|it| it.mean_us * 1e3).collect();
                let maxima: Vec<f64> = row.published.iter().map(|it| it.max_us * 1e3).collect();
                fields.extend([range(&means), range(&maxima)]);
            }
            table.row(fields);
        }
        self.table(&table);
        self.line("");
    }

    /// Appends the meaning of each row, and the faults of its measurement.
    fn rows(&mut self, summary: &Summary<'_>, matrix: &IsolationMatrix) {
        for row in &matrix.rows {
            let same = match row.same_as {
                Some(same) => format!("; measured as row {same}"),
                None => String::new(),
            };
            let indent = fit(&row.profile, NAME + 1);
            self.paragraph(&indent, &format!("{}{same}", row.on_one_kernel));
            let word = if row.release.is_some() { "* not as asked" } else { "not measured" };
            for reason in isolation_reasons(summary, matrix, row) {
                self.paragraph(&" ".repeat(NAME + 1), &format!("{word}: {reason}"));
            }
        }
        self.line("");
    }
}

fn values(found: Option<&IsolationFigures>) -> Vec<String> {
    let Some(found) = found else { return vec![NONE.to_owned(); 6] };
    let time = |value: Option<f64>| figures::or_dash(value, figures::nanos_f64);
    let mut values = vec![
        figures::nanos(found.min_ns),
        time(Some(found.mean_ns)),
        time(found.sd_ns),
        figures::nanos(found.max_ns),
    ];
    values.extend(found.exceedances.iter().map(figures::at_most_count));
    values
}

/// Formats the least and the most, with the unit only once where both have the same.
fn range(values_ns: &[f64]) -> String {
    let least = values_ns.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values_ns.iter().copied().fold(0.0, f64::max);
    let (least, most) = (figures::nanos_f64(least), figures::nanos_f64(most));
    let same_unit = least.split_once('\u{a0}').zip(most.split_once('\u{a0}'));
    let least = match same_unit {
        Some(((number, unit), (_, other))) if unit == other => number,
        _ => &least,
    };
    format!("{least} to {most}").replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_its_unit_once_where_it_can() {
        assert_eq!(range(&[648e3, 495e3, 544e3]), "495 to 648 µs");
        assert_eq!(range(&[767_757e3, 1_147_255e3]), "768 ms to 1.15 s");
        assert_eq!(range(&[]), "– to 0 ns");
    }
}
