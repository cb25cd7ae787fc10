//! The page of a paper's reproduction: its tables and figures, and what became of each here.
//!
//! The figures of each command are in the report of its own folder, to which the page links. The
//! page shows the text that a command printed, such as the comparison with a published table; and
//! where a run compares systems, these beside the paper's ([`Systems`]).

mod beside;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use quietcore_record::published::exhibit::Exhibit;
use quietcore_record::published::reproduction::{Course, Made, Outcome, Ran};
use quietcore_units::Nanos;

use crate::figures;
use crate::html::{POLICY, SCRIPT, STYLE, sentence, visible, with_code};

pub use beside::{System, Systems};

/// Renders the page. `printed` is what each command printed, in the order of the course's commands,
/// where that is short enough to be shown; `runs` are those that compare systems.
pub fn render(course: &Course, printed: &[Option<String>], runs: &[Systems]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (course.paper) " – Quietcore" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#exhibits" { "To the tables and figures" }
                (head(course))
                main {
                    (notice(course))
                    section #exhibits aria-label="Tables and figures" { (overview(course)) }
                    (systems(course, runs))
                    @for exhibit in course.exhibits() { (section(course, exhibit, printed, runs)) }
                }
                footer {
                    p {
                        "Made by " code { "quietcore campaign " (course.paper) } ". Published \
                         figures are of other machines at other times: a ratio to them compares \
                         systems, not settings."
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    visible(page.into_string())
}

fn head(course: &Course) -> Markup {
    let citation = course.exhibits().first().map(|exhibit| exhibit.citation());
    let done = course.commands.iter().filter(|ran| ran.outcome.is_done()).count();
    html! {
        header.top {
            div {
                p.over { "The experiment of a paper on this machine" }
                h1 { (course.paper) }
                @if let Some(citation) = citation {
                    p.meta { (citation.authors) ": " cite { (citation.title) } ". "
                        (citation.venue) ", " (citation.year) "." }
                }
                p.meta {
                    "Begun " time datetime=(course.started_at) {
                        (figures::moment(&course.started_at))
                    }
                    ", " (done) " of " (course.commands.len()) " commands done"
                    @if let Some(within) = course.within_ns {
                        ", within about " (Nanos::new(within).to_string())
                    }
                }
            }
            button #theme type="button" title="Switch between light and dark" hidden="" {
                "Light / dark"
            }
        }
    }
}

/// Says what every reader must know before any figure.
fn notice(course: &Course) -> Markup {
    html! {
        @if let Some(why) = &course.timing_not_valid {
            p.notice role="note" {
                strong { "Timing not valid" } ": " (sentence(why))
                " The commands ran for their function; none of their times is one of a real \
                 machine."
            }
        }
    }
}

const fn word(made: Made) -> (&'static str, &'static str) {
    match made {
        Made::All => ("made", "pass"),
        Made::Part => ("in part", "unproven"),
        Made::Nothing => ("not made", "fail"),
        Made::NotYet => ("not yet", "unproven"),
    }
}

fn overview(course: &Course) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="What became of each table and figure" {
            table.overview {
                thead {
                    tr { th { "Exhibit" } th { "Subject" } th { "Here" } th { "Why not all" } }
                }
                tbody {
                    @for exhibit in course.exhibits() {
                        @let (word, tone) = word(course.made(exhibit));
                        tr {
                            td { a href={ "#" (exhibit.name().replace(' ', "-")) } {
                                (exhibit.name()) } }
                            td { (exhibit.title()) }
                            td { span.mini.(tone) { (word) } }
                            td {
                                @for reason in course.why_not_all(exhibit) {
                                    p { (with_code(&sentence(&reason))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Lists the systems of the runs, how each is realised, and why some are not measured here.
fn systems(course: &Course, runs: &[Systems]) -> Markup {
    let left_out = course.left_out();
    let all: Vec<&System> = runs.iter().flat_map(|run| &run.systems).collect();
    html! {
        @if !left_out.is_empty() || !all.is_empty() {
            section #systems {
                h2 { "Systems" }
                dl.facts {
                    @for system in &all {
                        div {
                            dt { code { (system.partition) } }
                            dd { (with_code(&system.title)) }
                        }
                    }
                }
                @for left_out in left_out {
                    p.meta { (with_code(&sentence(&left_out.to_string()))) }
                }
            }
        }
    }
}

fn section(
    course: &Course,
    exhibit: &Exhibit,
    printed: &[Option<String>],
    runs: &[Systems],
) -> Markup {
    let own = |ran: &&(usize, &Ran)| exhibit.commands.contains(&ran.1.command.as_str());
    let commands: Vec<(usize, &Ran)> = course.commands.iter().enumerate().collect();
    let folders: Vec<&str> =
        course.commands_of(exhibit).into_iter().filter_map(|ran| ran.folder.as_deref()).collect();
    html! {
        section id=(exhibit.name().replace(' ', "-")) {
            h2 { (sentence(&exhibit.name()).trim_end_matches('.')) ": " (exhibit.title()) }
            @if !exhibit.differs.is_empty() {
                p.meta { "What differs from the paper: " (with_code(exhibit.differs)) "." }
            }
            (beside::content(exhibit, &folders, runs))
            @for (index, ran) in commands.iter().filter(own) {
                (command(ran, printed.get(*index).and_then(Option::as_deref)))
            }
            @if exhibit.commands.is_empty() {
                p { "Not there yet: " (with_code(exhibit.missing.unwrap_or_default())) "." }
            }
        }
    }
}

/// Returns how long a command took, in whole seconds.
fn took(took_ns: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    match took_ns / SECOND {
        0 => "took less than a second".to_owned(),
        seconds => format!("took {}", Nanos::new(seconds * SECOND)),
    }
}

fn command(ran: &Ran, printed: Option<&str>) -> Markup {
    let is_comparison = ran.words.first().is_some_and(|verb| verb == "compare");
    let report = ran.folder.as_ref().filter(|_| ran.outcome.is_done());
    html! {
        p {
            code { "quietcore " (ran.words.join(" ")) }
            @if let Some(folder) = report {
                " – " a href={ (folder) "/report.html" } { "report" }
            }
            @match &ran.outcome {
                Outcome::Done { took_ns } => { " – " (took(*took_ns)) }
                other => {
                    @if let Some(why) = other.why().or_else(|| other.what_is_missing()) {
                        " – " strong { "not done" } ": " (with_code(&why))
                    }
                }
            }
        }
        @if let Some(text) = printed {
            details open[is_comparison] {
                summary { "What it printed" }
                pre { (text) }
            }
        }
    }
}
