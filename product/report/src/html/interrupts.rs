//! Interrupts: the answer, the plot beside the published figures, and the table.

use maud::{Markup, html};

use super::elements::{time, with_code};
use crate::figures;
use crate::plot::{self, Range, Scale};
use crate::summary::{Beside, InterruptLine, RecordSummary, Summary, beside, lines};

/// The answer, where the evidence is about interrupts alone.
pub(super) fn hero(summary: &RecordSummary<'_>) -> Markup {
    let Some(run) = &summary.record.interrupt else { return html! {} };
    let all = lines(summary, run);
    let invalid = !summary.record.is_valid();
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { "Interrupts, " b { (summary.record.partition) } }
                p.word {
                    "At most " (figures::nanos(all[0].statistics.max_ns))
                    " until its ISR has read the register"
                }
                p.why {
                    (figures::count(all[0].statistics.count)) " interrupts, "
                    (summary.record.conditions.mode) ". "
                    @if invalid { b { "The timing is not valid; see the reasons below. " } }
                    "No class judges an interrupt."
                }
            }
            div.tiles {
                @for line in &all {
                    div.tile {
                        p.label { (line.name) }
                        p.value { (mean(line)) }
                        p.note { "mean; " (line.meaning) }
                    }
                }
            }
        }
    }
}

fn mean(line: &InterruptLine) -> String {
    figures::or_dash(line.statistics.mean_ns, figures::nanos_f64)
}

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    let published = beside();
    let all: Vec<_> = summary
        .interrupts
        .iter()
        .filter_map(|it| Some((it, it.record.interrupt.as_ref()?)))
        .map(|(it, run)| (it.record, run, lines(it, run)))
        .collect();
    let drawn: Vec<_> = all.iter().map(|(_, _, lines)| ranges_of(lines, &published)).collect();
    let scale = plot::scale_of(drawn.iter().flatten());
    html! {
        @for ((record, run, lines), ranges) in all.iter().zip(&drawn) {
            @let held = &record.conditions;
            h3 { (held.mode) }
            p.remark {
                (run.path) ". " (run.kernel) ". " (held.policy) " on CPU " (held.affinity) "."
            }
            @for because in &record.invalid_because {
                p.remark { b { "Not valid: " } (with_code(&because.to_string())) "." }
            }
            (plot_of(ranges, scale, !record.is_valid()))
            (table(lines, &published))
            @if run.left_out > 0 {
                p.remark {
                    (figures::count(run.left_out)) " interrupts more were left out: they came "
                    "while the task of the one before was still at work, or the board's thread "
                    "came too late to raise them."
                }
            }
        }
        (method())
    }
}

/// What is drawn of a record: its own quantities, and the published rows.
fn ranges_of(lines: &[InterruptLine], published: &[Beside]) -> Vec<Range> {
    let measured = lines.iter().map(|line| Range {
        label: line.name.to_owned(),
        min_ns: line.statistics.min_ns as f64,
        mean_ns: line.statistics.mean_ns,
        max_ns: line.statistics.max_ns as f64,
        is_published: false,
    });
    let published = published.iter().map(|row| Range {
        label: row.label.clone(),
        min_ns: row.min_ns,
        mean_ns: Some(row.mean_ns),
        max_ns: row.max_ns,
        is_published: true,
    });
    measured.chain(published).collect()
}

fn plot_of(ranges: &[Range], scale: Scale, invalid: bool) -> Markup {
    html! {
        figure.ranges {
            figcaption {
                span.name { "Minimum to maximum, the mean as a ring" }
                span.sub {
                    "time to the right, logarithmic; the maximum is written behind"
                    @if invalid { "; what was measured here is emulated or not valid" }
                }
            }
            p.legend {
                span class="key many" { "measured" }
                span class="key few" { "published, kong2021, tables 1 and 2" }
            }
            (plot::ranges("Interrupt response", scale, ranges))
        }
    }
}

fn table(lines: &[InterruptLine], published: &[Beside]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Interrupts" {
            table.statistics {
                thead {
                    tr {
                        th scope="col" { "Interrupt" }
                        @for name in ["min", "mean", "p99", "max", "max − min", "count"] {
                            th.n scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for line in lines {
                        @let found = &line.statistics;
                        tr {
                            th scope="row" title=(line.meaning) {
                                (line.name) span.sub { "measured" }
                            }
                            td.n { (time(Some(found.min_ns as f64))) }
                            td.n { (time(found.mean_ns)) }
                            td.n { (time(found.p99_ns.map(|it| it.lower_bound() as f64))) }
                            td.n { (time(Some(found.max_ns as f64))) }
                            td.n { (time(Some(found.max_ns.saturating_sub(found.min_ns) as f64))) }
                            td.n { (figures::count(found.count)) }
                        }
                    }
                    @for row in published {
                        tr {
                            th scope="row" { (row.label) span.sub { (row.table) } }
                            td.n { (time(Some(row.min_ns))) }
                            td.n { (time(Some(row.mean_ns))) }
                            td.n { (time(None)) }
                            td.n { (time(Some(row.max_ns))) }
                            td.n { (time(Some(row.max_ns - row.min_ns))) }
                            td.n { (figures::count(10_000)) }
                        }
                    }
                }
            }
        }
    }
}

fn method() -> Markup {
    html! {
        h3 { "What is measured" }
        div.prose {
            p {
                "A clock board raises an interrupt at the begin of each period and counts 10 ns "
                "from there in a register, which the ISR reads: that is how kong2021 measured "
                "the published figures, on a board of their own. Here the board is a "
                "device of the virtual machine monitor. Its register is readable without leaving "
                "the guest: a page holds the time stamp counter at the instant at which the "
                "interrupt was raised, and the guest's driver subtracts it from its own counter. "
                "The interrupt is an event file that KVM makes an interrupt of by itself."
            }
            p {
                "Published figures are of other machines and other systems, with a period of 10 ms "
                "and 10 000 interrupts. They are drawn on the same axis; nothing is derived from "
                "their ratio."
            }
        }
    }
}
