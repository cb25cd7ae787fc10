//! Settings of the machine that a site asks for: changed, watched while the site runs, and put
//! back.

mod links;

use std::path::{Path, PathBuf};

use quietcore_record::reason::{MachineDrift, NotInForce, SettingFailure};
use quietcore_site::{Control, GivenCard, Profile, Site, Traffic};
use quietcore_units::CpuSet;

use super::group::{CpusetKind, PROCESSES};
use super::holding::{Controls, Effect, Held, Outcome, Request};
use super::journal::JournalError;
use super::requests::{give, limit, limit_behind, part, requests};
use super::setting::{LiveSettings, Setting, pool};
use super::tally::Tally;
use quietcore_host::CpuList;
use quietcore_host::Source;

pub use links::{Heard, Links};

/// The settings of the machine that a site asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedSettings {
    /// The controls of the site file.
    pub controls: Vec<Control>,
    /// The CPUs that are to be quiet.
    pub cpus: CpuSet,
    /// Pages of 2 MiB that guests need.
    pub huge_pages: u64,
    /// Limits of what partitions send.
    pub traffic: Vec<Traffic>,
    /// Network cards that guests drive themselves.
    pub cards: Vec<GivenCard>,
    /// CPUs that get a pool of Xen's for themselves, where that can be.
    pub pools: Vec<CpuSet>,
}

impl RequestedSettings {
    /// Collects the settings of a site while its partitions are pinned.
    pub fn of(site: &Site) -> Self {
        Self {
            controls: site.controls().to_vec(),
            cpus: site.claimed_cpus(),
            huge_pages: site.huge_pages(),
            pools: site.pools(),
            ..Self::unpinned(site)
        }
    }

    /// Collects the settings of a site under one profile of its campaign; none if that pins no
    /// partition.
    pub fn under(site: &Site, profile: &Profile) -> Self {
        let controls = site.controls_under(profile).to_vec();
        let cpus = if profile.pinned { site.claimed_cpus() } else { CpuSet::EMPTY };
        let pools = if profile.pinned { site.pools() } else { Vec::new() };
        Self { controls, cpus, huge_pages: site.huge_pages(), pools, ..Self::unpinned(site) }
    }

    /// Collects the settings of a site while its partitions are not pinned, and no CPU is theirs.
    pub fn unpinned(site: &Site) -> Self {
        Self { traffic: site.traffic(), cards: site.cards(), ..Self::default() }
    }

    /// Returns `true` if nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.controls.is_empty()
            && self.traffic.is_empty()
            && self.cards.is_empty()
            && self.pools.is_empty()
    }
}

impl RequestedSettings {
    /// Returns what stands in the way of a user who may not change settings.
    fn without_rights(&self) -> Result<(), ChangeError> {
        if let Some(traffic) = self.traffic.first() {
            return Err(refused(traffic, "only root may limit it".to_owned()));
        }
        let card = self.cards.first();
        card.map_or(Ok(()), |card| Err(not_given(card, "only root may do that".to_owned())))
    }

    /// Lists the settings that partitions can't do without, but for pools.
    fn reservations(&self, source: &Source) -> impl Iterator<Item = Request<Cause>> {
        let request = |control, (setting, want)| Request { control, setting, want };
        let shares = self.traffic.iter().enumerate();
        let shares =
            shares.map(move |(index, one)| request(Cause::Share(index), limit(source, one)));
        let behind = self.traffic.iter().filter_map(|traffic| limit_behind(source, traffic));
        let behind = behind.map(move |it| request(Cause::Behind, it));
        let cards = self.cards.iter().enumerate();
        let cards = cards.map(move |(index, card)| request(Cause::Card(index), give(card)));
        let pools = self.pools.iter().map(move |cpus| request(Cause::Pool, part(*cpus)));
        shares.chain(behind).chain(cards).chain(pools)
    }
}

/// The machine can't be changed as a site needs it.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The journal can't be written, and nothing is changed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A reservation that a partition has can't be made, and nothing is changed.
    #[error("the share of the network of partition `{partition}` can't be had: {reason}")]
    Traffic {
        /// The partition whose share it is.
        partition: String,
        /// The obstacle, in words.
        reason: String,
    },
    /// A network card can't be given to a partition's guest, and nothing is changed.
    #[error("the network card at {address} can't be given to partition `{partition}`: {reason}")]
    Card {
        /// The partition whose guest drives it.
        partition: String,
        /// PCI address of the card, with the domain.
        address: String,
        /// The obstacle, in words.
        reason: String,
    },
}

/// Why a setting is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// A control wants it.
    Control(Control),
    /// It is the share of one of the partitions, counted in [`RequestedSettings::traffic`].
    Share(usize),
    /// It gives a card away, counted in [`RequestedSettings::cards`].
    Card(usize),
    /// It is the same share, kept to by the switch behind the interface.
    Behind,
    /// It gives CPUs of a domain a pool of their own.
    Pool,
}

