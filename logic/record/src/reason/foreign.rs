//! Reasons from the files that hold records: evidence folders, and data of other programs.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A finding of an evidence folder against records in it. Reading adds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code")]
pub enum FolderProblem {
    /// Something is not as it was sealed.
    #[serde(rename = "folder_damaged")]
    Damaged,
    /// Parts of it exclude each other.
    #[serde(rename = "folder_contradictory")]
    Contradictory,
    /// A part of it excludes this record.
    #[serde(rename = "record_contradicted")]
    Contradicted {
        /// Sentence on the contradiction.
        contradiction: String,
    },
}

impl fmt::Display for FolderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("the evidence folder is damaged"),
            Self::Contradictory => f.write_str("the evidence folder contradicts itself"),
            Self::Contradicted { contradiction } => f.write_str(contradiction),
        }
    }
}

/// A limit of what the file of another program shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ForeignProblem {
    /// Values lie beyond the histogram, and the file has no maximum of them.
    OverflowUnbounded,
    /// The mean that the file states is not that of its buckets.
    OtherMean {
        /// The one that it states, in the file's unit.
        stated: f64,
        /// The one of its buckets, in the file's unit.
        of_buckets: f64,
    },
    /// `rtla` counted values and printed none.
    AllBeyondHistogram,
    /// `rtla` says that it missed events.
    EventsMissed {
        /// The message of `rtla`.
        message: String,
    },
    /// The values are durations of noise, not release latencies; of earlier versions.
    NoiseDurations,
    /// The values are durations for which a busy loop was held up, not release latencies.
    BusyLoop {
        /// The program whose loop it was.
        program: String,
        /// The file has none up to this, in ns; absent where it has all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold_ns: Option<u64>,
    },
    /// The values are latencies of the timer's interrupt.
    InterruptLatency,
    /// The values are latencies of a kernel thread.
    KernelThreadLatency,
}

impl fmt::Display for ForeignProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverflowUnbounded => {
                f.write_str("the file doesn't say how late the overflow was at most")
            }
            Self::OtherMean { stated, of_buckets } => write!(
                f,
                "the file gives a mean of {stated}, its buckets have one of {of_buckets:.2}"
            ),
            Self::AllBeyondHistogram => f.write_str(
                "`rtla` counted values and printed none: all lie beyond its histogram; run it \
                 with more or wider buckets (-E, -b)",
            ),
            Self::EventsMissed { message } => write!(f, "`rtla` says: {message}"),
            Self::NoiseDurations => {
                f.write_str("`osnoise` measures how long noises last, which is no release latency")
            }
            Self::BusyLoop { program, threshold_ns } => {
                write!(
                    f,
                    "`{program}` measures for how long a busy loop was held up, which is no \
                     release latency"
                )?;
                let Some(threshold_ns) = threshold_ns else { return Ok(()) };
                let threshold = Nanos::new(*threshold_ns);
                write!(f, "; times of up to {threshold} are not in the file, nor their number")
            }
            Self::InterruptLatency => f.write_str(
                "this is the latency of the timer's interrupt, not the release of a thread",
            ),
            Self::KernelThreadLatency => f.write_str(
                "this is the latency of the kernel thread, not the control program that it \
                 releases",
            ),
        }
    }
}
