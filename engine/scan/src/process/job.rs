//! What the process of a partition is asked to run: a line of JSON, then more while it runs.

use std::path::PathBuf;
use std::string::{String, ToString as _};
use std::vec::Vec;

use quietcore_probe::job::Wake;
use quietcore_process::module::DataImage;
use quietcore_process::setting::Policy;
use quietcore_process::snare::SnareJob;
use quietcore_units::{ByteSize, Nanos};
use serde::{Deserialize, Serialize};

use crate::fault::OnFault;
use crate::job::{Released, TasksError, check_tasks};
use crate::schedule::Overrun;
use crate::stage::Stage;

pub use crate::job::{ChannelEntry, KernelTask, TaskKind, Value};

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
    /// What the outputs become in fault.
    pub on_fault: OnFault,
    /// The program to begin with.
    pub build: Build,
    /// The channels that it takes part in. Their signals are numbered one after the other.
    pub channels: Vec<ChannelJob>,
    /// How long a new build is on probation: a fault in this many cycles of the leading task
    /// brings the build before back.
    pub probation_cycles: u64,
    /// Releases of the leading task before those that are measured.
    pub warm_up_cycles: u64,
    /// Releases to measure; none to run until told to stop.
    pub cycles: Option<u64>,
    /// The memory that is reserved for its process; none leaves that open.
    pub memory: Option<ByteSize>,
    /// What late releases spring; none where nobody explains them.
    pub snare: Option<SnareJob>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskJob {
    /// Its name.
    pub name: String,
    /// Which step function of the program it runs.
    pub rate: u32,
    /// When it is released.
    pub kind: TaskKind,
    /// The latest completion after a release.
    pub deadline: Nanos,
    /// Its watchdog time.
    pub watchdog: Nanos,
    /// Its watchdog's sensitivity.
    pub sensitivity: u32,
    /// What happens to releases that pass while a job runs.
    pub overrun: Overrun,
    /// How it is scheduled.
    pub policy: Policy,
    /// How it comes to its release.
    pub wake: Wake,
}

/// A channel that the partition takes part in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelJob {
    /// Its name, for messages.
    pub name: String,
    /// The descriptor of its memory file in the process.
    pub descriptor: i32,
    /// Whether the partition sends; else it receives.
    pub sends: bool,
    /// What it carries.
    pub entries: Vec<ChannelEntry>,
    /// The entry behind each of its signals, in the order of their numbers.
    pub signals: Vec<u32>,
}

/// A built program to be loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// The module.
    pub module: PathBuf,
    /// Where its writable data lie.
    pub image: DataImage,
    /// Its places.
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
        /// The build.
        build: Build,
        /// Bytes of its module.
        bytes: u64,
    },
}

impl ProgramJob {
    /// Makes sure that its tasks can be run together.
    ///
    /// # Errors
    /// Why they can't, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let tasks = self.tasks.iter().map(|task| Released { rate: task.rate, kind: task.kind });
        check_tasks(tasks, self.kernel_tasks.len()).map_err(|why| match why {
            TasksError::NoPeriod(task) => {
                std::format!("the cyclic task `{}` has no period", self.tasks[task].name)
            }
            other => other.to_string(),
        })
    }
}

impl TaskJob {
    /// The response time beyond which a job is a fault, under `stop`: until its next release.
    pub(crate) fn stop_beyond(&self) -> Option<Nanos> {
        self.kind.stop_beyond(self.overrun)
    }
}
