//! All statistics of all records, each explained, and the work of the loads.

mod csv;
mod scan;

use maud::{Markup, html};
use quietcore_record::histogram::Quantile;

use super::definitions::{self as define, Definition, footnotes, term};
use super::elements::quantity;
use crate::figures::{self, NONE};
use crate::summary::{RecordSummary, Summary};

pub(super) use csv::links;

/// The most records side by side in one table; neither a page nor a screen has room for more.
const COLUMNS_MAX: usize = 6;

type Value = fn(&RecordSummary<'_>) -> String;

/// A row: its definition, the name of this row where the definition has several, and the function
/// that reads it from a record.
type Row = (&'static Definition, &'static str, Value);

/// A group of rows under a heading.
type Group = (&'static str, &'static [Row]);

const GROUPS: [Group; 5] = [
    (
        "Release latency",
        &[
            (&define::COUNT, "", |r| figures::count(r.statistics.count)),
            (&define::MINIMUM, "", |r| some(r, r.statistics.min_ns)),
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
            (&define::JITTER_PEAK, "", |r| some(r, r.statistics.jitter_peak_to_peak_ns)),
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

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    if summary.records.is_empty() {
        return html! { p.empty { "There is no record." } };
    }
    let mut groups = GROUPS.to_vec();
    if summary.records.iter().any(|record| record.scan.is_some()) {
        groups.extend(scan::GROUPS);
    }
    let mut explained: Vec<Definition> = Vec::new();
    for (definition, _, _) in groups.iter().flat_map(|(_, rows)| *rows) {
        if !explained.iter().any(|known| known.id == definition.id) {
            explained.push(**definition);
        }
    }
    html! {
        p.remark {
            "Every term has its definition on hover and in the footnotes. " (NONE)
            " stands where the sample does not carry a figure or the data do not hold it."
        }
        @for partition in &summary.partitions {
            @let own: Vec<_> =
                partition.columns.iter().flat_map(|column| &column.records).copied().collect();
            @if summary.partitions.len() > 1 && !own.is_empty() {
                h3 { (summary.partition_word()) " " (partition.name) }
            }
            @for part in own.chunks(COLUMNS_MAX) { (table("Statistics", &GROUPS, part, summary)) }
            (scan::tables(&own, summary))
        }
        (footnotes(&explained))
        (loads(summary))
    }
}

/// Renders a table with a column for each record and a row for each figure.
fn table(name: &str, groups: &[Group], part: &[usize], summary: &Summary<'_>) -> Markup {
    let records: Vec<_> = part.iter().map(|index| &summary.records[*index]).collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table.statistics {
                thead {
                    tr {
                        td {}
                        @for record in &records {
                            th.n.dim[!record.record.reserved] scope="col" {
                                (record.label())
                                @if !record.record.reserved { span.sub { "comparison" } }
                                @if !record.record.is_valid() { span.sub { "invalid" } }
                            }
                        }
                    }
                }
                @for (heading, rows) in groups {
                    tbody {
                        tr.group { th colspan=(records.len() + 1) scope="colgroup" { (heading) } }
                        @for (definition, name, value) in *rows {
                            tr {
                                th scope="row" { (named(definition, name)) }
                                @for record in &records {
                                    td.n.dim[!record.record.reserved] {
                                        (quantity(&value(record)))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn named(definition: &Definition, name: &'static str) -> Markup {
    if name.is_empty() { term(definition) } else { term(&Definition { term: name, ..*definition }) }
}

fn some(record: &RecordSummary<'_>, value_ns: u64) -> String {
    if record.statistics.count == 0 { NONE.to_owned() } else { figures::nanos(value_ns) }
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

fn loads(summary: &Summary<'_>) -> Markup {
    let rows: Vec<_> = summary
        .records
        .iter()
        .flat_map(|record| record.record.conditions.loads.iter().map(move |load| (record, load)))
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Loads, and what they achieved" }
        div.scroll tabindex="0" role="region" aria-label="Loads" {
            table.compact {
                thead {
                    tr {
                        th scope="col" { "Record" }
                        th scope="col" { "Load" }
                        th.n scope="col" title="Still working at the end, of those asked for" {
                            "Workers"
                        }
                        th scope="col" { "CPUs" }
                        th.n scope="col" { "Achieved" }
                        th scope="col" { "Unit" }
                        th.n scope="col" title="1.00 is the time of one CPU wholly" {
                            "CPU time"
                        }
                    }
                }
                tbody {
                    @for (record, load) in rows {
                        tr {
                            th scope="row" { (record.label()) }
                            td { (load.kind) }
                            td.n {
                                (load.working) " of " (load.workers)
                                @if load.working < load.workers {
                                    " " span.mini.fail { "✗ some ended" }
                                }
                            }
                            td { @if load.cpus.is_empty() { "any" } @else { (load.cpus) } }
                            td.n { (figures::amount(load.operations_per_second)) }
                            td { (load.unit) @if !load.unit.ends_with("/s") { "/s" } }
                            td.n { (format!("{:.2}", load.cpu_share)) " CPUs" }
                        }
                    }
                }
            }
        }
    }
}
