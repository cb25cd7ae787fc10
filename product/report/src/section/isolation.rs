//! The isolation matrix: its answer, the plot, the table beside the paper's, and its meaning.

use quietcore_record::isolation::{
    CYCLES_NS, Exceedance, IsolationFigures, IsolationMatrix, IsolationRow, TABLE,
};
use quietcore_record::published;

use super::Reader;
use super::content::{
    Block, Cell, Column, Content, Figure, Paragraph, Row, Span, Table, bold, plain,
};
use crate::figures::{self, NONE};
use crate::html::sentence;
use crate::plot;
use crate::summary::{Summary, isolation_answer, isolation_container, isolation_reasons};

/// Anchor and title of the section on the page.
pub(crate) const NAME: (&str, &str) = ("isolation", "Isolation");

/// Statistics of the measured values: heading and definition.
const STATISTICS: [(&str, &str); 4] = [
    ("min", "The smallest value."),
    ("mean", "Arithmetic mean."),
    ("σ", "Standard deviation of the sample."),
    ("max", "The largest value seen; an observed maximum, never a worst case."),
];

/// Definition of the columns of exceedances.
const BEYOND: &str = "Releases beyond the limit, their share of all, and the probability per cycle \
                      that is excluded with 95 % confidence if cycles are independent.";

/// Columns of a row's profile in a terminal, with an asterisk where it is not as asked.
const PROFILE: usize = 6;
/// Columns of a time.
const TIME: usize = 9;
/// Columns of the paper's means.
const MEANS: usize = 15;
/// Columns of the paper's maxima.
const MAXIMA: usize = 17;

/// The figures of a row that a table shows.
type FiguresOf = fn(&IsolationRow) -> Option<&IsolationFigures>;

/// Makes the content of all matrices; empty where there is none.
pub(crate) fn content(summary: &Summary<'_>, reader: Reader) -> Content {
    let mut content = Content::default();
    match reader {
        Reader::Page => page(summary, &mut content),
        Reader::Terminal => {
            summary.isolation.iter().for_each(|matrix| terminal(summary, matrix, &mut content));
        }
    }
    content
}

/// Returns the tables of a matrix, each with its heading: the latency that compares with the
/// paper's, beside it, and the release latency where the partition wakes early.
fn tables(matrix: &IsolationMatrix) -> Vec<(&'static str, FiguresOf, bool)> {
    if matrix.rows.iter().any(|row| row.wakeup.is_some()) {
        vec![
            ("wake-up latency", IsolationRow::as_slept, true),
            ("release latency", |row| row.release.as_ref(), false),
        ]
    } else {
        vec![("release latency", IsolationRow::as_slept, true)]
    }
}

fn page(summary: &Summary<'_>, content: &mut Content) {
    let Some(first) = summary.isolation.first() else { return };
    content.remark(
        "The twelve rows of hofer2019, table I, on this machine: which isolation is worth what. \
         Each row is a profile, measured once and one after the other.",
    );
    for matrix in &summary.isolation {
        let container = isolation_container(summary, matrix);
        let container = container.map(|runtime| format!("a container of {runtime}"));
        content.blocks.push(Block::Heading(matrix.partition.clone(), container));
        isolation_answer(matrix).into_iter().for_each(|sentence| content.remark(sentence));
        content.blocks.push(Block::Figure(drawing(matrix)));
        let tables = tables(matrix);
        for (what, figures_of, beside) in &tables {
            let heading = match *what {
                "wake-up latency" => "Wake-up latency, as the paper measures",
                _ => "Release latency of the same runs, woken early",
            };
            if tables.len() > 1 {
                content.blocks.push(Block::SubHeading(heading.to_owned(), None));
            }
            content.blocks.push(Block::Table(page_table(matrix, *figures_of, *beside)));
        }
        reasons(summary, matrix, content);
    }
    content.blocks.push(Block::details(
        "How the rows become settings of this machine, and what the paper measured",
        vec![Block::Prose(method())],
    ));
    let source = Block::Remark(vec![plain(format!("{}.", first.source))]);
    content.blocks.push(Block::details(
        "Table I as printed, in µs",
        vec![Block::Table(printed(first)), source],
    ));
}

fn drawing(matrix: &IsolationMatrix) -> Figure {
    let key = |class: &str, words: &str| (class.to_owned(), words.to_owned());
    Figure {
        layout: Some("ranges isolation"),
        caption: Some((
            "Minimum to maximum, the mean as a ring".to_owned(),
            "time to the right, logarithmic; the maximum is written behind; what the paper prints \
             as 0 µs begins at 500 ns"
                .to_owned(),
        )),
        legend: vec![
            key("many", "measured here"),
            key("few", "hofer2019, table I: a guest of VirtualBox, three kernels"),
        ],
        ..Figure::new(plot::isolation(matrix))
    }
}

