//! Evidence of this machine beside the machine as it is now.
//!
//! ```text
//! signature ─► MachineOf ─► This: conditions of the judged records ─┐
//!                                                                   ├─► Comparison
//! facts, running partitions, site file of the folder ─► Present ────┘
//! ```
//!
//! A folder is of this machine where this machine's key has signed it. One that another key has
//! signed is not compared, nor is one without a signature, since nothing says where it was
//! measured. The machine is read when it is first needed: evidence of others costs nothing.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quietcore_backend::container::Containers;
use quietcore_backend::linux::image_in;
use quietcore_evidence::{Evidence, Origin, Signature, VerificationKey};
use quietcore_host::conditions::{interrupts_on, reservation_of};
use quietcore_host::running_partitions::RunningPartition;
use quietcore_host::{Facts, Source};
use quietcore_record::ageing::{
    Change, Comparison, Dependency, NotCompared, Present, Uncompared, compare_all,
};
use quietcore_record::record::{GuestImage, Platform, ProgramBuild, Record};
use quietcore_site::{Control, Site};
use quietcore_units::{CpuId, CpuSet};

use crate::finish;
use crate::terminal::visible;

/// Conditions that a running site sets by these controls, although records have them as they were
/// before.
const SET_WHILE_UP: [(Control, Dependency); 5] = [
    (Control::Siblings, Dependency::Cores),
    (Control::Siblings, Dependency::Caches),
    (Control::Governor, Dependency::Governor),
    (Control::IdleStates, Dependency::IdleStates),
    (Control::Throttling, Dependency::RealTimeThrottling),
];

/// The machine on which some evidence was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum MachineOf {
    /// This one: its key has signed the folder.
    This,
    /// Another one, or another user of this one: another key has signed it.
    Other,
    /// Nothing says which: the folder is not signed, its signature does not hold, or its data were
    /// imported.
    Unknown,
}

/// This machine as it is now.
pub(in crate::command) struct Here {
    own_key: Option<VerificationKey>,
    machine: OnceCell<MachineNow>,
}

/// Everything of this machine that evidence is compared with.
struct MachineNow {
    platform: Platform,
    words: BTreeMap<String, String>,
    running: Vec<RunningPartition>,
}

impl Here {
    /// Makes the value without reading the machine.
    pub(in crate::command) fn new() -> Self {
        Self { own_key: finish::own_key(), machine: OnceCell::new() }
    }

    /// Says on which machine some evidence was measured.
    pub(in crate::command) fn machine_of(&self, evidence: &Evidence) -> MachineOf {
        match &evidence.signature {
            _ if evidence.manifest.origin == Origin::Import => MachineOf::Unknown,
            Signature::Signed { key, .. } if self.own_key.as_ref() == Some(key) => MachineOf::This,
            Signature::Signed { .. } => MachineOf::Other,
            Signature::Unsigned | Signature::Broken(_) => MachineOf::Unknown,
        }
    }

    /// Compares what the verdict on a partition depends on with this machine: the conditions of its
    /// records that were judged and had what the site reserves.
    pub(in crate::command) fn compare(&self, evidence: &Evidence, partition: &str) -> Comparison {
        let records = deciding(evidence, partition);
        self.compare_records(evidence, partition, &records, (None, None))
    }

    /// Compares what records of a partition depend on with this machine. `build` is that of the
    /// partition's program now; `None` where it was not built, and then it is not compared. `image`
    /// is that of its guest; where it is `None` the image is sought where it was.
    pub(in crate::command) fn compare_records(
        &self,
        evidence: &Evidence,
        partition: &str,
        records: &[&Record],
        (build, image): (Option<&str>, Option<&GuestImage>),
    ) -> Comparison {
        let mut now = self.present(evidence, partition, records);
        if image.is_some() {
            now.platform.guest = image.cloned();
        }
        if let Some(build) = build {
            now.unseen.retain(|unseen| unseen.dependency != Dependency::Program);
            // Of the build, its sources alone are compared.
            now.platform.program = Some(ProgramBuild {
                sources_sha256: build.to_owned(),
                module_sha256: None,
                compiler: String::new(),
            });
        }
        compare_all(records.iter().map(|record| &record.conditions), &now)
    }

