//! The isolation matrix: its answer, the plot, the table beside the paper's, and its meaning.

use maud::{Markup, html};
use quietcore_record::isolation::{
    CYCLES_NS, Exceedance, IsolationFigures, IsolationMatrix, IsolationRow, TABLE,
};
use quietcore_record::published;

use super::elements::{quantity, sentence, time, with_code};
use crate::figures::{self, NONE};
use crate::plot;
use crate::summary::{Summary, isolation_answer, isolation_container, isolation_reasons};

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

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    html! {
        p.remark {
            "The twelve rows of hofer2019, table I, on this machine: which isolation is worth what."
            " Each row is a profile, measured once and one after the other."
        }
        @for matrix in &summary.isolation {
            h3 {
                (matrix.partition)
                @if let Some(runtime) = isolation_container(summary, matrix) {
                    span.sub { "a container of " (runtime) }
                }
            }
            @for sentence in isolation_answer(matrix) { p.remark { (sentence) } }
            (plot_of(matrix))
            (tables(matrix))
            (reasons(summary, matrix))
        }
        (method())
        (printed(&summary.isolation))
    }
}

fn plot_of(matrix: &IsolationMatrix) -> Markup {
    html! {
        figure.ranges.isolation {
            figcaption {
                span.name { "Minimum to maximum, the mean as a ring" }
                span.sub {
                    "time to the right, logarithmic; the maximum is written behind; what the paper "
                    "prints as 0 µs begins at 500 ns"
                }
            }
            p.legend {
                span class="key many" { "measured here" }
                span class="key few" { "hofer2019, table I: a guest of VirtualBox, three kernels" }
            }
            (plot::isolation(matrix))
        }
    }
}

/// Renders the latency that compares with the paper's, beside it; and the release latency where the
/// partition wakes early.
fn tables(matrix: &IsolationMatrix) -> Markup {
    let woken = matrix.rows.iter().any(|row| row.wakeup.is_some());
    html! {
        @if woken { h4 { "Wake-up latency, as the paper measures" } }
        (table(matrix, IsolationRow::as_slept, true))
        @if woken {
            h4 { "Release latency of the same runs, woken early" }
            (table(matrix, |row| row.release.as_ref(), false))
        }
    }
}

fn table(
    matrix: &IsolationMatrix,
    figures_of: impl Fn(&IsolationRow) -> Option<&IsolationFigures>,
    beside: bool,
) -> Markup {
    let kernels: Vec<&str> = match matrix.rows.first().filter(|_| beside) {
        Some(row) => row.published.iter().map(|line| line.kernel.as_str()).collect(),
        None => Vec::new(),
    };
    let name = format!("Isolation, {}", matrix.partition);
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table.statistics.isolation {
                thead {
                    tr {
                        th scope="col" rowspan="2" { "Row" }
                        th.over scope="colgroup" colspan="4" { "measured here" }
                        th.over scope="colgroup" colspan="2" { "releases beyond" }
                        @if !kernels.is_empty() {
                            th.over scope="colgroup" colspan=(kernels.len()) {
                                "hofer2019, table I: mean, and below it the maximum"
                            }
                        }
                    }
                    tr {
                        @for (name, meaning) in STATISTICS {
                            th.n scope="col" title=(meaning) { (name) }
                        }
                        @for cycle_ns in CYCLES_NS {
                            th.n scope="col" title=(BEYOND) { (figures::set_nanos(cycle_ns / 10)) }
                        }
                        @for kernel in &kernels { th.n scope="col" { (kernel) } }
                    }
                }
                tbody { @for row in &matrix.rows { (line(row, figures_of(row), beside)) } }
            }
        }
    }
}

