//! All statistics of all records, each explained, and the work of the loads.

mod definitions;
mod scan;

use quietcore_record::histogram::Quantile;
use quietcore_record::record::LoadAchieved;

use super::content::{Block, Cell, Column, Content, Definition, Row, Table};
use crate::figures::{self, NONE};
use crate::summary::{RecordSummary, Summary};
use definitions as define;

/// The most records side by side in one table; neither a page nor a screen has room for more.
const COLUMNS_MAX: usize = 6;

type Value = fn(&RecordSummary<'_>) -> String;

/// A figure: its definition, the name of this row where the definition has several, and the
/// function that reads it from a record.
type Figure = (&'static Definition, &'static str, Value);

/// A group of figures under a heading.
type Group = (&'static str, &'static [Figure]);

const GROUPS: [Group; 5] = [
    (
        "Release latency",
        &[
            (&define::COUNT, "", |r| figures::count(r.statistics.count)),
            (&define::MINIMUM, "", |r| whole(r.statistics.min_ns)),
            (&define::LOWER_WHISKER, "", |r| quantile(r.statistics.p2_5_ns)),
            (&define::LOWER_QUARTILE, "", |r| quantile(r.statistics.q1_ns)),
            (&define::MEDIAN, "", |r| quantile(r.statistics.median_ns)),
            (&define::MEAN, "", |r| real(r.statistics.mean_ns)),
            (&define::UPPER_QUARTILE, "", |r| quantile(r.statistics.q3_ns)),
            (&define::UPPER_WHISKER, "", |r| quantile(r.statistics.p97_5_ns)),
            (&define::MAXIMUM, "", |r| figures::maximum(&r.statistics)),
            (&define::BOUND, "", |r| figures::or_dash(r.statistics.bound_95, figures::one_in)),
            (&define::DEVIATION, "", |r| real(r.statistics.sd_ns)),
        ],
    ),
    (
        "The tail",
        &[
            (&define::TAIL, "p99", |r| quantile(r.statistics.p99_ns)),
            (&define::TAIL, "p99.9", |r| quantile(r.statistics.p99_9_ns)),
            (&define::TAIL, "p99.99", |r| quantile(r.statistics.p99_99_ns)),
            (&define::TAIL, "p99.999", |r| quantile(r.statistics.p99_999_ns)),
            (&define::TAIL, "p99.9999", |r| quantile(r.statistics.p99_9999_ns)),
            (&define::TUKEY, "Tukey's lower whisker", |r| whole(r.statistics.tukey_low_ns)),
            (&define::TUKEY, "Tukey's upper whisker", |r| whole(r.statistics.tukey_high_ns)),
            (&define::OVERFLOW, "", |r| figures::count(r.statistics.overflow)),
        ],
    ),
    (
        "Release jitter, by its three definitions",
        &[
            (&define::JITTER_WHISKERS, "", |r| whole(r.statistics.jitter_whiskers_ns)),
            (&define::JITTER_PEAK, "", |r| whole(r.statistics.jitter_peak_to_peak_ns)),
            (&define::JITTER_SUCCESSIVE, "", |r| real(r.statistics.jitter_successive_ns)),
        ],
    ),
    (
        "Missed cycles",
        &[
            (&define::MISSED, "", |r| figures::or_dash(r.statistics.missed_cycles, figures::count)),
            (&define::MISS_RUN, "", |r| {
                figures::or_dash(r.statistics.longest_miss_run, figures::count)
            }),
            (&define::EARLY, "", |r| figures::count(r.record.counters.early)),
            (&define::MIGRATIONS, "", |r| figures::count(r.record.counters.migrations)),
        ],
    ),
    (
        "Wake-up and the probe itself",
        &[
            (&define::WAKEUP_MEDIAN, "", |r| wakeup_median(r)),
            (&define::WAKEUP_MAXIMUM, "", |r| wakeup_maximum(r)),
            (&define::OWN_COST, "", |r| known(r.record.counters.own_cost_ns)),
            (&define::MARGIN, "", |r| known(r.record.counters.margin_ns)),
            (&define::SPIN, "", |r| spinning(r)),
        ],
    ),
];

/// Anchor and title of the section.
pub(crate) const NAME: (&str, &str) = ("figures", "Figures");

/// Makes the content of the section.
pub(crate) fn content(summary: &Summary<'_>) -> Content {
    let mut content = Content::default();
    if summary.records.is_empty() {
        return content;
    }
    content.remark(format!(
        "Every term has its definition on hover and in the footnotes. {NONE} stands where the \
         sample does not carry a figure or the data do not hold it.",
    ));
    for partition in &summary.partitions {
        let of_columns = partition.columns.iter().flat_map(|column| &column.records);
        let own: Vec<usize> = of_columns.copied().collect();
        if summary.partitions.len() > 1 && !own.is_empty() {
            let heading = format!("{} {}", summary.partition_word(), partition.name);
            content.blocks.push(Block::Heading(heading, None));
        }
        for part in own.chunks(COLUMNS_MAX) {
            content.blocks.push(table("Statistics", &GROUPS, part, summary));
        }
        scan::add_tables(&mut content, &own, summary);
    }
    content.blocks.push(Block::Definitions(definitions_of(summary)));
    add_loads(&mut content, summary);
    add_neighbours(&mut content, summary);
    content
}

/// Returns the definitions of all terms in the tables, each once.
fn definitions_of(summary: &Summary<'_>) -> Vec<Definition> {
    let has_scan = summary.records.iter().any(|record| record.scan.is_some());
    let of_scan = scan::GROUPS.iter().filter(|_| has_scan);
    let mut explained: Vec<Definition> = Vec::new();
    for (definition, _, _) in GROUPS.iter().chain(of_scan).flat_map(|(_, figures)| *figures) {
        if !explained.iter().any(|known| known.id == definition.id) {
            explained.push(**definition);
        }
    }
    explained
}

/// Makes a table with a column for each record and a row for each figure.
fn table(name: &str, groups: &[Group], part: &[usize], summary: &Summary<'_>) -> Block {
    let records: Vec<_> = part.iter().map(|index| &summary.records[*index]).collect();
    let row = |(definition, name, value): &Figure| Row {
        meaning: Some(definition.meaning.to_owned()),
        defined: Some(definition.id),
        ..Row::new(
            if name.is_empty() { definition.term } else { name },
            records.iter().map(|record| Cell::quantity(value(record))).collect(),
        )
    };
    Block::Table(Table {
        name: name.to_owned(),
        columns: records.iter().map(|record| column(record)).collect(),
        rows: groups.iter().flat_map(|(_, figures)| figures.iter().map(row)).collect(),
        bands: groups.iter().map(|(name, figures)| ((*name).to_owned(), figures.len())).collect(),
        ..Table::default()
    })
}

fn column(record: &RecordSummary<'_>) -> Column {
    let mut column = Column::new(record.label(), 0);
    if !record.record.reserved {
        column = column.below("comparison");
    }
    if !record.record.is_valid() {
        column = column.below("invalid");
    }
    Column { is_dim: !record.record.reserved, ..column }
}

/// Formats a figure that is 0 where it is not known.
fn known(value_ns: u64) -> String {
    if value_ns == 0 { NONE.to_owned() } else { figures::nanos(value_ns) }
}

fn whole(value_ns: Option<u64>) -> String {
    figures::or_dash(value_ns, figures::nanos)
}

fn real(value_ns: Option<f64>) -> String {
    figures::or_dash(value_ns, figures::nanos_f64)
}

fn quantile(value: Option<Quantile>) -> String {
    figures::or_dash(value, figures::quantile)
}

fn wakeup_median(record: &RecordSummary<'_>) -> String {
    match (&record.wakeup, &record.record.wakeup) {
        (Some(wakeup), _) => quantile(wakeup.median_ns),
        (None, Some(_)) => quantile(record.statistics.median_ns),
        (None, None) => NONE.to_owned(),
    }
}

fn wakeup_maximum(record: &RecordSummary<'_>) -> String {
    match (&record.wakeup, &record.record.wakeup) {
        (Some(wakeup), _) => figures::maximum(wakeup),
        (None, Some(_)) => figures::maximum(&record.statistics),
        (None, None) => NONE.to_owned(),
    }
}

fn spinning(record: &RecordSummary<'_>) -> String {
    let (spin, span) = (record.record.counters.spin_ns, record.record.conditions.duration_ns);
    if spin == 0 || span == 0 {
        return NONE.to_owned();
    }
    format!("{:.1}\u{a0}%", spin as f64 / span as f64 * 100.0)
}

fn add_loads(content: &mut Content, summary: &Summary<'_>) {
    let of_record = |record: &RecordSummary<'_>| {
        let loads = record.record.conditions.loads.iter();
        loads.map(|load| Row::new(record.label(), of_load(load))).collect::<Vec<_>>()
    };
    let rows: Vec<Row> = summary.records.iter().flat_map(of_record).collect();
    if rows.is_empty() {
        return;
    }
    content.blocks.push(Block::Heading("Loads, and what they achieved".to_owned(), None));
    content.blocks.push(Block::Table(Table {
        name: "Loads".to_owned(),
        layout: Some("compact"),
        lead: Column::new("Record", 0),
        columns: columns_of_loads(),
        rows,
        ..Table::default()
    }));
}

