//! `quietcore qualify`

mod renew;
mod resume;

use std::path::{Path, PathBuf};

use quietcore_campaign::probe::{PlannedProbe, probes as planned_probes};
use quietcore_campaign::{Asked, Beside, Campaign, Outcome, Run, runs as planned_runs};
use quietcore_evidence::{NotMeasured, Writer, folder_name};
use quietcore_host::Facts;
use quietcore_host::doctor::Report;
use quietcore_site::{Length, Plan, Site};

use crate::arguments::Qualify;
use crate::files::{self, SiteFile};
use crate::machine;
use crate::programs;
use crate::programs::turns::{self, Ready};
use crate::progress::{self, Bar};
use crate::status::{Failure, Status};
use crate::{command, finish, runs};
use resume::Resumed;

/// The way in which a campaign comes to its folder.
enum Start<'a> {
    /// A new folder in which all is measured.
    New,
    /// The folder of a campaign that was interrupted.
    Resume(Box<resume::Begun>),
    /// A new folder with what still holds of an earlier one.
    Renew(Box<renew::Old<'a>>),
}

pub(super) fn run(request: &Qualify) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let mut told = progress::begin_followed(&request.followed)?;
    let (file, start) = match &request.resume {
        Some(folder) => match resume::open(folder)? {
            Resumed::Begun(begun, file) => (*file, Start::Resume(begun)),
            Resumed::Measured(lock) => {
                return conclude(request, &Writer::of(lock)?, Outcome::Completed);
            }
        },
        None => begin(request)?,
    };
    command::plan::shared::check_campaign(&file.site)?;
    let facts = machine::read_facts(&stop)?;
    let models = match (&request.site, &start) {
        (Some(path), _) => programs::folder_of(path).to_owned(),
        (None, Start::Resume(begun)) => {
            begun.manifest.site_folder.clone().unwrap_or_default().into()
        }
        (None, _) => PathBuf::new(),
    };
    let turns = turns::on(&file.site, &facts, &models)?;
    let plan = command::plan::make(&file.site, turns.clone(), &facts);
    command::plan::remark(&file.site, &plan);
    let (ready, left_out) = turns::build_all(turns, &file.site, &models)?;
    let (planned, probes) = planned(&ready, &file.sha256, &facts);
    let started_at = machine::time_of_day();
    let begun = Begun { file: &file, facts: &facts, plan: &plan, left_out, started_at };
    let mut campaign = match start {
        Start::New => {
            let asked = begun.asked(request)?;
            Campaign::begin(begun.folder(request)?, asked, planned, probes)?
        }
        Start::Resume(begun) => {
            let kernel = facts.kernel.release.describe(Clone::clone);
            let writer = Writer::of(begun.lock)?;
            Campaign::resume(writer, begun.manifest, &file.sha256, &kernel, planned, probes)?
        }
        Start::Renew(old) => match old.begin(request, &begun, &ready, (planned, probes))? {
            Some(campaign) => campaign,
            None => return old.nothing_to_do(request.json).map(|()| Status::Done),
        },
    };
    crate::terminal::say(format_args!("evidence: {}", campaign.writer().root().display()));
    let outcome = {
        let runs = campaign.runs().to_vec();
        if let Some(file) = &mut told {
            file.set_whole(runs.iter().map(Run::duration).sum());
        }
        let mut bar = Beside::new(Bar::new(&runs), told.as_mut());
        machine::with(&facts, &file.site.controls_of_campaign(), &runs, |machine| {
            campaign.measure_all(machine, &mut bar, &stop)
        })??
    };
    conclude(request, campaign.writer(), outcome)
}

/// Lists the runs and the probes of a campaign, turn by turn.
fn planned(turns: &[Ready], sha256: &str, facts: &Facts) -> (Vec<Run>, Vec<PlannedProbe>) {
    let usable = facts.machine().usable;
    let runs = |it: &Ready| planned_runs(&it.site, sha256, usable, &it.built.programs);
    let probes = |it: &Ready| planned_probes(&it.site, sha256, facts);
    (turns.iter().flat_map(runs).collect(), turns.iter().flat_map(probes).collect())
}

/// Returns the site file with its choices, and where a campaign begins that is not resumed.
fn begin(request: &Qualify) -> Result<(SiteFile, Start<'_>), Failure> {
    let mut file = chosen_site(request)?;
    match &request.renew {
        Some(folder) => {
            let old = renew::open(folder, &mut file)?;
            Ok((file, Start::Renew(Box::new(old))))
        }
        None => Ok((file, Start::New)),
    }
}

