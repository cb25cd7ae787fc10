//! The routines of a kernel: the plot, the figures, and from what to what each is measured.

use maud::{Markup, html};
use quietcore_record::record::{Routine, Trigger};

use super::elements::quantity;
use crate::figures::{self, NONE};
use crate::plot;
use crate::summary::{KernelSummary, RoutineCell, RoutineRow, Summary};

/// The answer, where the evidence is about a kernel alone.
pub(super) fn hero(kernel: &KernelSummary<'_>) -> Markup {
    let median = |routine| {
        let cell = kernel.row(routine).and_then(RoutineRow::longest);
        figures::or_dash(cell.and_then(|cell| cell.figures.median_ns), figures::nanos_f64)
    };
    let tiles = [
        (Routine::Act, "ActivateTask, until the higher task runs"),
        (Routine::Actl, "ActivateTask of a lower task"),
        (Routine::Terml, "TerminateTask, until the lower task runs"),
        (Routine::Isr2entry, "interrupt, until its ISR 2 runs"),
    ];
    let invalid = kernel.cells().any(|cell| !cell.record.is_valid());
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { "The kernel's routines, " b { (kernel.partition) } }
                p.word { "A switch to a higher task takes " (median(Routine::Act)) }
                p.why {
                    "Median of " (loops(kernel)) " loops, the empty measurement subtracted. "
                    @if invalid { b { "The timing is not valid; see the reasons below. " } }
                    "Routines have no period and no deadline, so no class judges them."
                }
            }
            div.tiles {
                @for (routine, what) in tiles {
                    div.tile {
                        p.label { (routine.name()) }
                        p.value { (median(routine)) }
                        p.note { (what) }
                    }
                }
            }
        }
    }
}

fn loops(kernel: &KernelSummary<'_>) -> String {
    kernel.runs.last().map_or_else(|| NONE.to_owned(), |run| figures::count(run.loops))
}

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    html! {
        @for kernel in &summary.kernels {
            @if summary.kernels.len() > 1 { h3 { "Kernel on " (kernel.partition) } }
            (conditions(kernel))
            (plot_of(kernel))
            (table(kernel))
        }
        (method(summary))
    }
}

/// What the figures hold for.
fn conditions(kernel: &KernelSummary<'_>) -> Markup {
    let Some(cell) = kernel.cells().next() else { return html! {} };
    let held = &cell.record.conditions;
    let clock = held.machine.get("clock_of_routines").map_or("", String::as_str);
    html! {
        p.remark {
            (cell.run.kernel) ". " (held.policy) " on CPU " (held.affinity)
            @if !clock.is_empty() { ". Clock: " (clock) }
            "."
        }
    }
}

fn plot_of(kernel: &KernelSummary<'_>) -> Markup {
    let runs = plot::drawn(kernel);
    html! {
        @if let Some(drawing) = plot::routines(kernel) {
            figure.routines {
                figcaption {
                    span.name { "Minimum to maximum of each routine, the median as a ring" }
                    span.sub {
                        "time upwards, logarithmic, what is shorter than its begin drawn there; "
                        "the maximum is written above"
                    }
                }
                p.legend {
                    @for (place, run) in runs.iter().enumerate() {
                        span class=(format!("key {}", plot::class_of(place, runs.len()))) {
                            (kernel.runs[*run].label())
                        }
                    }
                }
                (drawing)
            }
        }
    }
}

/// The columns of a run.
const COLUMNS: [(&str, &str); 8] = [
    ("min", "The smallest value, without the empty measurement."),
    ("median", "Half of all values were at most this."),
    (
        "mean",
        "Mean without a twentieth of the values at either end, less that of the empty measurement; \
         finer than the median where the clock counts in steps.",
    ),
    ("p99", "99 % quantile; given where at least ten values lie beyond it."),
    ("p99.99", "99.99 % quantile; given where at least ten values lie beyond it."),
    ("max", "The largest value seen; an observed maximum, never a worst case."),
    ("counts", "The median in counts of the clock."),
    ("clamped", "Values below the empty measurement, which count as zero."),
];

fn table(kernel: &KernelSummary<'_>) -> Markup {
    html! {
        @for (index, run) in kernel.runs.iter().enumerate() {
            h3 {
                (run.label())
                @if run.loops == 100 { span.sub { "as published" } }
            }
            @let name = format!("Routines, {}", run.profile);
            div.scroll tabindex="0" role="region" aria-label=(name) {
                table.statistics {
                    thead {
                        tr {
                            th scope="col" { "Routine" }
                            @for (name, meaning) in COLUMNS {
                                th.n scope="col" title=(meaning) { (name) }
                            }
                        }
                    }
                    tbody {
                        @for row in &kernel.rows {
                            @if let Some(cell) = &row.cells[index] { (line(row, cell)) }
                        }
                    }
                }
            }
        }
    }
}

fn line(row: &RoutineRow<'_>, cell: &RoutineCell<'_>) -> Markup {
    let time = |value: Option<f64>| figures::or_dash(value, figures::nanos_f64);
    let found = &cell.figures;
    html! {
        tr {
            th scope="row" title=(row.routine.meaning()) {
                (row.routine.name())
                @if let Some(trigger) = row.trigger { span.sub { (trigger.name()) } }
                @if !cell.record.is_valid() { span.sub { "invalid" } }
            }
            @for value in [Some(found.min_ns), found.median_ns,
                found.mean_ns, found.p99_ns, found.p99_99_ns, Some(found.max_ns)] {
                td.n { (quantity(&time(value))) }
            }
            td.n { (figures::or_dash(found.median_counts, figures::count)) }
            td.n { (figures::count(cell.run.clamped)) }
        }
    }
}

/// From what to what each routine goes, and what is in it.
fn method(summary: &Summary<'_>) -> Markup {
    let rows = || summary.kernels.iter().flat_map(|kernel| &kernel.rows);
    let ways: Vec<Trigger> = Trigger::ALL
        .into_iter()
        .filter(|way| rows().any(|row| row.trigger == Some(*way)))
        .collect();
    html! {
        h3 { "What is measured" }
        div.prose {
            p {
                "The ten routines are those of scordino2020, section IV-A, each from "
                "the statement before to the statement after, in a program of one task for each "
                "of four priorities. An empty measurement, two readings of the same shape, is "
                "made in the same run; its median is subtracted from every value of the others, "
                "and shown as a row of its own. The paper prints its figure 4 without numbers, so "
                "none of its figures stand here."
            }
            @if ways.len() > 1 {
                p {
                    "An interrupt is brought in several ways. By software is how the paper "
                    "brought its own; where one comes by itself, the interrupted task waits for it "
                    "in a loop of two loads."
                }
                dl.glossary {
                    @for way in &ways {
                        div { dt { (way.name()) } dd { (way.meaning()) "." } }
                    }
                }
            }
            dl.glossary {
                @for routine in Routine::ALL {
                    div { dt { (routine.name()) } dd { "From " (routine.meaning()) "." } }
                }
            }
        }
    }
}
