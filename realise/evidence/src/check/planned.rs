//! The records that a campaign must have. Nobody makes a FAIL a PASS by deleting its record: what
//! was planned and is not there is NOT PROVEN.

use std::collections::BTreeSet;

use quietcore_record::record::Record;
use quietcore_site::{Partition, Profile, Site, Task};

use crate::manifest::{Manifest, NotMeasured, Origin};

/// Name of the task that drives a program's own kernel, where the site file names none.
const KERNEL_CYCLE: &str = "cycle";

/// Lists what was planned and has no record, without what the manifest says was not measured.
pub(super) fn unaccounted(
    manifest: &Manifest,
    records: &[&Record],
    site: &Site,
) -> Vec<NotMeasured> {
    let mut missing = Vec::new();
    for profile in asked_for(manifest, site) {
        for partition in site.measured() {
            if is_told(manifest, &partition.name, &profile.name) {
                continue;
            }
            for task in tasks(partition, profile, records) {
                let name = format!("{}.{}.{task}", partition.name, profile.name);
                let is_it = |record: &&&Record| {
                    record.name == name
                        && record.partition == partition.name
                        && record.profile == profile.name
                };
                if !records.iter().any(|record| is_it(&record)) {
                    missing.push(NotMeasured {
                        partition: partition.name.clone(),
                        profile: profile.name.clone(),
                        reserved: site.keeps_reservation(profile),
                        because: format!("the folder has no record `{name}`"),
                    });
                }
            }
        }
    }
    missing
}

/// The same where no site file says it: a profile of which a declared partition has no record at
/// all. Another record of the profile tells whether it keeps the reservation; else it is taken to.
pub(crate) fn assumed(manifest: &Manifest, records: &[Record]) -> Vec<NotMeasured> {
    if manifest.origin != Origin::Campaign {
        return Vec::new();
    }
    let mut missing = Vec::new();
    for (profile, _) in &manifest.profiles {
        for partition in manifest.declared.keys() {
            let is_of = |record: &&Record| record.profile == *profile;
            let has = |record: &Record| record.partition == *partition;
            if is_told(manifest, partition, profile) || records.iter().filter(is_of).any(has) {
                continue;
            }
            missing.push(NotMeasured {
                partition: partition.clone(),
                profile: profile.clone(),
                reserved: records.iter().find(is_of).is_none_or(|record| record.reserved),
                because: "the folder has no record of it".to_owned(),
            });
        }
    }
    missing
}

/// The profiles of the site's campaign, and those that the command line chose.
fn asked_for<'s>(manifest: &Manifest, site: &'s Site) -> Vec<&'s Profile> {
    let chosen: BTreeSet<&str> = manifest.profiles.iter().map(|(name, _)| name.as_str()).collect();
    let asked = |profile: &&Profile| {
        chosen.contains(profile.name.as_str()) || site.campaign().profiles.contains(profile)
    };
    site.profiles().iter().filter(asked).collect()
}

fn is_told(manifest: &Manifest, partition: &str, profile: &str) -> bool {
    let mut told = manifest.not_measured.iter();
    told.any(|missing| missing.partition == partition && missing.profile == profile)
}

/// The last parts of the names of a partition's records under a profile: its tasks. Those of a
/// program's own kernel are known by their deadlines, and by the other profiles.
fn tasks(partition: &Partition, profile: &Profile, records: &[&Record]) -> BTreeSet<String> {
    let program = &partition.program;
    if program.model.is_none() {
        let cpus = partition.vcr.cpus.iter().enumerate();
        return cpus.map(|(number, cpu)| probe_label(number, cpu.get(), profile)).collect();
    }
    let held = program.deadlines.keys().cloned();
    let is_its = |record: &&&Record| record.partition == partition.name && record.is_of_releases();
    let seen = records.iter().filter(is_its);
    let seen: BTreeSet<String> =
        seen.filter_map(|record| Some(label(record)?.to_owned())).collect();
    let has_kernel = !program.deadlines.is_empty() || seen.contains(KERNEL_CYCLE);
    let own = program.tasks.iter().map(|task| match task.implied && has_kernel {
        true => KERNEL_CYCLE.to_owned(),
        false => task.name.clone(),
    });
    own.chain(held).chain(seen.iter().cloned()).collect()
}

/// The task of a program whose file names none, or, in a program with a kernel of its own, that
/// drives it; `None` for a task of that kernel.
pub(super) fn task_of<'p>(partition: &'p Partition, label: &str) -> Option<&'p Task> {
    let is_it = |task: &&Task| task.name == label || (task.implied && label == KERNEL_CYCLE);
    partition.program.tasks.iter().find(is_it)
}

fn probe_label(number: usize, cpu: u32, profile: &Profile) -> String {
    if profile.pinned { format!("cpu{cpu}") } else { format!("task{number}") }
}

/// The last part of a record's name: the task.
pub(super) fn label(record: &Record) -> Option<&str> {
    let rest = record.name.strip_prefix(&record.partition)?.strip_prefix('.')?;
    rest.strip_prefix(&record.profile)?.strip_prefix('.')
}
