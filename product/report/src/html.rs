//! The report as one HTML file that needs nothing else: no network, no font, no script for content.
//!
//! The order is that of the reader's questions: may my program move here (verdict, or what was
//! imported), what do isolation and neighbours do (their matrices), what limits that answer, what
//! of other classes, how do the latencies look (distributions, comparison, course), what exactly
//! was measured (figures), under which conditions, what is wrong with the machine, and how a
//! verdict comes about.
//!
//! The page is well-formed XML apart from its void elements, which the tests use to check it.

mod classes;
mod comparison;
mod conditions;
mod course;
mod definitions;
mod distributions;
mod doctor;
mod elements;
mod experiment;
mod interrupts;
mod isolation;
mod memory;
mod method;
mod routines;
mod statistics;
mod verdict;

pub(crate) use course::how_many;
pub(crate) use elements::{escaped, mini, quantity, sentence, tone, with_code};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use quietcore_evidence::{Evidence, Origin};

use crate::Published;
use crate::figures::moment;
use crate::plot::Frame;
use crate::summary::Summary;

pub(crate) const STYLE: &str = include_str!("html/style.css");
pub(crate) const SCRIPT: &str = include_str!("html/script.js");

/// Nothing may be loaded; style and the small script are in the page itself.
pub(crate) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'";

/// The sections in their order: anchor and title.
const SECTIONS: [(&str, &str); 9] = [
    ("verdict", "Verdict"),
    ("classes", "All classes"),
    ("distributions", "Latency by profile"),
    ("comparison", "Side by side"),
    ("course", "Over time"),
    ("figures", "Figures"),
    ("conditions", "Conditions"),
    ("doctor", "Doctor"),
    ("method", "Method"),
];

/// The report as an HTML page. `published` are tables to draw beside the records.
pub fn render(evidence: &Evidence, published: &[Published]) -> String {
    let summary = Summary::of(evidence);
    let frame = Frame::of(&summary);
    let title = format!("{} – Quietcore timing report", evidence.manifest.name);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#verdict" { "To the verdict" }
                (head(&summary))
                main { (sections(&summary, &frame, published)) }
                (foot(evidence))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    visible(page.into_string())
}

/// The section of the recordings, after those of the latencies; only where there are some.
const RECORDINGS: (&str, &str) = ("recordings", "Recordings");

/// The section of a kernel's routines; only where there are some.
const ROUTINES: (&str, &str) = ("routines", "Routines of the kernel");

/// The section of interrupts; only where there are some.
const INTERRUPTS: (&str, &str) = ("interrupts", "Interrupts");

/// The section of round trips of frames; only where there are some.
const ROUND_TRIPS: (&str, &str) = ("round-trips", "Round trips");

/// The section of the isolation matrix; only where there is one.
const ISOLATION: (&str, &str) = ("isolation", "Isolation");

/// The section of accesses to memory; only where there are some.
const MEMORY: (&str, &str) = ("memory", "Memory");

/// The section of controls that were tried; only where there are some.
const TUNING: (&str, &str) = ("tuning", "Controls");

/// The section of neighbours that were tried; only where there are some.
const DISTURBANCE: (&str, &str) = ("disturbance", "Disturbance");

/// The section of notices that limit the verdicts; only where there are some.
const NOTICES: (&str, &str) = ("notices", "What limits this evidence");

/// Sections that are about releases; left out where nothing was released.
const OF_RELEASES: [&str; 6] =
    ["classes", "distributions", "comparison", "course", "figures", "method"];

/// The title of the first section where the page is about imported data.
const IMPORTED: &str = "What was imported";

