//! The conditions that the numbers hold for, and the commands that repeat the run.

pub(crate) mod renewal;

use std::collections::BTreeMap;

use quietcore_evidence::{Length, Origin};
use quietcore_record::record::{Conditions, GuestImage, Platform};

use super::ListedConditions;
use super::content::{Block, Cell, Column, Content, Fact, Facts, Row, Table};
use crate::figures::{self, NONE, moment};
use crate::summary::{RecordSummary, Summary};

/// Anchor and title of the section.
pub(crate) const NAME: (&str, &str) = ("conditions", "Conditions");

/// Makes the content of the section.
pub(crate) fn content(summary: &Summary<'_>) -> Content {
    let mut content = Content::default();
    content.remark("A number without its conditions is none. These travel with every record.");
    add_machine(&mut content, summary);
    add_runs(&mut content, &summary.records, &RELEASES);
    for section in summary.sections.iter().rev() {
        match section.kind.conditions {
            ListedConditions::Own => {}
            ListedConditions::Releases => add_runs(&mut content, &section.records, &RELEASES),
            ListedConditions::Untimed => add_runs(&mut content, &section.records, &UNTIMED),
        }
    }
    add_activity(&mut content, summary);
    add_provenance(&mut content, summary);
    content.blocks.push(heading("How to repeat this"));
    content.remark("In the evidence folder:");
    content.blocks.push(Block::Listing(format!(
        "sha256sum --check SHA256SUMS    # nothing was changed since\n{}\nquietcore report . \
         --html report.html\n",
        command(summary)
    )));
    content
}

fn heading(text: &str) -> Block {
    Block::Heading(text.to_owned(), None)
}

/// A condition of the run: its name, and the function that reads it.
type Condition = (&'static str, fn(&RecordSummary<'_>) -> String);