fn line(row: &IsolationRow, found: Option<&IsolationFigures>, beside: bool) -> Markup {
    html! {
        tr.dim[found.is_none()] {
            th scope="row" title=(row.title) {
                (row.row) " · " (row.on_one_kernel)
                span.sub { (remark(row)) }
            }
            @match found {
                Some(found) => {
                    @for value in [Some(found.min_ns as f64), Some(found.mean_ns), found.sd_ns,
                        Some(found.max_ns as f64)] {
                        td.n { (time(value)) }
                    }
                    @for beyond in &found.exceedances { td.n { (exceeded(beyond)) } }
                }
                None => @for _ in 0..STATISTICS.len() + CYCLES_NS.len() {
                    td.n { (quantity(NONE)) }
                }
            }
            @for paper in row.published.iter().filter(|_| beside) {
                @let all = format!(
                    "as printed, in µs: min {}, avg {}, σ {}, max {}",
                    paper.min_us, paper.mean_us, paper.sd_us, paper.max_us
                );
                td.n.paper title=(all) {
                    (time(Some(paper.mean_us * 1e3)))
                    span.sub { (time(Some(paper.max_us * 1e3))) }
                }
            }
        }
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

fn exceeded(beyond: &Exceedance) -> Markup {
    let bound = figures::one_in(beyond.bound_95);
    html! {
        (figures::at_most_count(beyond))
        span.sub { (figures::share(beyond.share)) }
        span.sub { "≤ " (bound) }
    }
}

/// Renders the reasons why the figures of some rows do not belong to their conditions.
fn reasons(summary: &Summary<'_>, matrix: &IsolationMatrix) -> Markup {
    html! {
        @for row in &matrix.rows {
            @let reasons = isolation_reasons(summary, matrix, row);
            @if !reasons.is_empty() {
                p.remark {
                    b {
                        "Row " (row.row)
                        @if row.release.is_some() { " is not as asked: " }
                        @else { " was not measured: " }
                    }
                    @for reason in &reasons { (with_code(&sentence(reason))) " " }
                }
            }
        }
    }
}

fn method() -> Markup {
    let remarks = published::find(TABLE).map(|table| table.remarks).unwrap_or_default();
    html! {
        details {
            summary { "How the rows become settings of this machine, and what the paper measured" }
            div.prose {
                p {
                    "The paper has a guest and the host below it, two kernels. A process and a "
                    "container have one: the guest's side is the partition's, the host's side is "
                    "everything else of the machine. Isolated is pinned to its CPUs; host isolated "
                    "keeps others off them: what of the kernel can be moved, and the loads. No "
                    "load balancing is the control " code { "load-balance" } ", IRQ affinity the "
                    "control " code { "interrupts" } ". One kernel has each of them once, so rows "
                    "11 and 12 are measured as rows 9 and 10."
                }
                p {
                    "Stress is the papers' load: ten workers that compute square roots and ten "
                    "that allocate, touch and free 64 MB, as the program " code { "stress" } " was "
                    "called in queiroz2023. hofer2019 uses the same program and does not print how."
                    " Where others are not kept off, the load may run on the partition's CPUs too; "
                    "under version 2 of cgroups no load balancing keeps it off all the same."
                }
                @for remark in remarks { p { (with_code(&sentence(remark))) } }
            }
        }
    }
}

/// Renders the paper's table as it is printed, once for all matrices.
fn printed(matrices: &[IsolationMatrix]) -> Markup {
    let Some(matrix) = matrices.first() else { return html! {} };
    html! {
        details {
            summary { "Table I as printed, in µs" }
            div.scroll tabindex="0" role="region" aria-label="Table I as printed" {
                table.statistics {
                    thead {
                        tr {
                            th scope="col" { "Test" }
                            th scope="col" { "OS" }
                            @for name in ["Min", "Avg", "σ", "Max"] { th.n scope="col" { (name) } }
                        }
                    }
                    tbody {
                        @for row in &matrix.rows {
                            @for paper in &row.published {
                                tr {
                                    th scope="row" { (row.row) " · " (row.title) }
                                    td { (paper.kernel) }
                                    @for value in [paper.min_us, paper.mean_us, paper.sd_us,
                                        paper.max_us] {
                                        td.n { (figures::count(value as u64)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            p.remark { (matrix.source) "." }
        }
    }
}