/// The sections that there are, in their order.
fn section_names(summary: &Summary<'_>) -> Vec<(&'static str, &'static str)> {
    let mut names = SECTIONS.to_vec();
    let after = SECTIONS.iter().position(|(anchor, _)| *anchor == "figures").unwrap_or(0);
    if !summary.evidence.traces.is_empty() {
        names.insert(after, RECORDINGS);
    }
    if !summary.kernels.is_empty() {
        names.insert(after, ROUTINES);
    }
    if !summary.interrupts.is_empty() {
        names.insert(after, INTERRUPTS);
    }
    if !summary.round_trips.is_empty() {
        names.insert(after, ROUND_TRIPS);
    }
    if !summary.memory.is_empty() {
        names.insert(after, MEMORY);
    }
    // A matrix is an answer, and stands before what limits it and before the classes.
    if summary.notices.iter().any(|notice| !notice.is_grave()) {
        names.insert(1, NOTICES);
    }
    if !summary.disturbances.is_empty() {
        names.insert(1, DISTURBANCE);
    }
    if !summary.tunings.is_empty() {
        names.insert(1, TUNING);
    }
    if !summary.isolation.is_empty() {
        names.insert(1, ISOLATION);
    }
    if summary.evidence.manifest.origin == Origin::Import {
        names[0].1 = IMPORTED;
    }
    let is_of_others = !summary.kernels.is_empty()
        || !summary.interrupts.is_empty()
        || !summary.round_trips.is_empty()
        || !summary.accesses.is_empty()
        || !summary.trials.is_empty();
    if is_of_others && summary.records.is_empty() {
        names.retain(|(anchor, _)| !OF_RELEASES.contains(anchor));
    }
    names
}

fn head(summary: &Summary<'_>) -> Markup {
    let manifest = &summary.evidence.manifest;
    let machine = summary.machine_line();
    html! {
        header.top {
            div {
                p.over { "Quietcore timing report" }
                h1 { (manifest.name) }
                p.meta {
                    time datetime=(manifest.started_at) { (moment(&manifest.started_at)) }
                    @if !machine.is_empty() { " · " (machine) }
                }
            }
            button #theme type="button" title="Switch between light and dark" hidden="" {
                "Light / dark"
            }
        }
        nav aria-label="Sections" {
            @for (anchor, title) in section_names(summary) {
                a href=(format!("#{anchor}")) { (title) }
            }
        }
    }
}

fn sections(summary: &Summary<'_>, frame: &Frame, published: &[Published]) -> Markup {
    let body = |anchor: &str| match anchor {
        "verdict" => verdict::section(summary),
        "notices" => verdict::notices::section(summary),
        "classes" => html! {
            @if summary.records.is_empty() {
                p.empty { "There is no record to judge." }
            } @else {
                (classes::class_tables(summary))
                (verdict::certainty(summary))
            }
        },
        "distributions" => distributions::section(summary, frame),
        "comparison" => comparison::section(summary, frame, published),
        "course" => course::section(summary, frame),
        "routines" => routines::section(summary),
        "interrupts" => interrupts::section(summary),
        "round-trips" => statistics::round_trips::section(summary),
        "isolation" => isolation::section(summary),
        "memory" => memory::section(summary),
        "tuning" => experiment::tuning::section(&summary.tunings),
        "disturbance" => experiment::disturbance::section(&summary.disturbances),
        "recordings" => crate::recording::section(&summary.evidence.traces).unwrap_or_default(),
        "figures" => html! {
            (statistics::links(summary.evidence))
            (statistics::section(summary))
        },
        "conditions" => conditions::section(summary),
        "doctor" => doctor::section(summary.evidence.doctor.as_ref()),
        _ => method::section(summary),
    };
    html! {
        @for (anchor, title) in section_names(summary) {
            section id=(anchor) aria-labelledby=(format!("{anchor}-title")) {
                h2 id=(format!("{anchor}-title")) { (title) }
                (body(anchor))
            }
        }
    }
}

fn foot(evidence: &Evidence) -> Markup {
    html! {
        footer {
            p {
                "Made by Quietcore " (evidence.manifest.quietcore_version)
                " from the records of its evidence folder; "
                code { "quietcore report ." } " in that folder makes it anew."
            }
        }
    }
}

/// Replaces what can't be seen and may deceive: control characters and those that turn the
/// direction of writing. Names from files may hold them; this page's own text doesn't.
pub(crate) fn visible(page: String) -> String {
    let deceives = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => c.is_control(),
    };
    if page.contains(deceives) { page.replace(deceives, "\u{fffd}") } else { page }
}