/// The outcome of changing the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsReport {
    /// The outcome of each control in words; empty if none was asked for.
    pub controls: String,
    /// Controls and shares that don't do what they should.
    pub troubles: Vec<NotInForce>,
    /// Controls of which the machine has nothing.
    pub absent: Vec<Control>,
    /// CPUs that went offline, and then settings that did not stay what they were given.
    pub drifts: Vec<MachineDrift>,
}

/// Settings that are changed. They are put back when this is dropped.
#[derive(Debug)]
pub struct Changed {
    held: Option<Held<LiveSettings>>,
    /// Those that are to stay online.
    cpus: CpuSet,
    /// Those of them that were offline when this was last looked at.
    offline: CpuSet,
    /// The settings that were not as they were set, at the last look.
    drifting: Vec<MachineDrift>,
    found: SettingsReport,
    group: Option<ReservedGroup>,
    holder: String,
    /// Links whose interrupts are kept off; `None` where that was not asked for.
    links: Option<Links>,
}

impl Changed {
    /// Changes what is wanted for a holder of this name: controls as far as the machine lets it,
    /// reservations whole. Without `controls`, which is for users who may not, nothing is changed,
    /// and it is only looked whether the CPUs stay online.
    ///
    /// # Errors
    /// The journal can't be written, or a reservation can't be made; nothing is changed then.
    pub fn begin(
        wanted: &RequestedSettings,
        holder: &str,
        controls: Option<&Controls<LiveSettings>>,
    ) -> Result<Self, ChangeError> {
        Self::begin_on(&Source::live(), wanted, holder, controls)
    }

    fn begin_on(
        source: &Source,
        wanted: &RequestedSettings,
        holder: &str,
        controls: Option<&Controls<LiveSettings>>,
    ) -> Result<Self, ChangeError> {
        let mut changed = Self {
            held: None,
            found: SettingsReport::default(),
            group: None,
            holder: holder.to_owned(),
            cpus: wanted.cpus,
            offline: CpuSet::EMPTY,
            drifting: Vec::new(),
            links: None,
        };
        if wanted.is_empty() {
            return Ok(changed);
        }
        let Some(controls) = controls else {
            return wanted.without_rights().map(|()| changed);
        };
        changed.listen(wanted);
        let quiet = requests(source, holder, wanted).into_iter();
        let quiet = quiet.map(|Request { control, setting, want }| Request {
            control: Cause::Control(control),
            setting,
            want,
        });
        let all = wanted.reservations(source).chain(quiet).collect();
        let (held, outcomes) = controls.hold(holder, all)?;
        let mut words = Vec::new();
        let mut of_controls = Vec::new();
        for outcome in outcomes {
            match outcome.control {
                Cause::Control(control) => of_controls.push(outcome.of(control)),
                // What is held is put back when it is dropped.
                Cause::Share(index) => {
                    let traffic = &wanted.traffic[index];
                    let limited = limited(&outcome);
                    let limited =
                        limited.map_err(|failure| refused(traffic, failure.to_string()))?;
                    words.push(limited);
                }
                Cause::Card(index) => {
                    let given = limited(&outcome);
                    let reason = |failure: SettingFailure| failure.to_string();
                    words.push(given.map_err(|it| not_given(&wanted.cards[index], reason(it)))?);
                }
                Cause::Pool => words.push(pooled(&outcome)),
                Cause::Behind => match limited(&outcome) {
                    Ok(limited) => words.push(limited),
                    Err(limit) => {
                        changed.found.troubles.push(NotInForce::ShareBehind { limit });
                    }
                },
            }
        }
        let tallies = Tally::of(&wanted.controls, &of_controls);
        words.extend(tallies.iter().map(ToString::to_string));
        changed.found.controls = words.join("; ");
        changed.found.troubles.extend(tallies.iter().filter_map(Tally::trouble));
        let absent = tallies.iter().filter(|tally| tally.is_absent());
        changed.found.absent = absent.map(|tally| tally.control).collect();
        changed.group = of_controls.iter().find_map(group);
        changed.held = Some(held);
        Ok(changed)
    }

    /// Listens for links, before interrupts are read, so that none comes up unseen in between.
    fn listen(&mut self, wanted: &RequestedSettings) {
        if !wanted.controls.contains(&Control::Interrupts) {
            return;
        }
        match Links::listen() {
            Ok(links) => self.links = Some(links),
            Err(error) => {
                self.found.troubles.push(NotInForce::LinksUnheard { error: error.to_string() });
            }
        }
    }

    /// The group that has these CPUs for itself, where there is one. Others can't run on them.
    pub fn group(&self) -> Option<ReservedGroup> {
        self.group.clone()
    }

    /// Returns the outcome so far.
    pub fn found(&self) -> &SettingsReport {
        &self.found
    }

    /// Looks whether the CPUs are online and the settings what they were given. Returns what was
    /// not known yet.
    pub fn look(&mut self) -> Vec<MachineDrift> {
        let of_settings = match self.held.as_ref().map(Held::check) {
            None => Vec::new(),
            Some(Ok(drifts)) => drifts,
            Some(Err(error)) => vec![MachineDrift::NotCompared { error: error.to_string() }],
        };
        // After the settings: a CPU that has taken some of them along is offline by then.
        let of_cpus = self.look_at_cpus(&Source::live());
        self.note(of_cpus, of_settings)
    }

