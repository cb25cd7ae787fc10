//! `quietcore doctor`

use std::fmt::Write as _;

use quietcore_host::doctor::{Report, Severity};
use quietcore_host::{Area, Finding};
use quietcore_wording::{LongWord, wrap};

use crate::arguments::Doctor;
use crate::command::distance::Reach;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::{Palette, harmless_json};

/// Column at which the text of a finding begins.
const INDENT: usize = 10;

pub(super) fn run(reach: &Reach, request: &Doctor) -> Result<Status, Failure> {
    let findings = match reach.remote()? {
        None => {
            let facts = machine::read_facts(&*machine::stop_flag()?)?;
            let report = Report::new(facts, request.cpus.as_ref());
            if request.json {
                super::print_json(&report)?;
            }
            report.findings
        }
        Some(remote) => {
            let cpus = request.cpus.as_ref().map(ToString::to_string).unwrap_or_default();
            let (findings, report) = remote.examine(&cpus, request.json)?;
            if request.json {
                super::write(&(harmless_json(&report) + "\n"))?;
            }
            findings
        }
    };
    if !request.json {
        super::print(&text(&findings, request, &Palette::of_terminal()))?;
    }
    let unmet = findings.iter().any(|finding| finding.severity == Severity::Conformance);
    Ok(if unmet { Status::NotPassed } else { Status::Done })
}

fn text(findings: &[Finding], request: &Doctor, palette: &Palette) -> String {
    let mut text = String::new();
    let of =
        |severity: Severity| findings.iter().filter(move |finding| finding.severity == severity);
    let must: Vec<_> = of(Severity::Conformance).collect();
    if must.is_empty() {
        line(&mut text, format_args!("Requirements: all met."));
    } else {
        let bold = palette.bold;
        line(&mut text, format_args!("{bold}Requirements that are not met{}", palette.reset));
        for finding in &must {
            write_finding(&mut text, finding, palette);
        }
    }
    if !request.summary {
        let rest: Vec<_> = of(Severity::Advice).chain(of(Severity::Unknown)).collect();
        write_by_area(&mut text, &rest, palette, "What would help");
        if request.all {
            write_by_area(
                &mut text,
                &of(Severity::Ok).collect::<Vec<_>>(),
                palette,
                "As it should be",
            );
        }
    }
    let counts = format!(
        "{} requirements not met, {} pieces of advice, {} unknown, {} as they should be{}",
        must.len(),
        of(Severity::Advice).count(),
        of(Severity::Unknown).count(),
        of(Severity::Ok).count(),
        if request.all || request.summary { "" } else { " (`--all` shows them)" },
    );
    text.push('\n');
    wrapped(&counts, crate::terminal::width())
        .for_each(|part| line(&mut text, format_args!("{part}")));
    text
}

fn write_by_area(text: &mut String, findings: &[&Finding], palette: &Palette, heading: &str) {
    if findings.is_empty() {
        return;
    }
    line(text, format_args!("\n{}{heading}{}", palette.bold, palette.reset));
    let mut areas: Vec<Area> = findings.iter().map(|finding| finding.area).collect();
    areas.sort();
    areas.dedup();
    for area in areas {
        line(text, format_args!("\n  {}{area}{}", palette.bold, palette.reset));
        for finding in findings.iter().filter(|finding| finding.area == area) {
            write_finding(text, finding, palette);
        }
    }
}

fn write_finding(text: &mut String, finding: &Finding, palette: &Palette) {
    let (color, sign) = match finding.severity {
        Severity::Conformance => (palette.red, "✗ MUST"),
        Severity::Advice => (palette.yellow, "! advice"),
        Severity::Unknown => (palette.dim, "? unknown"),
        Severity::Ok => (palette.green, "✓ ok"),
    };
    let reset = palette.reset;
    let head = format!("{}: {}", finding.subject, finding.read);
    let mut first = true;
    for part in wrapped(&head, crate::terminal::width() - INDENT) {
        let sign = if first { sign } else { "" };
        line(text, format_args!("{color}{sign:<INDENT$}{reset}{part}"));
        first = false;
    }
    if finding.severity == Severity::Ok {
        return;
    }
    for (label, words) in
        [("right", &finding.right), ("effect", &finding.effect), ("fix", &finding.fix)]
    {
        if words.is_empty() {
            continue;
        }
        let mut label = label;
        for part in wrapped(words, crate::terminal::width() - INDENT - 8) {
            line(text, format_args!("{:INDENT$}{}{label:<8}{reset}{part}", "", palette.dim));
            label = "";
        }
    }
}

/// Returns the lines of `text`, wrapped to at most `room` columns.
fn wrapped(text: &str, room: usize) -> impl Iterator<Item = String> {
    text.lines().flat_map(move |line| wrap(line, room, LongWord::Keep))
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string cannot fail");
}
