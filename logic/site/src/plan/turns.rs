//! Turns: what a machine can do of a campaign that measures each partition alone.
//!
//! A comparison of systems asks for more than one machine has. So a partition, or a profile of it,
//! that can't be realised is left out with the refusal, and the others are measured. A site whose
//! partitions run at the same time has one turn, which is possible or not.

use crate::machine::Machine;
use crate::plan::{Refusal, refuse};
use crate::site::{Profile, Site};

/// The parts of a campaign that a machine can do, and the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    /// The parts of the site that are measured one after the other, each with the profiles that are
    /// possible.
    pub possible: Vec<Site>,
    /// Partitions and profiles that can't be measured.
    pub left_out: Vec<LeftOut>,
}

/// A partition that is not measured under some profiles, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the partition.
    pub partition: String,
    /// Names of the profiles; never empty.
    pub profiles: Vec<String>,
    /// Everything that stands against them; never empty.
    pub refusals: Vec<Refusal>,
}

impl LeftOut {
    /// Returns the reason with its remedy, as it is noted in evidence: without the place in the
    /// file.
    pub fn because(&self) -> String {
        let words = |it: &Refusal| format!("{}; {}", it.reason, it.remedy);
        let reasons: Vec<String> = self.refusals.iter().map(words).collect();
        reasons.join("; ")
    }
}

/// Decides what of a site's campaign is possible on a machine.
///
/// # Errors
/// Everything that stands against it where nothing is possible, or where the partitions are not
/// measured alone; in the order of the file.
pub fn turns(site: &Site, machine: &Machine) -> Result<Turns, Vec<Refusal>> {
    if !site.campaign().alone {
        let refusals = refuse::all(site, machine);
        let possible = || Turns { possible: vec![site.clone()], left_out: Vec::new() };
        return if refusals.is_empty() { Ok(possible()) } else { Err(refusals) };
    }
    let mut turns = Turns { possible: Vec::new(), left_out: Vec::new() };
    for whole in site.turns() {
        turns.add(whole, machine);
    }
    if turns.possible.is_empty() { Err(turns.refusals()) } else { Ok(turns) }
}

impl Turns {
    /// Leaves out the profiles of a partition that `concerns` is `true` of, for a reason that no
    /// [`Machine`] tells, such as an image that is not there.
    pub fn leave_out(
        &mut self,
        partition: &str,
        concerns: impl Fn(&Profile) -> bool,
        refusal: Refusal,
    ) {
        let mut profiles = Vec::new();
        for turn in self.possible.iter_mut().filter(|it| it.partitions[0].name == partition) {
            let all = std::mem::take(&mut turn.campaign.profiles);
            let (out, left) = all.into_iter().partition::<Vec<_>, _>(&concerns);
            profiles.extend(out.into_iter().map(|profile| profile.name));
            turn.campaign.profiles = left;
        }
        self.possible.retain(|turn| !turn.campaign.profiles.is_empty());
        if !profiles.is_empty() {
            let (partition, refusals) = (partition.to_owned(), vec![refusal]);
            self.left_out.push(LeftOut { partition, profiles, refusals });
        }
    }

    /// Returns everything that stands against the parts that are left out, in the order of the
    /// file.
    pub fn refusals(self) -> Vec<Refusal> {
        let mut all: Vec<_> = self.left_out.into_iter().flat_map(|it| it.refusals).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Adds the part of a site with one partition, as far as it is possible.
    fn add(&mut self, mut turn: Site, machine: &Machine) {
        let partition = turn.partitions[0].name.clone();
        let mut leave_out = |profiles, refusals| {
            let partition = partition.clone();
            self.left_out.push(LeftOut { partition, profiles, refusals });
        };
        let profiles = std::mem::take(&mut turn.campaign.profiles);
        let names = profiles.iter().map(|profile| profile.name.clone()).collect();
        // What stands against the partition stands against every profile.
        let refusals = refuse::all(&turn, machine);
        if !refusals.is_empty() {
            leave_out(names, refusals);
            return;
        }
        for profile in profiles {
            let name = profile.name.clone();
            turn.campaign.profiles.push(profile);
            let refusals = refuse::all(&turn, machine);
            if !refusals.is_empty() {
                turn.campaign.profiles.pop();
                leave_out(vec![name], refusals);
            }
        }
        if !turn.campaign.profiles.is_empty() {
            self.possible.push(turn);
        }
    }
}