    /// Lists what was not as it should be at the last look, a sentence each: CPUs that are offline,
    /// and settings.
    pub fn drifting(&self) -> Vec<String> {
        let offline = self.offline.iter().map(|cpu| format!("CPU {cpu} is offline"));
        offline.chain(self.drifting.iter().map(ToString::to_string)).collect()
    }

    /// Notes what was seen, CPUs before settings: that a CPU went offline is why settings drift.
    /// Returns what was not known yet. CPUs are news whenever they go or come; how often they do
    /// says nothing more about what was measured.
    fn note(
        &mut self,
        of_cpus: Vec<MachineDrift>,
        mut of_settings: Vec<MachineDrift>,
    ) -> Vec<MachineDrift> {
        self.drifting.clone_from(&of_settings);
        let drifts = &mut self.found.drifts;
        of_settings.retain(|drift| !drifts.contains(drift));
        let unknown: Vec<_> =
            of_cpus.iter().filter(|drift| !drifts.contains(drift)).cloned().collect();
        drifts.splice(..0, unknown);
        drifts.extend_from_slice(&of_settings);
        [of_cpus, of_settings].concat()
    }

    /// Which of the CPUs went offline and came back since the last look.
    fn look_at_cpus(&mut self, source: &Source) -> Vec<MachineDrift> {
        let online = source.value::<CpuList>("/sys/devices/system/cpu/online");
        let Some(online) = online.get() else { return Vec::new() };
        let offline = self.cpus.without(&online.0);
        let (gone, back) = (offline.without(&self.offline), self.offline.without(&offline));
        self.offline = offline;
        let gone = gone.iter().map(|cpu| MachineDrift::CpuOffline { cpu: cpu.get() });
        let back = back.iter().map(|cpu| MachineDrift::CpuOnline { cpu: cpu.get() });
        gone.chain(back).collect()
    }

    /// Keeps interrupts off the CPUs when a link has come up since the last call: those that its
    /// driver has placed there are put back, and those that are new are kept off as well. Returns
    /// what was done, which is drift. Does not wait.
    pub fn follow_links(&mut self) -> &[MachineDrift] {
        let known = self.found.drifts.len();
        let heard = self.links.as_mut().map(Links::hear).unwrap_or_default();
        if let Some(held) = self.held.as_ref().filter(|_| heard.is_some()) {
            let controls = vec![Control::Interrupts];
            let wanted =
                RequestedSettings { controls, cpus: self.cpus, ..RequestedSettings::default() };
            let asked = requests(&Source::live(), &self.holder, &wanted);
            match held.renew(asked) {
                Ok(done) => {
                    let drifts = done.iter().map(|outcome| outcome.after_link(&heard));
                    self.found.drifts.extend(drifts);
                }
                Err(error) => {
                    let error = error.to_string();
                    self.found.drifts.push(MachineDrift::NotCompared { error });
                }
            }
        }
        &self.found.drifts[known..]
    }

    /// Puts the settings back. Returns what was found, and what could not be put back.
    pub fn end(mut self) -> (SettingsReport, Vec<String>) {
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

impl Outcome<Control> {
    /// Makes the drift of a setting that had to be given its value again after links came up.
    fn after_link(&self, heard: &Heard) -> MachineDrift {
        MachineDrift::PlacedByDriver {
            interface: heard.came_up.last().cloned(),
            setting: (&self.setting).into(),
            found: self.before.clone(),
            given: self.wanted.clone(),
        }
    }
}

/// Describes how a partition's share is kept.
fn limited(outcome: &Outcome<Cause>) -> Result<String, SettingFailure> {
    let Outcome { setting, wanted, .. } = outcome;
    outcome.failure().map_or_else(|| Ok(format!("{setting}: `{wanted}`")), Err)
}

/// Describes how CPUs of a domain are kept apart.
fn pooled(outcome: &Outcome<Cause>) -> String {
    let Outcome { setting, .. } = outcome;
    match outcome.failure() {
        None => format!("{setting}: its own, with the scheduler `{}`", pool::SCHEDULER),
        Some(why) => format!("no pool of its own, and pinned all the same: {why}"),
    }
}

fn refused(traffic: &Traffic, reason: String) -> ChangeError {
    ChangeError::Traffic { partition: traffic.partition.clone(), reason }
}

fn not_given(card: &GivenCard, reason: String) -> ChangeError {
    let GivenCard { partition, address, .. } = card.clone();
    ChangeError::Card { partition, address, reason }
}

fn group(outcome: &Outcome<Control>) -> Option<ReservedGroup> {
    let Setting::Cpuset { path, kind } = &outcome.setting else { return None };
    let is_entered = *kind != CpusetKind::Domain && outcome.effect == Effect::Effective;
    is_entered.then(|| ReservedGroup { folder: PathBuf::from(path), kind: *kind })
}

#[cfg(test)]
mod tests;
