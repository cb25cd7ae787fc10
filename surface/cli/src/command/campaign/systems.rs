//! Systems that a paper's run compares: those that this machine leaves out, and those that were
//! measured, for the page.

use std::path::{Path, PathBuf};

use quietcore_evidence::{Evidence, Manifest, NotMeasured, read_manifest};
use quietcore_host::Facts;
use quietcore_record::class::catalogue;
use quietcore_record::published::reproduction::{Course, SystemLeftOut};
use quietcore_record::record::Record;
use quietcore_report::reproduction::{System, Systems};
use quietcore_site::{GuestSystem, LeftOut, NeighbourForm, Partition, ProgramForm, Site};

use crate::arguments::{Command, Qualify};
use crate::files;
use crate::programs;
use crate::status::Failure;

/// Word that a kernel with PREEMPT_RT says of itself.
const PREEMPT_RT: &str = "PREEMPT_RT";

/// The systems of a command as they are foreseen before it runs.
#[derive(Default)]
pub(super) struct Foreseen {
    /// Systems that this machine has not.
    pub(super) left_out: Vec<SystemLeftOut>,
    /// Folders of the images that the others start from.
    pub(super) images: Vec<PathBuf>,
}

/// Looks for the systems of a command on this machine, as if their images were there; there are
/// none for one that compares no systems.
pub(super) fn foreseen(command: &Command, facts: &Facts) -> Result<Foreseen, Failure> {
    let Command::Qualify(Qualify { site: Some(path), profile, accelerator, .. }) = command else {
        return Ok(Foreseen::default());
    };
    let mut site = files::read_site_with(path, *accelerator)?.site;
    if !profile.is_empty() {
        site.select_profiles(profile)?;
    }
    let turns = quietcore_site::turns(&site, &facts.machine()).ok();
    let Some(turns) = turns.filter(|_| site.campaign().alone) else {
        return Ok(Foreseen::default());
    };
    let names = turns.possible.iter().flat_map(image_names);
    let images = names.map(|name| programs::folder_of(path).join(name)).collect();
    Ok(Foreseen { left_out: turns.left_out.iter().map(told).collect(), images })
}

/// Returns the images of a turn, as they are written: of its guest, and of its neighbours.
fn image_names(turn: &Site) -> Vec<&str> {
    let guests = turn.partitions().iter().filter_map(|partition| match &partition.system {
        GuestSystem::Linux { image } => Some(image.as_str()),
        GuestSystem::Osek | GuestSystem::Disk(_) => None,
    });
    let has_guests = turn.neighbour_form() == NeighbourForm::LinuxGuest
        && turn.campaign().profiles.iter().any(|profile| profile.neighbours.is_some());
    guests.chain(turn.neighbour_image().filter(|_| has_guests)).collect()
}

fn told(left_out: &LeftOut) -> SystemLeftOut {
    let LeftOut { partition, profiles, .. } = left_out;
    let (partition, profiles) = (partition.clone(), profiles.clone());
    SystemLeftOut { partition, profiles, because: left_out.because() }
}

/// Returns the number of measurements of a site that are possible on this machine, and of none the
/// number of all.
pub(super) fn possible_runs(site: &Site, facts: &Facts) -> u64 {
    let Ok(turns) = quietcore_site::turns(site, &facts.machine()) else {
        return super::extent::all_runs(site);
    };
    turns.possible.iter().map(|turn| turn.campaign().profiles.len() as u64).sum()
}

/// Returns what an evidence folder says was not measured, though it was asked for.
pub(super) fn left_out(folder: &Path) -> Vec<SystemLeftOut> {
    read_manifest(folder).map(|manifest| missing(&manifest)).unwrap_or_default()
}

fn missing(manifest: &Manifest) -> Vec<SystemLeftOut> {
    let asked = |missing: &&NotMeasured| {
        manifest.profiles.iter().any(|(profile, _)| *profile == missing.profile)
    };
    let mut all: Vec<SystemLeftOut> = Vec::new();
    for NotMeasured { partition, profile, because, .. } in
        manifest.not_measured.iter().filter(asked)
    {
        let is_same =
            |it: &&mut SystemLeftOut| it.partition == *partition && it.because == *because;
        match all.iter_mut().find(is_same) {
            Some(known) => known.profiles.push(profile.clone()),
            None => all.push(SystemLeftOut {
                partition: partition.clone(),
                profiles: vec![profile.clone()],
                because: because.clone(),
            }),
        }
    }
    all
}

/// Reads the runs of a course that compare systems. A folder that can't be read is passed over: its
/// report says what is wrong with it.
pub(super) fn measured(course: &Course, folder: &Path) -> Vec<Systems> {
    let done = course.commands.iter().filter(|ran| ran.outcome.is_done());
    let names = done.filter_map(|ran| ran.folder.as_deref());
    names.filter_map(|name| compared(name, &folder.join(name))).collect()
}

fn compared(name: &str, folder: &Path) -> Option<Systems> {
    if !folder.join("site.toml").is_file() {
        return None;
    }
    let evidence = quietcore_evidence::read(folder).ok()?;
    let text = evidence.site.as_deref()?;
    let site = quietcore_site::read("site.toml", text.as_bytes(), &catalogue()).ok()?;
    if !site.campaign().alone {
        return None;
    }
    let systems = site.measured().map(|partition| system(partition, &evidence)).collect();
    Some(Systems { folder: name.to_owned(), evidence, systems })
}

fn system(partition: &Partition, evidence: &Evidence) -> System {
    let record = evidence.records.iter().find(|record| record.partition == partition.name);
    let is_real_time = has_real_time_kernel(partition, record);
    let title = partition.declaration().title.trim_start_matches("A ");
    let is_guest = matches!(partition.system, GuestSystem::Linux { .. })
        || partition.declaration().program == ProgramForm::GuestImage;
    let title = match (is_guest, is_real_time) {
        (true, true) if partition.declaration().program == ProgramForm::Module => {
            format!("{title} with {PREEMPT_RT}")
        }
        (true, true) => format!("{title} with an OSEK kernel"),
        _ => title.to_owned(),
    };
    System { partition: partition.name.clone(), title, is_real_time }
}

/// Returns `true` if the kernel that runs a partition's tasks is a real-time one. The image of a
/// guest says so of itself; of one that was never measured its name does.
fn has_real_time_kernel(partition: &Partition, record: Option<&Record>) -> bool {
    if partition.declaration().program == ProgramForm::GuestImage {
        return true;
    }
    let platform = record.and_then(|record| record.conditions.platform.as_deref());
    let of_guest = platform.and_then(|platform| platform.guest.as_ref());
    match (&partition.system, of_guest) {
        (GuestSystem::Linux { .. }, Some(image)) => image.kernel.contains(PREEMPT_RT),
        (GuestSystem::Linux { image }, None) => image.ends_with("-rt"),
        _ => platform
            .and_then(|platform| platform.kernel.version.as_deref())
            .is_some_and(|version| version.contains(PREEMPT_RT)),
    }
}
