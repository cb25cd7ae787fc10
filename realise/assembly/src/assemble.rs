//! A partition made ready to be started, and a build made ready for a data slot.

use std::path::{Path, PathBuf};

use quietcore_backend::fieldbus::FieldbusJob;
use quietcore_backend::setting::{BackendSetting, SettingError};
use quietcore_exchange::{PAGE_BYTES, Shape};
use quietcore_maindevice::subdevice::IMAGE_BYTES_MAX;
use quietcore_process::module::DataImage;
use quietcore_program::build::Listener;
use quietcore_program::retain::RetainEntry;
use quietcore_program::{Build, Kind, Options, Target};
use quietcore_scan::process::job::{self, ProgramJob};
use quietcore_scan::stage::{DataRange, Stage};
use quietcore_site::{
    Fieldbus, KeyPosition, MemoryForm, Partition, ProgramForm, ProgramKind, Remark, Site, Task,
};
use quietcore_units::{ByteSize, CpuId, Nanos};

use crate::bus::BusImage;
use crate::names::{self, NameProblem};
use crate::{channels, esi, fieldbus, kernel, tasks};

/// Commands that may wait.
const COMMAND_SLOTS: u32 = 1024;
/// Events that are kept for whoever reads late, for each task.
const EVENT_SLOTS: u32 = 1024;
/// The trace ring of each task: 64 variables at 1 ms for more than a second.
const TRACE_BYTES: u32 = 1 << 20;
/// A data slot has room for a program that grows: so many times the one that it begins with …
const GROWTH: u64 = 2;
/// … and so much more.
const GROWTH_BYTES: u64 = 64 << 10;
/// Room for retained variables beyond those of the first build.
const RETAIN_GROWTH: usize = 4096;
/// Time for which a new build is on probation.
const PROBATION: Nanos = Nanos::from_secs(1);

/// A partition that could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError {
    /// Its program can't be built.
    #[error("{place}: the program of partition `{partition}` can't be built")]
    Build {
        /// Position of the key that names its folder.
        place: Box<KeyPosition>,
        /// Name of the partition.
        partition: String,
        /// The error of the build.
        #[source]
        source: Box<quietcore_program::BuildError>,
    },
    /// The program's kernel has a task that is called like the one which drives it.
    #[error(
        "partition `{partition}`: a task of `{oil}` is called `{name}` as the one that drives the \
         kernel; call that one otherwise, in a `[[partition.program.task]]`"
    )]
    SameName {
        /// Name of the partition.
        partition: String,
        /// Name of the OIL file.
        oil: String,
        /// The name that both have.
        name: String,
    },
    /// Names in the site file that the program, the fieldbus or its ESI files don't have.
    #[error("{}", list(.0))]
    Names(Vec<NameProblem>),
    /// Its channels can't be numbered.
    #[error(transparent)]
    Channels(#[from] channels::NumberingError),
    /// Its backend can't be set up as it asks.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The site file gives it no program.
    #[error("partition `{partition}` has no `model`; `up` runs programs, `qualify` the probe")]
    NoProgram {
        /// Name of the partition.
        partition: String,
    },
}

fn list(problems: &[NameProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A build with its places in one of the data slots.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The build of the program.
    pub build: Build,
    /// Its data slot, and the positions of its variables.
    pub stage: Stage,
    /// Variables that it retains.
    pub retained: Vec<RetainEntry>,
    /// Remarks on what the site file asks of it and that can be done in part only.
    pub remarks: Vec<Remark>,
}

/// A partition made ready.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The program that it begins with.
    pub first: Staged,
    /// The sizes of its exchange.
    pub shape: Shape,
    /// Its tasks, in the order of the exchange. Those of its own kernel stand behind them, and in
    /// the job.
    pub tasks: Vec<Task>,
    /// The job of its process.
    pub job: ProgramJob,
    /// The setting of its backend.
    pub setting: BackendSetting,
    /// The fieldbus that it drives.
    pub fieldbus: Option<FieldbusJob>,
    /// The process image of that; empty without one.
    pub bus: BusImage,
}

/// The folders that a site is assembled from and in.
#[derive(Clone, Debug)]
pub struct Workshop {
    /// The folder of the site file, to which models are relative.
    pub site_folder: PathBuf,
    /// Folder in which builds are kept.
    pub build_folder: PathBuf,
}

impl Workshop {
    /// Builds the program of a partition.
    ///
    /// # Errors
    /// [`AssemblyError::NoProgram`], [`AssemblyError::Build`] or [`AssemblyError::Channels`].
    fn build(&self, site: &Site, partition: &Partition) -> Result<Build, AssemblyError> {
        let model = partition
            .program
            .model
            .as_ref()
            .ok_or_else(|| AssemblyError::NoProgram { partition: partition.name.clone() })?;
        self.build_folder_of(site, partition, &self.site_folder.join(model))
    }

