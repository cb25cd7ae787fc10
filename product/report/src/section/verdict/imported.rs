//! Imported data of another program: their amount, their figures, and the classes that can be
//! judged.

use quietcore_record::verdict::is_of_a_busy_loop;

use super::overview::fastest;
use super::passed_of_all;
use crate::figures;
use crate::section::content::{
    Answer, Block, Cell, Column, Content, NEUTRAL, Row, Span, Table, Tile, bold, plain,
};
use crate::summary::{PartitionSummary, RecordSummary, Summary};

/// Adds the answer and the table.
pub(super) fn add(content: &mut Content, summary: &Summary<'_>) {
    content.answers.push(answer(summary));
    content.blocks.push(table(summary));
}

fn answer(summary: &Summary<'_>) -> Answer {
    let records = &summary.records;
    let values = records.iter().map(|record| record.statistics.count).sum::<u64>();
    let measured = records.iter().filter(|record| record.statistics.count > 0);
    let largest = measured.max_by_key(|record| record.statistics.max_ns);
    let files = summary.partitions.len();
    let program = records.first().map_or("another program", |record| &record.record.probe);
    let largest = largest.map(|largest| {
        let value = figures::maximum(&largest.statistics);
        Tile::new("Largest value", value, name_of(largest, summary))
    });
    let every = (!is_of_busy_loops(summary)).then(|| {
        Tile::new("Measured every", period(summary), "as the files, or who imported them, say")
    });
    let histograms = Tile::new("Histograms", records.len().to_string(), overflows(records));
    let plural = if files == 1 { "file" } else { "files" };
    Answer {
        tone: NEUTRAL,
        who: vec![plain("Imported from "), bold(program)],
        word: format!("{files} {plural}, {} values", figures::count(values)),
        why: vec![vec![Span::Marked(judged(summary))]],
        tiles: Some(largest.into_iter().chain(every).chain([histograms]).collect()),
        ..Answer::default()
    }
}

/// Tells whether classes are judged, and what is missing where none can pass.
fn judged(summary: &Summary<'_>) -> String {
    if is_of_busy_loops(summary) {
        return "They tell for how long a busy loop on a CPU was held up. No class has a limit for \
                that."
            .to_owned();
    }
    if summary.records.iter().any(|record| record.record.period_ns.is_none()) {
        return "The data do not say with which period they were measured, so no class can pass. \
                Who knows it imports the files again with `--interval`, such as `--interval 1ms`."
            .to_owned();
    }
    let all = summary.evidence.manifest.classes.len();
    format!("Each file is judged against all {all} classes, which are below.")
}

/// Returns `true` if no record is about the releases of a thread.
fn is_of_busy_loops(summary: &Summary<'_>) -> bool {
    summary.records.iter().all(|record| is_of_a_busy_loop(record.record))
}

/// Names a record, with its file where there are several.
fn name_of(record: &RecordSummary<'_>, summary: &Summary<'_>) -> String {
    let (file, label) = (&record.record.partition, record.label());
    if *file == label || summary.partitions.len() == 1 {
        return label;
    }
    format!("{file} · {label}")
}

fn period(summary: &Summary<'_>) -> String {
    let mut periods: Vec<Option<u64>> =
        summary.records.iter().map(|record| record.record.period_ns).collect();
    periods.sort_unstable();
    periods.dedup();
    match periods.as_slice() {
        [Some(one)] => figures::set_nanos(*one),
        [None] | [] => "not known".to_owned(),
        _ => "it differs".to_owned(),
    }
}

fn overflows(records: &[RecordSummary<'_>]) -> String {
    let over = records.iter().map(|record| record.statistics.overflow).sum::<u64>();
    match over {
        0 => "no value lies beyond its histogram".to_owned(),
        over => {
            format!("{} values were only counted, beyond their histograms", figures::count(over))
        }
    }
}

/// Makes the table with a row for each record.
fn table(summary: &Summary<'_>) -> Block {
    let rows = summary.partitions.iter().flat_map(|partition| {
        let records = partition.all_records().into_iter().enumerate();
        let row = |(index, record): (usize, usize)| {
            row(partition, &summary.records[record], summary, index == 0)
        };
        records.map(row).collect::<Vec<_>>()
    });
    let mut columns = Column::all(["Values", "Minimum", "Median", "p99.9", "Maximum"], 0);
    columns.extend([
        Column::new("Overflow", 0).meaning("Values that were only counted"),
        Column::new("Fastest cycle", 0),
        Column::new("Classes passed", 0),
    ]);
    Block::Table(Table {
        name: "What was imported".to_owned(),
        layout: Some("overview"),
        lead: Column::new("Record", 0),
        columns,
        rows: rows.collect(),
        ..Table::default()
    })
}

fn row(
    partition: &PartitionSummary<'_>,
    record: &RecordSummary<'_>,
    summary: &Summary<'_>,
    is_first: bool,
) -> Row {
    let statistics = &record.statistics;
    let quantile = |value: Option<_>| Cell::quantity(figures::or_dash(value, figures::quantile));
    // What is told of a file stands beside its first record only.
    let of_file = match is_first {
        true if partition.columns.is_empty() => {
            [Cell::plain(figures::NONE), Cell::plain(figures::NONE)]
        }
        true => [fastest(partition), Cell::plain(passed_of_all(partition))],
        false => [Cell::default(), Cell::default()],
    };
    let own = [
        Cell::plain(figures::count(statistics.count)),
        Cell::quantity(figures::or_dash(statistics.min_ns, figures::nanos)),
        quantile(statistics.median_ns),
        quantile(statistics.p99_9_ns),
        Cell::quantity(figures::maximum(statistics)),
        Cell::plain(figures::count(statistics.overflow)),
    ];
    Row::new(name_of(record, summary), own.into_iter().chain(of_file).collect())
}
