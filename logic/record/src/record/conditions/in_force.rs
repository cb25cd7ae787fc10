//! Scheduling policy and CPUs of the measured task, as far as the data say them.

use std::fmt;

use quietcore_units::{CpuSet, SchedulingPolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The words for a setting that the kernel could not be asked for.
const NOT_READ_BACK: &str = "not read back";

/// The scheduling policy of the measured task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyInForce {
    /// The data don't say.
    #[default]
    Unknown,
    /// The kernel was asked, and could not be read.
    NotReadBack,
    /// The kernel said so.
    ReadBack(#[schemars(with = "serde_json::Value")] SchedulingPolicy),
    /// Another program's data have a priority, and don't name its policy.
    Priority(u64),
    /// Words of an earlier version that name no policy, or another one than its figures.
    Stated {
        /// The words as they stood there.
        words: String,
        /// The priority under `SCHED_FIFO` that stood beside the words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fifo_priority: Option<u32>,
    },
}

impl PolicyInForce {
    /// Makes the value of what was read back, or of what could not be.
    pub fn read_back(policy: Option<SchedulingPolicy>) -> Self {
        policy.map_or(Self::NotReadBack, Self::ReadBack)
    }

    /// Returns the priority under `SCHED_FIFO`; `None` under any other policy.
    pub const fn fifo_priority(&self) -> Option<u32> {
        match self {
            Self::ReadBack(policy) => policy.fifo_priority(),
            Self::Stated { fifo_priority, .. } => *fifo_priority,
            Self::Unknown | Self::NotReadBack | Self::Priority(_) => None,
        }
    }

    /// Returns the priority under whatever policy has one; `None` where none is known.
    pub fn priority(&self) -> Option<u64> {
        match self {
            Self::ReadBack(
                SchedulingPolicy::Fifo { priority } | SchedulingPolicy::RoundRobin { priority },
            ) => Some(u64::from(*priority)),
            Self::Priority(priority) => Some(*priority),
            Self::Stated { fifo_priority, .. } => fifo_priority.map(u64::from),
            _ => None,
        }
    }

    /// Returns `true` where the data say nothing.
    pub(super) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }

    /// Returns `true` where a kernel was asked for it.
    pub(super) const fn is_of_a_kernel(&self) -> bool {
        !matches!(self, Self::Unknown | Self::Priority(_))
    }
}

impl fmt::Display for PolicyInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::NotReadBack => f.write_str(NOT_READ_BACK),
            Self::ReadBack(policy) => policy.fmt(f),
            Self::Priority(priority) => write!(f, "priority {priority}"),
            Self::Stated { words, .. } => f.write_str(words),
        }
    }
}

/// The CPUs that the measured task was allowed to run on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AffinityInForce {
    /// The data don't say.
    #[default]
    Unknown,
    /// The kernel was asked, and could not be read.
    NotReadBack,
    /// The kernel said so.
    ReadBack(#[schemars(with = "String")] CpuSet),
    /// Words of an earlier version that are no set of CPUs as this one writes it.
    Stated(String),
}

impl AffinityInForce {
    /// Makes the value of what was read back, or of what could not be.
    pub fn read_back(cpus: Option<CpuSet>) -> Self {
        cpus.map_or(Self::NotReadBack, Self::ReadBack)
    }

    /// Returns `true` where the data say something.
    pub fn is_known(&self) -> bool {
        *self != Self::Unknown
    }

    /// Returns `true` where the data say nothing.
    pub(super) fn is_unknown(&self) -> bool {
        !self.is_known()
    }
}

impl fmt::Display for AffinityInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::NotReadBack => f.write_str(NOT_READ_BACK),
            Self::ReadBack(cpus) => cpus.fmt(f),
            Self::Stated(words) => f.write_str(words),
        }
    }
}
