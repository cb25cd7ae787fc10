//! The runs of a campaign, one after the other, into an evidence folder.
//!
//! The folder is readable at every moment: after each run its records are written, then the
//! manifest, which lists all that has not been measured. A campaign that was interrupted goes on
//! from that list.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_evidence::{
    Checkpoints, Evidence, Length, MANIFEST_SCHEMA, Manifest, NotMeasured, Origin, WriteError,
    Writer, read_kernel, read_record,
};
use quietcore_record::record::Record;
use quietcore_record::renewal::{Renewal, TakenOver};
use quietcore_site::Site;
use quietcore_units::Causes;

use crate::collect::PROGRAM_BUILD;
use crate::measure::checkpoint::{Checkpointing, take_up};
use crate::measure::{Machine, MeasureError, measure_kept};
use crate::observer::Observer;
use crate::probe::PlannedProbe;
use crate::renewal::{self, RenewalPlan, renews_probe, renews_run};
use crate::run::Run;
use crate::work::PartitionWork;

/// The reason noted for a run that the campaign has not reached.
const NOT_REACHED: &str = "the campaign was ended before";

/// A campaign in progress: the runs and probes still to be measured, and the folder they go to.
#[derive(Debug)]
pub struct Campaign {
    writer: Writer,
    manifest: Manifest,
    runs: Vec<Run>,
    probes: Vec<PlannedProbe>,
}

/// The request for a campaign: its site, its length, and what it leaves out.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The site, with the profiles that were chosen.
    pub site: &'a Site,
    /// The site file as it was read.
    pub site_bytes: &'a [u8],
    /// The folder of the site file, for a campaign that goes on later; `None` without a site file.
    pub site_folder: Option<String>,
    /// Time of the start, in RFC 3339.
    pub started_at: &'a str,
    /// Length of each profile, if the command line gave another than the site file.
    pub length: Option<Length>,
    /// Limits of the evidence, a sentence each.
    pub limits: Vec<String>,
    /// Measurements that the site file asks for and that were left out: by the command line, or
    /// because this machine can't do them.
    pub left_out: Vec<NotMeasured>,
}

/// An earlier folder that a campaign renews.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    /// Path of the folder.
    pub root: &'a Path,
    /// Its path as the new folder names it.
    pub folder: &'a str,
    /// SHA-256 of its list of sums.
    pub sums_sha256: &'a str,
    /// The evidence in it.
    pub evidence: &'a Evidence,
    /// The parts to be measured again and the records to be taken over.
    pub plan: &'a RenewalPlan,
}

/// The end of a campaign: complete, or interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that could be measured has been measured.
    Completed,
    /// It was told to stop; the rest can be measured later.
    Interrupted,
}

/// The reasons why a campaign can't go on.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The evidence can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The folder to go on with belongs to another site file.
    #[error(
        "the folder was begun with another site file (SHA-256 {theirs}, this one {ours}); begin a \
         new campaign"
    )]
    OtherSite {
        /// SHA-256 of the site file in the folder.
        theirs: String,
        /// SHA-256 of the given site file.
        ours: String,
    },
    /// The machine runs another kernel than the one that the campaign was begun under: records of
    /// both would contradict each other.
    #[error(
        "the campaign was begun under kernel {theirs}, and this machine runs {ours}; start that \
         one to go on, or begin a new campaign"
    )]
    OtherKernel {
        /// The kernel in the folder's facts.
        theirs: String,
        /// The kernel that the machine runs now.
        ours: String,
    },
    /// A program is not the one that the campaign was begun with.
    #[error(
        "the program of partition `{partition}` has changed since the campaign was begun: build \
         {theirs} was measured, this one is {ours}; begin a new campaign"
    )]
    OtherProgram {
        /// Name of the partition whose program changed.
        partition: String,
        /// The build in the folder's records.
        theirs: String,
        /// The build of the program now.
        ours: String,
    },
}

impl Campaign {
    /// Begins a campaign in a new folder.
    ///
    /// # Errors
    /// When the folder's first files can't be written.
    pub fn begin(
        writer: Writer,
        asked: Asked<'_>,
        runs: Vec<Run>,
        probes: Vec<PlannedProbe>,
    ) -> Result<Self, CampaignError> {
        let site_bytes = asked.site_bytes;
        let campaign = Self::planned(writer, asked, runs, probes);
        campaign.write_first(site_bytes)?;
        Ok(campaign)
    }

