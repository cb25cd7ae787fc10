//! The times of accesses to memory: there in records of the probe `memory` only.
//!
//! ```text
//! working set ─ block ─ block ─ …   a block: so many accesses, one after the other, and their time
//!     1 KiB     1.3 ns  1.3 ns
//!   1.2 KiB     …
//! ```
//!
//! A record is one pattern under one condition; the same working sets under another condition are
//! in another record, with blocks of the same rounds: they were measured in turns, so that a pair
//! of the same round has seen the same machine. What neighbours cost is the ratio of such pairs
//! ([`slowdown`](crate::slowdown)).
//!
//! The record's own histogram holds the average access of each block in whole nanoseconds. None of
//! this is a release: no application class judges it.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::reason::Inconsistency;
use crate::record::Record;
use crate::slowdown::Estimate;

/// The order in which a working set is read.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPattern {
    /// From its begin to its end, again and again; no access waits for the one before.
    Sequential,
    /// Along one random cycle through all its places; each access says where the next one is.
    Random,
}

impl AccessPattern {
    /// Both patterns, in the order of their names on pages.
    pub const ALL: [Self; 2] = [Self::Sequential, Self::Random];

    /// Returns the name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
        }
    }
}

/// A cache that the accesses may be served by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CacheLevel {
    /// Level, of which 1 is the nearest.
    pub level: u32,
    /// Size of the cache in bytes.
    pub bytes: u64,
    /// The CPUs that share it.
    pub cpus: String,
}

/// Neighbours that use memory at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Interference {
    /// The kind of load, such as `memory-bandwidth`.
    pub kind: String,
    /// Number of workers of the load.
    pub workers: u32,
    /// Working set of each in bytes; `None` for a kind without a size.
    pub size_bytes: Option<u64>,
    /// The CPUs that they share.
    pub cpus: String,
    /// The backend that realises each of them, by its word in the site file; absent where they are
    /// processes of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
}

impl Interference {
    /// Names their load: `memory-bandwidth`, or `memory-bandwidth (container)`.
    pub fn title(&self) -> String {
        match &self.backend {
            Some(backend) => format!("{} ({backend})", self.kind),
            None => self.kind.clone(),
        }
    }
}

/// Ways of the last-level cache that nobody else fills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReservedWays {
    /// Number of ways that are reserved.
    pub count: u32,
    /// The ways as a mask of bits.
    pub mask: String,
    /// Others that may fill them all the same, in words.
    pub contention: Vec<String>,
}

/// Accesses that were timed in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MemoryBlock {
    /// Number of its round, from 0.
    pub round: u32,
    /// Number of accesses that were timed.
    pub accesses: u64,
    /// Time of all of them together, in ns.
    pub time_ns: u64,
    /// Bytes that the neighbours moved meanwhile, in a second; 0 without any.
    pub load_bytes_per_second: f64,
}

impl MemoryBlock {
    /// Returns the average time of one access, in ns.
    pub fn access_ns(&self) -> f64 {
        self.time_ns as f64 / self.accesses.max(1) as f64
    }

    /// Returns `true` if it is a block: a time over accesses.
    fn is_sound(&self) -> bool {
        let load = self.load_bytes_per_second;
        self.accesses > 0 && self.time_ns > 0 && load.is_finite() && load >= 0.0
    }
}

/// A working set with its blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryPoint {
    /// Size of the working set in bytes.
    pub working_set_bytes: u64,
    /// Its blocks, in the order of their rounds.
    pub blocks: Vec<MemoryBlock>,
}

/// A block alone and one beside neighbours, one right after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PressurePair {
    /// The block while the neighbours rest.
    pub alone: MemoryBlock,
    /// The block while they work.
    pub beside: MemoryBlock,
}

/// Neighbours at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PressureStep {
    /// The rate that they were told: a share of what they do at full pace, in thousandths.
    pub asked_permille: u32,
    /// The pairs, in the order of their rounds.
    pub pairs: Vec<PressurePair>,
}

/// The values of a run, of one of two kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum MemoryMeasured {
    /// Working sets of many sizes under one condition.
    Curve {
        /// The working sets, ascending.
        points: Vec<MemoryPoint>,
    },
    /// One working set beside neighbours at many rates.
    Pressure {
        /// Size of the working set in bytes.
        working_set_bytes: u64,
        /// Rates of the neighbours, ascending.
        steps: Vec<PressureStep>,
    },
}

