//! What a partition is asked to do.

use quietcore_exchange::Shape;
use quietcore_probe::job::LatencyJob;
use quietcore_probe::memory::MemoryJob;
use quietcore_process::snare::SnareJob;
use quietcore_scan::process::job::ProgramJob;
use quietcore_units::ByteSize;
use serde::{Deserialize, Serialize};

use crate::fieldbus::FieldbusJob;
use crate::kvm::GuestSetting;

/// The work of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// The probe `latency`.
    Latency(LatencyJob),
    /// The probe `memory`.
    Memory(MemoryJob),
    /// A control program in its scan cycle.
    Program {
        /// The program and its tasks.
        program: Box<ProgramJob>,
        /// The fieldbus that it drives.
        fieldbus: Option<FieldbusJob>,
    },
    /// The same in a guest. Its modules are images of programs.
    Guest {
        /// The program and its tasks.
        program: Box<ProgramJob>,
        /// The fieldbus that it drives.
        fieldbus: Option<FieldbusJob>,
        /// What the guest is given beside it.
        setting: GuestSetting,
    },
}

impl Job {
    /// A program, in a process or in a guest.
    pub fn of_program(
        program: ProgramJob,
        fieldbus: Option<FieldbusJob>,
        guest: Option<&GuestSetting>,
    ) -> Self {
        let program = Box::new(program);
        match guest {
            None => Self::Program { program, fieldbus },
            Some(setting) => Self::Guest { program, fieldbus, setting: setting.clone() },
        }
    }

    /// The memory that is reserved for its process, and how many threads that will have; `None`
    /// where nothing is, or it is a guest, whose memory is another.
    pub(crate) fn reservation(&self) -> Option<(ByteSize, usize)> {
        match self {
            Self::Program { program, .. } => Some((program.memory?, program.tasks.len())),
            Self::Latency(job) => Some((job.memory?, job.cpus.len())),
            Self::Guest { .. } | Self::Memory(_) => None,
        }
    }

    /// Gives the files that it names other numbers, each once.
    pub(crate) fn renumber(&mut self, mut new: impl FnMut(i32) -> i32) {
        if let Self::Guest { setting, .. } = self {
            setting.delivery = setting.delivery.map(&mut new);
            setting.exits = setting.exits.map(&mut new);
        }
        let renumber_snare = |snare: &mut SnareJob, new: &mut dyn FnMut(i32) -> i32| {
            snare.memory = new(snare.memory);
            snare.tracing_on = snare.tracing_on.map(new);
        };
        match self {
            Self::Program { program, .. } | Self::Guest { program, .. } => {
                for channel in &mut program.channels {
                    channel.descriptor = new(channel.descriptor);
                }
                program.snare.iter_mut().for_each(|snare| renumber_snare(snare, &mut new));
            }
            Self::Memory(job) => {
                for pipe in [&mut job.commands, &mut job.answers] {
                    *pipe = new(pipe.cast_signed()).unsigned_abs();
                }
            }
            Self::Latency(job) => {
                job.snare.iter_mut().for_each(|snare| renumber_snare(snare, &mut new));
            }
        }
    }
}

/// The exchange that the probe `latency` needs.
pub fn latency_shape(job: &LatencyJob) -> Shape {
    Shape::of_tasks(u32::try_from(job.cpus.len()).unwrap_or(u32::MAX))
}