fn chosen_site(request: &Qualify) -> Result<SiteFile, Failure> {
    let path = request.site.as_ref().expect("clap asks for the site file without --resume");
    let mut file = files::read_site_with(path, request.accelerator)?;
    if file.site.measured().next().is_none() {
        return Err(Failure::new(format_args!(
            "quietcore: site `{}` has nothing to be measured: its partitions are guests from their \
             disks; `quietcore up` runs them",
            file.site.name()
        )));
    }
    if !request.profile.is_empty() {
        file.site.select_profiles(&request.profile)?;
    }
    let length = request.duration.map(Length::Duration).or(request.cycles.map(Length::Cycles));
    if let Some(length) = length {
        file.site.set_length(length)?;
    }
    Ok(file)
}

/// Everything that a new folder begins with.
struct Begun<'a> {
    file: &'a SiteFile,
    facts: &'a Facts,
    plan: &'a Plan,
    /// Measurements that this machine can't do.
    left_out: Vec<NotMeasured>,
    started_at: String,
}

impl Begun<'_> {
    /// Makes the folder, with the doctor's document in it.
    fn folder(&self, request: &Qualify) -> Result<Writer, Failure> {
        let site = &self.file.site;
        let chosen = request.out.clone();
        let folder = chosen.unwrap_or_else(|| default_folder(&self.started_at, site));
        files::refuse_dash("--out", &folder)?;
        let writer = Writer::create(&folder)?;
        writer.doctor(&Report::new(self.facts.clone(), Some(&site.claimed_cpus())))?;
        Ok(writer)
    }

    fn asked(&self, request: &Qualify) -> Result<Asked<'_>, Failure> {
        let length = request
            .duration
            .map(quietcore_evidence::Length::Duration)
            .or(request.cycles.map(quietcore_evidence::Length::Cycles));
        Ok(Asked {
            site: &self.file.site,
            site_bytes: &self.file.bytes,
            site_folder: site_folder(request),
            started_at: &self.started_at,
            length,
            limits: self.plan.degraded.iter().map(ToString::to_string).collect(),
            left_out: not_chosen(self.file)?.into_iter().chain(self.left_out.clone()).collect(),
        })
    }
}

/// Returns the folder of the site file, where models are found from wherever the campaign goes on.
fn site_folder(request: &Qualify) -> Option<String> {
    let folder = programs::folder_of(request.site.as_deref()?);
    Some(folder.canonicalize().ok()?.display().to_string())
}

/// Returns an entry for each partition and profile of the site file that the command line left out:
/// nothing is proven without them.
fn not_chosen(file: &SiteFile) -> Result<Vec<NotMeasured>, Failure> {
    let catalogue = quietcore_record::class::catalogue();
    let whole =
        quietcore_site::read(file.site.file(), &file.bytes, &catalogue).map_err(Failure::new)?;
    let chosen = &file.site.campaign().profiles;
    let left_out = whole.campaign().profiles.iter().filter(|profile| !chosen.contains(profile));
    Ok(left_out
        .flat_map(|profile| {
            file.site.measured().map(|partition| NotMeasured {
                partition: partition.name.clone(),
                profile: profile.name.clone(),
                reserved: whole.keeps_reservation(profile),
                because: "it was not chosen on the command line".to_owned(),
            })
        })
        .collect())
}

fn default_folder(started_at: &str, site: &Site) -> PathBuf {
    Path::new(runs::RUNS).join(folder_name(started_at, site.name()))
}

/// Finishes the folder, and prints what came of it.
fn conclude(request: &Qualify, writer: &Writer, outcome: Outcome) -> Result<Status, Failure> {
    let evidence = finish::finish(writer)?;
    if request.resume.is_some() && writer.signed_by().is_none() {
        crate::terminal::say(
            "remark: the folder is not signed, since what was measured before was not either",
        );
    }
    let is_chosen = request.out.is_some() || request.resume.is_some();
    let index = runs::refresh(writer.root(), is_chosen)?;
    super::show::print_evidence(&evidence, request.json)?;
    if request.resume.is_some() {
        super::show::print_ageing(&evidence, request.json)?;
    }
    let folder = writer.root();
    crate::terminal::say(format_args!("report: {}", folder.join(finish::REPORT).display()));
    if let Some(index) = index {
        crate::terminal::say(format_args!("all runs: {}", index.display()));
    }
    if outcome == Outcome::Interrupted {
        crate::terminal::say(format_args!(
            "interrupted; go on with: quietcore qualify --resume {}",
            folder.display()
        ));
    }
    if evidence.records.is_empty() {
        return Err(Failure::new("quietcore: nothing could be measured; see the reasons above"));
    }
    Ok(evidence.declared_verdict().into())
}