/// A run of accesses to memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRun {
    /// The order in which memory was read.
    pub pattern: AccessPattern,
    /// Distance from one access to the next place of the pattern, in bytes.
    pub stride_bytes: u64,
    /// The kind of page as read back, in words.
    pub pages: String,
    /// The caches of the CPU, the nearest first; empty where the machine doesn't tell.
    pub caches: Vec<CacheLevel>,
    /// Ways of the cache for the partition alone; `None` without.
    pub ways: Option<ReservedWays>,
    /// The neighbours; `None` for a curve that was measured while they rested.
    pub interference: Option<Interference>,
    /// The blocks that were timed.
    pub measured: MemoryMeasured,
}

/// Accesses to memory in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MemoryEntry {
    /// The order in which memory was read.
    pub pattern: AccessPattern,
    /// Distance from one place to the next, in bytes.
    pub stride_bytes: u64,
    /// The kind of page as read back, in words.
    pub pages: String,
    /// The caches of the CPU, the nearest first.
    pub caches: Vec<CacheLevel>,
    /// Ways of the cache for the partition alone; absent without.
    pub ways: Option<ReservedWays>,
    /// The neighbours; absent while they rested.
    pub interference: Option<Interference>,
    /// The working sets of a curve, ascending; empty for another measurement.
    pub points: Vec<PointEntry>,
}

/// A working set in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PointEntry {
    /// Size of the working set in bytes.
    pub working_set_bytes: u64,
    /// Time of an access, in ns: the median of the blocks.
    pub access_ns: Estimate,
    /// The fastest block, in ns an access.
    pub min_ns: f64,
    /// The slowest block, in ns an access.
    pub max_ns: f64,
    /// Bytes that the neighbours moved meanwhile, in a second: the median of the blocks.
    pub load_bytes_per_second: f64,
}

impl MemoryPoint {
    /// Returns the figures; `None` where there is no block.
    pub fn entry(&self) -> Option<PointEntry> {
        let of = |value: fn(&MemoryBlock) -> f64| -> Vec<f64> {
            self.blocks.iter().map(value).collect()
        };
        let times = of(MemoryBlock::access_ns);
        Some(PointEntry {
            working_set_bytes: self.working_set_bytes,
            access_ns: Estimate::of(&times)?,
            min_ns: times.iter().copied().fold(f64::INFINITY, f64::min),
            max_ns: times.iter().copied().fold(0.0, f64::max),
            load_bytes_per_second: Estimate::of(&of(|block| block.load_bytes_per_second))?.median,
        })
    }
}

impl MemoryRun {
    /// Returns the figures for the evidence document.
    pub fn entry(&self) -> MemoryEntry {
        MemoryEntry {
            pattern: self.pattern,
            stride_bytes: self.stride_bytes,
            pages: self.pages.clone(),
            caches: self.caches.clone(),
            ways: self.ways.clone(),
            interference: self.interference.clone(),
            points: self.points().iter().filter_map(MemoryPoint::entry).collect(),
        }
    }

    /// Returns the working sets of a curve; none for another measurement.
    pub fn points(&self) -> &[MemoryPoint] {
        match &self.measured {
            MemoryMeasured::Curve { points } => points,
            MemoryMeasured::Pressure { .. } => &[],
        }
    }

    /// Returns all blocks, those of a pressure step alone and beside.
    pub fn blocks(&self) -> Vec<&MemoryBlock> {
        match &self.measured {
            MemoryMeasured::Curve { points } => {
                points.iter().flat_map(|point| &point.blocks).collect()
            }
            MemoryMeasured::Pressure { steps, .. } => {
                let pairs = steps.iter().flat_map(|step| &step.pairs);
                pairs.flat_map(|pair| [&pair.alone, &pair.beside]).collect()
            }
        }
    }

