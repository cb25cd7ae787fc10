//! Records against each other: those of one run have one start, one machine and the same loads.

use std::collections::{BTreeMap, BTreeSet};

use quietcore_record::record::{Conditions, Record};
use serde_json::Value;

use super::Contradiction;
use super::probes::probe_of;
use crate::manifest::{Manifest, Origin};

/// Conditions that belong to a partition and not to the machine.
const OF_PARTITION: [&str; 7] = [
    "container",
    "memory_share",
    "program",
    "program_build",
    "compiler",
    "cpus_unused",
    "controls",
];

/// Pointer to the kernel's release in the doctor's document.
const KERNEL: &str = "/facts/kernel/release/read";

/// Those of them that are the same under all profiles.
const OF_PROGRAM: [&str; 3] = ["program", "program_build", "compiler"];

/// Values in fewer bins can be the same by chance.
const BINS_MIN: usize = 8;

/// Identifies the records of one run: by probe and partition where a campaign names a probe, by
/// profile, and by partition where each is measured alone.
type RunKey<'a> = (Option<(&'a str, &'a str)>, &'a str, Option<&'a str>);

/// Compares the records of a folder with each other; `is_alone` says that its campaign measured
/// each partition alone.
pub(super) fn compare(
    manifest: &Manifest,
    records: &[&Record],
    is_alone: bool,
    wrong: &mut Vec<Contradiction>,
) {
    for record in records {
        let name = || record.name.clone();
        if record.conditions.site_sha256 != manifest.site_sha256 {
            wrong.push(Contradiction::Record {
                record: name(),
                key: "conditions.site_sha256",
                says: quoted(&record.conditions.site_sha256),
                follows: quoted(&manifest.site_sha256),
            });
        }
        let profiles = probe_of(record, manifest).map_or(&manifest.profiles, |it| &it.profiles);
        let is_listed = profiles.iter().any(|(profile, _)| *profile == record.profile);
        if !is_listed && manifest.origin == Origin::Campaign {
            wrong.push(Contradiction::Record {
                record: name(),
                key: "profile",
                says: quoted(&record.profile),
                follows: "one of those of the manifest".to_owned(),
            });
        }
    }
    // Who imports a file twice has it twice.
    if manifest.origin == Origin::Import {
        return;
    }
    for (index, record) in records.iter().enumerate() {
        let is_same = |other: &&&Record| {
            other.release == record.release && record.release.bins().nth(BINS_MIN - 1).is_some()
        };
        if let Some(other) = records[..index].iter().find(is_same) {
            let (record, other) = (record.name.clone(), other.name.clone());
            wrong.push(Contradiction::Twice { record, other });
        }
    }
    if manifest.origin == Origin::Campaign {
        one_program(records, wrong);
        let mut first: BTreeMap<RunKey<'_>, &Record> = BTreeMap::new();
        for record in records {
            let probe = probe_of(record, manifest).map(|it| (&*it.probe, &*it.partition));
            let partition = is_alone.then_some(record.partition.as_str());
            let of_run = *first.entry((probe, &record.profile, partition)).or_insert(record);
            let different = different(of_run, record);
            wrong.extend(different.into_iter().map(|key| Contradiction::OneRun {
                record: record.name.clone(),
                other: of_run.name.clone(),
                key,
            }));
        }
    }
}

/// A campaign is about one build of each program.
fn one_program(records: &[&Record], wrong: &mut Vec<Contradiction>) {
    let mut first: BTreeMap<&str, &Record> = BTreeMap::new();
    for record in records.iter().filter(|record| record.is_of_releases()) {
        let other = *first.entry(&record.partition).or_insert(record);
        for key in OF_PROGRAM {
            let of = |record: &Record| record.conditions.machine.get(key).cloned();
            if of(record) != of(other) {
                wrong.push(Contradiction::OneRun {
                    record: record.name.clone(),
                    other: other.name.clone(),
                    key: key.to_owned(),
                });
            }
        }
    }
}

/// The kernel that the doctor saw; `None` where its document doesn't say.
pub(crate) fn kernel_of(doctor: &Value) -> Option<&str> {
    doctor.pointer(KERNEL).and_then(Value::as_str)
}

/// The kernel that the doctor saw is the one that all records were measured under: a verdict is
/// about one machine.
pub(super) fn compare_machine(doctor: &Value, records: &[&Record], wrong: &mut Vec<Contradiction>) {
    let Some(kernel) = kernel_of(doctor) else { return };
    for record in records {
        if let Some(says) = record.conditions.machine.get("kernel").filter(|says| *says != kernel) {
            wrong.push(Contradiction::Record {
                record: record.name.clone(),
                key: "conditions.machine.kernel",
                says: quoted(says),
                follows: quoted(kernel),
            });
        }
    }
}

/// Names each condition that two records of one run must share and don't, once.
fn different(one: &Record, other: &Record) -> Vec<String> {
    let (a, b) = (&one.conditions, &other.conditions);
    let mut keys = Vec::new();
    let mut differ = |key: &str, is: bool| {
        if is {
            keys.push(key.to_owned());
        }
    };
    differ("reserved", one.reserved != other.reserved);
    differ("started_at", a.started_at != b.started_at);
    differ("loads", a.loads != b.loads);
    differ("neighbours", a.neighbours != b.neighbours);
    differ("dma_latency_held", a.dma_latency_held != b.dma_latency_held);
    differ("quietcore_version", a.quietcore_version != b.quietcore_version);
    differ("time_is_real", a.time != b.time);
    let machine = |held: &Conditions| {
        let platform = held.platform.as_deref()?;
        Some((platform.kernel.clone(), platform.firmware.clone(), platform.topology.clone()))
    };
    differ("platform", machine(a) != machine(b));
    let all: BTreeSet<&String> = a.machine.keys().chain(b.machine.keys()).collect();
    let of_machine = all.into_iter().filter(|key| !OF_PARTITION.contains(&key.as_str()));
    keys.extend(of_machine.filter(|key| a.machine.get(*key) != b.machine.get(*key)).cloned());
    keys
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}
