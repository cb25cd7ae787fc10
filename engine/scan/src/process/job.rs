//! The job of a partition's process: a line of JSON, then more while it runs.

use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;

use quietcore_process::memory::DeviceMemory;
use quietcore_process::module::DataImage;
use quietcore_process::snare::SnareJob;
use serde::{Deserialize, Serialize};

use crate::job::{Released, TasksError, check_tasks};
use crate::process::error::RunError;
use crate::stage::Stage;
use quietcore_units::{ByteSize, FaultReaction, Nanos, Overrun, ReleaseRule, Scheduling, Wake};

pub use crate::job::{ChannelEntry, KernelTask, Value};

/// The most bytes that one line may take.
pub const LINE_BYTES_MAX: usize = 32 << 20;

/// A partition with a control program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramJob {
    /// The CPU on which all its tasks run; none if they may move.
    pub cpu: Option<u32>,
    /// Its tasks. The first one leads: it takes commands, drives the fieldbus and swaps builds.
    pub tasks: Vec<TaskJob>,
    /// The tasks of the program's own kernel, in its order; empty where it is no kernel. Their
    /// statistics stand behind that of the one task which leads.
    pub kernel_tasks: Vec<KernelTask>,
    /// Decides the outputs in fault.
    pub on_fault: FaultReaction,
    /// The program to begin with.
    pub build: Build,
    /// The channels that it takes part in. Their signals are numbered one after the other.
    pub channels: Vec<ChannelJob>,
    /// Cycles of the leading task for which a new build is on probation: a fault in one of them
    /// brings the build before back.
    pub probation_cycles: u64,
    /// Releases of the leading task before those that are measured.
    pub warm_up_cycles: u64,
    /// Releases to measure; none to run until told to stop.
    pub cycles: Option<u64>,
    /// The memory that is reserved for its process; none leaves that open.
    pub memory: Option<ByteSize>,
    /// Traps for late releases; none where nobody explains them.
    pub snare: Option<SnareJob>,
}

/// A task of the job; the first one leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskJob {
    /// Name of the task, for messages and the thread.
    pub name: String,
    /// Number of the step function that it runs.
    pub rate: u32,
    /// Decides when it is released.
    pub release: ReleaseRule,
    /// The latest completion after a release.
    pub deadline: Nanos,
    /// Watchdog time; see [`Watchdog`](crate::watchdog::Watchdog).
    pub watchdog: Nanos,
    /// Watchdog sensitivity; 0 counts as 1.
    pub sensitivity: u32,
    /// Decides about releases that pass while a job runs.
    pub overrun: Overrun,
    /// Policy and priority of its thread.
    pub policy: Scheduling,
    /// The way in which it comes to its release: sleeping, waking early, spinning.
    pub wake: Wake,
}

/// A channel that the partition takes part in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelJob {
    /// Its name, for messages.
    pub name: String,
    /// The descriptor of its memory file in the process.
    pub descriptor: i32,
    /// The device whose memory it is, in a Linux guest; the file is that of the device then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceMemory>,
    /// `true` for the sender, `false` for a receiver.
    pub sends: bool,
    /// The groups, members and queues that it carries, in their order.
    pub entries: Vec<ChannelEntry>,
    /// The entry behind each of its signals, in the order of their numbers.
    pub signals: Vec<u32>,
}

/// A built program to be loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// Path of the module file.
    pub module: PathBuf,
    /// Addresses of its writable data in the module.
    pub image: DataImage,
    /// Places of its data in the slot.
    pub stage: Stage,
    /// Values given to it between `initialize` and its first step: retained ones.
    pub values: Vec<Value>,
}

/// A line that follows the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Load a build into the free slot and swap it in.
    Stage(Build),
    /// The same for a guest, whose process sees no files any more: the module was copied to the
    /// delivery that it shares with the host.
    Deliver {
        /// The build as the host knows it.
        build: Build,
        /// Bytes of its module.
        bytes: u64,
    },
}

impl ProgramJob {
    /// Checks that its tasks can be run together.
    ///
    /// # Errors
    /// [`RunError::Tasks`] and [`RunError::NoPeriod`].
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let tasks =
            self.tasks.iter().map(|task| Released { rate: task.rate, release: task.release });
        check_tasks(tasks, self.kernel_tasks.len()).map_err(|why| match why {
            TasksError::NoPeriod(task) => {
                RunError::NoPeriod { task: self.tasks[task].name.clone() }
            }
            other => RunError::Tasks(other),
        })
    }
}

impl TaskJob {
    /// The response time beyond which a job is a fault, under `stop`: until its next release.
    pub(crate) fn stop_beyond(&self) -> Option<Nanos> {
        self.overrun.stop_beyond(self.release)
    }
}