fn add_neighbours(content: &mut Content, summary: &Summary<'_>) {
    let of_record = |record: &RecordSummary<'_>| {
        let neighbours = record.record.conditions.neighbours.iter();
        let rows = neighbours.flat_map(|neighbour| {
            let kind = match neighbour.processors {
                None => neighbour.kind.clone(),
                Some(1) => format!("{}, 1 processor", neighbour.kind),
                Some(count) => format!("{}, {count} processors", neighbour.kind),
            };
            let who = [Cell::plain(neighbour.name.clone()), Cell::plain(kind)];
            let row =
                |load| Row::new(record.label(), who.iter().cloned().chain(of_load(load)).collect());
            neighbour.loads.iter().map(row).collect::<Vec<_>>()
        });
        rows.collect::<Vec<_>>()
    };
    let rows: Vec<Row> = summary.records.iter().flat_map(of_record).collect();
    if rows.is_empty() {
        return;
    }
    content
        .blocks
        .push(Block::Heading("Neighbours, and what their loads achieved".to_owned(), None));
    content.blocks.push(Block::Table(Table {
        name: "Neighbours".to_owned(),
        layout: Some("compact"),
        lead: Column::new("Record", 0),
        columns: [
            Column::words("Neighbour", 0),
            Column::words("Kind", 0).meaning("A partition beside the measured ones"),
        ]
        .into_iter()
        .chain(columns_of_loads())
        .collect(),
        rows,
        ..Table::default()
    }));
}

fn columns_of_loads() -> Vec<Column> {
    vec![
        Column::words("Load", 0),
        Column::new("Workers", 0).meaning("Still working at the end, of those asked for"),
        Column::words("CPUs", 0),
        Column::new("Achieved", 0),
        Column::words("Unit", 0),
        Column::new("CPU time", 0).meaning("1.00 is the time of one CPU wholly"),
    ]
}

fn of_load(load: &LoadAchieved) -> Vec<Cell> {
    let mut workers = Cell::plain(format!("{} of {}", load.working, load.workers));
    if load.working < load.workers {
        workers.below.push(Cell::plain("✗ some ended").tone("fail"));
    }
    let cpus = if load.cpus.is_empty() { "any".to_owned() } else { load.cpus.to_string() };
    let unit = if load.unit.ends_with("/s") { "" } else { "/s" };
    vec![
        Cell::plain(load.kind.to_string()),
        workers,
        Cell::plain(cpus),
        Cell::plain(figures::amount(load.operations_per_second)),
        Cell::plain(format!("{}{unit}", load.unit)),
        Cell::plain(format!("{:.2} CPUs", load.cpu_share)),
    ]
}