const RELEASES: [Condition; 10] = [
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

/// The same of records without releases, such as the routines of a kernel.
const UNTIMED: [Condition; 6] = [
    ("Started", |r| moment(&r.record.conditions.started_at)),
    ("Took in all", |r| figures::nanos(r.record.conditions.duration_ns)),
    ("Kernel", |r| written(&r.record.conditions.mode.to_string())),
    ("Policy, read back", |r| written(&r.record.conditions.policy.to_string())),
    ("Affinity, read back", |r| written(&r.record.conditions.affinity.to_string())),
    ("/dev/cpu_dma_latency", |r| dma_latency(&r.record.conditions)),
];

/// Conditions of the platform, where records have it.
const PLATFORM: [Condition; 4] = [
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

/// Conditions of a guest that starts from an image, where records have one.
const GUEST: [Condition; 2] = [
    ("Kernel of the guest", |r| of_guest(r, GuestImage::kernel_in_short)),
    ("Image of the guest, SHA-256", |r| of_guest(r, |image| image.sha256.clone())),
];

fn of_guest(record: &RecordSummary<'_>, read: impl Fn(&GuestImage) -> String) -> String {
    let platform = record.record.conditions.platform.as_deref();
    platform.and_then(|it| it.guest.as_ref()).map_or_else(|| NONE.to_owned(), read)
}

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

/// Adds the facts about the machine, once for all records that agree on them.
fn add_machine(content: &mut Content, summary: &Summary<'_>) {
    let mut machines: Vec<(BTreeMap<String, String>, Vec<String>)> = Vec::new();
    for record in summary.all_records() {
        let facts = record.record.conditions.machine_in_words();
        match machines.iter_mut().find(|(known, _)| *known == facts) {
            Some((_, records)) => records.push(record.record.name.clone()),
            None => machines.push((facts, vec![record.record.name.clone()])),
        }
    }
    machines.retain(|(facts, _)| !facts.is_empty());
    let are_several = machines.len() > 1;
    for (facts, records) in &machines {
        let sub = are_several.then(|| records.join(", "));
        content.blocks.push(Block::Heading("Machine".to_owned(), sub));
        content.blocks.push(pairs(facts));
    }
}

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

fn pairs(facts: &BTreeMap<String, String>) -> Block {
    let fact = |(key, value): (&String, &String)| {
        Fact::new(named(key), if value.is_empty() { NONE } else { value })
    };
    Block::Facts(Facts::of_page(facts.iter().map(fact).collect()))
}

/// Adds the conditions of the runs: once what all have in common, and as a table what differs.
fn add_runs(content: &mut Content, records: &[RecordSummary<'_>], conditions: &[Condition]) {
    let Some(first) = records.first() else { return };
    let has_platform = records.iter().any(|it| it.record.conditions.platform.is_some());
    let of_platform = PLATFORM.iter().filter(|_| has_platform);
    let has_guest = records
        .iter()
        .any(|it| it.record.conditions.platform.as_deref().is_some_and(|it| it.guest.is_some()));
    let of_guest = GUEST.iter().filter(|_| has_guest);
    let (same, different): (Vec<_>, Vec<_>) =
        conditions.iter().chain(of_platform).chain(of_guest).partition(|(_, read)| {
            let value = read(first);
            records.iter().all(|record| read(record) == value)
        });
    let fact = |(name, read): &Condition| Fact::new(*name, read(first));
    content.blocks.push(heading("Runs"));
    content.blocks.push(Block::Facts(Facts::of_page(same.into_iter().map(fact).collect())));
    if different.is_empty() {
        return;
    }
    let row = |record: &RecordSummary<'_>| {
        let cells = different.iter().map(|(_, read)| Cell::plain(read(record)));
        Row::new(record.record.name.as_str(), cells.collect())
    };
    content.blocks.push(Block::Table(Table {
        name: "What differs between the runs".to_owned(),
        layout: Some("compact"),
        lead: Column::new("Record", 0),
        columns: different.iter().map(|(name, _)| Column::words(*name, 0)).collect(),
        rows: records.iter().map(row).collect(),
        ..Table::default()
    }));
}

/// Adds the activity of the machine during the runs.
fn add_activity(content: &mut Content, summary: &Summary<'_>) {
    let of_record = |record: &RecordSummary<'_>| {
        let activity = record.record.conditions.activity_in_words();
        let name = record.record.name.clone();
        (!activity.is_empty()).then(|| [Block::SubHeading(name, None), pairs(&activity)])
    };
    let blocks: Vec<Block> = summary.all_records().filter_map(of_record).flatten().collect();
    if !blocks.is_empty() {
        content.blocks.push(Block::details("What the machine did meanwhile", blocks));
    }
}

/// Adds the versions and the site file.
fn add_provenance(content: &mut Content, summary: &Summary<'_>) {
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
    let origin = match manifest.origin {
        Origin::Campaign => "a campaign of a site file",
        Origin::Probe => "a probe run by hand",
        Origin::Import => "data of another program",
    };
    let mut facts = vec![Fact::new("Quietcore", versions.join(", ")), Fact::new("Origin", origin)];
    if !manifest.site_sha256.is_empty() {
        let sum = Fact::new("Site file, SHA-256", manifest.site_sha256.as_str());
        facts.push(Fact { is_code: true, ..sum });
    }
    content.blocks.push(heading("Provenance"));
    content.blocks.push(Block::Facts(Facts::of_page(facts)));
    if !strangers.is_empty() && manifest.origin == Origin::Campaign {
        let strangers = strangers.join(", ");
        content.remark(format!("Measured with another version of the site file: {strangers}."));
    }
    if let Some(site) = &summary.evidence.site {
        let listing = vec![Block::Listing(site.clone())];
        content.blocks.push(Block::details("The site file", listing));
    }
}

/// Returns the command that repeats the run.
fn command(summary: &Summary<'_>) -> String {
    let manifest = &summary.evidence.manifest;
    match manifest.origin {
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
    }
}
