//! The probes of a campaign against the site file: those that it names are there, or it is told why
//! not, and what they measured was measured where the site has the partition.

use quietcore_record::record::Record;
use quietcore_site::Site;
use quietcore_units::CpuId;

use super::Contradiction;
use crate::manifest::{Manifest, NotMeasured, ProbeEntry};

/// Returns the entry of the probe that a record is of; `None` of releases, which profiles ask for.
pub(crate) fn probe_of<'m>(record: &Record, manifest: &'m Manifest) -> Option<&'m ProbeEntry> {
    let is_it =
        |entry: &&ProbeEntry| entry.probe == record.probe && entry.partition == record.partition;
    manifest.probes.iter().find(is_it).filter(|_| !record.is_of_releases())
}

/// Compares the entries of the manifest with what the site file names.
pub(super) fn compare(manifest: &Manifest, site: &Site, wrong: &mut Vec<Contradiction>) {
    let named: Vec<(&str, &str)> =
        site.probed().map(|(probe, partition)| (probe.name(), partition.name.as_str())).collect();
    let entries: Vec<(&str, &str)> =
        manifest.probes.iter().map(|it| (it.probe.as_str(), it.partition.as_str())).collect();
    let mut differ = |(probe, partition): &(&str, &str), says: &str, follows: &str| {
        wrong.push(Contradiction::Manifest {
            key: format!("probes.{probe}.{partition}"),
            says: says.to_owned(),
            follows: follows.to_owned(),
        });
    };
    for missing in named.iter().filter(|named| !entries.contains(named)) {
        differ(missing, "missing", "that the site file names it");
    }
    for unknown in entries.iter().filter(|entry| !named.contains(entry)) {
        differ(unknown, "there", "no such probe or partition");
    }
}

/// Lists the probes that have no record and of which the manifest doesn't say why. No verdict rests
/// on them.
pub(super) fn unaccounted(manifest: &Manifest, records: &[&Record]) -> Vec<NotMeasured> {
    let has_record =
        |entry: &ProbeEntry| records.iter().any(|record| probe_of(record, manifest) == Some(entry));
    let measured = manifest.probes.iter().filter(|entry| entry.not_measured.is_none());
    let missing = measured.filter(|entry| !has_record(entry)).map(|entry| NotMeasured {
        partition: entry.partition.clone(),
        profile: entry.probe.clone(),
        reserved: false,
        because: format!("the folder has no record of probe `{}`", entry.probe),
    });
    missing.collect()
}

/// Compares a record of a probe with the partition that it is of.
pub(super) fn compare_record(record: &Record, site: &Site, wrong: &mut Vec<Contradiction>) {
    let partition = site.partitions().iter().find(|it| it.name == record.partition);
    let follows = partition.and_then(quietcore_site::Partition::first_cpu);
    let says = record.cpu.and_then(CpuId::new);
    if says != follows {
        let shown = |cpu: Option<CpuId>| cpu.map_or_else(|| "none".to_owned(), |it| it.to_string());
        wrong.push(Contradiction::Record {
            record: record.name.clone(),
            key: "cpu",
            says: shown(says),
            follows: shown(follows),
        });
    }
}
