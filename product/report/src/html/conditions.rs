//! The conditions that the numbers hold for, and how to repeat the run.

use std::collections::BTreeMap;

use maud::{Markup, html};
use quietcore_evidence::{Length, Origin};
use quietcore_record::record::Conditions;

use crate::figures::{self, NONE, moment};
use crate::summary::{RecordSummary, Summary};

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    html! {
        p.remark { "A number without its conditions is none. These travel with every record." }
        (machine(summary))
        (runs(&summary.records, &ROWS))
        (runs(&summary.routines, &ROUTINE_ROWS))
        (runs(&summary.interrupts, &ROWS))
        (runs(&summary.round_trips, &ROWS))
        (activity(summary))
        (site(summary))
        (repeat(summary))
    }
}

/// A condition of the run as a row: its name and how it is read.
type Row = (&'static str, fn(&RecordSummary<'_>) -> String);

const ROWS: [Row; 10] = [
    ("Started", |r| moment(&r.record.conditions.started_at)),
    ("Measured for", |r| figures::nanos(r.record.conditions.duration_ns)),
    ("Period", |r| r.record.period_ns.map_or_else(|| "not known".to_owned(), figures::set_nanos)),
    ("Cycles planned", |r| match r.record.counters.planned_cycles {
        0 => NONE.to_owned(),
        planned => figures::count(planned),
    }),
    ("Release made by", |r| written(&r.record.conditions.mode)),
    ("Policy, read back", |r| written(&r.record.conditions.policy)),
    ("Affinity, read back", |r| written(&r.record.conditions.affinity)),
    ("/dev/cpu_dma_latency", |r| dma_latency(&r.record.conditions)),
    ("Reservation kept", |r| if r.record.reserved { "yes" } else { "no, comparison" }.to_owned()),
    ("Injected delay", |r| {
        r.record.conditions.injected.clone().unwrap_or_else(|| "none".to_owned())
    }),
];

/// The same for routines of a kernel, which have no releases.
const ROUTINE_ROWS: [Row; 6] = [
    ("Started", |r| moment(&r.record.conditions.started_at)),
    ("Took in all", |r| figures::nanos(r.record.conditions.duration_ns)),
    ("Kernel", |r| written(&r.record.conditions.mode)),
    ("Policy, read back", |r| written(&r.record.conditions.policy)),
    ("Affinity, read back", |r| written(&r.record.conditions.affinity)),
    ("/dev/cpu_dma_latency", |r| dma_latency(&r.record.conditions)),
];

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

/// The facts about the machine, once for all records that agree on them.
fn machine(summary: &Summary<'_>) -> Markup {
    let mut machines: Vec<(&BTreeMap<String, String>, Vec<String>)> = Vec::new();
    for record in summary.all_records() {
        let facts = &record.record.conditions.machine;
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

/// A value of more bytes gets a line of its own.
const WIDE: usize = 60;

/// A fact's key as people read it.
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

/// Conditions of the runs: what all have in common once, what differs as a table.
fn runs(records: &[RecordSummary<'_>], rows: &[Row]) -> Markup {
    let Some(first) = records.first() else {
        return html! {};
    };
    let (same, different): (Vec<_>, Vec<_>) = rows.iter().partition(|(_, read)| {
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

/// What the machine did meanwhile.
fn activity(summary: &Summary<'_>) -> Markup {
    let active: Vec<_> = summary
        .all_records()
        .filter(|record| !record.record.conditions.activity.is_empty())
        .collect();
    html! {
        @if !active.is_empty() {
            details {
                summary { "What the machine did meanwhile" }
                @for record in active {
                    h4 { (record.record.name) }
                    (pairs(&record.record.conditions.activity))
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

/// The commands that repeat the run and check the folder.
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
                    // As JSON it is exact and stands in quotes, as a shell wants it.
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
