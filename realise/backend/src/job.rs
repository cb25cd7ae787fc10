//! The work that a partition's process is given.

use quietcore_exchange::Shape;
use quietcore_guests::Image;
use quietcore_probe::job::LatencyJob;
use quietcore_probe::measurement::MeasurementJob;
use quietcore_probe::memory::MemoryJob;
use quietcore_process::snare::SnareJob;
use quietcore_scan::process::job::ProgramJob;
use quietcore_units::ByteSize;
use serde::{Deserialize, Serialize};

use crate::fieldbus::FieldbusJob;
use crate::interior::Interior;
use crate::linux::LinuxJob;
use crate::neighbour::NeighbourJob;
use crate::qemu::disk::DiskSetting;

/// The work of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// The probe `latency`.
    Latency(LatencyJob),
    /// The probe `memory`.
    Memory(MemoryJob),
    /// One measurement of another probe.
    Measurement {
        /// The measurement and the way to its host.
        measurement: Box<MeasurementJob>,
        /// Guest that measures, if it is not one of our own monitor; the backend fills this in.
        interior: Interior,
    },
    /// Loads beside partitions that are measured.
    Neighbour(NeighbourJob),
    /// One of the others, done by a process in a Linux guest; the backend makes it of that.
    Linux(Box<LinuxJob>),
    /// A guest that starts from its disk.
    Disk(Box<DiskSetting>),
    /// A control program in its scan cycle.
    Program {
        /// The program and its tasks.
        program: Box<ProgramJob>,
        /// Fieldbus that it drives, if any.
        fieldbus: Option<FieldbusJob>,
        /// Threads or a guest that the process runs it in; the backend fills this in.
        interior: Interior,
    },
}

impl Job {
    /// Returns the work of a program, as every backend is given it. The room in which it is started
    /// decides what it runs in, and has to be of the backend that the program was built for.
    pub fn of_program(program: ProgramJob, fieldbus: Option<FieldbusJob>) -> Self {
        Self::Program { program: Box::new(program), fieldbus, interior: Interior::default() }
    }

    /// Returns the memory reserved for the process, and the number of threads that run its tasks;
    /// `None` if none is reserved.
    pub(crate) fn reservation(&self) -> Option<(ByteSize, usize)> {
        match self {
            Self::Program { program, .. } => Some((program.memory?, program.tasks.len())),
            Self::Latency(job) => Some((job.memory?, job.cpus.len())),
            Self::Memory(_)
            | Self::Measurement { .. }
            | Self::Neighbour(_)
            | Self::Linux(_)
            | Self::Disk(_) => None,
        }
    }

    /// Returns the image that its guest starts from; `None` where its process does the work itself.
    pub(crate) fn image(&self) -> Option<Image> {
        match self {
            Self::Program { .. } => Some(quietcore_guests::PARTITION),
            Self::Measurement { measurement, .. } => measurement.measurement.image(),
            _ => None,
        }
    }

    /// Returns what a backend fills in, where the work is done in a guest of our own kernel.
    pub(crate) fn interior_of_guest(&mut self) -> Option<&mut Interior> {
        self.image()?;
        match self {
            Self::Program { interior, .. } | Self::Measurement { interior, .. } => Some(interior),
            _ => None,
        }
    }

    /// Calls `new` once for each number of a file that the job names, and puts the result in its
    /// place.
    pub(crate) fn renumber(&mut self, new: &mut dyn FnMut(i32) -> i32) {
        let renumber_snare = |snare: &mut SnareJob, new: &mut dyn FnMut(i32) -> i32| {
            snare.memory = new(snare.memory);
            snare.tracing_on = snare.tracing_on.map(new);
        };
        match self {
            Self::Program { program, interior, .. } => {
                interior.renumber(new);
                for channel in &mut program.channels {
                    channel.descriptor = new(channel.descriptor);
                }
                program.snare.iter_mut().for_each(|snare| renumber_snare(snare, new));
            }
            Self::Neighbour(_) => {}
            Self::Linux(job) => job.renumber(new),
            Self::Disk(_) => {}
            Self::Memory(job) => {
                for pipe in [&mut job.commands, &mut job.answers] {
                    *pipe = new(pipe.cast_signed()).unsigned_abs();
                }
            }
            Self::Measurement { measurement, interior } => {
                interior.renumber(new);
                measurement.messages = new(measurement.messages.cast_signed()).unsigned_abs();
            }
            Self::Latency(job) => {
                job.snare.iter_mut().for_each(|snare| renumber_snare(snare, new));
            }
        }
    }
}

/// Returns the shape of an exchange for the probe `latency`: one task for each CPU.
pub fn latency_shape(job: &LatencyJob) -> Shape {
    Shape::of_tasks(u32::try_from(job.cpus.len()).unwrap_or(u32::MAX))
}
