//! The findings of the doctor: first those that make control work impossible, apart from mere
//! advice.
//!
//! The document is read leniently, field by field: an unknown severity counts as unknown, a missing
//! text is left out. A report must not fail because a newer doctor tells more.

use maud::{Markup, html};
use quietcore_host::Severity;
use serde::Deserialize as _;
use serde_json::Value;

use super::elements::with_code;

/// The most bytes of the raw facts that are shown.
const FACTS_MAX: usize = 100_000;

/// The most findings that are shown; a machine has some hundred at most.
const FINDINGS_MAX: usize = 2_000;

/// The severity of a finding, the gravest first.
fn severity_of(finding: &Value) -> Severity {
    let named = finding.get("severity").and_then(|it| Severity::deserialize(it).ok());
    named.unwrap_or(Severity::Unknown)
}

/// Returns sign and word, the class of the style sheet, and the heading.
const fn words(severity: Severity) -> (&'static str, &'static str, &'static str) {
    match severity {
        Severity::Conformance => ("✗ CONFORMANCE", "fail", "Stands in the way of control work"),
        Severity::Advice => ("→ ADVICE", "advice", "Would help"),
        Severity::Unknown => ("? UNKNOWN", "unproven", "Could not be read"),
        Severity::Ok => ("✓ OK", "pass", "As it should be"),
    }
}

fn text<'a>(finding: &'a Value, key: &str) -> &'a str {
    finding.get(key).and_then(Value::as_str).unwrap_or("")
}

pub(super) fn section(document: Option<&Value>) -> Markup {
    let Some(document) = document else {
        return html! { p.empty { "The evidence holds no findings about the machine." } };
    };
    let findings: Vec<&Value> = document
        .get("findings")
        .and_then(Value::as_array)
        .map(|findings| findings.iter().take(FINDINGS_MAX).collect())
        .unwrap_or_default();
    let groups = [Severity::Conformance, Severity::Advice, Severity::Unknown, Severity::Ok].map(
        |severity| {
            let found: Vec<_> = findings
                .iter()
                .filter(|finding| severity_of(finding) == severity)
                .copied()
                .collect();
            (severity, found)
        },
    );
    let [(_, conformance), (_, advice), (_, unknown), (_, ok)] = &groups;
    html! {
        p {
            @if conformance.is_empty() {
                "No requirement is unmet. What would help is another matter: "
            } @else {
                b { "In the way of control work: " (conformance.len()) } "; "
            }
            (advice.len()) " would help, " (unknown.len()) " could not be read, "
            (ok.len()) " are as they should be."
        }
        @for (severity, found) in &groups {
            @if !found.is_empty() { (group(*severity, found)) }
        }
        (facts(document))
    }
}

fn group(severity: Severity, found: &[&Value]) -> Markup {
    let (_, tone, heading) = words(severity);
    let head = html! { (heading) " " span.sub { (found.len()) } };
    html! {
        @match severity {
            Severity::Conformance | Severity::Advice => {
                h3 { (head) }
                div class=(format!("findings {tone}")) {
                    @for found in found { (finding(found, severity)) }
                }
            },
            Severity::Unknown | Severity::Ok => details {
                summary { (head) }
                div class=(format!("findings {tone}")) {
                    @for found in found { (finding(found, severity)) }
                }
            },
        }
    }
}

fn finding(found: &Value, severity: Severity) -> Markup {
    let (word, tone, _) = words(severity);
    let rows = [
        ("Read", text(found, "read")),
        ("Right", text(found, "right")),
        ("Effect", text(found, "effect")),
    ];
    let fix = text(found, "fix");
    html! {
        article.finding title=(text(found, "id")) {
            h4 {
                span class=(format!("mini {tone}")) { (word) } " "
                (text(found, "subject"))
                @if !text(found, "area").is_empty() { span.sub { (text(found, "area")) } }
            }
            dl {
                @for (name, value) in rows {
                    @if !value.is_empty() { div { dt { (name) } dd { (with_code(value)) } } }
                }
                @if !fix.is_empty() { div { dt { "Fix" } dd.fix { (with_code(fix)) } } }
            }
        }
    }
}

fn facts(document: &Value) -> Markup {
    let Some(facts) = document.get("facts") else {
        return html! {};
    };
    // Values of this kind can always be written; if not, an empty text is shown.
    let mut written = serde_json::to_string_pretty(facts).unwrap_or_default();
    let cut = written.len() > FACTS_MAX;
    if cut {
        let end = (0..=FACTS_MAX).rev().find(|end| written.is_char_boundary(*end)).unwrap_or(0);
        written.truncate(end);
    }
    html! {
        details.facts-raw {
            summary { "All facts that were read" }
            @if cut {
                p.remark { "Cut off here; doctor.json in the evidence folder holds them all." }
            }
            pre tabindex="0" { code { (written) } }
        }
    }
}
