//! The certainty of the verdicts, and the gain from more time.

use quietcore_record::statistics::{cycles_needed, exceedance_bound};

use crate::figures;
use crate::section::content::{Block, Cell, Column, Content, Row, Table, bold, plain};
use crate::summary::{RecordSummary, Summary};

/// Spans of measurement whose worth is shown, in ns: an hour, a shift, a day.
const SPANS: [(&str, &str, u64); 3] = [
    ("an hour", "1\u{a0}h", 3_600_000_000_000),
    ("a shift", "8\u{a0}h", 28_800_000_000_000),
    ("a day", "24\u{a0}h", 86_400_000_000_000),
];

/// Tells how sure the verdicts are, and what more time would prove.
pub(crate) fn content(summary: &Summary<'_>) -> Content {
    let exceedance = summary.evidence.manifest.exceedance;
    let needed = cycles_needed(exceedance);
    let mut content = Content::default();
    content.blocks.push(Block::Heading("How sure is that?".to_owned(), None));
    content.blocks.push(Block::Text(vec![
        plain(format!(
            "A PASS must exclude, with 95 % confidence, that more than {} cycles is later than \
             the limit. That takes ",
            figures::one_in(exceedance)
        )),
        bold(format!("{} cycles", figures::count(needed))),
        plain(" without a single late one."),
    ]));
    let classes = &summary.evidence.manifest.classes;
    if classes.iter().any(|class| !class.strictness.is_hard()) {
        content.blocks.push(Block::Text(vec![plain(
            "A firm class takes as many cycles without a longer run of misses than it bears. A \
             soft class is judged by the 95 % interval of its share of misses.",
        )]));
    }
    if let Some(weakest) = weakest(summary) {
        content.blocks.push(Block::Text(vec![plain(introduction(&weakest))]));
        content.blocks.push(worth(&weakest, needed));
    }
    content.remark(
        "The rule assumes that cycles are independent of each other. They are not quite: \
         disturbances come in bursts and follow the hour. Take the bound as the best case, and \
         let the measurement see what the machine will do in service.",
    );
    content
}

fn introduction(weakest: &Weakest<'_>) -> String {
    let record = weakest.record;
    let consequence = match weakest.late {
        0 => ". What more time without a late cycle would buy:".to_owned(),
        late => format!(
            ", and {} of them were late. What it excludes, and what cycles without a late one \
             would:",
            figures::count(late)
        ),
    };
    format!(
        "The record that says the least of those that count, {} of {}, has {} cycles{consequence}",
        record.label(),
        record.record.partition,
        figures::count(record.statistics.count),
    )
}

/// The record that excludes the least, with the bound that it gives.
struct Weakest<'a> {
    record: &'a RecordSummary<'a>,
    /// Its cycles that were or may have been later than the limit of the class that its partition
    /// declares.
    late: u64,
    /// All of them surely were.
    is_exact: bool,
    /// Probability of a late cycle that it excludes.
    bound: f64,
}

/// Finds the record that excludes the least among those that count: its bound holds for all of
/// them.
fn weakest<'a>(summary: &'a Summary<'_>) -> Option<Weakest<'a>> {
    let counts = |it: &&RecordSummary<'_>| it.record.reserved && it.statistics.count > 0;
    let all = summary.records.iter().filter(counts).map(|record| {
        let declared = summary.evidence.manifest.declared.get(&record.record.partition);
        let judged =
            summary.evidence.judgements.iter().find(|judged| {
                judged.record == record.record.name && Some(&judged.class) == declared
            });
        let late = judged.and_then(|judged| judged.exceedances).unwrap_or(0);
        let is_exact = judged.is_none_or(|judged| judged.exceedances_least.is_none());
        let bound = exceedance_bound(late, record.statistics.count);
        Weakest { record, late, is_exact, bound }
    });
    all.max_by(|one, other| one.bound.total_cmp(&other.bound))
}

fn worth(weakest: &Weakest<'_>, needed: u64) -> Block {
    let count = weakest.record.statistics.count;
    let period_ns = weakest.record.record.period_ns.filter(|period| *period > 0);
    let time_of = |cycles| period_ns.map(|period| figures::time_of(cycles, period));
    let row = |label: &str, cycles: u64, time: Option<String>, bound: f64| {
        let apart = time_of((1.0 / bound) as u64);
        let or_dash = |text: Option<String>| Cell::quantity(figures::or_dash(text, |text| text));
        let cells = vec![
            Cell::plain(figures::count(cycles)),
            or_dash(time),
            Cell::plain(figures::one_in(bound)),
            or_dash(apart),
        ];
        Row::new(label, cells)
    };
    let own = match weakest.late {
        0 => "as many as there are".to_owned(),
        late if weakest.is_exact => format!("those there are, {} late", figures::count(late)),
        late => format!("those there are, up to {} late", figures::count(late)),
    };
    let without_late =
        |label: &str, cycles: u64, time| row(label, cycles, time, exceedance_bound(0, cycles));
    let mut rows = vec![row(&own, count, time_of(count), weakest.bound)];
    if needed > count {
        rows.push(without_late("asked for", needed, time_of(needed)));
    }
    for (name, label, span) in SPANS {
        let Some(cycles) = period_ns.map(|period| span / period) else { continue };
        if cycles > count {
            rows.push(without_late(name, cycles, Some(label.to_owned())));
        }
    }
    let exceedance = if weakest.late == 0 { " without exceedance" } else { "" };
    Block::Table(Table {
        name: "What more time would buy".to_owned(),
        layout: Some("compact tenths"),
        lead: Column::new(format!("Measured{exceedance}"), 0),
        columns: vec![
            Column::new("Cycles", 0),
            Column::new("Time", 0),
            Column::new("Excludes more than", 0),
            Column::new("One every", 0).meaning("At the period of the measurement"),
        ],
        rows,
        ..Table::default()
    })
}
