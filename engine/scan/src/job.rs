//! Every partition's job, whatever it runs in: its tasks, its channels, the values that it begins
//! with.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use quietcore_exchange::channel::{Entry, Timeouts};
use quietcore_units::{Nanos, ReleaseRule};
use serde::{Deserialize, Serialize};

use crate::shared::TASK_LIMIT;
use crate::stage::DataRange;

/// The most tasks of a program's own kernel.
pub const KERNEL_TASK_LIMIT: usize = 255;

/// A task of the program's own kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTask {
    /// Name of the task in the program.
    pub name: String,
    /// The latest completion after a release; none where none is asked for.
    pub deadline: Option<Nanos>,
}

/// Something that a channel carries: an [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelEntry {
    /// A number of entries that change together; they follow.
    Group {
        /// Number of these entries.
        members: u16,
        /// Age at which the receiver misses them; zero for never.
        timeout: Nanos,
    },
    /// A value of a group.
    Member {
        /// Size of the value in bytes, 1 to 8.
        bytes: u8,
        /// The value before the first one is sent, in the low bytes.
        initial: u64,
    },
    /// A queue of messages.
    Queue {
        /// The most bytes of one message.
        message_bytes: u16,
        /// Messages that there is room for; a power of two.
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

/// Bytes for one place of the program's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// Offset and length of the place.
    pub place: DataRange,
    /// As many bytes as the place has.
    pub bytes: Vec<u8>,
}

/// A task, as far as it decides whether it can be run beside others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Released {
    /// Number of the step function that it runs.
    pub(crate) rate: u32,
    /// Decides when it is released.
    pub(crate) release: ReleaseRule,
}

/// The reason why tasks can't be run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TasksError {
    /// There are none, or more than [`TASK_LIMIT`].
    Count(usize),
    /// Two of them run the same step function.
    SameRate,
    /// The first one is released by the others.
    Leader,
    /// A program that is a kernel has more tasks than the one that drives it.
    NotAlone,
    /// A program that is a kernel is driven by a task that is not cyclic.
    NotCyclic,
    /// A program that is a kernel has too many tasks of its own.
    KernelTasks(usize),
    /// The cyclic task of this number has no period.
    NoPeriod(usize),
}

impl fmt::Display for TasksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count} tasks; 1 to {TASK_LIMIT} are possible"),
            Self::SameRate => f.write_str("two tasks run the same step function"),
            Self::Leader => f.write_str("the first task leads and must be cyclic or freewheeling"),
            Self::NotAlone => {
                f.write_str("a program with tasks of its own is driven by one task alone")
            }
            Self::NotCyclic => {
                f.write_str("a program with tasks of its own is driven by a cyclic task")
            }
            Self::KernelTasks(count) => {
                write!(f, "{count} tasks of its own; {KERNEL_TASK_LIMIT} are possible")
            }
            Self::NoPeriod(task) => write!(f, "task {task} is cyclic and has no period"),
        }
    }
}

impl core::error::Error for TasksError {}

/// Checks that tasks can be run together, the first of which leads.
///
/// # Errors
/// [`TasksError`].
pub(crate) fn check_tasks(
    tasks: impl Iterator<Item = Released>,
    kernel_tasks: usize,
) -> Result<(), TasksError> {
    let tasks: Vec<Released> = tasks.collect();
    if tasks.is_empty() || tasks.len() > TASK_LIMIT {
        return Err(TasksError::Count(tasks.len()));
    }
    let mut rates: Vec<u32> = tasks.iter().map(|task| task.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    if rates.len() != tasks.len() {
        return Err(TasksError::SameRate);
    }
    let is_cyclic = matches!(tasks[0].release, ReleaseRule::Cyclic { .. });
    if !is_cyclic && !matches!(tasks[0].release, ReleaseRule::Freewheeling { .. }) {
        return Err(TasksError::Leader);
    }
    if kernel_tasks > 0 && tasks.len() > 1 {
        return Err(TasksError::NotAlone);
    }
    if kernel_tasks > 0 && !is_cyclic {
        return Err(TasksError::NotCyclic);
    }
    if kernel_tasks > KERNEL_TASK_LIMIT {
        return Err(TasksError::KernelTasks(kernel_tasks));
    }
    let stands =
        |task: &Released| matches!(task.release, ReleaseRule::Cyclic { period: Nanos::ZERO, .. });
    match tasks.iter().position(stands) {
        Some(task) => Err(TasksError::NoPeriod(task)),
        None => Ok(()),
    }
}
