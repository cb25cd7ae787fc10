//! Partitions of a site, made ready and begun: those that run a program, and guests with a system
//! of their own.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use quietcore_assembly::{Assembly, Workshop};
use quietcore_backend::job::Job;
use quietcore_backend::process::Partition as Process;
use quietcore_backend::qemu::disk::image::DiskProblem;
use quietcore_backend::qemu::disk::{self, DiskFolders, DiskSetting, disk_shape};
use quietcore_backend::rooms::Rooms;
use quietcore_backend::setting::BackendSetting;
use quietcore_site::{Accelerator, Partition, Site as SiteFile};
use quietcore_units::Causes;

use super::{Plan, UpError, note_assembly, room_of, tasks_of};
use crate::control::Restart;
use crate::host_channel::SiteChannels;
use crate::keeper::{EventLog, Keeper, Launch, Setup, SystemSetup};
use crate::places::Claim;
use crate::places::cpu_locks::CpuLocks;
use crate::running_monitor::RunningMonitor;

/// A partition made ready to be started.
pub(super) enum Made {
    /// One that runs a program of the site.
    Program(Box<Assembly>),
    /// A guest with a system of its own.
    System(Box<DiskSetting>),
}

impl Made {
    /// Makes a partition ready: builds its program, or looks at the disk of its guest.
    ///
    /// # Errors
    /// [`UpError`]; nothing of it runs then.
    pub(super) fn ready(
        plan: &Plan,
        partition: &Partition,
        workshop: &Workshop,
        claim: &Claim,
        state: &Path,
        events: &EventLog,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, UpError> {
        let own = state.join(&partition.name);
        let folders = DiskFolders { site: &workshop.site_folder, run: claim.folder(), state: &own };
        if let Some(disk) = DiskSetting::of(partition, folders)? {
            return Ok(Self::System(Box::new(disk)));
        }
        progress(&format!("building the program of `{}`", partition.name));
        let assembly = workshop.assemble(&plan.site, partition)?;
        note_assembly(&assembly.first, &partition.name, events);
        Ok(Self::Program(Box::new(assembly)))
    }

    /// Returns the setting of its backend.
    pub(super) fn setting(&self) -> BackendSetting {
        match self {
            Self::Program(assembly) => assembly.setting.clone(),
            Self::System(disk) => BackendSetting::of_disk((**disk).clone()),
        }
    }
}

/// Everything that partitions are begun with.
pub(super) struct Begin<'a> {
    pub(super) plan: &'a Plan,
    /// The folder of what survives of the site.
    pub(super) state: &'a Path,
    pub(super) channels: &'a SiteChannels,
    pub(super) rooms: &'a Rooms,
    pub(super) monitor: &'a RunningMonitor,
    pub(super) locks: &'a Arc<CpuLocks>,
}

impl Begin<'_> {
    /// Begins to keep a partition, the one with this index in the site file.
    ///
    /// # Errors
    /// The reason, in words, if it can't be kept.
    pub(super) fn keeper(
        &self,
        index: usize,
        partition: Partition,
        made: Made,
        events: &Arc<EventLog>,
    ) -> Result<Keeper, String> {
        match made {
            Made::Program(assembly) => self.program(index, partition, *assembly, events),
            Made::System(disk) => self.system(partition, *disk, events),
        }
    }

    /// Begins to keep a partition with its program.
    fn program(
        &self,
        index: usize,
        partition: Partition,
        assembly: Assembly,
        events: &Arc<EventLog>,
    ) -> Result<Keeper, String> {
        let Self { plan, state, .. } = self;
        let setup = Setup {
            site: Arc::clone(&plan.site),
            state_folder: state.join(&partition.name),
            runtime: plan.runtime.clone(),
            shape: assembly.shape,
            tasks: tasks_of(&assembly),
            job: assembly.job,
            fieldbus: assembly.fieldbus,
            warm: plan.start == Restart::Warm,
            channels: self.channels.memories(),
            room: room_of(plan.site.name(), &partition, self.rooms, &assembly.setting),
            post: self.monitor.post(index),
            locks: Cell::new(Some(Arc::clone(self.locks))),
            partition,
            bus: assembly.bus,
        };
        Keeper::start(setup, assembly.first, Arc::clone(events))
    }

    /// Begins to keep a guest with a system of its own.
    fn system(
        &self,
        partition: Partition,
        disk: DiskSetting,
        events: &Arc<EventLog>,
    ) -> Result<Keeper, String> {
        let setting = BackendSetting::of_disk(disk.clone());
        let room = room_of(self.plan.site.name(), &partition, self.rooms, &setting);
        let (runtime, shape) = (self.plan.runtime.clone(), disk_shape(&disk));
        let (vnc, is_locked) = (disk.vnc.clone(), disk.accelerator == Accelerator::Kvm);
        let job = Job::Disk(Box::new(disk));
        let launch: Launch = Box::new(move || {
            let process = Process::start_with(&runtime, &job, &shape, Vec::new(), &room)?;
            Ok(Box::new(process))
        });
        let setup = SystemSetup {
            state_folder: self.state.join(&partition.name),
            partition,
            vnc,
            is_locked,
            locks: Some(Arc::clone(self.locks)),
            launch,
        };
        Keeper::start_system(setup, Arc::clone(events))
    }
}

/// Refuses a site whose guests can't have the disks that they start from.
pub(super) fn refuse_disks(site: &SiteFile, site_folder: &Path) -> Result<(), UpError> {
    let problems = disk::image::problems(site, site_folder);
    if problems.is_empty() { Ok(()) } else { Err(UpError::Disks(problems)) }
}

/// Returns the problems of disks as lines, with their causes.
pub(super) fn disk_lines(all: &[DiskProblem]) -> String {
    all.iter().map(|problem| Causes(problem).to_string()).collect::<Vec<_>>().join("\n")
}
