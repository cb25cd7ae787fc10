//! The runs of a campaign, one after the other, into an evidence folder.
//!
//! The folder is readable at every moment: after each run its records are written, then the
//! manifest, which lists what has not been measured. A campaign that was interrupted goes on with
//! what is missing there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_evidence::{
    Length, MANIFEST_SCHEMA, Manifest, NotMeasured, Origin, WriteError, Writer, read_kernel,
    read_record,
};
use quietcore_site::Site;
use quietcore_units::Causes;

use crate::collect::PROGRAM_BUILD;
use crate::measure::{Machine, MeasureError, measure};
use crate::observer::Observer;
use crate::run::Run;
use crate::work::Work;

/// Why a run of a campaign has no record yet.
const NOT_REACHED: &str = "the campaign was ended before";

/// A campaign on its way.
#[derive(Debug)]
pub struct Campaign {
    writer: Writer,
    manifest: Manifest,
    runs: Vec<Run>,
}

/// What a campaign is asked for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The site, with the profiles that were chosen.
    pub site: &'a Site,
    /// The site file as it was read.
    pub site_bytes: &'a [u8],
    /// The folder that it stands in, for a campaign that goes on later.
    pub site_folder: Option<String>,
    /// Now, RFC 3339.
    pub started_at: &'a str,
    /// What the command line said of the length.
    pub length: Option<Length>,
    /// What the run doesn't cover.
    pub limits: Vec<String>,
    /// What the site file asks for and the command line left out.
    pub not_chosen: Vec<NotMeasured>,
}

/// How a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that could be measured has been.
    Completed,
    /// It was told to stop; the rest can be measured later.
    Interrupted,
}

/// A campaign can't go on.
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
        /// Sum in the folder.
        theirs: String,
        /// Sum of the site file given.
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
        /// The kernel now.
        ours: String,
    },
    /// A program is not the one that the campaign was begun with.
    #[error(
        "the program of partition `{partition}` has changed since the campaign was begun: build \
         {theirs} was measured, this one is {ours}; begin a new campaign"
    )]
    OtherProgram {
        /// The partition.
        partition: String,
        /// The build in the folder's records.
        theirs: String,
        /// The build now.
        ours: String,
    },
}

impl Campaign {
    /// Begins a campaign in a new folder.
    ///
    /// # Errors
    /// When the folder's first files can't be written.
    pub fn begin(writer: Writer, asked: Asked<'_>, runs: Vec<Run>) -> Result<Self, CampaignError> {
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
            not_measured: reached.chain(asked.not_chosen).collect(),
            complete: false,
        };
        writer.site(asked.site_bytes)?;
        writer.manifest(&manifest)?;
        Ok(Self { writer, manifest, runs })
    }

    /// Goes on with a campaign that was interrupted: only what its manifest says is missing is run.
    ///
    /// # Errors
    /// [`CampaignError::OtherSite`] when the site file isn't the one it was begun with,
    /// [`CampaignError::OtherKernel`] when `kernel`, which the machine runs now, isn't,
    /// [`CampaignError::OtherProgram`] when a program isn't, and when the folder's seal can't be
    /// taken away.
    pub fn resume(
        writer: Writer,
        manifest: Manifest,
        site_sha256: &str,
        kernel: &str,
        runs: Vec<Run>,
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
        for run in &runs {
            same_programs(&writer, run)?;
        }
        writer.unseal()?;
        let missing =
            |run: &Run| manifest.not_measured.iter().any(|entry| entry.profile == run.profile);
        let runs = runs.into_iter().filter(missing).collect();
        Ok(Self { writer, manifest, runs })
    }

    /// The runs that are still to be made.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The folder's writer.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Measures all runs that are still to be made. A run that fails is noted and the next one
    /// begins.
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
            match measure(&run, machine, observer, stop) {
                Ok(measured) => {
                    for mut record in measured.records {
                        // What an interrupted part has seen stays part of the evidence.
                        if let Some(earlier) = read_record(self.writer.root(), &record.name) {
                            record.absorb(earlier);
                        }
                        self.writer.record(&record)?;
                    }
                    if measured.interrupted {
                        self.note(&run, Some("interrupted; what was measured is kept"))?;
                        outcome = Outcome::Interrupted;
                        break;
                    }
                    self.note(&run, None)?;
                }
                Err(MeasureError::Stopped) => {
                    outcome = Outcome::Interrupted;
                    break;
                }
                Err(error) => {
                    let because = Causes(&error).to_string();
                    observer.failed(&run, &because);
                    self.note(&run, Some(&because))?;
                }
            }
        }
        self.manifest.complete = outcome == Outcome::Completed;
        self.writer.manifest(&self.manifest)?;
        Ok(outcome)
    }

    /// Notes what became of a run: `None` when it was measured whole.
    fn note(&mut self, run: &Run, because: Option<&str>) -> Result<(), WriteError> {
        self.manifest.not_measured.retain(|entry| entry.profile != run.profile);
        let entries = because.into_iter().flat_map(|because| not_measured(run, because));
        self.manifest.not_measured.extend(entries);
        self.writer.manifest(&self.manifest)
    }
}

fn declared(site: &Site) -> BTreeMap<String, String> {
    let partitions = site.partitions().iter();
    partitions.map(|partition| (partition.name.clone(), partition.class.name.clone())).collect()
}

/// Whether the programs are those of the records that the folder has of this run.
fn same_programs(writer: &Writer, run: &Run) -> Result<(), CampaignError> {
    for partition in &run.partitions {
        let Work::Program(program) = &partition.work else { continue };
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

/// An entry for each partition of a run.
fn not_measured<'a>(run: &'a Run, because: &'a str) -> impl Iterator<Item = NotMeasured> + 'a {
    run.partitions.iter().map(move |partition| NotMeasured {
        partition: partition.name.clone(),
        profile: run.profile.clone(),
        reserved: run.reserved,
        because: because.to_owned(),
    })
}
