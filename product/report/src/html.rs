//! The report as one HTML file that needs nothing else: no network, no font, no script for content.
//!
//! The order is that of the reader's questions. May my program move here (verdict, or the imported
//! data)? What do isolation and neighbours do (their matrices)? What limits that answer? What of
//! other classes? How do the latencies look (distributions, comparison, course)? What exactly was
//! measured (figures), and under which conditions? What is wrong with the machine, and how does a
//! verdict come about?
//!
//! The page is well-formed XML apart from its void elements, which the tests use to check it.

mod csv;
mod doctor;
mod elements;
mod gantt;
mod ledger;
mod method;
mod notices;
mod reasons;
mod verdict;

pub(crate) use elements::{badge, escaped, mini, quantity, sentence, tone, with_code};
pub(crate) use ledger::how_many;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use quietcore_evidence::Evidence;

use crate::Published;
use crate::figures::moment;
use crate::plot::Frame;
use crate::section::{
    self, NamedContent, classes, comparison, course, distributions, page, statistics,
};
use crate::summary::Summary;

pub(crate) const STYLE: &str = include_str!("html/style.css");
pub(crate) const SCRIPT: &str = include_str!("html/script.js");

/// Content policy of the page: nothing is loaded; style and the small script are in the page
/// itself.
pub(crate) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'";

/// Renders the report as an HTML page. `published` are tables to draw beside the records.
pub fn render(evidence: &Evidence, published: &[Published]) -> String {
    let summary = Summary::of(evidence);
    let frame = Frame::of(&summary);
    let contents = section::contents(&summary, &frame, published);
    let parts = parts(&summary, &contents);
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
                (head(&summary, &parts))
                main { (sections(&parts)) }
                (foot(evidence))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    visible(page.into_string())
}

/// A part of the page with a heading and a link to it.
struct Part {
    anchor: &'static str,
    title: &'static str,
    body: Markup,
}

/// Sections about releases, which are left out where only others were measured; each with its words
/// where nothing was measured at all.
const OF_RELEASES: [(&str, &str); 5] = [
    (classes::NAME.0, "There is no record to judge."),
    (distributions::NAME.0, "There is no record to draw."),
    (comparison::NAME.0, "There is nothing to compare."),
    (course::NAME.0, "There is no record to draw."),
    (statistics::NAME.0, "There is no record."),
];

/// Makes the parts of the page in their order: the sections, and what only the page has.
fn parts(summary: &Summary<'_>, contents: &[NamedContent]) -> Vec<Part> {
    let has_others = summary.sections.iter().any(|section| !section.records.is_empty())
        || !summary.trials.is_empty();
    let has_releases = !summary.records.is_empty() || !has_others;
    let mut parts = Vec::new();
    for named in contents {
        // A matrix is an answer, and stands before its limitations and before the classes.
        if named.anchor == classes::NAME.0 && summary.notices.iter().any(|it| !it.is_grave()) {
            let (anchor, title) = ("notices", "What limits this evidence");
            parts.push(Part { anchor, title, body: notices::section(summary) });
        }
        if named.anchor == statistics::NAME.0
            && let Some(body) = crate::recording::section(&summary.evidence.traces)
        {
            parts.push(Part { anchor: "recordings", title: "Recordings", body });
        }
        let of_releases = OF_RELEASES.iter().find(|(anchor, _)| *anchor == named.anchor);
        let is_shown = match of_releases {
            Some(_) => has_releases,
            None => named.anchor == "verdict" || !named.content.blocks.is_empty(),
        };
        if is_shown {
            let NamedContent { anchor, title, content } = named;
            let without = of_releases.map_or("", |(_, words)| words);
            let blocks = html! {
                @if content.blocks.is_empty() { p.empty { (without) } }
                (page::blocks(content))
            };
            parts.push(Part { anchor, title, body: body(named, blocks, summary, contents) });
        }
    }
    let doctor = doctor::section(summary.evidence.doctor.as_ref());
    parts.push(Part { anchor: "doctor", title: "Doctor", body: doctor });
    if has_releases {
        parts.push(Part { anchor: "method", title: "Method", body: method::section(summary) });
    }
    parts
}

/// Adds to the blocks of a section what only the page has.
fn body(
    named: &NamedContent,
    blocks: Markup,
    summary: &Summary<'_>,
    contents: &[NamedContent],
) -> Markup {
    match named.anchor {
        "verdict" => verdict::section(&named.content, summary, contents),
        anchor if anchor == course::NAME.0 => html! { (blocks) (ledger::section(summary)) },
        anchor if anchor == statistics::NAME.0 => html! { (csv::links(summary.evidence)) (blocks) },
        _ => blocks,
    }
}

fn head(summary: &Summary<'_>, parts: &[Part]) -> Markup {
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
            @for Part { anchor, title, .. } in parts {
                a href=(format!("#{anchor}")) { (title) }
            }
        }
    }
}

fn sections(parts: &[Part]) -> Markup {
    html! {
        @for Part { anchor, title, body } in parts {
            section id=(anchor) aria-labelledby=(format!("{anchor}-title")) {
                h2 id=(format!("{anchor}-title")) { (title) }
                (body)
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
