//! What a site wants changed of the machine: changed, watched while the site runs, and put back.

use std::path::{Path, PathBuf};

use quietcore_site::{Control, Site};
use quietcore_units::CpuSet;

use super::group::{CpusetKind, PROCESSES};
use super::holding::{Controls, Effect, Held, Outcome};
use super::journal::JournalError;
use super::requests::requests;
use super::setting::{LiveSettings, Setting};
use super::tally::Tally;
use crate::cpu_list::CpuList;
use crate::source::Source;

/// What of the machine is to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The controls.
    pub controls: Vec<Control>,
    /// The CPUs that are to be quiet.
    pub cpus: CpuSet,
}

impl Wanted {
    /// What a site wants while its partitions are pinned.
    pub fn of(site: &Site) -> Self {
        Self { controls: site.controls().to_vec(), cpus: site.claimed_cpus() }
    }
}

/// What was found of the settings, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What became of each control; empty where none was asked for.
    pub controls: String,
    /// Controls that don't do what they should, with the reason.
    pub troubles: Vec<String>,
    /// Settings that did not stay what they were given, and CPUs that went offline.
    pub drifts: Vec<String>,
}

/// Settings that are changed. They are put back when this is dropped.
#[derive(Debug)]
pub struct Changed {
    held: Option<Held<LiveSettings>>,
    /// Those that are to stay online.
    cpus: CpuSet,
    /// Those of them that were offline when this was last looked at.
    offline: CpuSet,
    found: Found,
    group: Option<ReservedGroup>,
}

impl Changed {
    /// Changes what is wanted for a holder of this name, as far as the machine lets it. Without
    /// `controls` nothing is changed, and it is only looked whether the CPUs stay online.
    ///
    /// # Errors
    /// The journal can't be written, and nothing is changed.
    pub fn begin(
        wanted: &Wanted,
        holder: &str,
        controls: Option<&Controls<LiveSettings>>,
    ) -> Result<Self, JournalError> {
        let mut changed = Self {
            held: None,
            cpus: wanted.cpus,
            offline: CpuSet::EMPTY,
            found: Found::default(),
            group: None,
        };
        let Some(controls) = controls.filter(|_| !wanted.controls.is_empty()) else {
            return Ok(changed);
        };
        let asked = requests(&Source::live(), holder, &wanted.controls, &wanted.cpus);
        let (held, outcomes) = controls.hold(holder, asked)?;
        let tallies = Tally::of(&wanted.controls, &outcomes);
        let words: Vec<String> = tallies.iter().map(ToString::to_string).collect();
        changed.found.controls = words.join("; ");
        changed.found.troubles = tallies.iter().filter_map(Tally::trouble).collect();
        changed.group = outcomes.iter().find_map(group);
        changed.held = Some(held);
        Ok(changed)
    }

    /// The group that has these CPUs for itself, where there is one. Others can't run on them.
    pub fn group(&self) -> Option<ReservedGroup> {
        self.group.clone()
    }

    /// What was found so far.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Looks whether the CPUs are online and the settings what they were given. Returns what was
    /// not known yet.
    pub fn look(&mut self) -> Vec<String> {
        let mut news = self.look_at_cpus(&Source::live());
        // How often CPUs go and come says nothing more about what was measured.
        let unknown = news.iter().filter(|text| !self.found.drifts.contains(text));
        let unknown: Vec<String> = unknown.cloned().collect();
        self.found.drifts.extend(unknown);
        let drifts = match self.held.as_ref().map(Held::check) {
            None => Vec::new(),
            Some(Ok(drifts)) => drifts.iter().map(ToString::to_string).collect(),
            Some(Err(error)) => vec![error.to_string()],
        };
        for drift in drifts {
            if !self.found.drifts.contains(&drift) {
                self.found.drifts.push(drift.clone());
                news.push(drift);
            }
        }
        news
    }

    /// Which of the CPUs went offline and came back since the last look.
    fn look_at_cpus(&mut self, source: &Source) -> Vec<String> {
        let online = source.value::<CpuList>("/sys/devices/system/cpu/online");
        let Some(online) = online.get() else { return Vec::new() };
        let offline = self.cpus.without(&online.0);
        let (gone, back) = (offline.without(&self.offline), self.offline.without(&offline));
        self.offline = offline;
        let gone = gone.iter().map(|cpu| {
            format!("CPU {cpu} was taken offline; partitions on it run elsewhere, as others do")
        });
        let back = back.iter().map(|cpu| {
            format!("CPU {cpu} is online again; partitions may run elsewhere until restarted")
        });
        gone.chain(back).collect()
    }

    /// Puts the settings back. Returns what was found, and what could not be put back.
    pub fn end(mut self) -> (Found, Vec<String>) {
        self.look();
        let left = match self.held.take().map(Held::release) {
            None => Vec::new(),
            Some(Ok(left)) => left.iter().map(ToString::to_string).collect(),
            Some(Err(error)) => vec![error.to_string()],
        };
        (self.found, left)
    }
}

/// A control group that has CPUs for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedGroup {
    folder: PathBuf,
    kind: CpusetKind,
}

impl ReservedGroup {
    /// The file through which a process enters it.
    pub fn entrance(&self) -> PathBuf {
        let of_processes = match self.kind {
            CpusetKind::Exclusive | CpusetKind::Isolated => self.folder.join(PROCESSES),
            CpusetKind::Domain | CpusetKind::Entered => self.folder.clone(),
        };
        of_processes.join("cgroup.procs")
    }

    /// Its name in the hierarchy, below which containers have their groups. `None` under version 1,
    /// where a group of CPUs is none of memory or time, and containers have CPUs wherever they are.
    pub fn name(&self) -> Option<PathBuf> {
        let name = self.folder.file_name()?;
        (self.kind != CpusetKind::Entered).then(|| Path::new("/").join(name))
    }
}

fn group(outcome: &Outcome<Control>) -> Option<ReservedGroup> {
    let Setting::Cpuset { path, kind } = &outcome.setting else { return None };
    let is_entered = *kind != CpusetKind::Domain && outcome.effect == Effect::Effective;
    is_entered.then(|| ReservedGroup { folder: PathBuf::from(path), kind: *kind })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn cpus_that_go_and_come_back_are_told_once_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let online = folder.path().join("sys/devices/system/cpu/online");
        let source = Source::below(folder.path());
        let wanted = Wanted { controls: Vec::new(), cpus: "1-2".parse().unwrap() };
        let mut changed = Changed::begin(&wanted, "press", None).unwrap();
        assert_eq!(changed.look_at_cpus(&source), Vec::<String>::new(), "not to be seen");
        fs::create_dir_all(online.parent().unwrap()).unwrap();
        for (now, told) in [
            ("0-3", None),
            ("0,2", Some("CPU 1 was taken offline")),
            ("0,2", None),
            ("0-2", Some("CPU 1 is online again")),
            ("0-2", None),
            ("0-1", Some("CPU 2 was taken offline")),
        ] {
            fs::write(&online, now).unwrap();
            let news = changed.look_at_cpus(&source);
            assert_eq!(news.len(), usize::from(told.is_some()), "{now}: {news:?}");
            assert!(news.iter().zip(told).all(|(news, told)| news.starts_with(told)));
        }
    }
}