    /// Makes a campaign of which nothing is written yet.
    fn planned(
        writer: Writer,
        asked: Asked<'_>,
        runs: Vec<Run>,
        probes: Vec<PlannedProbe>,
    ) -> Self {
        let site = asked.site;
        let reached = runs.iter().flat_map(|run| not_measured(run, NOT_REACHED));
        let site_sha256 = runs.first().map(|run| run.site_sha256.clone()).unwrap_or_default();
        let manifest = Manifest {
            schema: MANIFEST_SCHEMA.to_owned(),
            name: site.name().to_owned(),
            origin: Origin::Campaign,
            started_at: asked.started_at.to_owned(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
            site_sha256,
            site_folder: asked.site_folder,
            exceedance: site.campaign().exceedance,
            classes: site.classes().to_vec(),
            declared: declared(site),
            profiles: site
                .campaign()
                .profiles
                .iter()
                .map(|profile| (profile.name.clone(), profile.description.clone()))
                .collect(),
            length: asked.length,
            limits: asked.limits,
            not_measured: reached.chain(asked.left_out).collect(),
            probes: probes.iter().map(|probe| probe.entry(NOT_REACHED)).collect(),
            complete: false,
            renewal: None,
        };
        Self { writer, manifest, runs, probes }
    }

    /// Writes the site file, and then the manifest, which makes the folder one of evidence.
    fn write_first(&self, site_bytes: &[u8]) -> Result<(), CampaignError> {
        self.writer.site(site_bytes)?;
        Ok(self.writer.manifest(&self.manifest)?)
    }

    /// Begins a campaign in a new folder that renews an earlier one: takes over the records that
    /// still hold, and is to measure the rest.
    ///
    /// # Errors
    /// When a record can't be read there or written here.
    pub fn renew(
        writer: Writer,
        asked: Asked<'_>,
        earlier: &Earlier<'_>,
        runs: Vec<Run>,
        probes: Vec<PlannedProbe>,
    ) -> Result<Self, CampaignError> {
        let Earlier { root, folder, sums_sha256, evidence, plan } = earlier;
        let mut taken_over = Vec::new();
        for name in &plan.taken_over {
            let record = evidence.records.iter().find(|record| record.name == *name);
            let measured_at = record.map(|it| it.conditions.started_at.clone()).unwrap_or_default();
            taken_over.push(TakenOver {
                record: name.clone(),
                folder: renewal::origin(&evidence.manifest, folder, name).to_owned(),
                measured_at,
                sha256: writer.take_over(root, name)?,
            });
        }
        let renewal = Renewal {
            folder: (*folder).to_owned(),
            started_at: evidence.manifest.started_at.clone(),
            sums_sha256: (*sums_sha256).to_owned(),
            measured_again: plan.measured_again.clone(),
            taken_over,
        };
        let site_bytes = asked.site_bytes;
        let mut campaign = Self::planned(writer, asked, runs, probes);
        campaign.keep(renewal, evidence);
        campaign.write_first(site_bytes)?;
        Ok(campaign)
    }

    /// Leaves out what a renewal does not measure again, and notes that in the manifest.
    fn keep(&mut self, renewal: Renewal, earlier: &Evidence) {
        let Evidence { manifest: earlier, records, .. } = earlier;
        let kept = |entry: &NotMeasured| {
            self.runs.iter().any(|run| is_of(entry, run) && !renews_run(&renewal, run))
        };
        // A partition that this machine has no more may have been measured alone, and still hold.
        let taken_over = |entry: &NotMeasured| {
            let is_of =
                |it: &Record| (&it.partition, &it.profile) == (&entry.partition, &entry.profile);
            let mut taken = renewal.taken_over.iter();
            taken.any(|taken| records.iter().any(|it| it.name == taken.record && is_of(it)))
        };
        self.manifest.not_measured.retain(|entry| !kept(entry) && !taken_over(entry));
        self.runs.retain(|run| renews_run(&renewal, run));
        self.probes.retain(|probe| renews_probe(&renewal, probe));
        for entry in &mut self.manifest.probes {
            let is_left = self.probes.iter().any(|probe| probe.is_of(entry));
            let before = earlier
                .probes
                .iter()
                .find(|it| (&it.probe, &it.partition) == (&entry.probe, &entry.partition));
            if let Some(before) = before.filter(|_| !is_left) {
                entry.clone_from(before);
            }
        }
        // Among them are those of the probes that were taken over.
        add_new(&mut self.manifest.limits, earlier.limits.iter().cloned());
        self.manifest.renewal = Some(renewal);
    }

    /// Goes on with a campaign that was interrupted, or whose machine died: runs only what its
    /// manifest lists as missing. Checkpoints of a run that was cut off become its earlier part.
    ///
    /// # Errors
    /// Returns [`CampaignError::OtherSite`] when the site file is not the one that the campaign was
    /// begun with, [`CampaignError::OtherKernel`] when `kernel`, which the machine runs now, is
    /// another one, [`CampaignError::OtherProgram`] when a program has changed, and
    /// [`CampaignError::Write`] when the folder's seal can't be removed.
    pub fn resume(
        writer: Writer,
        mut manifest: Manifest,
        site_sha256: &str,
        kernel: &str,
        runs: Vec<Run>,
        probes: Vec<PlannedProbe>,
    ) -> Result<Self, CampaignError> {
        if manifest.site_sha256 != site_sha256 {
            return Err(CampaignError::OtherSite {
                theirs: manifest.site_sha256,
                ours: site_sha256.to_owned(),
            });
        }
        if let Some(theirs) = read_kernel(writer.root()).filter(|theirs| theirs != kernel) {
            return Err(CampaignError::OtherKernel { theirs, ours: kernel.to_owned() });
        }
        take_up(&writer, &mut manifest)?;
        for run in &runs {
            same_programs(&writer, run)?;
        }
        writer.unseal()?;
        let missing = |run: &Run| manifest.not_measured.iter().any(|entry| is_of(entry, run));
        let runs = runs.into_iter().filter(missing).collect();
        let is_missing = |probe: &PlannedProbe| {
            let mut entries = manifest.probes.iter();
            entries.any(|entry| probe.is_of(entry) && entry.not_measured.is_some())
        };
        let probes = probes.into_iter().filter(is_missing).collect();
        Ok(Self { writer, manifest, runs, probes })
    }

    /// Returns the runs that are still to be made.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the writer of its evidence folder.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Measures all remaining runs, then with all remaining probes. A failure is noted in the
    /// manifest, and the next one begins.
    ///
    /// # Errors
    /// When evidence can't be written; what was written before stays.
    pub fn measure_all(
        &mut self,
        machine: &Machine<'_>,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome, CampaignError> {
        let mut outcome = Outcome::Completed;
        for run in std::mem::take(&mut self.runs) {
            if stop.load(Ordering::Relaxed) {
                outcome = Outcome::Interrupted;
                break;
            }
            outcome = self.measure_run(&run, machine, observer, stop)?;
            if outcome == Outcome::Interrupted {
                break;
            }
        }
        if outcome == Outcome::Completed {
            outcome = self.measure_probes(machine, observer, stop)?;
        }
        self.manifest.complete = outcome == Outcome::Completed;
        self.writer.manifest(&self.manifest)?;
        Ok(outcome)
    }

    /// Measures a run, and keeps checkpoints of it until its records are written.
    fn measure_run(
        &mut self,
        run: &Run,
        machine: &Machine<'_>,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome, CampaignError> {
        let kept = Checkpoints::of(self.writer.root());
        let measured = {
            let mut checkpoints = Checkpointing::begin(kept.clone(), machine.world.clock().now());
            measure_kept(run, machine, observer, stop, Some(&mut checkpoints))
        };
        let outcome = match measured {
            Ok(measured) => {
                for mut record in measured.records {
                    // The cycles of an interrupted part stay part of the evidence.
                    if let Some(earlier) = read_record(self.writer.root(), &record.name) {
                        record.absorb(earlier);
                    }
                    self.writer.record(&record)?;
                }
                let because =
                    measured.interrupted.then_some("interrupted; what was measured is kept");
                self.note(run, because)?;
                if measured.interrupted { Outcome::Interrupted } else { Outcome::Completed }
            }
            Err(MeasureError::Stopped) => Outcome::Interrupted,
            Err(error) => {
                let because = Causes(&error).to_string();
                observer.failed(run, &because);
                self.note(run, Some(&because))?;
                Outcome::Completed
            }
        };
        kept.clear()?;
        Ok(outcome)
    }

    /// Measures with the remaining probes. One that is interrupted is measured anew later, because
    /// blocks of two runs do not form pairs.
    fn measure_probes(
        &mut self,
        machine: &Machine<'_>,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome, CampaignError> {
        for mut probe in std::mem::take(&mut self.probes) {
            observer.tell(&probe.title());
            let measured = probe.measure(machine, observer, stop);
            if stop.load(Ordering::Relaxed) {
                self.note_probe(&probe, &[], Some("interrupted; it is measured anew"))?;
                return Ok(Outcome::Interrupted);
            }
            match measured {
                Ok(records) => {
                    for record in &records {
                        self.writer.record(record)?;
                    }
                    self.note_probe(&probe, &records, None)?;
                }
                Err(error) => {
                    let because = Causes(&error).to_string();
                    observer.tell(&format!("{}: not measured: {because}", probe.title()));
                    self.note_probe(&probe, &[], Some(&because))?;
                }
            }
        }
        Ok(Outcome::Completed)
    }

    /// Notes the outcome of a probe in the manifest: `because` is `None` when it measured
    /// `records`.
    fn note_probe(
        &mut self,
        probe: &PlannedProbe,
        records: &[Record],
        because: Option<&str>,
    ) -> Result<(), WriteError> {
        if let Some(entry) = self.manifest.probes.iter_mut().find(|entry| probe.is_of(entry)) {
            entry.profiles = probe.profiles(records);
            entry.not_measured = because.map(str::to_owned);
        }
        if because.is_none() {
            add_new(&mut self.manifest.limits, probe.limits());
        }
        self.writer.manifest(&self.manifest)
    }

    /// Notes the outcome of a run in the manifest: `because` is `None` when it was measured whole.
    fn note(&mut self, run: &Run, because: Option<&str>) -> Result<(), WriteError> {
        self.manifest.not_measured.retain(|entry| !is_of(entry, run));
        let entries = because.into_iter().flat_map(|because| not_measured(run, because));
        self.manifest.not_measured.extend(entries);
        self.writer.manifest(&self.manifest)
    }
}

/// Adds the sentences that are not there yet.
fn add_new(limits: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for limit in more {
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
}

fn declared(site: &Site) -> BTreeMap<String, String> {
    let partitions = site.measured();
    partitions.map(|partition| (partition.name.clone(), partition.class.name.clone())).collect()
}

/// Checks that the programs are those of the records that the folder has of this run.
fn same_programs(writer: &Writer, run: &Run) -> Result<(), CampaignError> {
    for partition in &run.partitions {
        let PartitionWork::Program(program) = &partition.work else { continue };
        let ours = &program.assembly.first.build.hash;
        for task in partition.work.tasks() {
            let name = format!("{}.{}.{}", partition.name, run.profile, task.label);
            let Some(record) = read_record(writer.root(), &name) else { continue };
            let theirs = record.conditions.machine.get(PROGRAM_BUILD).cloned();
            if theirs.as_ref() != Some(ours) {
                return Err(CampaignError::OtherProgram {
                    partition: partition.name.clone(),
                    theirs: theirs.unwrap_or_else(|| "unknown".to_owned()),
                    ours: ours.clone(),
                });
            }
        }
    }
    Ok(())
}

/// Returns `true` if an entry is about a partition in this run. Partitions that are measured alone
/// have runs of the same profile.
fn is_of(entry: &NotMeasured, run: &Run) -> bool {
    let has = |partition: &str| run.partitions.iter().any(|it| it.name == partition);
    entry.profile == run.profile && has(&entry.partition)
}

/// Returns an entry for each partition of a run that was not measured.
fn not_measured<'a>(run: &'a Run, because: &'a str) -> impl Iterator<Item = NotMeasured> + 'a {
    run.partitions.iter().map(move |partition| NotMeasured {
        partition: partition.name.clone(),
        profile: run.profile.clone(),
        reserved: run.reserved,
        because: because.to_owned(),
    })
}

#[cfg(test)]
mod tests;