    /// Builds another folder as the program of a partition.
    ///
    /// # Errors
    /// [`AssemblyError::Build`] or [`AssemblyError::Channels`].
    pub fn build_folder_of(
        &self,
        site: &Site,
        partition: &Partition,
        folder: &Path,
    ) -> Result<Build, AssemblyError> {
        self.build_heard(site, partition, folder, None)
    }

    /// Builds another folder as the program of a partition, while a listener hears the compiler.
    ///
    /// # Errors
    /// [`AssemblyError::Build`] or [`AssemblyError::Channels`].
    pub fn build_heard(
        &self,
        site: &Site,
        partition: &Partition,
        folder: &Path,
        listener: Option<Listener>,
    ) -> Result<Build, AssemblyError> {
        let rates = u32::try_from(partition.program.tasks.len()).ok();
        let defines = channels::defines(site, &partition.name)?;
        let carried = channels::carried(site, &partition.name);
        let program = &partition.program;
        let (oil, mode) = (program.oil.clone(), program.mode.clone());
        let (kind, model) = (program.kind.map(kind), program.model_name.clone());
        let target = match partition.declaration().program {
            ProgramForm::Module => Target::Module,
            // A guest without a program has no folder to be built.
            ProgramForm::GuestImage | ProgramForm::Nothing => Target::Guest,
        };
        let tick_ns = Some(program.period.get());
        let options = Options {
            target,
            kind,
            model,
            rates,
            defines,
            carried,
            oil,
            mode,
            tick_ns,
            listener,
            ..Options::default()
        };
        quietcore_program::build(folder, &options, &self.build_folder).map_err(|source| {
            AssemblyError::Build {
                place: Box::new(site.place(&format!("partition.{}.program.model", partition.name))),
                partition: partition.name.clone(),
                source: Box::new(source),
            }
        })
    }

    /// The image of the fieldbus that a partition drives; empty where it drives none.
    fn bus_image(&self, site: &Site, partition: &Partition) -> Result<BusImage, AssemblyError> {
        let Some(fieldbus) = fieldbus_of(site, partition) else {
            return Ok(BusImage::default());
        };
        let described = esi::described(site, fieldbus, &self.site_folder);
        let image = BusImage::of(fieldbus, described.map_err(AssemblyError::Names)?);
        let bytes = image.input_bytes + image.output_bytes;
        if bytes as usize > IMAGE_BYTES_MAX {
            return Err(AssemblyError::Names(vec![NameProblem {
                place: site.place(&format!("fieldbus.{}.subdevice", fieldbus.name)),
                problem: format!(
                    "its SubDevices have {bytes} bytes of inputs and outputs together; at most \
                     {IMAGE_BYTES_MAX} are handled"
                ),
            }]));
        }
        Ok(image)
    }

    /// Builds the program of a partition and looks up every name that the site file uses of it and
    /// of its fieldbus, as [`Workshop::assemble`] does, but asks nothing of this machine.
    ///
    /// # Errors
    /// [`AssemblyError`], with every name that does not exist.
    pub fn first_of(&self, site: &Site, partition: &Partition) -> Result<Staged, AssemblyError> {
        let bus = self.bus_image(site, partition)?;
        let first = stage(site, partition, &bus, self.build(site, partition)?, 1, 0)?;
        let mut tasks: Vec<Task> = tasks::order(&partition.program).into_iter().cloned().collect();
        kernel::tasks(partition, &first.build, &mut tasks)?;
        fieldbus_job(site, partition, &bus)?;
        Ok(first)
    }

    /// Makes a partition ready to be started.
    ///
    /// # Errors
    /// [`AssemblyError`], with every name that does not exist.
    pub fn assemble(&self, site: &Site, partition: &Partition) -> Result<Assembly, AssemblyError> {
        let bus = self.bus_image(site, partition)?;
        let build = self.build(site, partition)?;
        let first = stage(site, partition, &bus, build, 1, 0)?;
        let program = &partition.program;
        let mut tasks: Vec<Task> = tasks::order(program).into_iter().cloned().collect();
        let kernel_tasks = kernel::tasks(partition, &first.build, &mut tasks)?;
        let task_jobs = tasks.iter().map(|task| tasks::job(program, task)).collect();
        let retain_bytes = first.stage.retained_bytes() + RETAIN_GROWTH;
        let shape = Shape {
            task_count: (tasks.len() + kernel_tasks.len()) as u32,
            input_bytes: bus.input_bytes,
            output_bytes: bus.output_bytes,
            data_bytes: slot_bytes(first.build.data.bytes),
            retain_bytes: u32::try_from(retain_bytes).unwrap_or(u32::MAX),
            command_slots: COMMAND_SLOTS,
            event_slots: EVENT_SLOTS,
            trace_bytes: TRACE_BYTES,
        };
        let job = ProgramJob {
            cpu: partition.cpus_in_use().iter().next().map(CpuId::get),
            tasks: task_jobs,
            kernel_tasks,
            on_fault: program.on_fault,
            build: first.to_job(Vec::new()),
            channels: channels::jobs(site, &partition.name),
            probation_cycles: PROBATION.whole_times(program.period).max(1),
            warm_up_cycles: 0,
            cycles: None,
            memory: reserved_memory(partition),
            snare: None,
        };
        let fieldbus = fieldbus_job(site, partition, &bus)?;
        let builds = Some(&*self.build_folder);
        let setting = BackendSetting::of(partition, fieldbus.as_ref(), builds, &self.site_folder)?;
        Ok(Assembly { first, shape, tasks, job, setting, fieldbus, bus })
    }
}

