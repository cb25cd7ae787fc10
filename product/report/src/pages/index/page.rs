//! The page: the newest verdict of each partition, then its trend and its runs.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use quietcore_evidence::Origin;

use super::{Change, Course, CourseRun, Entry, GENERATOR, courses, plot, routines};
use crate::figures::{self, NONE};
use crate::html::{
    POLICY, SCRIPT, STYLE, escaped, mini, quantity, sentence, tone, visible, with_code,
};

/// The most changes of a run that are listed; more can be opened.
const CHANGES_MAX: usize = 3;

/// Renders the page of a folder of runs. `unread` are folders that could not be read, each with the
/// reason; `left_out` is the number of older runs that are not in it.
pub fn render(
    title: &str,
    entries: &[Entry],
    unread: &[(String, String)],
    left_out: usize,
) -> String {
    let (courses, routines) = (courses(entries), routines::section(entries));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(GENERATOR);
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "Runs in " (title) " – Quietcore" }
                style { (PreEscaped(STYLE)) }
                @if routines.is_some() { style { (PreEscaped(routines::STYLE)) } }
            }
            body {
                a.skip href="#runs" { "To the runs" }
                (head(title, entries))
                main {
                    section #runs aria-label="The newest runs" { (newest(&courses)) }
                    @if let Some(routines) = &routines { (routines) }
                    @for (index, course) in courses.iter().enumerate() { (section(course, index)) }
                    (others(entries))
                    (missing(unread, left_out))
                }
                footer {
                    p {
                        "Made by Quietcore from the evidence folders beside it, anew after each "
                        code { "quietcore qualify" } "; " code { "quietcore report ." }
                        " in this folder makes it anew."
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    visible(page.into_string())
}

fn head(title: &str, entries: &[Entry]) -> Markup {
    let newest = entries.iter().map(|entry| entry.started_at.as_str()).max();
    html! {
        header.top {
            div {
                p.over { "Quietcore runs" }
                h1 { (title) }
                p.meta {
                    (figures::count(entries.len() as u64)) " evidence folders"
                    @if let Some(newest) = newest {
                        ", the newest of " time datetime=(newest) { (figures::moment(newest)) }
                    }
                }
            }
            button #theme type="button" title="Switch between light and dark" hidden="" {
                "Light / dark"
            }
        }
    }
}

/// Renders the answer: the newest verdict of each partition.
fn newest(courses: &[Course<'_>]) -> Markup {
    if courses.is_empty() {
        return html! { p.empty { "No campaign was run here yet." } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label="How each partition stands" {
            table.overview {
                thead {
                    tr {
                        th scope="col" { "Partition" }
                        th scope="col" { "Class" }
                        th scope="col" { "Newest verdict" }
                        th.n scope="col" { "p99.9" }
                        th.n scope="col" { "Maximum" }
                        th.n scope="col" { "Largest of all runs" }
                        th.n scope="col" { "Runs" }
                        th scope="col" { "Why" }
                    }
                }
                tbody {
                    @for (index, course) in courses.iter().enumerate() { (standing(course, index)) }
                }
            }
        }
    }
}

fn standing(course: &Course<'_>, index: usize) -> Markup {
    let Some(run) = course.runs.last() else { return html! {} };
    let largest = course.runs.iter().filter_map(|run| run.found.max_ns).max();
    html! {
        tr {
            th scope="row" {
                a href=(format!("#course-{index}")) { b { (course.partition) } }
                span.sub { (course.site) }
            }
            td { (run.found.class.as_deref().unwrap_or(NONE)) }
            td { (verdict(run)) }
            (figures_of(run))
            td.n { (time(largest)) }
            td.n { (figures::count(course.runs.len() as u64)) }
            td.because { (with_code(&sentence(&run.found.because))) }
        }
    }
}

fn verdict(run: &CourseRun<'_>) -> Markup {
    html! {
        (mini(run.found.verdict))
        @if run.found.is_quick { span.sub { "quick look" } }
        @if run.entry.is_damaged { span.sub { "the folder is damaged" } }
    }
}

/// Renders the cells of p99.9 and maximum.
fn figures_of(run: &CourseRun<'_>) -> Markup {
    let p99_9 = figures::or_dash(run.found.p99_9, figures::quantile);
    html! {
        td.n { (quantity(&p99_9)) }
        td.n { (time(run.found.max_ns)) }
    }
}

fn time(value_ns: Option<u64>) -> Markup {
    quantity(&figures::or_dash(value_ns, figures::nanos))
}

fn section(course: &Course<'_>, index: usize) -> Markup {
    let anchor = format!("course-{index}");
    let newest = course.runs.last().map_or("", |run| tone(run.found.verdict));
    html! {
        section id=(anchor) aria-labelledby=(format!("{anchor}-title")) {
            h2 id=(format!("{anchor}-title")) class=(newest) {
                (course.partition) " " span.sub { "of " (course.site) }
            }
            @if let Some(trend) = plot::trend(course) {
                figure.ranges.trend {
                    figcaption {
                        span.sub {
                            "the largest of the profiles that count; ◇ and a dotted line where "
                            "conditions changed; below each run its verdict"
                        }
                    }
                    (trend)
                }
            }
            @let label = format!("Runs of {}", course.partition);
            div.scroll tabindex="0" role="region" aria-label=(label) {
                table.overview {
                    thead {
                        tr {
                            th scope="col" { "Run" }
                            th scope="col" { "Verdict" }
                            th.n scope="col" { "p99.9" }
                            th.n scope="col" { "Maximum" }
                            th.n scope="col" { "Cycles" }
                            th scope="col" { "Changed since the run before" }
                        }
                    }
                    tbody { @for run in course.runs.iter().rev() { (row(run)) } }
                }
            }
        }
    }
}

fn row(run: &CourseRun<'_>) -> Markup {
    html! {
        tr {
            th scope="row" {
                a href=(link(&run.entry.folder)) { (figures::moment(&run.entry.started_at)) }
                span.sub { (run.entry.folder) }
            }
            td title=(run.found.because) { (verdict(run)) }
            (figures_of(run))
            td.n { (figures::count(run.found.cycles)) }
            td.because {
                @match run.changes.as_deref() {
                    None => span.dim { "the first run" },
                    Some([]) => span.dim { "nothing" },
                    Some(all) => (changes(all)),
                }
            }
        }
    }
}

fn changes(all: &[Change<'_>]) -> Markup {
    let (first, more) = all.split_at(all.len().min(CHANGES_MAX));
    let line = |change: &Change<'_>| {
        html! { div { "◇ " b { (change.name) } ": " (change.before) " → " (change.now) } }
    };
    html! {
        @for change in first { (line(change)) }
        @if !more.is_empty() {
            details {
                summary { "and " (more.len()) " more" }
                @for change in more { (line(change)) }
            }
        }
    }
}

/// Returns the address of a run's page, which no name can lead elsewhere.
pub(super) fn link(folder: &str) -> String {
    format!("./{}/report.html", escaped(folder))
}

/// Renders links to probes run by hand and imported data, which have no trend.
fn others(entries: &[Entry]) -> Markup {
    let mut others: Vec<&Entry> =
        entries.iter().filter(|entry| entry.origin != Origin::Campaign).collect();
    others.sort_by_key(|entry| std::cmp::Reverse(&entry.started_at));
    html! {
        @if !others.is_empty() {
            section #others aria-labelledby="others-title" {
                h2 #others-title { "Probes and imported data" }
                ul {
                    @for entry in others {
                        li {
                            a href=(link(&entry.folder)) { (entry.folder) } ", "
                            (figures::moment(&entry.started_at))
                        }
                    }
                }
            }
        }
    }
}

/// Renders the folders and runs that are not in the page, with the reason.
fn missing(unread: &[(String, String)], left_out: usize) -> Markup {
    html! {
        @if !unread.is_empty() || left_out > 0 {
            section #missing aria-labelledby="missing-title" {
                h2 #missing-title { "Not in this page" }
                ul {
                    @for (folder, because) in unread {
                        li { code { (folder) } ": " (with_code(&sentence(because))) }
                    }
                    @if left_out > 0 {
                        li { (figures::count(left_out as u64)) " older runs." }
                    }
                }
            }
        }
    }
}
