//! The pairing of records of one run with those of the other.
//!
//! First by partition, profile and task; then by partition, profile and CPU; then, for files whose
//! names differ, by profile and task, and by profile alone. A step pairs only what is unique in
//! both runs, so nothing is paired by chance.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Comparison, compare};
use crate::record::Record;

/// A run against a run.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RunComparison {
    /// The pairs, in the order of A.
    pub comparisons: Vec<Comparison>,
    /// Records of A without a partner.
    pub only_in_a: Vec<String>,
    /// Records of B without a partner.
    pub only_in_b: Vec<String>,
    /// Records of accesses to memory: their values are of many working sets, and what they say is
    /// said within one run ([`slowdown`](super::slowdown)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Compares the records of two runs, pair by pair. The correction for several comparisons is made
/// within each pair: of many pairs a few differ by chance.
pub fn compare_runs(a: &[Record], b: &[Record]) -> RunComparison {
    let is_left_out = |record: &&Record| record.memory().is_some();
    let left_out = a.iter().filter(is_left_out).map(|record| record.name.clone()).collect();
    let compared = |records: &[Record]| -> Vec<Record> {
        records.iter().filter(|record| !is_left_out(record)).cloned().collect()
    };
    let (a, b) = (&*compared(a), &*compared(b));
    let partners = pair(a, b);
    let mut comparisons = Vec::new();
    let mut only_in_a = Vec::new();
    for (record, partner) in a.iter().zip(&partners) {
        match partner {
            Some(index) => comparisons.push(compare(record, &b[*index])),
            None => only_in_a.push(record.name.clone()),
        }
    }
    let only_in_b = b
        .iter()
        .enumerate()
        .filter(|(index, _)| !partners.contains(&Some(*index)))
        .map(|(_, record)| record.name.clone())
        .collect();
    RunComparison { comparisons, only_in_a, only_in_b, left_out }
}

/// The properties that two records must have in common at a step.
type Key = (String, String, String);

const STEPS: [fn(&Record) -> Key; 4] = [
    |record| (record.partition.clone(), record.profile.clone(), task(record)),
    |record| (record.partition.clone(), record.profile.clone(), format!("{:?}", record.cpu)),
    |record| (String::new(), record.profile.clone(), task(record)),
    |record| (String::new(), record.profile.clone(), String::new()),
];

/// Returns the part of the name behind partition and profile.
fn task(record: &Record) -> String {
    let name = record.name.as_str();
    let name = name.strip_prefix(&record.partition).unwrap_or(name).trim_start_matches('.');
    let name = name.strip_prefix(&record.profile).unwrap_or(name).trim_start_matches('.');
    name.to_owned()
}

/// Returns the index in B of the partner of each record of A.
fn pair(a: &[Record], b: &[Record]) -> Vec<Option<usize>> {
    let mut partners = vec![None; a.len()];
    let mut free: Vec<bool> = vec![true; b.len()];
    for key in STEPS {
        let unique = |records: &[Record], is_free: &dyn Fn(usize) -> bool| {
            let mut places: BTreeMap<Key, Option<usize>> = BTreeMap::new();
            for (index, record) in records.iter().enumerate().filter(|(index, _)| is_free(*index)) {
                places.entry(key(record)).and_modify(|place| *place = None).or_insert(Some(index));
            }
            places
        };
        let left = unique(a, &|index| partners[index].is_none());
        let right = unique(b, &|index| free[index]);
        for (key, place) in left {
            if let (Some(from), Some(Some(to))) = (place, right.get(&key)) {
                partners[from] = Some(*to);
                free[*to] = false;
            }
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(partition: &str, profile: &str, cpu: Option<u32>, task: &str) -> Record {
        let mut record = crate::test_record(&[(100, 50)]);
        record.name = format!("{partition}.{profile}.{task}");
        record.partition = partition.to_owned();
        record.profile = profile.to_owned();
        record.cpu = cpu;
        record
    }

    #[test]
    fn the_same_partition_profile_and_task_are_a_pair() {
        let a = [record("axis", "tp1", Some(1), "cpu1"), record("axis", "tp2", Some(1), "cpu1")];
        let b = [
            record("axis", "tp2", Some(1), "cpu1"),
            record("hmi", "tp1", Some(1), "cpu1"),
            record("axis", "tp1", Some(1), "cpu1"),
        ];
        assert_eq!(pair(&a, &b), [Some(2), Some(0)]);
        let run = compare_runs(&a, &b);
        assert_eq!(run.only_in_b, ["hmi.tp1.cpu1"]);
        assert!(run.only_in_a.is_empty());
        assert_eq!(run.comparisons[1].b, "axis.tp2.cpu1");
    }

    #[test]
    fn accesses_to_memory_are_compared_within_their_run() {
        let mut of_memory = record("process", "alone", Some(1), "random");
        of_memory.measured = crate::record::Measured::Memory(crate::record::MemoryRun {
            pattern: crate::record::AccessPattern::Random,
            stride_bytes: 64,
            pages: String::new(),
            caches: Vec::new(),
            ways: None,
            interference: None,
            measured: crate::record::MemoryMeasured::Curve { points: Vec::new() },
        });
        let other = record("axis", "tp1", Some(1), "cpu1");
        let run = compare_runs(&[of_memory.clone(), other.clone()], &[of_memory, other]);
        assert_eq!((run.comparisons.len(), run.left_out), (1, vec!["process.alone.random".into()]));
        assert!(run.only_in_a.is_empty() && run.only_in_b.is_empty());
    }

    #[test]
    fn files_of_other_names_are_paired_by_their_threads() {
        let names =
            |file: &str| [0, 1].map(|n| record(file, "imported", None, &format!("thread{n}")));
        assert_eq!(pair(&names("before"), &names("after")), [Some(0), Some(1)]);
    }

    #[test]
    fn what_is_ambiguous_stays_alone() {
        let a = [record("axis", "tp1", None, "x")];
        let b = [record("p", "tp1", None, "y"), record("q", "tp1", None, "z")];
        assert_eq!(pair(&a, &b), [None]);
        assert_eq!(pair(&a, &b[..1]), [Some(0)], "one profile, one record: meant for each other");
    }
}