/// The fieldbus that a partition drives.
fn fieldbus_of<'s>(site: &'s Site, partition: &Partition) -> Option<&'s Fieldbus> {
    site.fieldbuses().iter().find(|bus| bus.partition == partition.name)
}

/// The fieldbus of a partition, described for its process.
fn fieldbus_job(
    site: &Site,
    partition: &Partition,
    image: &BusImage,
) -> Result<Option<FieldbusJob>, AssemblyError> {
    let is_limited = partition.vcr.network.is_some();
    let job = |fieldbus| fieldbus::job(site, fieldbus, image, is_limited);
    fieldbus_of(site, partition).map(job).transpose().map_err(AssemblyError::Names)
}

impl Assembly {
    /// The names of all tasks that the exchange has statistics of, in its order.
    pub fn task_names(&self) -> impl Iterator<Item = &str> {
        let of_kernel = self.job.kernel_tasks.iter().map(|task| task.name.as_str());
        self.tasks.iter().map(|task| task.name.as_str()).chain(of_kernel)
    }
}

impl Staged {
    /// Returns the build as the process is told it, with values for its retained variables.
    pub fn to_job(&self, values: Vec<job::Value>) -> job::Build {
        let quietcore_program::DataImage { address, bytes } = self.build.data;
        job::Build {
            module: self.build.file_for(self.stage.slot).to_owned(),
            image: DataImage { address, bytes },
            stage: self.stage.clone(),
            values,
        }
    }
}

/// Resolves the names of the site file in a build that goes into data slot `slot`.
///
/// # Errors
/// [`AssemblyError::Names`] with all that do not exist.
pub fn stage(
    site: &Site,
    partition: &Partition,
    bus: &BusImage,
    build: Build,
    generation: u32,
    slot: u8,
) -> Result<Staged, AssemblyError> {
    let mut names = names::Names::new(site, partition, &build, bus);
    let (inputs, outputs) = names.mappings();
    let substitutes = names.substitutes(&outputs);
    let triggers = names.triggers(&tasks::order(&partition.program));
    let retained = names.retained();
    names.kernel();
    names.channels();
    let remarks = names.finish().map_err(AssemblyError::Names)?;
    let stage = Stage {
        generation,
        slot,
        data_bytes: u32::try_from(build.data.bytes).unwrap_or(u32::MAX),
        on_probation: false,
        inputs,
        outputs: outputs.into_iter().map(|(_, mapping)| mapping).collect(),
        substitutes,
        triggers,
        retained: retained
            .iter()
            .map(|entry| DataRange { offset: entry.offset, bytes: entry.bytes })
            .collect(),
        carried: Vec::new(),
        forces: Vec::new(),
        held: Vec::new(),
    };
    Ok(Staged { build, stage, retained, remarks })
}

/// The size of a data slot for a program whose data have `bytes` bytes.
fn slot_bytes(bytes: u64) -> u32 {
    let room = bytes.saturating_mul(GROWTH).saturating_add(GROWTH_BYTES);
    let pages = room.next_multiple_of(u64::from(PAGE_BYTES));
    u32::try_from(pages.min(u64::from(quietcore_exchange::DATA_BYTES_MAX))).unwrap_or(u32::MAX)
}

/// Returns the memory that is reserved for the partition's process, where that has any of its own.
fn reserved_memory(partition: &Partition) -> Option<ByteSize> {
    match partition.declaration().memory {
        MemoryForm::Heap => partition.vcr.memory,
        MemoryForm::Own { .. } => None,
    }
}

fn kind(site: ProgramKind) -> Kind {
    match site {
        ProgramKind::Generated => Kind::Generated,
        ProgramKind::Osek => Kind::Osek,
    }
}
