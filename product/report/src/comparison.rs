//! Comparisons for the terminal: run against run, and a run beside a published table.

use quietcore_record::compare::{
    Comparison, Finding, RunComparison, SideBySide, SideFigure, SideRow, Value,
};
use quietcore_record::published::Figure;
use quietcore_units::Nanos;

use crate::figures::NONE;
use crate::table::{Side, Table};
use crate::text::Page;

/// Columns of a figure.
const FIGURE: usize = 12;

/// Number of rows that are shown each with its ratios; of more rows the figures stand below each
/// other, one line for each row.
const RATIOS_MAX: usize = 3;

/// The most columns of the name of a published row in a table.
const NAME_MAX: usize = 34;

/// Name of the one statistic that is a number and no time.
const MISSED: &str = "missed_cycles";

/// Writes run A against run B as text of at most `width` columns.
pub fn runs(comparison: &RunComparison, width: usize) -> String {
    let mut page = Page::new(width, false);
    for pair in &comparison.comparisons {
        page.pair(pair);
    }
    for (side, names) in [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)] {
        if !names.is_empty() {
            page.paragraph(&format!("only in {side}: "), &names.join(", "));
        }
    }
    if !comparison.left_out.is_empty() {
        let names = comparison.left_out.join(", ");
        page.paragraph("", &format!("Compared within a run only, by `show`: {names}"));
    }
    if comparison.comparisons.is_empty() {
        page.paragraph("", "The runs have no record of the same partition, profile and CPU.");
    }
    page.into_text()
}

/// Writes a run beside a published table as text of at most `width` columns.
pub fn beside(beside: &SideBySide, width: usize) -> String {
    let mut page = Page::new(width, false);
    page.paragraph("", &format!("{} ({})", beside.title, beside.table));
    page.paragraph("", &beside.source);
    page.line("");
    if beside.rows.len() <= RATIOS_MAX {
        beside.rows.iter().for_each(|row| page.row(row));
    } else {
        page.published_rows(&beside.rows);
    }
    for remark in &beside.remarks {
        page.paragraph("remark: ", remark);
    }
    for name in &beside.left_out {
        page.paragraph("left out: ", name);
    }
    page.into_text()
}

impl Page {
    fn pair(&mut self, pair: &Comparison) {
        self.paragraph("", &format!("{} against {}", pair.b, pair.a));
        let mut table = Table::new()
            .leading("", Side::Left)
            .numbers(["A", "B"], FIGURE)
            .numbers(["B / A"], 8)
            .column(" finding", Side::Left, 0);
        for statistic in &pair.statistics {
            let show = if statistic.statistic == MISSED { count } else { time };
            let value = |value: Option<Value>| value.map_or_else(|| NONE.to_owned(), show);
            let ratio = statistic.ratio.map_or_else(|| NONE.to_owned(), |it| format!("{it:.3}"));
            let sure = match (statistic.finding, statistic.p_corrected) {
                (Finding::NotComparable, _) | (_, None) => String::new(),
                (_, Some(p)) if p < 0.001 => " (p < 0.001)".to_owned(),
                (_, Some(p)) => format!(" (p = {p:.3})"),
            };
            table.row([
                format!("  {}", statistic.title),
                value(statistic.a),
                value(statistic.b),
                ratio,
                format!(" {}{sure}", statistic.finding),
            ]);
        }
        self.table(&table);
        self.line("");
        let differing =
            pair.statistics.iter().filter(|statistic| statistic.finding == Finding::Differs);
        for statistic in differing {
            self.paragraph("  ", &statistic.sentence);
        }
        if let Some(beyond) = &pair.beyond {
            self.paragraph("  ", &beyond.sentence);
        }
        for remark in &pair.remarks {
            self.paragraph("  remark: ", remark);
        }
        for assumption in &pair.assumptions {
            self.paragraph("  assumed: ", assumption);
        }
        self.line("");
    }

    fn row(&mut self, row: &SideRow) {
        let other = if row.same_profile { "" } else { " (other conditions)" };
        self.paragraph("", &format!("{} beside {}{other}", row.record, row.published));
        let mut table = Table::new()
            .leading("", Side::Left)
            .numbers(["measured", "published"], FIGURE)
            .numbers(["ratio"], 10);
        for figure in &row.figures {
            table.row([
                format!("  {}", name(figure.figure)),
                figure.measured_ns.map_or_else(|| NONE.to_owned(), time),
                nanos(figure.published_ns),
                ratio(figure),
            ]);
        }
        self.table(&table);
        self.line("");
    }
}

impl Page {
    /// Adds a table for each record: its figures, and below them those of each published row.
    fn published_rows(&mut self, rows: &[SideRow]) {
        let mut records: Vec<&str> = rows.iter().map(|row| row.record.as_str()).collect();
        records.dedup();
        for record in records {
            let mut own: Vec<&SideRow> = rows.iter().filter(|row| row.record == record).collect();
            // Rows that were published under the same conditions come first.
            own.sort_by_key(|row| !row.same_profile);
            self.side_by_side(record, &own);
        }
        let same = "`*` marks what was published under other conditions. Each ratio, with what \
                    rounding leaves of it, stands in `--json`.";
        self.paragraph("", same);
        self.line("");
    }

    fn side_by_side(&mut self, record: &str, rows: &[&SideRow]) {
        let mut columns: Vec<Figure> = Vec::new();
        let figures = || rows.iter().flat_map(|row| &row.figures);
        for found in figures() {
            if !columns.contains(&found.figure) {
                columns.push(found.figure);
            }
        }
        // Names that leave no columns for figures stand below the table, by number.
        let is_long = rows.iter().any(|row| row.published.chars().count() > NAME_MAX);
        let mut table = Table::new().leading(record, Side::Left);
        table = table.numbers(columns.iter().map(|figure| name(*figure)), 0);
        let line = |title: String, value: &dyn Fn(Figure) -> Option<String>| {
            let values = columns.iter().map(|it| value(*it).unwrap_or_else(|| NONE.to_owned()));
            std::iter::once(title).chain(values).collect::<Vec<String>>()
        };
        table.row(line("measured".to_owned(), &|figure| {
            let found = figures().find(|it| it.figure == figure);
            found.and_then(|it| it.measured_ns).map(time)
        }));
        for (number, row) in (1..).zip(rows) {
            let mark = if row.same_profile { "" } else { " *" };
            let called = if is_long { format!("{number:>2}") } else { row.published.clone() };
            table.row(line(format!("{called}{mark}"), &|figure| {
                let found = row.figures.iter().find(|it| it.figure == figure);
                found.map(|it| nanos(it.published_ns))
            }));
        }
        self.table(&table);
        self.line("");
        for (number, row) in (1..).zip(rows).filter(|_| is_long) {
            self.paragraph(&format!("{number:>2} "), &row.published);
        }
    }
}

/// Formats a ratio; a bound where rounding of the printed figure leaves only that.
fn ratio(figure: &SideFigure) -> String {
    match (figure.ratio, figure.ratio_low, figure.ratio_high) {
        (Some(ratio), _, _) if ratio >= 0.001 => format!("{ratio:.3}"),
        (Some(_), ..) => "< 0.001".to_owned(),
        (None, Some(low), None) => format!("≥ {low:.2}"),
        _ => NONE.to_owned(),
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
