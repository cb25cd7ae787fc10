//! The variants of an experiment, and the blocks of each: there in records of `tune`, `disturb`
//! and `cost` only. They are of any kind of measurement.
//!
//! ```text
//! round 1   all │ without interrupts │ none │ …     the blocks of a round stand in chance order
//! round 2   none │ all │ …
//!            └ block: so many cycles, measured like a short run
//! ```
//!
//! A record is one variant: its histograms are the sums of its blocks. The effect of a variant on
//! latencies is the ratio of blocks of the same round ([`experiment`](crate::experiment)), so that
//! what drifts over the hours is in both.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::record::Record;

/// A variant of an experiment with its blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Trial {
    /// The condition that was varied.
    pub variant: Variant,
    /// Its blocks, in the order of their rounds.
    pub blocks: Vec<TrialBlock>,
}

/// A variant of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// `tune`, first part: all controls, or all but one, or none.
    Screening {
        /// The controls that were on, by their words in the site file.
        on: Vec<String>,
        /// The one that was left out of all; absent for all and for none.
        left_out: Option<String>,
    },
    /// `tune`, second part: a set of controls that is tried against the class.
    Confirming {
        /// The controls that were on.
        on: Vec<String>,
        /// Name of the class.
        class: String,
        /// `true` if the limits of the class held.
        reached: bool,
        /// The reason, in words.
        because: String,
    },
    /// `disturb`: a neighbour, or none.
    Beside {
        /// The neighbour; absent for the quiet run.
        aggressor: Option<Aggressor>,
    },
    /// `cost`: the partition as a backend realises it.
    Realised {
        /// The backend, by its word in the site file.
        backend: String,
        /// `true` for the one that the others are compared with.
        is_reference: bool,
        /// Seed of the random order of the backends in each round.
        seed: u64,
    },
}

/// A neighbour that disturbs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Aggressor {
    /// The kind of its load, such as `disk`.
    pub kind: String,
    /// Number of workers of the load.
    pub workers: u32,
    /// The place of the workers, as seen from the partition.
    pub placement: Placement,
    /// The CPUs that they share.
    pub cpus: String,
    /// The backend that realises the neighbour in which they work, by its word in the site file;
    /// absent where they are processes of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
}

impl Aggressor {
    /// Names it: `sqrt`, or `sqrt (container)`.
    pub fn title(&self) -> String {
        match &self.backend {
            Some(backend) => format!("{} ({backend})", self.kind),
            None => self.kind.clone(),
        }
    }
}

/// The place of a neighbour, as seen from the partition that is disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// On the CPU of the partition itself.
    SameCpu,
    /// On the other thread of the same core.
    Sibling,
    /// On a CPU that no partition has.
    OtherCpu,
    /// On the CPUs of another partition, as its program could do.
    OtherPartition,
}

impl Placement {
    /// All places, the nearest first.
    pub const ALL: [Self; 4] = [Self::SameCpu, Self::Sibling, Self::OtherCpu, Self::OtherPartition];

    /// Returns the word in names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameCpu => "same-cpu",
            Self::Sibling => "sibling",
            Self::OtherCpu => "other-cpu",
            Self::OtherPartition => "other-partition",
        }
    }

    /// Returns the words that people read in a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::SameCpu => "same CPU",
            Self::Sibling => "sibling",
            Self::OtherCpu => "other CPU",
            Self::OtherPartition => "other partition",
        }
    }
}

/// A block of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TrialBlock {
    /// Number of its round, from 0.
    pub round: u32,
    /// `true` if it may be trusted; one that may not has no ratio.
    pub valid: bool,
    /// Releases that were measured; loops of a routine, or round trips.
    pub cycles: u64,
    /// Releases that came a whole period late or more.
    pub missed_cycles: u64,
    /// Median of the release latency, in ns; for a routine of its time, for round trips of
    /// theirs, as for all figures below.
    pub median_ns: u64,
    /// 99 % quantile, in ns.
    pub p99_ns: u64,
    /// 99.9 % quantile, in ns; of few cycles it is their maximum.
    pub p99_9_ns: u64,
    /// Maximum of the release latency, in ns.
    pub max_ns: u64,
    /// Mean of a routine without the lowest and the highest values, and without the empty
    /// measurement, in ns; absent for other measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// Operations of all loads in a second; 0 without any.
    pub load_operations_per_second: f64,
    /// Times of the program's cycles; absent where the probe ran alone, and in records from before
    /// blocks had them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramBlock>,
}

/// The times of a program's cycles in a block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProgramBlock {
    /// Execution time: start to end of the cycle.
    pub execution: BlockTimes,
    /// Response time: due instant to the end of the cycle.
    pub response: BlockTimes,
}

/// A time of the cycles in a block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BlockTimes {
    /// The median, in ns.
    pub median_ns: u64,
    /// 99 % quantile, in ns.
    pub p99_ns: u64,
    /// 99.9 % quantile, in ns; of few cycles it is their maximum.
    pub p99_9_ns: u64,
    /// The maximum, in ns.
    pub max_ns: u64,
    /// The mean without the lowest and the highest values, in ns; absent but for routines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
}

impl TrialBlock {
    /// Makes the block of a short run of this round; `None` where it measured nothing.
    pub fn of(record: &Record, round: u32) -> Option<Self> {
        let release = BlockTimes::of(&record.release)?;
        let program = record.scan().and_then(|scan| {
            let execution = BlockTimes::of(&scan.execution)?;
            Some(ProgramBlock { execution, response: BlockTimes::of(&scan.response)? })
        });
        let loads = record.conditions.loads.iter();
        Some(Self {
            round,
            valid: record.is_valid() && record.degraded.is_empty() && !record.interrupted,
            cycles: record.release.count(),
            missed_cycles: record.counters.missed_cycles.unwrap_or(0),
            median_ns: release.median_ns,
            p99_ns: release.p99_ns,
            p99_9_ns: release.p99_9_ns,
            max_ns: release.max_ns,
            mean_ns: record.routine().and_then(|run| run.figures().mean_ns),
            load_operations_per_second: loads.map(|load| load.operations_per_second).sum(),
            program,
        })
    }

    /// Returns the release latency of the block, or the time that another measurement has in its
    /// place.
    pub const fn release(&self) -> BlockTimes {
        let Self { median_ns, p99_ns, p99_9_ns, max_ns, mean_ns, .. } = *self;
        BlockTimes { median_ns, p99_ns, p99_9_ns, max_ns, mean_ns }
    }
}

impl BlockTimes {
    /// Takes the figures of a histogram; `None` where it is empty.
    fn of(histogram: &Histogram) -> Option<Self> {
        let quantile = |part: f64| Some(histogram.quantile(part)?.lower_bound());
        Some(Self {
            median_ns: quantile(0.5)?,
            p99_ns: quantile(0.99)?,
            p99_9_ns: quantile(0.999)?,
            max_ns: histogram.max_ns(),
            mean_ns: None,
        })
    }
}
