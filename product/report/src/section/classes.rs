//! All classes against all profiles: each cell has its verdict and the figure that decides.

use quietcore_record::class::Class;

use super::content::{Block, Cell, Column, Content, Details, Row, Span, Table, bold, plain};
use super::verdict::certainty;
use crate::figures;
use crate::summary::{self, Figure, PartitionSummary, Summary};

/// Anchor and title of the section.
pub(crate) const NAME: (&str, &str) = ("classes", "All classes");

/// The words of the link to the page's list of reasons.
const REASONS: &str = "Every verdict with its reason";

/// The most partitions with one profile each that still share one table.
const JOINT_MAX: usize = 8;

/// A column of the table of classes.
struct Profile<'a> {
    column: Column,
    /// Cells in the manifest's order of classes.
    cells: Vec<&'a summary::Cell>,
}

/// Makes the content of the section; empty where there is no record to judge.
pub(crate) fn content(summary: &Summary<'_>) -> Content {
    let mut content = Content::default();
    let measured: Vec<_> =
        summary.partitions.iter().filter(|partition| !partition.columns.is_empty()).collect();
    if measured.is_empty() {
        return content;
    }
    let is_joint = (2..=JOINT_MAX).contains(&measured.len())
        && measured.iter().all(|partition| partition.columns.len() == 1);
    content.blocks.push(introduction(&measured, is_joint));
    let tables: Vec<Block> = if is_joint {
        vec![joint_table(&measured, summary)]
    } else {
        measured.iter().map(|partition| partition_table(partition, summary)).collect()
    };
    if is_unjudged(summary) {
        content.blocks.push(Block::Text(vec![plain(
            "No class can be judged: the data do not say with which period they were measured.",
        )]));
        content.blocks.push(Block::details("All classes with their limits", tables));
    } else if tables.len() == 1 {
        content.blocks.extend(tables);
    } else {
        for (index, (partition, table)) in measured.iter().zip(tables).enumerate() {
            let title = format!("{} {}", summary.partition_word(), partition.name);
            let blocks = vec![table];
            content.blocks.push(Block::Details(Details { title, is_open: index == 0, blocks }));
        }
    }
    let classes = &summary.evidence.manifest.classes;
    if !classes.is_empty() {
        let sources = distinct(classes).into_iter().map(str::to_owned);
        content.blocks.push(Block::Sources(sources.collect()));
        content.blocks.push(Block::Remark(vec![Span::Link("reasons", REASONS)]));
    }
    content.blocks.extend(certainty(summary).blocks);
    content
}