    /// Returns the average access of each block in whole ns: the histogram of its record.
    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::new();
        self.blocks().iter().for_each(|block| histogram.record(block.access_ns().round() as u64));
        histogram
    }

    /// Lists the numbers that exclude each other.
    pub(in crate::record) fn self_check(&self, record: &Record) -> Vec<Inconsistency> {
        let mut wrong = Vec::new();
        let blocks = self.blocks();
        if !blocks.iter().all(|block| block.is_sound()) {
            wrong.push(Inconsistency::MemoryBlock);
        }
        if blocks.len() as u64 != record.release.count() {
            wrong.push(Inconsistency::MemoryBlockCount);
        } else if self.histogram() != record.release {
            wrong.push(Inconsistency::MemoryBlockTimes);
        }
        let is_ascending = match &self.measured {
            MemoryMeasured::Curve { points } => {
                points.is_sorted_by(|one, next| one.working_set_bytes < next.working_set_bytes)
                    && points.iter().all(|point| is_in_rounds(&point.blocks))
            }
            MemoryMeasured::Pressure { steps, .. } => {
                let pairs = steps.iter().flat_map(|step| &step.pairs);
                steps.is_sorted_by(|one, next| one.asked_permille < next.asked_permille)
                    && pairs.into_iter().all(|pair| pair.alone.round == pair.beside.round)
            }
        };
        if !is_ascending {
            wrong.push(Inconsistency::MemoryOrder);
        }
        wrong
    }
}

fn is_in_rounds(blocks: &[MemoryBlock]) -> bool {
    blocks.is_sorted_by(|one, next| one.round < next.round)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::sentences;
    use crate::record::Measured;
    use crate::record::check::self_check;
    use crate::test_record;

    fn block(round: u32, time_ns: u64) -> MemoryBlock {
        MemoryBlock { round, accesses: 1_000, time_ns, load_bytes_per_second: 0.0 }
    }

    fn run(measured: MemoryMeasured) -> MemoryRun {
        MemoryRun {
            pattern: AccessPattern::Random,
            stride_bytes: 64,
            pages: "small".to_owned(),
            caches: Vec::new(),
            ways: None,
            interference: None,
            measured,
        }
    }

    fn record_of(run: MemoryRun) -> Record {
        let mut record = test_record(&[]);
        record.release = run.histogram();
        record.measured = Measured::Memory(run);
        record
    }

    #[test]
    fn a_curve_adds_up_to_its_record() {
        let point = |working_set_bytes, times: [u64; 2]| MemoryPoint {
            working_set_bytes,
            blocks: vec![block(0, times[0]), block(1, times[1])],
        };
        let points = vec![point(1024, [1_300, 1_700]), point(2048, [1_400, 90_000])];
        let record = record_of(run(MemoryMeasured::Curve { points }));
        assert_eq!(self_check(&record, None), []);
        let entry = record.memory().unwrap().entry();
        let last = &entry.points[1];
        assert_eq!((last.access_ns.median, last.access_ns.count), (45.7, 2));
        assert_eq!((last.min_ns, last.max_ns), (1.4, 90.0));
        let values: Vec<_> = record.release.bins().map(|bin| (bin.low_ns, bin.count)).collect();
        assert_eq!(values, [(1, 2), (2, 1), (90, 1)]);

        let spoilt = |spoil: fn(&mut Vec<MemoryPoint>)| {
            let mut record = record.clone();
            let Some(memory) = record.memory_mut() else { panic!("there is one") };
            let MemoryMeasured::Curve { points } = &mut memory.measured else { panic!("a curve") };
            spoil(points);
            sentences(&self_check(&record, None))
        };
        assert!(spoilt(|points| points.swap(0, 1)).contains("out of order"));
        assert!(spoilt(|points| points[0].blocks.swap(0, 1)).contains("out of order"));
        assert!(spoilt(|points| points[0].blocks.clear()).contains("as many blocks as times"));
        assert!(spoilt(|points| points[1].blocks[1].time_ns = 7).contains("not those of the"));
        assert!(spoilt(|points| points[0].blocks[0].accesses = 0).contains("no accesses"));
    }

    #[test]
    fn pairs_of_a_pressure_are_of_one_round() {
        let pair =
            |round, beside| PressurePair { alone: block(0, 50), beside: block(round, beside) };
        let step = |asked_permille, round| PressureStep {
            asked_permille,
            pairs: vec![pair(round, 5_000)],
        };
        let pressure = |steps| MemoryMeasured::Pressure { working_set_bytes: 4096, steps };
        let record = record_of(run(pressure(vec![step(100, 0), step(1_000, 0)])));
        assert_eq!(record.release.count(), 4);
        assert_eq!(self_check(&record, None), []);
        for steps in [vec![step(100, 0), step(100, 0)], vec![step(100, 1), step(1_000, 0)]] {
            assert_eq!(self_check(&record_of(run(pressure(steps))), None).len(), 1);
        }
    }
}
