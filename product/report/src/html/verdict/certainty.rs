//! The certainty of the verdicts, and the gain from more time.

use maud::{Markup, html};
use quietcore_record::statistics::{cycles_needed, exceedance_bound};

use super::super::elements::quantity;
use crate::figures;
use crate::summary::{RecordSummary, Summary};

/// Spans of measurement whose worth is shown, in ns: an hour, a shift, a day.
const SPANS: [(&str, &str, u64); 3] = [
    ("an hour", "1\u{a0}h", 3_600_000_000_000),
    ("a shift", "8\u{a0}h", 28_800_000_000_000),
    ("a day", "24\u{a0}h", 86_400_000_000_000),
];

/// Renders how sure the verdicts are, and what more time would prove.
pub(in crate::html) fn certainty(summary: &Summary<'_>) -> Markup {
    let exceedance = summary.evidence.manifest.exceedance;
    let needed = cycles_needed(exceedance);
    html! {
        h3 { "How sure is that?" }
        p {
            "A PASS must exclude, with 95 % confidence, that more than "
            (figures::one_in(exceedance)) " cycles is later than the limit. That takes "
            b { (figures::count(needed)) " cycles" } " without a single late one."
        }
        @if let Some(weakest) = weakest(summary) {
            @let record = weakest.record;
            p {
                "The record that says the least of those that count, " (record.label()) " of "
                (record.record.partition) ", has " (figures::count(record.statistics.count))
                " cycles"
                @if weakest.late > 0 {
                    ", and " (figures::count(weakest.late)) " of them were late. What it excludes, "
                    "and what cycles without a late one would:"
                } @else { ". What more time without a late cycle would buy:" }
            }
            (worth(&weakest, needed))
        }
        p.remark {
            "The rule assumes that cycles are independent of each other. They are not quite: "
            "disturbances come in bursts and follow the hour. Take the bound as the best case, "
            "and let the measurement see what the machine will do in service."
        }
    }
}

/// The record that excludes the least, with the bound that it gives.
struct Weakest<'a> {
    record: &'a RecordSummary<'a>,
    /// Its cycles that were later than the limit of the class that its partition declares.
    late: u64,
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
        let bound = exceedance_bound(late, record.statistics.count);
        Weakest { record, late, bound }
    });
    all.max_by(|one, other| one.bound.total_cmp(&other.bound))
}

fn worth(weakest: &Weakest<'_>, needed: u64) -> Markup {
    let count = weakest.record.statistics.count;
    let period_ns = weakest.record.record.period_ns;
    let time_of = |cycles| period_ns.map(|period| figures::time_of(cycles, period));
    let measured = |label: &str, cycles: u64, time: Option<String>, bound: f64| {
        let apart = period_ns.map(|period| figures::time_of((1.0 / bound) as u64, period));
        html! {
            tr {
                th scope="row" { (label) }
                td.n { (figures::count(cycles)) }
                td.n { (quantity(&time.unwrap_or_else(|| figures::NONE.to_owned()))) }
                td.n { (figures::one_in(bound)) }
                td.n { (quantity(&apart.unwrap_or_else(|| figures::NONE.to_owned()))) }
            }
        }
    };
    let row =
        |label: &str, cycles: u64, time| measured(label, cycles, time, exceedance_bound(0, cycles));
    let own = match weakest.late {
        0 => "as many as there are".to_owned(),
        late => format!("those there are, {} late", figures::count(late)),
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="What more time would buy" {
            table.compact.tenths {
                thead {
                    tr {
                        th scope="col" {
                            "Measured" @if weakest.late == 0 { " without exceedance" }
                        }
                        th.n scope="col" { "Cycles" }
                        th.n scope="col" { "Time" }
                        th.n scope="col" { "Excludes more than" }
                        th.n scope="col" title="At the period of the measurement" { "One every" }
                    }
                }
                tbody {
                    (measured(&own, count, time_of(count), weakest.bound))
                    @if needed > count { (row("asked for", needed, time_of(needed))) }
                    @if let Some(period) = period_ns.filter(|period| *period > 0) {
                        @for (name, label, span) in SPANS {
                            @if span / period > count {
                                (row(name, span / period, Some(label.to_owned())))
                            }
                        }
                    }
                }
            }
        }
    }
}
