//! The memory of a guest's monitor beside the guest's: the kernel's own account of its process,
//! `/proc/PID/smaps`, while its cycles run.

use std::collections::BTreeMap;

use quietcore_microvm::resident::{Mapping, mappings_of};

use super::program::{Program, steps, until};
use crate::findings::{Findings, Goal};

/// The most that it may be, in MiB.
const GOAL: Goal = Goal::AtMost(8.0);
/// Partitions that are looked at; a goal is answered by six at least.
const ROUNDS: usize = 6;
/// Cycles before it is looked at.
const CYCLES: u64 = 50;
/// Kinds of memory that are named.
const NAMED: usize = 8;

pub(super) fn measure(program: &Program, findings: &mut Findings) -> Result<(), String> {
    let mut own = Vec::new();
    let mut most = Vec::new();
    for _ in 0..if findings.is_quick() { 1 } else { ROUNDS } {
        let mut partition = program.start(&program.job, Vec::new())?;
        until(&mut partition, "cycles", |partition| steps(partition) >= CYCLES)?;
        let process = partition.process_id();
        let all = mappings_of(process).map_err(|error| format!("process {process}: {error}"))?;
        let kinds = kinds(&all);
        own.push(kinds.values().sum::<u64>() as f64 / 1024.0);
        most = words(&kinds);
    }
    let built = if cfg!(debug_assertions) { ", of a debug build" } else { "" };
    let name = format!("resident memory of the monitor{built}");
    findings.goal(&name, "MiB", &own, GOAL);
    findings.remark(format!("the monitor's memory in KiB: {}", most.join(", ")));
    Ok(())
}

/// KiB that are present and no guest's, by what is mapped.
fn kinds(mappings: &[Mapping]) -> BTreeMap<String, u64> {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for mapping in mappings.iter().filter(|mapping| !mapping.is_of_guest()) {
        let path = if mapping.name.is_empty() { "no file" } else { &mapping.name };
        let name = path.rsplit('/').next().unwrap_or(path);
        let name = name.strip_suffix(" (deleted)").unwrap_or(name);
        *kinds.entry(name.to_owned()).or_default() += mapping.resident_bytes / 1024;
    }
    kinds
}

fn words(kinds: &BTreeMap<String, u64>) -> Vec<String> {
    let mut kinds: Vec<(&u64, &String)> = kinds.iter().map(|(name, size)| (size, name)).collect();
    kinds.sort_unstable_by(|one, other| other.cmp(one));
    kinds.iter().take(NAMED).map(|(size, name)| format!("{name} {size}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_the_guest_is_none_of_the_monitors() {
        let mapping = |name: &str, kib: u64| Mapping {
            name: name.to_owned(),
            resident_bytes: kib << 10,
            ..Mapping::default()
        };
        let all = [
            mapping("/memfd:quietcore-guest (deleted)", 16384),
            mapping("", 4),
            mapping("/memfd:quietcore-exits (deleted)", 64),
            mapping("/usr/bin/quietcore-runtime", 1024),
        ];
        let named = |name: &str, size| (name.to_owned(), size);
        let expected = [
            named("memfd:quietcore-exits", 64),
            named("no file", 4),
            named("quietcore-runtime", 1024),
        ];
        assert_eq!(kinds(&all), BTreeMap::from(expected));
    }
}