fn introduction(measured: &[&PartitionSummary<'_>], is_joint: bool) -> Block {
    let mut text = vec![plain(
        "A cell is the worst record of a profile: its verdict and the figure that decides.",
    )];
    if !is_joint {
        let mut columns = measured.iter().flat_map(|partition| &partition.columns);
        let comparison = if columns.any(|column| !column.reserved) {
            "; the dimmed ones are for comparison and do not count"
        } else {
            ""
        };
        text.extend([
            plain(" "),
            bold("Overall"),
            plain(format!(
                " is the worst over the profiles that keep the partition's \
                 reservation{comparison}.",
            )),
        ]);
    }
    Block::Remark(text)
}

/// Returns `true` if no cell could say more than that the period or the cycle is not known.
fn is_unjudged(summary: &Summary<'_>) -> bool {
    let rows = summary.partitions.iter().flat_map(|partition| &partition.rows);
    let mut cells = rows.flat_map(|row| &row.cells).peekable();
    cells.peek().is_some()
        && cells.all(|cell| matches!(cell.figure, Figure::Period(None) | Figure::NoCycle))
}

/// Makes one table of all partitions, where each has one profile only.
fn joint_table(measured: &[&PartitionSummary<'_>], summary: &Summary<'_>) -> Block {
    let profiles = measured.iter().map(|partition| Profile {
        column: heading(&partition.columns[0], partition.name),
        cells: partition.rows.iter().map(|row| &row.cells[0]).collect(),
    });
    table("All classes", profiles.collect(), None, summary)
}

/// Makes the table of a partition.
fn partition_table(partition: &PartitionSummary<'_>, summary: &Summary<'_>) -> Block {
    let profiles = partition.columns.iter().enumerate().map(|(index, column)| Profile {
        column: Column {
            meaning: (!column.description.is_empty()).then(|| column.description.to_owned()),
            ..heading(column, column.profile)
        },
        cells: partition.rows.iter().map(|row| &row.cells[index]).collect(),
    });
    let name = match summary.partitions.len() {
        1 => "All classes".to_owned(),
        _ => format!("All classes, {}", partition.name),
    };
    table(&name, profiles.collect(), Some(partition), summary)
}

/// Makes the heading of a profile.
fn heading(profile: &summary::Column<'_>, name: &str) -> Column {
    let mut column = Column::words(name, 0);
    if profile.records.len() > 1 {
        column = column.below(format!("worst of {}", profile.records.len()));
    }
    if !profile.reserved {
        column = column.below("comparison");
    }
    Column { is_dim: !profile.reserved, ..column }
}

/// Makes a table with a row for each class; the declared class leads, and the others keep the
/// order of the catalogue.
fn table(
    name: &str,
    profiles: Vec<Profile<'_>>,
    partition: Option<&PartitionSummary<'_>>,
    summary: &Summary<'_>,
) -> Block {
    let classes = &summary.evidence.manifest.classes;
    let declared = partition.and_then(|it| it.declared.as_ref()).map(|declared| declared.name);
    let bears_misses = classes.iter().any(|class| !class.strictness.is_hard());
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|index| Some(classes[*index].name.as_str()) != declared);
    let row = |index: usize| {
        let class = &classes[index];
        let overall = partition.map(|partition| &partition.rows[index].overall);
        let overall = overall.map(|it| Cell::verdict(it.verdict, it.because.as_str()));
        let limits = [class.cycle_ns, class.latency_limit_ns(), class.jitter_ns].map(limit);
        let misses = bears_misses.then(|| Cell::plain(class.strictness.to_string()));
        let verdicts = profiles.iter().map(|profile| cell_of(profile.cells[index], summary));
        let source = distinct(classes).iter().position(|source| *source == class.source);
        Row {
            meaning: Some(class.source.clone()),
            source: source.map(|index| index + 1),
            is_declared: Some(class.name.as_str()) == declared,
            ..Row::new(
                class.title.as_str(),
                overall.into_iter().chain(limits).chain(misses).chain(verdicts).collect(),
            )
        }
    };
    let rows = order.into_iter().map(row).collect();
    let overall = partition.map(|_| Column::words("Overall", 0));
    let limits = [
        Column::new("Cycle", 0),
        Column::new("Latency ≤", 0).meaning(latency_meaning(summary)),
        Column::new("Jitter ≤", 0).meaning("The published limit"),
    ];
    let misses = bears_misses.then(|| {
        Column::words("Misses", 0).meaning("Late releases and late ends of cycles that it bears")
    });
    let of_profiles = profiles.into_iter().map(|profile| profile.column);
    Block::Table(Table {
        name: name.to_owned(),
        layout: Some("classes"),
        lead: Column::new("Class", 0),
        columns: overall.into_iter().chain(limits).chain(misses).chain(of_profiles).collect(),
        rows,
        ..Table::default()
    })
}

fn latency_meaning(summary: &Summary<'_>) -> &'static str {
    if summary.states_latency() {
        "The limit of the source, or a tenth of the cycle (hofer2019)"
    } else {
        "A tenth of the cycle (hofer2019)"
    }
}

fn limit(value_ns: Option<u64>) -> Cell {
    Cell::quantity(figures::or_dash(value_ns, figures::set_nanos))
}

fn cell_of(cell: &summary::Cell, summary: &Summary<'_>) -> Cell {
    let because = format!("{}: {}", summary.records[cell.record].label(), cell.because);
    let figure = Cell::plain(figures::deciding(cell.figure));
    Cell { below: vec![figure], ..Cell::verdict(cell.verdict, because) }
}

/// Lists the distinct sources in the order of the classes.
fn distinct(classes: &[Class]) -> Vec<&str> {
    let mut sources: Vec<&str> = Vec::new();
    for class in classes {
        if !sources.contains(&class.source.as_str()) {
            sources.push(&class.source);
        }
    }
    sources
}
