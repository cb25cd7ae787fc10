//! The routines of the OSEK kernel by backend, as figure 4 of scordino2020 has them by hypervisor:
//! the newest run of each backend in the folder, all in one figure and one table.

mod plot;

use maud::{Markup, html};
use quietcore_evidence::Evidence;
use quietcore_record::record::Routine;

use super::Entry;
use super::page::link;
use crate::figures::{self, NONE};
use crate::html::{quantity, sentence, with_code};
use crate::section::routines::kernels;

/// The style of the section, beside that of all pages.
pub(super) const STYLE: &str = include_str!("routines.css");

/// The most backends in the figure: more strokes beside each other could not be told apart.
const SYSTEMS_MAX: usize = 4;
/// Classes of their strokes in the style sheet.
const CLASSES: [&str; SYSTEMS_MAX] = ["s0", "s1", "s2", "s3"];
/// The order of the backends in the figure; others come last, by their names.
const ORDER: [&str; 5] = ["process", "container", "kvm", "qemu", "xen"];

/// The routines of a kernel in the run with the most loops of each, as far as the page needs them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KernelEntry {
    backend: String,
    kernel: String,
    loops: u64,
    /// The first reason why its figures can't be trusted.
    distrusted: Option<String>,
    /// The times of each routine, in the order of the paper; the empty measurement first.
    times: Vec<Option<RoutineTimes>>,
}

/// The times of a routine, in ns, without the empty measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RoutineTimes {
    min_ns: f64,
    median_ns: Option<f64>,
    max_ns: f64,
}

/// A backend in the figure.
struct System<'a> {
    entry: &'a Entry,
    kernel: &'a KernelEntry,
    class: &'static str,
}

/// Returns the kernels of a run, with interrupts that were brought by software.
pub(super) fn of(evidence: &Evidence) -> Vec<KernelEntry> {
    let kernels = kernels(evidence);
    let entries = kernels.iter().filter_map(|kernel| {
        let cells = Routine::ALL.map(|it| kernel.row(it)?.cells.last()?.as_ref());
        let first = cells.iter().flatten().next()?;
        let distrusted = cells.iter().flatten().find_map(|it| it.record.invalid_because.first());
        let backend = first.record.conditions.backend().unwrap_or(kernel.partition);
        let times = |cell: &crate::section::routines::RoutineCell<'_>| RoutineTimes {
            min_ns: cell.figures.min_ns,
            median_ns: cell.figures.median_ns,
            max_ns: cell.figures.max_ns,
        };
        Some(KernelEntry {
            backend: backend.to_owned(),
            kernel: first.run.kernel.clone(),
            loops: first.record.release.count(),
            distrusted: distrusted.map(ToString::to_string),
            times: cells.map(|cell| cell.map(times)).into(),
        })
    });
    entries.collect()
}

/// Returns the newest kernel of each backend, at most [`SYSTEMS_MAX`].
fn systems(entries: &[Entry]) -> Vec<System<'_>> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| (&b.started_at, &b.folder).cmp(&(&a.started_at, &a.folder)));
    let mut found: Vec<(&Entry, &KernelEntry)> = Vec::new();
    for (entry, kernel) in sorted.iter().flat_map(|it| it.kernels.iter().map(move |k| (*it, k))) {
        if !found.iter().any(|(_, known)| known.backend == kernel.backend) {
            found.push((entry, kernel));
        }
    }
    let place = |kernel: &KernelEntry| {
        let place = ORDER.iter().position(|name| *name == kernel.backend);
        (place.unwrap_or(ORDER.len()), kernel.backend.clone())
    };
    found.sort_by_key(|(_, kernel)| place(kernel));
    let systems = found.into_iter().zip(CLASSES);
    systems.map(|((entry, kernel), class)| System { entry, kernel, class }).collect()
}

/// Renders the section; `None` where fewer than two backends were measured.
pub(super) fn section(entries: &[Entry]) -> Option<Markup> {
    let systems = systems(entries);
    (systems.len() >= 2).then(|| content(&systems))
}

fn content(systems: &[System<'_>]) -> Markup {
    html! {
        section #routines aria-labelledby="routines-title" {
            h2 #routines-title { "Routines of the kernel by backend" }
            p {
                "The routines of scordino2020, section IV-A, in the newest run here of each "
                "backend: interrupts by software, the empty measurement subtracted. The paper "
                "prints its figure 4 without numbers, so none of its figures stand here."
            }
            @for (because, backends) in distrusted(systems) {
                p.notice role="note" {
                    strong { "Not valid: " (backends.join(", ")) } ". "
                    (with_code(&sentence(because)))
                }
            }
            (figure(systems))
            (table(systems))
        }
    }
}

/// Lists the reasons why times can't be trusted, each with the backends that it is of.
fn distrusted<'a>(systems: &[System<'a>]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for kernel in systems.iter().map(|system| system.kernel) {
        let Some(because) = kernel.distrusted.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == because) {
            Some((_, backends)) => backends.push(&kernel.backend),
            None => reasons.push((because, vec![&kernel.backend])),
        }
    }
    reasons
}

fn figure(systems: &[System<'_>]) -> Markup {
    html! {
        @if let Some(svg) = plot::strokes(systems) {
            figure.routines {
                figcaption {
                    "Minimum to maximum of each routine, the median as a ring"
                    span.sub {
                        "time upwards, logarithmic, what is shorter than its begin drawn there"
                    }
                }
                div.legend {
                    @for system in systems {
                        span.key.(system.class) { (label(system)) }
                    }
                }
                (svg)
            }
        }
    }
}

/// Returns the name of a backend, with a word where its times can't be trusted.
fn label(system: &System<'_>) -> String {
    let KernelEntry { backend, loops, distrusted, .. } = system.kernel;
    let not_valid = if distrusted.is_some() { ", not valid" } else { "" };
    format!("{backend}, {} loops{not_valid}", figures::count(*loops))
}

fn table(systems: &[System<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Routines of the kernel by backend" {
            table.overview {
                thead {
                    tr {
                        th scope="col" { "Routine" }
                        @for system in systems {
                            th.n scope="col" title=(system.kernel.kernel) {
                                a href=(link(&system.entry.folder)) { (system.kernel.backend) }
                                span.sub { (system.entry.folder) }
                            }
                        }
                    }
                }
                tbody {
                    @for (index, routine) in Routine::ALL.into_iter().enumerate() {
                        tr {
                            th scope="row" title=(routine.meaning()) { (routine.name()) }
                            @for system in systems { (cell(system.kernel.times[index])) }
                        }
                    }
                }
            }
        }
        p.meta { "Each cell: the median, below it minimum and maximum." }
    }
}

fn cell(times: Option<RoutineTimes>) -> Markup {
    html! {
        td.n {
            @match times {
                None => (NONE),
                Some(RoutineTimes { min_ns, median_ns, max_ns }) => {
                    (quantity(&figures::or_dash(median_ns, figures::nanos_f64)))
                    span.sub {
                        (figures::nanos_f64(min_ns)) " – " (figures::nanos_f64(max_ns))
                    }
                }
            }
        }
    }
}