    fn present(&self, evidence: &Evidence, partition: &str, records: &[&Record]) -> Present {
        let here = self.machine.get_or_init(MachineNow::read);
        let site = site_of(evidence);
        let controls = site.as_ref().map_or(&[][..], Site::controls);
        let owned = |it: &&RunningPartition| {
            it.owner.as_ref().is_some_and(|owner| {
                owner.site == evidence.manifest.name && owner.partition == partition
            })
        };
        let running = here.running.iter().find(owned);
        let mut platform = here.platform.clone();
        let source = Source::live();
        platform.interrupts = interrupts_on(&source, cpus_of(records));
        platform.reservation = running.and_then(|it| reservation_of(&source, it.process));
        let in_container = |record: &&&Record| {
            let platform = record.conditions.platform.as_deref();
            platform.is_some_and(|platform| platform.versions.container_runtime.is_some())
        };
        if records.iter().any(|record| in_container(&record)) {
            let wanted = site.as_ref().and_then(Site::container_runtime);
            platform.versions.container_runtime = Containers::runtime_here(wanted);
        }
        platform.guest = guest_image_of(records);
        let unseen = unseen(controls, running.is_some());
        Present { platform, machine: here.words.clone(), unseen }
    }

    /// Lists what has changed since some evidence of this machine was measured, a line for each
    /// group of partitions that have it in common. Returns none for evidence of other machines.
    pub(in crate::command) fn lines(&self, evidence: &Evidence) -> Vec<String> {
        if self.machine_of(evidence) != MachineOf::This {
            return Vec::new();
        }
        let mut groups: Vec<(Vec<&str>, Comparison)> = Vec::new();
        let partitions: BTreeSet<&str> =
            evidence.records.iter().map(|record| record.partition.as_str()).collect();
        let count = partitions.len();
        for partition in partitions {
            let comparison = self.compare(evidence, partition);
            let same = groups.iter_mut().find(|(_, other)| other.changes == comparison.changes);
            match same {
                Some((names, _)) => names.push(partition),
                None => groups.push((vec![partition], comparison)),
            }
        }
        groups.iter().flat_map(|(names, comparison)| lines(names, count, comparison)).collect()
    }

    /// Lists the changes by which any verdict of some evidence has expired, each once. Returns none
    /// for evidence of other machines.
    pub(in crate::command) fn expiring(&self, evidence: &Evidence) -> Vec<Change> {
        if self.machine_of(evidence) != MachineOf::This {
            return Vec::new();
        }
        let partitions: BTreeSet<&str> =
            evidence.records.iter().map(|record| record.partition.as_str()).collect();
        let all = partitions.into_iter().map(|partition| self.compare(evidence, partition));
        let changes: BTreeSet<Change> =
            all.flat_map(|it| it.expiring().cloned().collect::<Vec<_>>()).collect();
        changes.into_iter().collect()
    }
}

impl MachineNow {
    fn read() -> Self {
        let facts = Facts::read_quickly();
        Self {
            platform: facts.platform(),
            words: facts.conditions_summary(),
            running: RunningPartition::find_others(&Source::live()),
        }
    }
}

/// Returns the line that says by what verdicts expired.
pub(in crate::command) fn expired_line<'c>(changes: impl Iterator<Item = &'c Change>) -> String {
    format!("EXPIRED since: {}", listed(changes))
}

/// Writes changes one after the other; they may quote a folder of somebody else's making.
fn listed<'c>(changes: impl Iterator<Item = &'c Change>) -> String {
    changes.map(|change| visible(&change.to_string())).collect::<Vec<_>>().join("; ")
}

/// Returns the lines about the partitions `names`, which `count` partitions are in all.
fn lines(names: &[&str], count: usize, comparison: &Comparison) -> Vec<String> {
    let whose = match names.len() == count {
        true => String::new(),
        false => format!("{}: ", visible(&names.join(", "))),
    };
    let mut lines = Vec::new();
    if comparison.is_expired() {
        lines.push(format!("{whose}{}", expired_line(comparison.expiring())));
    }
    if comparison.told().next().is_some() {
        lines.push(format!("{whose}also changed: {}", listed(comparison.told())));
    }
    lines
}