fn page_table(matrix: &IsolationMatrix, figures_of: FiguresOf, beside: bool) -> Table {
    let kernels: Vec<&str> = match matrix.rows.first().filter(|_| beside) {
        Some(row) => row.published.iter().map(|line| line.kernel.as_str()).collect(),
        None => Vec::new(),
    };
    let mut groups = vec![
        ("measured here".to_owned(), STATISTICS.len()),
        ("releases beyond".to_owned(), CYCLES_NS.len()),
    ];
    if !kernels.is_empty() {
        let paper = "hofer2019, table I: mean, and below it the maximum".to_owned();
        groups.push((paper, kernels.len()));
    }
    let statistics =
        STATISTICS.iter().map(|(name, meaning)| Column::new(*name, TIME).meaning(*meaning));
    let beyond = CYCLES_NS
        .iter()
        .map(|cycle_ns| Column::new(figures::set_nanos(cycle_ns / 10), TIME).meaning(BEYOND));
    let kernels = kernels.into_iter().map(|kernel| Column::new(kernel, TIME));
    Table {
        name: format!("Isolation, {}", matrix.partition),
        layout: Some("statistics isolation"),
        lead: Column::new("Row", PROFILE),
        groups,
        columns: statistics.chain(beyond).chain(kernels).collect(),
        rows: matrix.rows.iter().map(|row| page_row(row, figures_of(row), beside)).collect(),
        ..Table::default()
    }
}

fn page_row(row: &IsolationRow, found: Option<&IsolationFigures>, beside: bool) -> Row {
    let mut cells = match found {
        Some(found) => {
            let mut cells = times(found).map(Cell::time).to_vec();
            cells.extend(found.exceedances.iter().map(exceeded));
            cells
        }
        None => vec![Cell::quantity(NONE); STATISTICS.len() + CYCLES_NS.len()],
    };
    cells.extend(row.published.iter().filter(|_| beside).map(|paper| Cell {
        below: vec![Cell::time(Some(paper.max_us * 1e3))],
        published: Some(format!(
            "as printed, in µs: min {}, avg {}, σ {}, max {}",
            paper.min_us, paper.mean_us, paper.sd_us, paper.max_us
        )),
        ..Cell::time(Some(paper.mean_us * 1e3))
    }));
    Row {
        subs: vec![remark(row)],
        meaning: Some(row.title.to_owned()),
        is_dim: found.is_none(),
        ..Row::new(format!("{} · {}", row.row, row.on_one_kernel), cells)
    }
}

/// Returns the least, mean, deviation and most of a row.
fn times(found: &IsolationFigures) -> [Option<f64>; 4] {
    [Some(found.min_ns as f64), Some(found.mean_ns), found.sd_ns, Some(found.max_ns as f64)]
}

fn exceeded(beyond: &Exceedance) -> Cell {
    Cell {
        below: vec![
            Cell::plain(figures::share(beyond.share)),
            Cell::plain(format!("≤ {}", figures::one_in(beyond.bound_95))),
        ],
        ..Cell::plain(figures::at_most_count(beyond))
    }
}

/// Returns the profile of a row, and what sets the row apart.
fn remark(row: &IsolationRow) -> String {
    let mut parts = vec![row.profile.clone()];
    parts.extend(row.same_as.map(|same| format!("measured as row {same}")));
    if row.release.is_none() {
        parts.push("not measured".to_owned());
    } else if !row.not_as_asked.is_empty() {
        parts.push("not as asked".to_owned());
    }
    parts.join(" · ")
}

/// Adds the reasons why the figures of some rows do not belong to their conditions.
fn reasons(summary: &Summary<'_>, matrix: &IsolationMatrix, content: &mut Content) {
    for row in &matrix.rows {
        let reasons = isolation_reasons(summary, matrix, row);
        if reasons.is_empty() {
            continue;
        }
        let what = if row.release.is_some() { "is not as asked" } else { "was not measured" };
        let mut spans = vec![bold(format!("Row {} {what}: ", row.row))];
        for reason in &reasons {
            spans.extend([Span::Marked(sentence(reason)), plain(" ")]);
        }
        content.blocks.push(Block::Remark(spans));
    }
}

