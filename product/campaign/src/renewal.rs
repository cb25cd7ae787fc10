//! The choice of what of an evidence folder is measured again. Pure.
//!
//! A profile is renewed whole, because its partitions run at the same time; so is a probe of a
//! partition. Where a campaign measures each partition alone, each is renewed on its own under each
//! profile. Nothing is measured again for its verdict: a FAIL that still holds is taken over.

use std::collections::BTreeMap;

use quietcore_evidence::{Evidence, Manifest, NotMeasured, ProbeEntry};
use quietcore_record::ageing::Change;
use quietcore_record::record::Record;
use quietcore_record::renewal::{CampaignPart, MeasuredAgain, Renewal, RenewalReason};

use crate::probe::PlannedProbe;
use crate::run::Run;

/// The parts of an evidence folder that are measured again, and the records that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenewalPlan {
    /// Parts to be measured again, in the order of the campaign.
    pub measured_again: Vec<MeasuredAgain>,
    /// Names of the records to be taken over.
    pub taken_over: Vec<String>,
}

/// The folder can't be renewed: it has a part of a run that is to be gone on with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its campaign was not measured to its end; go on with `quietcore qualify --resume` first")]
pub struct NotEnded;

impl RenewalPlan {
    /// Decides about each profile and probe of a campaign; about each of these `runs` and what was
    /// measured beside them, where it measures each partition alone. `changes` returns the changes
    /// by which records of a partition have expired.
    ///
    /// # Errors
    /// [`NotEnded`] where the campaign was interrupted.
    pub fn of(
        evidence: &Evidence,
        alone: Option<&[Run]>,
        changes: &mut dyn FnMut(&str, &[&Record]) -> Vec<Change>,
    ) -> Result<Self, NotEnded> {
        let manifest = &evidence.manifest;
        if !manifest.complete {
            return Err(NotEnded);
        }
        let mut plan = Self::default();
        match alone {
            Some(runs) => plan.add_each_alone(evidence, runs, changes)?,
            None => plan.add_profiles(evidence, changes)?,
        }
        for entry in &manifest.probes {
            let ProbeEntry { probe: name, partition, .. } = entry;
            let is_of = |record: &&Record| {
                !record.is_of_releases() && record.probe == *name && record.partition == *partition
            };
            let records: Vec<&Record> = evidence.records.iter().filter(is_of).collect();
            let (name, partition) = (name.clone(), partition.clone());
            let part = CampaignPart::Probe { name, partition };
            plan.add(part, &records, entry.not_measured.clone(), changes)?;
        }
        Ok(plan)
    }

    /// Adds the profiles of a campaign, whose partitions run at the same time.
    fn add_profiles(
        &mut self,
        evidence: &Evidence,
        changes: &mut dyn FnMut(&str, &[&Record]) -> Vec<Change>,
    ) -> Result<(), NotEnded> {
        let manifest = &evidence.manifest;
        for (profile, _) in &manifest.profiles {
            let is_of = |record: &&Record| record.is_of_releases() && record.profile == *profile;
            let records: Vec<&Record> = evidence.records.iter().filter(is_of).collect();
            let mut missing = manifest.not_measured.iter().filter(|it| it.profile == *profile);
            let because = missing.next().map(|it: &NotMeasured| it.because.clone());
            self.add(CampaignPart::Profile(profile.clone()), &records, because, changes)?;
        }
        Ok(())
    }

    /// Adds each partition under each profile. What was not measured before and can't be measured
    /// now, as there is no run of it, is left as it is.
    fn add_each_alone(
        &mut self,
        evidence: &Evidence,
        runs: &[Run],
        changes: &mut dyn FnMut(&str, &[&Record]) -> Vec<Change>,
    ) -> Result<(), NotEnded> {
        let possible = runs.iter().flat_map(|run| {
            run.partitions.iter().map(|it| (it.name.as_str(), run.profile.as_str()))
        });
        let releases = || evidence.records.iter().filter(|record| record.is_of_releases());
        let measured = releases().map(|it| (it.partition.as_str(), it.profile.as_str()));
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for pair in possible.chain(measured) {
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (partition, profile) in pairs {
            let is_it = |of: (&str, &str)| of == (partition, profile);
            let records: Vec<&Record> =
                releases().filter(|it| is_it((&it.partition, &it.profile))).collect();
            let mut missing = evidence.manifest.not_measured.iter();
            let because = missing.find(|it| is_it((&it.partition, &it.profile)));
            let because = because.map(|it| it.because.clone());
            let (partition, profile) = (partition.to_owned(), profile.to_owned());
            self.add(CampaignPart::Alone { partition, profile }, &records, because, changes)?;
        }
        Ok(())
    }

    /// Adds a part with its records; `missing` is the reason why they are not all there.
    fn add(
        &mut self,
        part: CampaignPart,
        records: &[&Record],
        missing: Option<String>,
        changes: &mut dyn FnMut(&str, &[&Record]) -> Vec<Change>,
    ) -> Result<(), NotEnded> {
        if let Some(because) = missing {
            // A part of a run keeps its late releases: only going on with it does not lose them.
            if !records.is_empty() {
                return Err(NotEnded);
            }
            let because = vec![RenewalReason::NotMeasured { because }];
            self.measured_again.push(MeasuredAgain { part, because });
            return Ok(());
        }
        let mut of: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for record in records {
            of.entry(&record.partition).or_default().push(record);
        }
        let mut expired: BTreeMap<Change, Vec<String>> = BTreeMap::new();
        for (partition, records) in of {
            for change in changes(partition, &records) {
                expired.entry(change).or_default().push(partition.to_owned());
            }
        }
        if expired.is_empty() {
            self.taken_over.extend(records.iter().map(|record| record.name.clone()));
        } else {
            let reason = |(change, partitions)| RenewalReason::Expired { partitions, change };
            let because = expired.into_iter().map(reason).collect();
            self.measured_again.push(MeasuredAgain { part, because });
        }
        Ok(())
    }

    /// Returns `true` if everything holds.
    pub fn is_empty(&self) -> bool {
        self.measured_again.is_empty()
    }
}

/// Returns `true` if a run is to be made.
pub(crate) fn renews_run(renewal: &Renewal, run: &Run) -> bool {
    let has = |partition: &str| run.partitions.iter().any(|it| it.name == partition);
    renewal.measured_again.iter().any(|again| match &again.part {
        CampaignPart::Profile(profile) => *profile == run.profile,
        CampaignPart::Alone { partition, profile } => *profile == run.profile && has(partition),
        CampaignPart::Probe { .. } => false,
    })
}

/// Returns `true` if a probe is to measure.
pub(crate) fn renews_probe(renewal: &Renewal, probe: &PlannedProbe) -> bool {
    renewal.measured_again.iter().any(|again| match &again.part {
        CampaignPart::Profile(_) | CampaignPart::Alone { .. } => false,
        CampaignPart::Probe { name, partition } => probe.is_called(name, partition),
    })
}

/// Returns the folder in which a record was measured: of one that was taken over before, the one
/// that it was taken from.
pub(crate) fn origin<'m>(earlier: &'m Manifest, folder: &'m str, record: &str) -> &'m str {
    let mut taken = earlier.renewal.iter().flat_map(|renewal| &renewal.taken_over);
    taken.find(|it| it.record == record).map_or(folder, |it| &it.folder)
}

#[cfg(test)]
mod tests;
