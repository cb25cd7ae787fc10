//! The report as one HTML file that needs nothing else: no network, no font, no script for content.
//!
//! The order is that of the reader's questions. May my program move here (verdict, or the imported
//! data)? What do isolation and neighbours do (their matrices)? What limits that answer? What of
//! other classes? How do the latencies look (distributions, comparison, course)? What exactly was
//! measured (figures), and under which conditions? What is wrong with the machine, and how does a
//! verdict come about?
//!
//! The page is well-formed XML apart from its void elements, which the tests use to check it.

mod comparison;
mod conditions;
mod csv;
mod doctor;
mod elements;
mod ledger;
mod method;
mod notices;
mod reasons;
mod verdict;

pub(crate) use elements::{badge, escaped, mini, quantity, sentence, tone, with_code};
pub(crate) use ledger::how_many;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use quietcore_evidence::{Evidence, Origin};

use crate::Published;
use crate::figures::moment;
use crate::plot::Frame;
use crate::section::content::Content;
use crate::section::experiment::{disturbance, tuning};
use crate::section::{
    self, Kind, Reader, classes, course, distributions, isolation, page, statistics,
};
use crate::summary::Summary;

pub(crate) const STYLE: &str = include_str!("html/style.css");
pub(crate) const SCRIPT: &str = include_str!("html/script.js");

/// Content policy of the page: nothing is loaded; style and the small script are in the page
/// itself.
pub(crate) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'";

/// Anchor and title of each section, in their order.
const SECTIONS: [(&str, &str); 9] = [
    section::verdict::NAME,
    classes::NAME,
    distributions::NAME,
    ("comparison", "Side by side"),
    course::NAME,
    statistics::NAME,
    ("conditions", "Conditions"),
    ("doctor", "Doctor"),
    ("method", "Method"),
];

/// Renders the report as an HTML page. `published` are tables to draw beside the records.
pub fn render(evidence: &Evidence, published: &[Published]) -> String {
    let summary = Summary::of(evidence);
    let frame = Frame::of(&summary);
    let contents: Contents =
        summary.sections.iter().map(|it| (it.kind, it.content(Reader::Page))).collect();
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
                (head(&summary, &contents))
                main { (sections(&summary, &frame, published, &contents)) }
                (foot(evidence))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    visible(page.into_string())
}

/// Section of the recordings, after those of the latencies; only where there are some.
const RECORDINGS: (&str, &str) = ("recordings", "Recordings");

/// Section of the notices that limit the verdicts; only where there are some.
const NOTICES: (&str, &str) = ("notices", "What limits this evidence");

/// Sections about releases, which are left out where nothing was released.
const OF_RELEASES: [&str; 6] =
    ["classes", "distributions", "comparison", "course", "figures", "method"];

/// Title of the first section where the page is about imported data.
const IMPORTED: &str = "What was imported";

/// Contents of the sections of probes, each with its kind.
type Contents = Vec<(&'static Kind, Content)>;

/// Lists the sections of this page in their order, as anchor and title.
fn section_names(summary: &Summary<'_>, contents: &Contents) -> Vec<(&'static str, &'static str)> {
    let mut names = SECTIONS.to_vec();
    let after = SECTIONS.iter().position(|(anchor, _)| *anchor == "figures").unwrap_or(0);
    if !summary.evidence.traces.is_empty() {
        names.insert(after, RECORDINGS);
    }
    let of_probes = contents.iter().filter(|(_, content)| !content.blocks.is_empty());
    for (kind, _) in of_probes.rev() {
        names.insert(after, (kind.anchor, kind.title));
    }
    // A matrix is an answer, and stands before its limitations and before the classes.
    if summary.notices.iter().any(|notice| !notice.is_grave()) {
        names.insert(1, NOTICES);
    }
    if !summary.disturbances.is_empty() {
        names.insert(1, disturbance::NAME);
    }
    if !summary.tunings.is_empty() {
        names.insert(1, tuning::NAME);
    }
    if !summary.isolation.is_empty() {
        names.insert(1, isolation::NAME);
    }
    if summary.evidence.manifest.origin == Origin::Import {
        names[0].1 = IMPORTED;
    }
    let is_of_others = summary.sections.iter().any(|section| !section.records.is_empty())
        || !summary.trials.is_empty();
    if is_of_others && summary.records.is_empty() {
        names.retain(|(anchor, _)| !OF_RELEASES.contains(anchor));
    }
    names
}

fn head(summary: &Summary<'_>, contents: &Contents) -> Markup {
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
            @for (anchor, title) in section_names(summary, contents) {
                a href=(format!("#{anchor}")) { (title) }
            }
        }
    }
}

fn sections(
    summary: &Summary<'_>,
    frame: &Frame,
    published: &[Published],
    contents: &Contents,
) -> Markup {
    let body = |anchor: &str| match anchor {
        "verdict" => verdict::section(summary, contents),
        "notices" => notices::section(summary),
        "classes" => html! {
            @if summary.records.is_empty() {
                p.empty { "There is no record to judge." }
            } @else {
                (page::blocks(&classes::content(summary)))
            }
        },
        "distributions" => html! {
            @if summary.records.is_empty() { p.empty { "There is no record to draw." } }
            (page::blocks(&distributions::content(summary, frame)))
        },
        "comparison" => comparison::section(summary, frame, published),
        "course" => html! {
            (page::blocks(&course::content(summary, frame)))
            (ledger::section(summary))
        },
        "isolation" => page::blocks(&isolation::content(summary, Reader::Page)),
        "tuning" => page::blocks(&tuning::content(&summary.tunings, Reader::Page)),
        "disturbance" => page::blocks(&disturbance::content(&summary.disturbances, Reader::Page)),
        "recordings" => crate::recording::section(&summary.evidence.traces).unwrap_or_default(),
        "figures" => html! {
            (csv::links(summary.evidence))
            @if summary.records.is_empty() { p.empty { "There is no record." } }
            (page::blocks(&statistics::content(summary)))
        },
        "conditions" => conditions::section(summary),
        "doctor" => doctor::section(summary.evidence.doctor.as_ref()),
        "method" => method::section(summary),
        _ => html! {
            @for (_, content) in contents.iter().filter(|(kind, _)| kind.anchor == anchor) {
                (page::blocks(content))
            }
        },
    };
    html! {
        @for (anchor, title) in section_names(summary, contents) {
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

/// Replaces characters that can't be seen and may deceive: control characters and those that turn
/// the direction of writing. Names from files may hold them; this page's own text doesn't.
pub(crate) fn visible(page: String) -> String {
    let deceives = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => c.is_control(),
    };
    if page.contains(deceives) { page.replace(deceives, "\u{fffd}") } else { page }
}
