//! How sure the verdicts are, and what more time would buy.

use maud::{Markup, html};
use quietcore_record::statistics::{cycles_needed, exceedance_bound};

use super::super::elements::quantity;
use crate::figures;
use crate::summary::Summary;

/// Spans of measurement whose worth is told, in ns: an hour, a shift, a day.
const SPANS: [(&str, &str, u64); 3] = [
    ("an hour", "1\u{a0}h", 3_600_000_000_000),
    ("a shift", "8\u{a0}h", 28_800_000_000_000),
    ("a day", "24\u{a0}h", 86_400_000_000_000),
];

/// How sure the verdicts are, and what more time would buy.
pub(in crate::html) fn certainty(summary: &Summary<'_>) -> Markup {
    let exceedance = summary.evidence.manifest.exceedance;
    let needed = cycles_needed(exceedance);
    // The shortest run that counts says the least; what holds for it holds for all.
    let shortest = summary
        .records
        .iter()
        .filter(|record| record.record.reserved && record.statistics.count > 0)
        .min_by_key(|record| record.statistics.count);
    html! {
        h3 { "How sure is that?" }
        p {
            "A PASS must exclude, with 95 % confidence, that more than "
            (figures::one_in(exceedance)) " cycles is later than the limit. That takes "
            b { (figures::count(needed)) " cycles" } " without a single late one."
        }
        @if let Some(record) = shortest {
            p {
                "The shortest record that counts, " (record.label()) " of "
                (record.record.partition) ", has " (figures::count(record.statistics.count))
                " cycles. What more time without a late cycle would buy:"
            }
            (worth(record.statistics.count, record.record.period_ns, needed))
        }
        p.remark {
            "The rule assumes that cycles are independent of each other. They are not quite: "
            "disturbances come in bursts and follow the hour. Take the bound as the best case, "
            "and let the measurement see what the machine will do in service."
        }
    }
}

fn worth(count: u64, period_ns: Option<u64>, needed: u64) -> Markup {
    let time_of = |cycles| period_ns.map(|period| figures::time_of(cycles, period));
    let row = |label: &str, cycles: u64, time: Option<String>| {
        let bound = exceedance_bound(0, cycles);
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
    html! {
        div.scroll tabindex="0" role="region" aria-label="What more time would buy" {
            table.compact.tenths {
                thead {
                    tr {
                        th scope="col" { "Measured without exceedance" }
                        th.n scope="col" { "Cycles" }
                        th.n scope="col" { "Time" }
                        th.n scope="col" { "Excludes more than" }
                        th.n scope="col" title="At the period of the measurement" { "One every" }
                    }
                }
                tbody {
                    (row("as many as there are", count, time_of(count)))
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
