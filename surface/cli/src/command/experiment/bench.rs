//! The site as a run of one block, and the end of an experiment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quietcore_campaign::probe::EXCEEDANCE;
use quietcore_campaign::{Run, runs};
use quietcore_evidence::{Evidence, Writer, folder_name};
use quietcore_host::Facts;
use quietcore_record::record::Record;
use quietcore_site::{Length, Profile, Site};
use quietcore_units::Nanos;

use super::super::probe::{Identity, keep};
use crate::arguments::Rounds;
use crate::files::{self, SiteFile};
use crate::programs::{self, Built};
use crate::status::Failure;
use crate::terminal::say;
use crate::{command, machine};

/// The shortest and the longest block.
pub(super) const BLOCK: [Nanos; 2] = [Nanos::from_millis(100), Nanos::from_secs(3600)];
/// Below this number of releases, the 99.9 % quantile of a block is its maximum.
const MANY: u64 = 1000;
/// The longest warm-up before a block.
const WARM_UP_MAX: Nanos = Nanos::from_secs(60);

/// A site from which variants are made.
pub(super) struct Bench {
    pub(super) file: SiteFile,
    pub(super) facts: Facts,
    pub(super) profile: Profile,
    built: Built,
    warm_up: Nanos,
}

impl Bench {
    /// Reads and checks everything before anything is built.
    pub(super) fn new(
        site: &Path,
        profile: Option<&str>,
        rounds: &Rounds,
        facts: Facts,
    ) -> Result<Self, Failure> {
        let file = files::read_site(site)?;
        let profile = profile_of(&file.site, profile)?;
        check(rounds, &file.site)?;
        remark_few(rounds, &file.site);
        let degraded = command::plan::make_run(&file.site, &facts)?;
        command::plan::remark_site(&file.site, &degraded);
        let built = programs::build(&file.site, programs::folder_of(site))?;
        Ok(Self::of(file, built, profile, rounds, facts))
    }

    /// Takes a site that was checked, and its built programs.
    pub(super) fn of(
        file: SiteFile,
        built: Built,
        profile: Profile,
        rounds: &Rounds,
        facts: Facts,
    ) -> Self {
        Self { file, facts, profile, built, warm_up: rounds.warm_up }
    }

    /// Returns the run of all partitions under the profile, `length` long.
    pub(super) fn run(&self, length: Nanos) -> Result<Run, Failure> {
        let mut site = self.file.site.clone();
        site.select_profiles(std::slice::from_ref(&self.profile.name))?;
        site.set_length(Length::Duration(length))?;
        site.set_warm_up(self.warm_up)?;
        let usable = self.facts.machine().usable;
        let runs = runs(&site, &self.file.sha256, usable, &self.built.programs);
        runs.into_iter().next().ok_or_else(|| Failure::new("quietcore: the site has no profile"))
    }

    /// Keeps the records in a new folder, with the page.
    pub(super) fn keep(
        &self,
        writer: &Writer,
        verb: &str,
        records: Vec<Record>,
        limits: Vec<String>,
    ) -> Result<Evidence, Failure> {
        if records.is_empty() {
            return Err(Failure::new("quietcore: stopped before anything was measured"));
        }
        writer.site(&self.file.bytes)?;
        let name = format!("{verb} {}", self.file.site.name());
        let identity = Identity {
            name: &name,
            site_sha256: &self.file.sha256,
            // Blocks are too short for a verdict.
            classes: &[],
            exceedance: EXCEEDANCE,
            declared: BTreeMap::new(),
            profiles: variants(&records),
            limits,
        };
        keep(Some(writer), &self.facts, records, &identity)
    }
}

/// Checks the lengths of blocks and warm-ups for a site; all problems are told at once.
pub(super) fn check(rounds: &Rounds, site: &Site) -> Result<(), Failure> {
    let mut problems = Vec::new();
    if !(BLOCK[0]..=BLOCK[1]).contains(&rounds.block) {
        let [least, most] = BLOCK;
        problems.push(format!("--block {}: give {least} to {most}", rounds.block));
    }
    let longest = periods(site).max().unwrap_or_default();
    if rounds.block < longest {
        let block = rounds.block;
        problems.push(format!("--block {block}: shorter than a cycle of {longest}; give more"));
    }
    if rounds.warm_up > WARM_UP_MAX {
        problems.push(format!("--warm-up {}: give at most {WARM_UP_MAX}", rounds.warm_up));
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::new(problems.join("\n"))) }
}

/// Remarks on blocks of so few releases that their 99.9 % quantile says no more than their maximum.
fn remark_few(rounds: &Rounds, site: &Site) {
    if let Some(few) = periods(site).map(|it| rounds.block.whole_times(it)).find(|it| *it < MANY) {
        say(format_args!(
            "remark: the 99.9 % quantile of a block of {few} releases is its maximum; a longer \
             --block tells more"
        ));
    }
}

fn periods(site: &Site) -> impl Iterator<Item = Nanos> {
    site.partitions().iter().map(|partition| partition.program.period)
}

/// Returns a writer for the folder that was asked for, or for a new one of this site.
pub(super) fn writer(rounds: &Rounds, verb: &str, site: &Site) -> Result<Writer, Failure> {
    let named = || folder_name(&machine::time_of_day(), &format!("{verb}-{}", site.name()));
    let folder: PathBuf = rounds.out.clone().unwrap_or_else(|| Path::new("runs").join(named()));
    files::refuse_dash("--out", &folder)?;
    Ok(Writer::create(&folder)?)
}

/// Returns the variants in the order of their records.
fn variants(records: &[Record]) -> Vec<(String, String)> {
    let mut variants: Vec<(String, String)> = Vec::new();
    for record in records {
        if !variants.iter().any(|(name, _)| *name == record.profile) {
            variants.push((record.profile.clone(), String::new()));
        }
    }
    variants
}

/// Returns the profile that was asked for. It must pin the partitions; otherwise nothing is
/// reserved.
pub(super) fn profile_of(site: &Site, wanted: Option<&str>) -> Result<Profile, Failure> {
    let Some(wanted) = wanted else { return Ok(usual_profile(site)) };
    let mut chosen = site.clone();
    chosen.select_profiles(&[wanted.to_owned()])?;
    let profile = chosen.campaign().profiles[0].clone();
    if !profile.pinned {
        return Err(Failure::new(format_args!(
            "--profile {wanted}: it does not pin the partitions, so that nothing is reserved; \
             choose one that does, such as tp2 or tp4"
        )));
    }
    Ok(profile)
}

/// Returns the hardest profile of the site that pins: the last one with a load, or else the last.
fn usual_profile(site: &Site) -> Profile {
    let pins = || site.campaign().profiles.iter().filter(|profile| profile.pinned);
    let loaded = pins().rfind(|profile| !profile.loads.is_empty());
    let found = loaded.or_else(|| pins().next_back());
    // Every site has built-in ones that pin.
    let known = || site.profiles().iter().rfind(|profile| profile.pinned);
    found.or_else(known).cloned().expect("tp4 is built in")
}
