//! Slowdowns of accesses: a curve with neighbours over the same curve without.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::record::{AccessPattern, MemoryBlock, MemoryRun, Record};

/// The cost of neighbours to one pattern of accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MemorySlowdown {
    /// The order in which memory was read.
    pub pattern: AccessPattern,
    /// Name of the record beside neighbours.
    pub record: String,
    /// Name of the record without neighbours.
    pub alone: String,
    /// Ways of the cache for the partition alone; absent without.
    pub ways: Option<u32>,
    /// The working sets that both have, ascending.
    pub points: Vec<SlowdownPoint>,
}

/// The cost of neighbours to one working set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SlowdownPoint {
    /// Size of the working set in bytes.
    pub working_set_bytes: u64,
    /// Access beside them / access alone, of pairs of the same round.
    pub ratio: Estimate,
}

impl MemorySlowdown {
    /// Returns the point that is slowed down most for sure: the interval's begin is the largest.
    /// Where there are no intervals, the median counts.
    pub fn worst(&self) -> Option<&SlowdownPoint> {
        let sure = |point: &SlowdownPoint| point.ratio.low.unwrap_or(point.ratio.median);
        self.points.iter().max_by(|one, other| sure(one).total_cmp(&sure(other)))
    }

    /// Counts the points that are surely above this ratio.
    pub fn count_above(&self, ratio: f64) -> usize {
        self.points.iter().filter(|point| point.ratio.is_surely_above(ratio)).count()
    }
}

/// Returns the slowdowns of all curves that have their like without neighbours.
pub fn memory(records: &[Record]) -> Vec<MemorySlowdown> {
    let curves = || {
        let runs = records.iter().filter_map(|record| Some((record, record.memory()?)));
        runs.filter(|(_, run)| !run.points().is_empty())
    };
    let beside = curves().filter(|(_, run)| run.interference.is_some());
    beside
        .filter_map(|(record, run)| {
            let (other, alone) = curves().find(|(other, alone)| {
                alone.interference.is_none()
                    && is_like(run, alone)
                    && other.partition == record.partition
            })?;
            Some(MemorySlowdown {
                pattern: run.pattern,
                record: record.name.clone(),
                alone: other.name.clone(),
                ways: run.ways.as_ref().map(|ways| ways.count),
                points: points(run, alone),
            })
        })
        .collect()
}

/// Returns `true` if two runs differ in their neighbours alone.
fn is_like(one: &MemoryRun, other: &MemoryRun) -> bool {
    let ways = |run: &MemoryRun| run.ways.as_ref().map(|ways| ways.count);
    one.pattern == other.pattern
        && one.stride_bytes == other.stride_bytes
        && ways(one) == ways(other)
}

fn points(run: &MemoryRun, alone: &MemoryRun) -> Vec<SlowdownPoint> {
    let mut points = Vec::new();
    for point in run.points() {
        let size = point.working_set_bytes;
        let same = alone.points().iter().find(|other| other.working_set_bytes == size);
        let Some(same) = same else { continue };
        if let Some(ratio) = Estimate::of(&ratios(&point.blocks, &same.blocks)) {
            points.push(SlowdownPoint { working_set_bytes: size, ratio });
        }
    }
    points
}

/// Returns the ratios of pairs of the same round.
fn ratios(beside: &[MemoryBlock], alone: &[MemoryBlock]) -> Vec<f64> {
    let pair = |block: &MemoryBlock| {
        let same = alone.iter().find(|other| other.round == block.round)?;
        Some(block.access_ns() / same.access_ns())
    };
    beside.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Interference, Measured, MemoryMeasured, MemoryPoint};
    use crate::test_record;

    /// A curve of one point; each block takes so many ns an access.
    fn curve(name: &str, has_neighbours: bool, blocks: &[(u32, u64)]) -> Record {
        let mut record = test_record(&[]);
        let block = |(round, access_ns): &(u32, u64)| MemoryBlock {
            round: *round,
            accesses: 100,
            time_ns: access_ns * 100,
            load_bytes_per_second: 0.0,
        };
        let run = MemoryRun {
            pattern: AccessPattern::Random,
            stride_bytes: 64,
            pages: String::new(),
            caches: Vec::new(),
            ways: None,
            interference: has_neighbours.then(|| Interference {
                kind: "memory-bandwidth".to_owned(),
                workers: 3,
                size_bytes: None,
                cpus: "0".to_owned(),
                backend: None,
            }),
            measured: MemoryMeasured::Curve {
                points: vec![MemoryPoint {
                    working_set_bytes: 4096,
                    blocks: blocks.iter().map(block).collect(),
                }],
            },
        };
        record.name = name.to_owned();
        record.release = run.histogram();
        record.measured = Measured::Memory(run);
        record
    }

    /// Goal: what drifts over the rounds is no slowdown.
    #[test]
    fn pairs_are_of_the_same_round_whatever_the_machine_did_between() {
        let alone = curve("alone", false, &[(0, 10), (1, 20), (2, 40), (5, 80)]);
        let beside = curve("beside", true, &[(0, 20), (1, 40), (2, 80), (4, 7)]);
        let found = memory(&[beside.clone(), alone.clone()]);
        assert_eq!(found.len(), 1);
        assert_eq!((&*found[0].record, &*found[0].alone), ("beside", "alone"));
        let point = found[0].worst().unwrap();
        assert_eq!((point.ratio.median, point.ratio.count), (2.0, 3), "round 4 has no partner");
        assert_eq!(found[0].count_above(1.0), 0, "three pairs are sure of nothing");
        let point = |median, low| SlowdownPoint {
            working_set_bytes: 4096,
            ratio: Estimate { median, low: Some(low), high: Some(9.0), count: 9 },
        };
        let sure =
            MemorySlowdown { points: vec![point(2.5, 0.9), point(1.4, 1.3)], ..found[0].clone() };
        assert_eq!(sure.worst().unwrap().ratio.median, 1.4, "2.5 may as well be nothing");
        let mut other = alone;
        other.memory_mut().unwrap().stride_bytes = 8;
        assert_eq!(memory(&[beside, other]), [], "another stride is another curve");
    }
}
