//! The conditions that the numbers hold for, and the commands that repeat the run.

use std::collections::BTreeMap;

use maud::{Markup, html};
use quietcore_evidence::{Length, Origin};
use quietcore_record::record::{Conditions, Platform};

use crate::figures::{self, NONE, moment};
use crate::section::ListedConditions;
use crate::summary::{RecordSummary, Summary};

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    html! {
        p.remark { "A number without its conditions is none. These travel with every record." }
        (machine(summary))
        (runs(&summary.records, &ROWS))
        @for section in summary.sections.iter().rev() {
            @match section.kind.conditions {
                ListedConditions::Own => {},
                ListedConditions::Releases => (runs(&section.records, &ROWS)),
                ListedConditions::Untimed => (runs(&section.records, &UNTIMED_ROWS)),
            }
        }
        (activity(summary))
        (site(summary))
        (repeat(summary))
    }
}

/// A condition of the run as a row: its name, and the function that reads it.
type Row = (&'static str, fn(&RecordSummary<'_>) -> String);

const ROWS: [Row; 10] = [
    ("Started", |r| moment(&r.record.conditions.started_at)),
    ("Measured for", |r| figures::nanos(r.record.conditions.duration_ns)),
    ("Period", |r| r.record.period_ns.map_or_else(|| "not known".to_owned(), figures::set_nanos)),
    ("Cycles planned", |r| match r.record.counters.planned_cycles {
        0 => NONE.to_owned(),
        planned => figures::count(planned),
    }),
    ("Release made by", |r| written(&r.record.conditions.mode.to_string())),
    ("Policy, read back", |r| written(&r.record.conditions.policy.to_string())),
    ("Affinity, read back", |r| written(&r.record.conditions.affinity.to_string())),
    ("/dev/cpu_dma_latency", |r| dma_latency(&r.record.conditions)),
    ("Reservation kept", |r| if r.record.reserved { "yes" } else { "no, comparison" }.to_owned()),
    ("Injected delay", |r| {
        let injection = r.record.conditions.injection.as_ref();
        injection.map_or_else(|| "none".to_owned(), ToString::to_string)
    }),
];

/// Rows for records without releases, such as the routines of a kernel.
const UNTIMED_ROWS: [Row; 6] = [
    ("Started", |r| moment(&r.record.conditions.started_at)),
    ("Took in all", |r| figures::nanos(r.record.conditions.duration_ns)),
    ("Kernel", |r| written(&r.record.conditions.mode.to_string())),
    ("Policy, read back", |r| written(&r.record.conditions.policy.to_string())),
    ("Affinity, read back", |r| written(&r.record.conditions.affinity.to_string())),
    ("/dev/cpu_dma_latency", |r| dma_latency(&r.record.conditions)),
];

/// Rows of the platform, where records have it.
const PLATFORM_ROWS: [Row; 4] = [
    ("Firmware", |r| of_platform(r, |platform| platform.firmware.to_string())),
    ("Kernel version", |r| {
        of_platform(r, |platform| platform.kernel.version.clone().unwrap_or_default())
    }),
    ("Interrupts that may arrive on its CPUs", |r| {
        of_platform(r, |platform| match platform.interrupts.as_deref() {
            None => "not known".to_owned(),
            Some([]) => "none".to_owned(),
            Some(some) => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        })
    }),
    ("Reservation, read back", |r| {
        of_platform(r, |platform| match &platform.reservation {
            None => "not read back".to_owned(),
            Some(reservation) => reservation.to_string(),
        })
    }),
];

fn of_platform(record: &RecordSummary<'_>, read: impl Fn(&Platform) -> String) -> String {
    written(&record.record.conditions.platform.as_deref().map(read).unwrap_or_default())
}

fn written(text: &str) -> String {
    if text.is_empty() { "not known".to_owned() } else { text.to_owned() }
}

fn dma_latency(conditions: &Conditions) -> String {
    if conditions.dma_latency_held {
        "held at 0 µs: all CPUs stayed awake".to_owned()
    } else {
        "not held".to_owned()
    }
}

/// Renders the facts about the machine, once for all records that agree on them.
fn machine(summary: &Summary<'_>) -> Markup {
    let mut machines: Vec<(BTreeMap<String, String>, Vec<String>)> = Vec::new();
    for record in summary.all_records() {
        let facts = record.record.conditions.machine_in_words();
        match machines.iter_mut().find(|(known, _)| *known == facts) {
            Some((_, records)) => records.push(record.record.name.clone()),
            None => machines.push((facts, vec![record.record.name.clone()])),
        }
    }
    machines.retain(|(facts, _)| !facts.is_empty());
    html! {
        @for (facts, records) in &machines {
            h3 {
                "Machine"
                @if machines.len() > 1 { span.sub { (records.join(", ")) } }
            }
            (pairs(facts))
        }
    }
}

/// Bytes of a value above which it gets a line of its own.
const WIDE: usize = 60;

/// Returns a fact's key as people read it.
fn named(key: &str) -> String {
    match key {
        "c_states" => "C-states".to_owned(),
        "cpu_model" => "CPU".to_owned(),
        "cpus_online" => "CPUs online".to_owned(),
        "rt_throttling" => "RT throttling".to_owned(),
        _ => {
            let words = key.replace('_', " ");
            let mut characters = words.chars();
            let first = characters.next().map(|first| first.to_uppercase().to_string());
            format!("{}{}", first.unwrap_or_default(), characters.as_str())
        }
    }
}