fn method() -> Vec<Paragraph> {
    let remarks = published::find(TABLE).map(|table| table.remarks).unwrap_or_default();
    let ours = [
        Paragraph::Text(vec![Span::Marked(
            "The paper has a guest and the host below it, two kernels. A process and a container \
             have one: the guest's side is the partition's, the host's side is everything else of \
             the machine. Isolated is pinned to its CPUs; host isolated keeps others off them: \
             what of the kernel can be moved, and the loads. No load balancing is the control \
             `load-balance`, IRQ affinity the control `interrupts`. One kernel has each of them \
             once, so rows 11 and 12 are measured as rows 9 and 10."
                .to_owned(),
        )]),
        Paragraph::Text(vec![Span::Marked(
            "Stress is the papers' load: ten workers that compute square roots and ten that \
             allocate, touch and free 64 MB, as the program `stress` was called in queiroz2023. \
             hofer2019 uses the same program and does not print how. Where others are not kept \
             off, the load may run on the partition's CPUs too; under version 2 of cgroups no load \
             balancing keeps it off all the same."
                .to_owned(),
        )]),
    ];
    let theirs = remarks.iter().map(|remark| Paragraph::Text(vec![Span::Marked(sentence(remark))]));
    ours.into_iter().chain(theirs).collect()
}

/// Makes the paper's table as it is printed.
fn printed(matrix: &IsolationMatrix) -> Table {
    let rows = matrix.rows.iter().flat_map(|row| row.published.iter().map(move |it| (row, it)));
    let rows = rows.map(|(row, paper)| {
        let values = [paper.min_us, paper.mean_us, paper.sd_us, paper.max_us];
        let values = values.map(|value| Cell::plain(figures::count(value as u64)));
        let cells = [Cell::plain(&*paper.kernel)].into_iter().chain(values).collect();
        Row::new(format!("{} · {}", row.row, row.title), cells)
    });
    let numbers = ["Min", "Avg", "σ", "Max"].map(|name| Column::new(name, TIME));
    Table {
        name: "Table I as printed".to_owned(),
        lead: Column::new("Test", PROFILE),
        columns: [Column::words("OS", TIME)].into_iter().chain(numbers).collect(),
        rows: rows.collect(),
        ..Table::default()
    }
}

/// Adds a matrix for a terminal, with the meaning of each row and the faults of its measurement.
fn terminal(summary: &Summary<'_>, matrix: &IsolationMatrix, content: &mut Content) {
    let name = format!("Isolation matrix of {}", matrix.partition);
    for (what, figures_of, beside) in tables(matrix) {
        let container = isolation_container(summary, matrix).filter(|_| beside);
        let container = container.map(|runtime| format!("a container of {runtime}, "));
        let sub = format!("{}{what}", container.unwrap_or_default());
        content.blocks.push(Block::Heading(name.clone(), Some(sub)));
        content.blocks.push(Block::Table(terminal_table(matrix, figures_of, beside)));
        content.blocks.push(Block::Gap);
    }
    for row in &matrix.rows {
        let same = match row.same_as {
            Some(same) => format!("; measured as row {same}"),
            None => String::new(),
        };
        content.fact((0, PROFILE + 1), &row.profile, &format!("{}{same}", row.on_one_kernel));
        let word = if row.release.is_some() { "* not as asked" } else { "not measured" };
        for reason in isolation_reasons(summary, matrix, row) {
            content.fact((PROFILE + 1, 0), "", &format!("{word}: {reason}"));
        }
    }
    content.blocks.push(Block::Gap);
    isolation_answer(matrix).into_iter().for_each(|sentence| content.remark(sentence));
    content.remark(
        "Paper: hofer2019, table I, cyclictest in a guest of VirtualBox, the least and the most of \
         its three kernels. The report has each.",
    );
    content.blocks.push(Block::Gap);
}

fn terminal_table(matrix: &IsolationMatrix, figures_of: FiguresOf, beside: bool) -> Table {
    let mut columns = Column::all(["min", "mean", "σ", "max", "> 100 µs", "> 10 ms"], TIME);
    if beside {
        columns.extend([Column::new("paper's mean", MEANS), Column::new("paper's max", MAXIMA)]);
    }
    let row = |row: &IsolationRow| {
        let mark = if row.not_as_asked.is_empty() { "" } else { "*" };
        let mut cells = match figures_of(row) {
            Some(found) => {
                let mut cells = times(found).map(Cell::time).to_vec();
                let beyond = found.exceedances.iter().map(figures::at_most_count);
                cells.extend(beyond.map(Cell::plain));
                cells
            }
            None => vec![Cell::plain(NONE); columns.len() - 2 * usize::from(beside)],
        };
        if beside {
            let means: Vec<f64> = row.published.iter().map(|it| it.mean_us * 1e3).collect();
            let maxima: Vec<f64> = row.published.iter().map(|it| it.max_us * 1e3).collect();
            cells.extend([range(&means), range(&maxima)].map(Cell::plain));
        }
        Row::new(format!("{}{mark}", row.profile), cells)
    };
    Table {
        name: format!("Isolation, {}", matrix.partition),
        lead: Column::new("row", PROFILE),
        rows: matrix.rows.iter().map(row).collect(),
        columns,
        ..Table::default()
    }
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
