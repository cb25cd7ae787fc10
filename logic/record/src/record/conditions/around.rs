//! Observations around one of the worst cycles.

use std::fmt;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// CPU time that the task did not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakenBy {
    /// The hypervisor gave it to others.
    Hypervisor,
    /// Interrupts of devices took it.
    Interrupts,
    /// Soft interrupts of the kernel took it.
    SoftInterrupts,
}

/// Something that the kernel counts for the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Interrupts of all kinds.
    Interrupts,
    /// Context switches of the scheduler.
    ContextSwitches,
    /// Processes that were started.
    ProcessesStarted,
}

/// An observation around a worst cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Observation {
    /// The samples around it show nothing unusual.
    NothingUnusual,
    /// There are no samples around it.
    NotSampled,
    /// Time of its CPU was taken between two samples.
    TimeTaken {
        /// The taker of the time.
        by: TakenBy,
        /// Time that was taken, in ms; the kernel counts in steps of 10 ms.
        milliseconds: u64,
        /// The time between the samples, in ns.
        span_ns: u64,
    },
    /// Something was counted more often between two samples than on average.
    Burst {
        /// The quantity that was counted.
        of: Counted,
        /// Count between the two samples.
        count: u64,
        /// The time between the samples, in ns.
        span_ns: u64,
        /// The multiple of the average rate that it exceeded.
        factor: u64,
    },
    /// The processor was throttled between two samples.
    Throttled,
    /// A part of the latency is known by its cause: an exit of a guest, or a wait for a CPU.
    Covered {
        /// The cause, in words.
        cause: String,
        /// Its part, in ns.
        covered_ns: u64,
    },
    /// A part of the latency has no known cause.
    Unexplained {
        /// The part, in ns.
        left_ns: u64,
    },
    /// The cycle is of the earlier part of the run, and its number counts from that one's start.
    InEarlierPart,
}

/// A record's remark on a worst cycle beside its figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SpikeCondition {
    /// An observation of this version.
    Observed(Observation),
    /// Words of an earlier version.
    Stated(String),
}

impl From<Observation> for SpikeCondition {
    fn from(observation: Observation) -> Self {
        Self::Observed(observation)
    }
}

impl fmt::Display for TakenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hypervisor => "stolen by the hypervisor",
            Self::Interrupts => "in interrupts",
            Self::SoftInterrupts => "in softirqs",
        })
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupts => "interrupts",
            Self::ContextSwitches => "context switches",
            Self::ProcessesStarted => "processes started",
        })
    }
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingUnusual => f.write_str("nothing unusual in the samples around it"),
            Self::NotSampled => f.write_str("not sampled"),
            Self::TimeTaken { by, milliseconds, span_ns } => {
                write!(f, "{milliseconds} ms of {} {by}", Nanos::new(*span_ns))
            }
            Self::Burst { of, count, span_ns, factor } => {
                let span = Nanos::new(*span_ns);
                write!(f, "{count} {of} in {span}, more than {factor} × the average")
            }
            Self::Throttled => f.write_str("the processor was throttled by heat"),
            Self::Covered { cause, covered_ns } => {
                write!(f, "{cause}: {}", Nanos::new(*covered_ns))
            }
            Self::Unexplained { left_ns } => write!(f, "unexplained: {}", Nanos::new(*left_ns)),
            Self::InEarlierPart => f.write_str("in the earlier part"),
        }
    }
}

impl fmt::Display for SpikeCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observed(observation) => observation.fmt(f),
            Self::Stated(words) => f.write_str(words),
        }
    }
}

/// Writes conditions one after the other.
pub fn joined(conditions: &[SpikeCondition], separator: &str) -> String {
    let words: Vec<String> = conditions.iter().map(ToString::to_string).collect();
    words.join(separator)
}