fn pairs(facts: &BTreeMap<String, String>) -> Markup {
    html! {
        dl.facts {
            @for (key, value) in facts {
                div.wide[value.len() > WIDE] {
                    dt { (named(key)) }
                    dd { @if value.is_empty() { (NONE) } @else { (value) } }
                }
            }
        }
    }
}

/// Renders the conditions of the runs: once what all have in common, and as a table what differs.
fn runs(records: &[RecordSummary<'_>], rows: &[Row]) -> Markup {
    let Some(first) = records.first() else {
        return html! {};
    };
    let has_platform = records.iter().any(|it| it.record.conditions.platform.is_some());
    let of_platform = PLATFORM_ROWS.iter().filter(|_| has_platform);
    let (same, different): (Vec<_>, Vec<_>) =
        rows.iter().chain(of_platform).partition(|(_, read)| {
            let value = read(first);
            records.iter().all(|record| read(record) == value)
        });
    html! {
        h3 { "Runs" }
        dl.facts {
            @for (name, read) in same {
                div { dt { (name) } dd { (read(first)) } }
            }
        }
        @if !different.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="What differs between the runs" {
                table.compact {
                    thead {
                        tr {
                            th scope="col" { "Record" }
                            @for (name, _) in &different { th scope="col" { (name) } }
                        }
                    }
                    tbody {
                        @for record in records {
                            tr {
                                th scope="row" { (record.record.name) }
                                @for (_, read) in &different { td { (read(record)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the activity of the machine during the runs.
fn activity(summary: &Summary<'_>) -> Markup {
    let active: Vec<_> = summary
        .all_records()
        .map(|record| (&record.record.name, record.record.conditions.activity_in_words()))
        .filter(|(_, activity)| !activity.is_empty())
        .collect();
    html! {
        @if !active.is_empty() {
            details {
                summary { "What the machine did meanwhile" }
                @for (name, activity) in &active {
                    h4 { (name) }
                    (pairs(activity))
                }
            }
        }
    }
}

fn site(summary: &Summary<'_>) -> Markup {
    let manifest = &summary.evidence.manifest;
    let mut versions: Vec<&str> = vec![&manifest.quietcore_version];
    for record in summary.all_records() {
        let version = record.record.conditions.quietcore_version.as_str();
        if !version.is_empty() && !versions.contains(&version) {
            versions.push(version);
        }
    }
    let strangers: Vec<_> = summary
        .all_records()
        .filter(|record| record.record.conditions.site_sha256 != manifest.site_sha256)
        .map(|record| record.record.name.clone())
        .collect();
    html! {
        h3 { "Provenance" }
        dl.facts {
            div { dt { "Quietcore" } dd { (versions.join(", ")) } }
            div {
                dt { "Origin" }
                dd {
                    (match manifest.origin {
                        Origin::Campaign => "a campaign of a site file",
                        Origin::Probe => "a probe run by hand",
                        Origin::Import => "data of another program",
                    })
                }
            }
            @if !manifest.site_sha256.is_empty() {
                div.wide { dt { "Site file, SHA-256" } dd { code.hash { (manifest.site_sha256) } } }
            }
        }
        @if !strangers.is_empty() && manifest.origin == Origin::Campaign {
            p.remark {
                "Measured with another version of the site file: " (strangers.join(", ")) "."
            }
        }
        @if let Some(site) = &summary.evidence.site {
            details {
                summary { "The site file" }
                pre tabindex="0" { code { (site) } }
            }
        }
    }
}

/// Renders the commands that repeat the run and check the folder.
fn repeat(summary: &Summary<'_>) -> Markup {
    let manifest = &summary.evidence.manifest;
    let run = match manifest.origin {
        Origin::Campaign => {
            let mut profiles: Vec<&str> = Vec::new();
            for record in summary.all_records() {
                if !profiles.contains(&record.record.profile.as_str()) {
                    profiles.push(&record.record.profile);
                }
            }
            let length = match manifest.length {
                Some(Length::Duration(duration)) => {
                    // JSON writes it exactly, and in quotes, which a shell needs.
                    let exact = serde_json::to_value(duration).unwrap_or_default();
                    format!(" --duration {exact}")
                }
                Some(Length::Cycles(cycles)) => format!(" --cycles {cycles}"),
                None => String::new(),
            };
            format!("quietcore qualify site.toml --profile {}{length}", profiles.join(","))
        }
        Origin::Probe => {
            let probe = summary.all_records().next().map_or("NAME", |r| r.record.probe.as_str());
            format!("quietcore probe {probe}")
        }
        Origin::Import => {
            let program =
                summary.all_records().next().map_or("PROGRAM", |r| r.record.probe.as_str());
            let files = summary.partitions.iter().map(|partition| partition.name);
            let files: Vec<&str> = files.collect();
            format!("quietcore import {program} {} --out again", files.join(" "))
        }
    };
    html! {
        h3 { "How to repeat this" }
        p.remark { "In the evidence folder:" }
        pre tabindex="0" {
            code {
                "sha256sum --check SHA256SUMS    # nothing was changed since\n"
                (run) "\n"
                "quietcore report . --html report.html\n"
            }
        }
    }
}