/// Returns the records that decide about a partition: those that a class judges, and of these those
/// that keep the reservation where there are any.
fn deciding<'e>(evidence: &'e Evidence, partition: &str) -> Vec<&'e Record> {
    let judged: BTreeSet<&str> = evidence.judgements.iter().map(|it| it.record.as_str()).collect();
    let is_its =
        |record: &&Record| record.partition == partition && judged.contains(record.name.as_str());
    let all: Vec<&Record> = evidence.records.iter().filter(is_its).collect();
    let reserved: Vec<&Record> = all.iter().copied().filter(|record| record.reserved).collect();
    if reserved.is_empty() { all } else { reserved }
}

/// Reads the image of the guest that some records were measured in, where it was then; `None` where
/// there was none, or it can't be used any more.
fn guest_image_of(records: &[&Record]) -> Option<GuestImage> {
    let image = records.iter().find_map(|it| it.conditions.platform.as_deref()?.guest.as_ref())?;
    image_in(Path::new(&image.folder)).ok()
}

/// Returns the CPUs that the tasks of some records were pinned to.
fn cpus_of(records: &[&Record]) -> CpuSet {
    records.iter().filter_map(|record| CpuId::new(record.cpu?)).collect()
}

/// Reads the site file of a folder; `None` where there is none, or none of this version.
fn site_of(evidence: &Evidence) -> Option<Site> {
    let catalogue = quietcore_record::class::catalogue();
    let text = evidence.site.as_ref()?;
    quietcore_site::read("site.toml", text.as_bytes(), &catalogue).ok()
}

/// Lists the conditions that can't be compared now: those of a partition that does not run, and
/// those that its site sets while it runs.
fn unseen(controls: &[Control], runs: bool) -> Vec<NotCompared> {
    // The sources of a program tell nothing before they are built.
    let mut unseen =
        vec![NotCompared { dependency: Dependency::Program, because: Uncompared::NotBuilt }];
    let mut add = |dependency, because| unseen.push(NotCompared { dependency, because });
    if runs {
        let set = SET_WHILE_UP.iter().filter(|(control, _)| controls.contains(control));
        set.for_each(|(_, dependency)| add(*dependency, Uncompared::SetBySite));
        return unseen;
    }
    add(Dependency::Reservation, Uncompared::NotRunning);
    if controls.contains(&Control::Interrupts) {
        add(Dependency::Interrupts, Uncompared::SetBySite);
    }
    unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_site_sets_while_it_runs_is_compared_in_the_same_state_alone() {
        let of = |controls: &[Control], runs| {
            let unseen = unseen(controls, runs);
            unseen.into_iter().map(|it| it.dependency).collect::<Vec<_>>()
        };
        let moved = [Control::Interrupts, Control::Siblings];
        let (program, cores, caches) = (Dependency::Program, Dependency::Cores, Dependency::Caches);
        assert_eq!(of(&moved, true), [program, cores, caches]);
        assert_eq!(of(&moved, false), [program, Dependency::Reservation, Dependency::Interrupts]);
        assert_eq!(of(&[], true), [program]);
    }

    #[test]
    fn changes_that_partitions_share_are_told_without_names() {
        let change = |dependency| Change { dependency, before: "1".into(), now: "2\u{1b}".into() };
        let changes = vec![change(Dependency::Kernel), change(Dependency::Governor)];
        let comparison = Comparison { changes, not_compared: Vec::new() };
        let all = lines(&["axis", "belt"], 2, &comparison);
        let shown = "EXPIRED since: kernel 1 → 2\u{fffd}";
        assert_eq!(all, [shown, "also changed: governor 1 → 2\u{fffd}"]);
        assert_eq!(lines(&["axis"], 2, &comparison)[0], format!("axis: {shown}"));
        assert_eq!(lines(&["axis"], 1, &Comparison::default()), [] as [String; 0]);
    }
}
