//! The program that runs in guests: a site file of its own, built, and what its partition is told.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_assembly::Workshop;
use quietcore_backend::job::Job;
use quietcore_backend::process::{Partition, Room};
use quietcore_backend::rooms::Rooms;
use quietcore_exchange::Shape;
use quietcore_record::class::catalogue;
use quietcore_scan::process::job::ProgramJob;
use quietcore_settings::MemoryShare;
use quietcore_site::GUEST_MEMORY_DEFAULT;
use quietcore_units::{ByteSize, Causes, Scheduling};
use tempfile::TempDir;

use crate::site::runtime;

/// The longest that something is waited for: the machine may be emulated.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks at a partition.
const GLANCE: Duration = Duration::from_micros(200);

/// A built program, and what its partition is told.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) job: ProgramJob,
    pub(super) shape: Shape,
    room: Room,
    memory: ByteSize,
    site_file: PathBuf,
    /// Holds the site file and what was built.
    folder: TempDir,
}

impl Program {
    /// The program of a folder of generated C, for a guest.
    pub(super) fn of_model(model: &Path, cpu: u32) -> Result<Self, String> {
        let model = model.canonicalize();
        let model = model.map_err(|error| {
            format!("the model: {error}; run this in the root of the repository, or use --model")
        })?;
        Self::of_backend(&model, "kvm", cpu, "")
    }

    /// The same for a guest of another backend; `more` are further lines about the partition.
    pub(super) fn of_backend(
        model: &Path,
        backend: &str,
        cpu: u32,
        more: &str,
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let text = partition("axis", backend, cpu, &model.display().to_string());
        // What is of the partition itself comes before its tables.
        let text = text.replacen("[partition.vcr]", &format!("{more}[partition.vcr]"), 1);
        Self::of_site(folder, &format!("[site]\nname = \"bench-guest\"\n{text}"), "axis")
    }

    /// The program of a partition of a site, whose models are in `folder` or elsewhere.
    pub(super) fn of_site(folder: TempDir, text: &str, partition: &str) -> Result<Self, String> {
        let site_file = folder.path().join("site.toml");
        fs::write(&site_file, text).map_err(|error| error.to_string())?;
        let site = quietcore_site::read("site.toml", text.as_bytes(), &catalogue());
        let site = site.map_err(|problems| problems.to_string())?;
        let workshop = Workshop {
            site_folder: folder.path().to_owned(),
            build_folder: folder.path().join("builds"),
        };
        let found = site.partitions().iter().find(|it| it.name == partition);
        let found = found.ok_or("there is no such partition")?;
        let assembly = workshop.assemble(&site, found);
        let assembly = assembly.map_err(|error| Causes(&error).to_string())?;
        let room = Rooms::default().of(partition, &assembly.setting, MemoryShare::default());
        let memory = found.vcr.memory.unwrap_or(GUEST_MEMORY_DEFAULT);
        Ok(Self { job: assembly.job, shape: assembly.shape, room, memory, site_file, folder })
    }

    /// Returns the memory of its guest in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory.get()
    }

    /// The site file that it is the program of.
    pub(super) fn site_file(&self) -> &Path {
        &self.site_file
    }

    /// A folder that lives as long as the program.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The job for one cycle, on any CPU, at ordinary priority: as QEMU has it.
    pub(super) fn one_cycle(&self) -> ProgramJob {
        let mut job = ProgramJob { cpu: None, cycles: Some(1), ..self.job.clone() };
        for task in &mut job.tasks {
            task.policy = Scheduling::Other;
        }
        job
    }

    /// Starts its partition with a job. `channels` have the numbers that the job says.
    pub(super) fn start(
        &self,
        job: &ProgramJob,
        channels: Vec<OwnedFd>,
    ) -> Result<Partition, String> {
        self.start_by(&runtime()?, job, channels)
    }

    /// Starts its partition by a program that becomes `quietcore-runtime`.
    pub(super) fn start_by(
        &self,
        runtime: &Path,
        job: &ProgramJob,
        channels: Vec<OwnedFd>,
    ) -> Result<Partition, String> {
        let job = Job::of_program(job.clone(), None);
        Partition::start_with(runtime, &job, &self.shape, channels, &self.room)
            .map_err(|error| Causes(&error).to_string())
    }
}

/// A partition of a site file.
pub(super) fn partition(name: &str, backend: &str, cpu: u32, model: &str) -> String {
    format!(
        "\n[[partition]]\nname = \"{name}\"\nclass = \"motion-control\"\nbackend = \"{backend}\"\n\
         [partition.vcr]\ncpus = [{cpu}]\n[partition.program]\nmodel = \"{model}\"\n\
         period = \"1 ms\"\npriority = 90\n"
    )
}

/// Waits until something is so of a partition that runs.
pub(super) fn until(
    partition: &mut Partition,
    what: &str,
    is_so: impl Fn(&Partition) -> bool,
) -> Result<(), String> {
    let end = Instant::now() + PATIENCE;
    while !is_so(partition) {
        let ended = partition.has_ended().map_err(|error| Causes(&error).to_string())?;
        if ended && !is_so(partition) {
            return Err(format!("the partition ended before {what}: {}", partition.remarks()));
        }
        if Instant::now() > end {
            let said = partition.remarks();
            return Err(format!("no {what} within {} s: {said}", PATIENCE.as_secs()));
        }
        thread::sleep(GLANCE);
    }
    Ok(())
}

/// Counts the jobs of its leading task that a partition has completed.
pub(super) fn steps(partition: &Partition) -> u64 {
    partition.region().task(0).map_or(0, |task| task.completed_steps())
}
