//! What a site wants changed of the machine: changed, watched while the site runs, and put back.

mod links;

use std::path::{Path, PathBuf};

use quietcore_site::{Control, Profile, Site};
use quietcore_units::CpuSet;

use super::group::{CpusetKind, PROCESSES};
use super::holding::{Controls, Effect, Held, Outcome};
use super::journal::JournalError;
use super::requests::requests;
use super::setting::{LiveSettings, Setting};
use super::tally::Tally;
use crate::source::Source;

pub use links::{Heard, Links};

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

    /// What a site wants under one profile of its campaign; nothing where that pins no partition.
    pub fn under(site: &Site, profile: &Profile) -> Self {
        let controls = site.controls_under(profile).to_vec();
        let cpus = if profile.pinned { site.claimed_cpus() } else { CpuSet::EMPTY };
        Self { controls, cpus }
    }
}

/// What was found of the settings, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What became of each control; empty where none was asked for.
    pub controls: String,
    /// Controls that don't do what they should, with the reason.
    pub troubles: Vec<String>,
    /// Controls of which the machine has nothing.
    pub absent: Vec<Control>,
    /// Settings that did not stay what they were given.
    pub drifts: Vec<String>,
}

/// Settings that are changed. They are put back when this is dropped.
#[derive(Debug)]
pub struct Changed {
    held: Option<Held<LiveSettings>>,
    found: Found,
    group: Option<PathBuf>,
    holder: String,
    cpus: CpuSet,
    /// Links whose interrupts are kept off; `None` where that was not asked for.
    links: Option<Links>,
}

impl Changed {
    /// Changes what is wanted for a holder of this name, as far as the machine lets it. Without
    /// `controls` nothing is changed.
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
            found: Found::default(),
            group: None,
            holder: holder.to_owned(),
            cpus: wanted.cpus,
            links: None,
        };
        let Some(controls) = controls.filter(|_| !wanted.controls.is_empty()) else {
            return Ok(changed);
        };
        if wanted.controls.contains(&Control::Interrupts) {
            // Before they are read, so that none comes up unseen in between.
            match Links::listen() {
                Ok(links) => changed.links = Some(links),
                Err(error) => {
                    let trouble = format!("links that come up can't be heard of: {error}");
                    changed.found.troubles.push(trouble);
                }
            }
        }
        let asked = requests(&Source::live(), holder, &wanted.controls, &wanted.cpus);
        let (held, outcomes) = controls.hold(holder, asked)?;
        let tallies = Tally::of(&wanted.controls, &outcomes);
        let words: Vec<String> = tallies.iter().map(ToString::to_string).collect();
        changed.found.controls = words.join("; ");
        changed.found.troubles.extend(tallies.iter().filter_map(Tally::trouble));
        let absent = tallies.iter().filter(|tally| tally.is_absent());
        changed.found.absent = absent.map(|tally| tally.control).collect();
        changed.group = outcomes.iter().find_map(group);
        changed.held = Some(held);
        Ok(changed)
    }

    /// The group that has these CPUs for itself, where there is one. Others can't run on them.
    pub fn group(&self) -> Option<ReservedGroup> {
        self.group.clone().map(ReservedGroup)
    }

    /// What was found so far.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Looks whether the settings are still what they were given. Returns what was not known yet.
    pub fn look(&mut self) -> &[String] {
        let known = self.found.drifts.len();
        let drifts = match self.held.as_ref().map(Held::check) {
            None => Vec::new(),
            Some(Ok(drifts)) => drifts.iter().map(ToString::to_string).collect(),
            Some(Err(error)) => vec![error.to_string()],
        };
        for drift in drifts {
            if !self.found.drifts.contains(&drift) {
                self.found.drifts.push(drift);
            }
        }
        &self.found.drifts[known..]
    }

    /// Keeps interrupts off the CPUs when a link has come up since the last call: those that its
    /// driver has placed there are put back, and those that are new are kept off as well. Returns
    /// what was done, which is drift. Does not wait.
    pub fn follow_links(&mut self) -> &[String] {
        let known = self.found.drifts.len();
        let heard = self.links.as_mut().map(Links::hear).unwrap_or_default();
        if let Some(held) = self.held.as_ref().filter(|_| heard.is_some()) {
            let interrupts = [Control::Interrupts];
            let asked = requests(&Source::live(), &self.holder, &interrupts, &self.cpus);
            match held.renew(asked) {
                Ok(done) => {
                    let drifts = done.iter().map(|outcome| outcome.after_link(&heard));
                    self.found.drifts.extend(drifts);
                }
                Err(error) => self.found.drifts.push(error.to_string()),
            }
        }
        &self.found.drifts[known..]
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

/// The folder of a control group that has CPUs for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedGroup(PathBuf);

impl ReservedGroup {
    /// The file through which a process enters it.
    pub fn entrance(&self) -> PathBuf {
        self.0.join(PROCESSES).join("cgroup.procs")
    }

    /// Its name in the hierarchy, below which containers have their groups.
    pub fn name(&self) -> PathBuf {
        Path::new("/").join(self.0.file_name().unwrap_or_default())
    }
}

impl Outcome<Control> {
    /// What was done after links came up.
    fn after_link(&self, heard: &Heard) -> String {
        let who = match heard.came_up.last() {
            Some(name) => format!("interface `{name}` came up"),
            None => "an interface may have come up".to_owned(),
        };
        format!(
            "{who}, and {} held `{}`; it has `{}` again",
            self.setting, self.before, self.wanted
        )
    }
}

fn group(outcome: &Outcome<Control>) -> Option<PathBuf> {
    match (&outcome.setting, &outcome.effect) {
        (Setting::Cpuset { path, kind: CpusetKind::Isolated }, Effect::Effective) => {
            Some(PathBuf::from(path))
        }
        _ => None,
    }
}
