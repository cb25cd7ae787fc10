//! The isolation matrix as a table: a line a row and a latency, with the paper's lines behind them.

use super::csv::Table;
use crate::isolation::{
    CYCLES_NS, Exceedance, IsolationFigures, IsolationRow, PublishedFigures, matrices,
};
use crate::record::Record;

const COLUMNS: [&str; 18] = [
    "partition",
    "row",
    "profile",
    "title",
    "on_one_kernel",
    "same_as_row",
    "of",
    "not_as_asked",
    "count",
    "min_ns",
    "mean_ns",
    "sd_ns",
    "max_ns",
    "above_100us",
    "bound_95_above_100us",
    "above_10ms",
    "bound_95_above_10ms",
    "table",
];

/// Columns of one limit.
const OF_A_LIMIT: usize = 2;

/// The matrices of all partitions; `None` where there is none. `of` says whose latency it is:
/// `release`, `wake-up`, or the kernel that the paper measured, without what it does not give.
pub fn isolation_csv(records: &[Record]) -> Option<String> {
    let matrices = matrices(records);
    let mut table = Table::new(&COLUMNS);
    for matrix in &matrices {
        for row in &matrix.rows {
            let mut line = |of: &str, figures: Vec<String>, source: &str| {
                let mut fields = head(&matrix.partition, row, of);
                fields.extend(figures);
                fields.push(source.to_owned());
                table.row(&fields);
            };
            for (of, figures) in [("release", &row.release), ("wake-up", &row.wakeup)] {
                if let Some(figures) = figures {
                    line(of, measured(figures), "");
                }
            }
            for published in &row.published {
                line(&published.kernel, printed(published), &matrix.table);
            }
        }
    }
    (!matrices.is_empty()).then(|| table.finish())
}

fn head(partition: &str, row: &IsolationRow, of: &str) -> Vec<String> {
    vec![
        partition.to_owned(),
        row.row.to_string(),
        row.profile.clone(),
        row.title.clone(),
        row.on_one_kernel.clone(),
        row.same_as.map(|row| row.to_string()).unwrap_or_default(),
        of.to_owned(),
        row.not_as_asked.join("; "),
    ]
}

fn measured(figures: &IsolationFigures) -> Vec<String> {
    let mut fields = vec![
        figures.count.to_string(),
        figures.min_ns.to_string(),
        format!("{:.3}", figures.mean_ns),
        figures.sd_ns.map(|sd| format!("{sd:.3}")).unwrap_or_default(),
        figures.max_ns.to_string(),
    ];
    fields.extend(figures.exceedances.iter().flat_map(|it| [counted(it), bound(it)]));
    fields
}

/// Writes the count of an exceedance: the least and the most where the bin of the limit holds
/// values.
fn counted(exceedance: &Exceedance) -> String {
    let Exceedance { count, surely, .. } = exceedance;
    if count == surely { count.to_string() } else { format!("{surely}..{count}") }
}

fn bound(exceedance: &Exceedance) -> String {
    format!("{:e}", exceedance.bound_95)
}

fn printed(figures: &PublishedFigures) -> Vec<String> {
    let nanos = |us: f64| format!("{:.0}", us * 1e3);
    let mut fields = vec![
        String::new(),
        nanos(figures.min_us),
        nanos(figures.mean_us),
        nanos(figures.sd_us),
        nanos(figures.max_us),
    ];
    fields.extend(vec![String::new(); OF_A_LIMIT * CYCLES_NS.len()]);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_has_a_line_for_each_that_was_measured_and_each_that_was_published() {
        let of = |profile: &str, values: &[(u64, u64)]| {
            let mut record = crate::test_record(values);
            record.profile = profile.to_owned();
            record
        };
        let records = [of("iso1", &[(4_000, 90), (11_000_000, 2)]), of("iso3", &[(3_000, 100)])];
        assert_eq!(isolation_csv(&records[..1]), None, "one row is no matrix");
        let text = isolation_csv(&records).unwrap();
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 1 + 2 + 36);
        assert!(lines.iter().all(|line| line.split(',').count() >= COLUMNS.len()));
        let begin = "axis,1,iso1,default,\"not pinned, no load\",,release,,92,4000,";
        assert!(lines[1].starts_with(begin), "{}", lines[1]);
        assert!(lines[1].contains(",11000000,2,"), "{}", lines[1]);
        let standard = ",Standard,,,2000,6115000,1195000,767757000,,,,,hofer2019/table-1";
        assert!(lines[2].ends_with(standard), "{}", lines[2]);
    }
}
