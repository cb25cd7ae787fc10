//! Problems of a run while it was measured.

use std::fmt;

use quietcore_units::{Nanos, ThreadSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MachineDrift, ShareDrift};

/// The reason why the times of a record are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code")]
pub enum NotReal {
    /// The machine's clock or processor is emulated.
    #[serde(rename = "time_not_real")]
    Machine {
        /// The observation that showed it.
        evidence: String,
    },
    /// Guests of this machine are not executed by its processor.
    #[serde(rename = "guest_time_not_real")]
    Guests {
        /// The way in which they run instead.
        interpreted: String,
    },
    /// The record's own facts say so, and it counted as valid.
    #[serde(rename = "facts_of_time_not_real")]
    Facts {
        /// The fact, in words.
        fact: String,
    },
}

impl NotReal {
    /// Returns what the sentence says behind "timing not valid".
    pub fn cause(&self) -> String {
        match self {
            Self::Machine { evidence } => format!("this machine's time is emulated ({evidence})"),
            Self::Guests { interpreted } => format!("guests here are {interpreted}"),
            Self::Facts { fact } => format!("this machine's time was not real ({fact})"),
        }
    }
}

impl fmt::Display for NotReal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timing not valid: {}", self.cause())
    }
}

/// The state of a task at the end of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskEnd {
    /// The task never began.
    NotBegun,
    /// The task prepared itself.
    Starting,
    /// The task still ran.
    Running,
    /// Its state has a number that this version doesn't know.
    Unknown(u32),
}

impl fmt::Display for TaskEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBegun => f.write_str("it has not begun"),
            Self::Starting => f.write_str("it was still preparing itself"),
            Self::Running => f.write_str("it was still running"),
            Self::Unknown(number) => write!(f, "its state has the unknown number {number}"),
        }
    }
}

/// A problem of the run that a record is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RunProblem {
    /// The measuring task failed.
    TaskFailed {
        /// The error's number in the kernel.
        error: i32,
    },
    /// The measuring task did not come to its end.
    TaskNotEnded {
        /// Its state at the end.
        state: TaskEnd,
    },
    /// The task was ended while it wrote its counters.
    TaskCutOff,
    /// Settings of the measuring thread changed during the run.
    SettingsDrifted {
        /// Settings at the first look.
        #[schemars(with = "serde_json::Value")]
        first: Box<ThreadSettings>,
        /// The first settings that were others.
        #[schemars(with = "serde_json::Value")]
        then: Box<ThreadSettings>,
    },
    /// The settings in force were not readable.
    SettingsUnknown,
    /// Settings of the machine changed during the run.
    MachineDrifted {
        /// The change that was seen first; CPUs come before the settings that go with them.
        first: MachineDrift,
        /// Number of changes beyond it.
        more: usize,
    },
    /// The cache ways or the bandwidth of the partition changed during the run.
    ShareDrifted {
        /// The change that was seen first.
        drift: ShareDrift,
    },
    /// Real-time tasks of others were pinned to a CPU of the partition.
    CpuShared {
        /// Number of the CPU.
        cpu: u32,
        /// Number of their process.
        process: u32,
        /// Name of their site and partition, `press/axis`; `None` where they belong to a campaign
        /// or a probe.
        owner: Option<String>,
    },
    /// Nobody looked at the run for longer than evidence allows.
    Unwatched {
        /// The longest time between two looks, in ns.
        gap_ns: u64,
    },
    /// Workers of a load stood still or ended.
    LoadIncomplete {
        /// Word of the load's kind.
        kind: String,
        /// The problems of its workers, each once.
        problems: Vec<String>,
    },
    /// A neighbour ended, or its loads did not work.
    NeighbourIncomplete {
        /// Name of the neighbour.
        neighbour: String,
        /// Its problems, each once.
        problems: Vec<String>,
    },
    /// Frames were lost, or SubDevices did not answer.
    FieldbusIncomplete {
        /// The problems, each once.
        problems: Vec<String>,
    },
    /// Events of the program were overwritten before they were read.
    EventsLost {
        /// Number of these events.
        count: u64,
    },
    /// A histogram in the exchange is none.
    ExchangeDamaged {
        /// The quantity, such as `release latency`.
        quantity: String,
        /// Sentence on the damage.
        damage: String,
    },
    /// Neighbours worked while they were to rest.
    NeighboursWorked,
}

impl fmt::Display for RunProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaskFailed { error } => write!(f, "the task failed with error {error}"),
            Self::TaskNotEnded { state } => write!(f, "the task did not come to its end: {state}"),
            Self::TaskCutOff => f.write_str("the task was ended in the middle of a cycle"),
            Self::SettingsDrifted { first, then } => {
                write!(f, "the settings drifted during the run: {}", first.became(then))
            }
            Self::SettingsUnknown => f.write_str("the settings in force could not be read back"),
            Self::MachineDrifted { first, more } => {
                write!(f, "the machine's settings drifted during the run: {first}")?;
                if *more > 0 { write!(f, "; and {more} more") } else { Ok(()) }
            }
            Self::ShareDrifted { drift } => {
                write!(f, "what it had of the cache and the bandwidth drifted: {drift}")
            }
            Self::CpuShared { cpu, process, owner: Some(owner) } => write!(
                f,
                "real-time tasks of partition `{owner}` (process {process}) were pinned to CPU \
                 {cpu} as well"
            ),
            Self::CpuShared { cpu, process, owner: None } => write!(
                f,
                "another campaign or probe (process {process}) measured on CPU {cpu} meanwhile"
            ),
            Self::Unwatched { gap_ns } => write!(
                f,
                "nobody watched the run for {}: whoever measures was itself held up, so that \
                 nothing is known of settings and loads meanwhile",
                Nanos::new(*gap_ns)
            ),
            Self::LoadIncomplete { kind, problems } => {
                write!(f, "the load `{kind}` did not run as asked")?;
                if problems.is_empty() { Ok(()) } else { write!(f, ": {}", problems.join("; ")) }
            }
            Self::NeighbourIncomplete { neighbour, problems } => {
                write!(f, "{neighbour} did not load the machine as asked")?;
                if problems.is_empty() { Ok(()) } else { write!(f, ": {}", problems.join("; ")) }
            }
            Self::FieldbusIncomplete { problems } => {
                write!(f, "the fieldbus was not whole: {}", problems.join("; "))
            }
            Self::EventsLost { count } => {
                write!(f, "{count} events of the program were lost unread")
            }
            Self::ExchangeDamaged { quantity, damage } => {
                write!(f, "the {quantity} in the exchange: {damage}")
            }
            Self::NeighboursWorked => f.write_str("neighbours worked while they were told to rest"),
        }
    }
}
