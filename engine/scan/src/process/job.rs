//! What the process of a partition is asked to run: a line of JSON, then more while it runs.

use std::path::PathBuf;
use std::string::{String, ToString as _};
use std::vec::Vec;

use quietcore_exchange::channel::{Entry, Timeouts};
use quietcore_probe::job::Wake;
use quietcore_process::module::DataImage;
use quietcore_process::setting::Policy;
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::fault::OnFault;
use crate::schedule::Overrun;
use crate::shared::TASK_LIMIT;
use crate::stage::{Piece, Stage};

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

/// A task of the program's own kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTask {
    /// Its name.
    pub name: String,
    /// The latest completion after a release; none where none is asked for.
    pub deadline: Option<Nanos>,
}

/// When a task is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskKind {
    /// At fixed instants.
    Cyclic {
        /// Time between releases.
        period: Nanos,
        /// From the common start to its first release.
        offset: Nanos,
    },
    /// When its trigger becomes true, looked at in each cycle of the leading task.
    Event {
        /// The shortest pause after a job.
        gap: Nanos,
    },
    /// Again and again while its trigger is true.
    Status {
        /// The shortest pause after a job.
        gap: Nanos,
    },
    /// Again and again.
    Freewheeling {
        /// The pause after a job.
        gap: Nanos,
    },
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

/// Something that a channel carries: an [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelEntry {
    /// So many of the following entries change together.
    Group {
        /// How many.
        members: u16,
        /// When the receiver misses them; zero is never.
        timeout: Nanos,
    },
    /// A value of a group.
    Member {
        /// Its bytes.
        bytes: u8,
        /// The value before the first one is sent, in the low bytes.
        initial: u64,
    },
    /// Messages.
    Queue {
        /// The most bytes of one.
        message_bytes: u16,
        /// For so many there is room; a power of two.
        slots: u32,
    },
}

impl From<ChannelEntry> for Entry {
    fn from(entry: ChannelEntry) -> Self {
        match entry {
            ChannelEntry::Group { members, timeout } => {
                Self::Group { members, timeouts: Timeouts { first: timeout, next: timeout } }
            }
            ChannelEntry::Member { bytes, initial } => Self::Member { bytes, initial },
            ChannelEntry::Queue { message_bytes, slots } => Self::Queue { message_bytes, slots },
        }
    }
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

/// Bytes for one place of the program's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// Where they go.
    pub place: Piece,
    /// The bytes; as many as the place has.
    pub bytes: Vec<u8>,
}

/// A line that follows the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Load a build into the free slot and swap it in.
    Stage(Build),
}

impl ProgramJob {
    /// Makes sure that its tasks can be run together.
    ///
    /// # Errors
    /// Why they can't, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.tasks.is_empty() || self.tasks.len() > TASK_LIMIT {
            return Err(std::format!("{} tasks; 1 to {TASK_LIMIT} are possible", self.tasks.len()));
        }
        let mut rates: Vec<u32> = self.tasks.iter().map(|task| task.rate).collect();
        rates.sort_unstable();
        rates.dedup();
        if rates.len() != self.tasks.len() {
            return Err("two tasks run the same step function".to_string());
        }
        let led =
            matches!(self.tasks[0].kind, TaskKind::Cyclic { .. } | TaskKind::Freewheeling { .. });
        if !led {
            return Err("the first task leads and must be cyclic or freewheeling".to_string());
        }
        if !self.kernel_tasks.is_empty() {
            self.check_kernel()?;
        }
        let stands =
            |task: &&TaskJob| matches!(task.kind, TaskKind::Cyclic { period: Nanos::ZERO, .. });
        match self.tasks.iter().find(stands) {
            Some(task) => Err(std::format!("the cyclic task `{}` has no period", task.name)),
            None => Ok(()),
        }
    }

    /// A kernel is driven by one cyclic task, and has a row for each task of its own.
    fn check_kernel(&self) -> Result<(), String> {
        if self.tasks.len() > 1 {
            return Err("a program with tasks of its own is driven by one task alone".to_string());
        }
        if !matches!(self.tasks[0].kind, TaskKind::Cyclic { .. }) {
            return Err("a program with tasks of its own is driven by a cyclic task".to_string());
        }
        let most = quietcore_process::module::TASK_LIMIT as usize;
        if self.kernel_tasks.len() > most {
            let count = self.kernel_tasks.len();
            return Err(std::format!("{count} tasks of its own; {most} are possible"));
        }
        Ok(())
    }
}

impl TaskJob {
    /// The response time beyond which a job is a fault, under `stop`: until its next release.
    pub(crate) fn stop_beyond(&self) -> Option<Nanos> {
        match self.kind {
            TaskKind::Cyclic { period, .. } if self.overrun == Overrun::Stop => Some(period),
            _ => None,
        }
    }
}

impl TaskKind {
    /// The time between releases, or the shortest there can be.
    pub fn period(&self) -> Nanos {
        match *self {
            Self::Cyclic { period, .. } => period,
            Self::Event { gap } | Self::Status { gap } | Self::Freewheeling { gap } => gap,
        }
    }
}
