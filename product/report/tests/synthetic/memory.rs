//! Accesses to memory that were never measured: a machine with three caches, and neighbours that
//! take the last one.

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::record::{
    AccessPattern, CacheLevel, Counters, Interference, LoadAchieved, Measured, MemoryBlock,
    MemoryMeasured, MemoryPoint, MemoryRun, PressurePair, PressureStep, Record, ReleaseMode,
    ReservedWays, Timeline,
};

use super::kernel::kernel;
use super::{ASLEEP, Random, evidence, record};

/// Number of rounds of each part.
const ROUNDS: u32 = 9;
/// The caches, each with its size and the latency of an access that it serves, in ns.
const CACHES: [(u64, f64); 3] = [(32 << 10, 1.2), (256 << 10, 3.9), (6 << 20, 11.0)];
/// The latency of an access that no cache serves, in ns.
const MEMORY_NS: f64 = 78.0;
/// The bandwidth of the neighbours at full pace, in bytes per second.
const FULL: f64 = 14.2e9;

/// Returns the latency of an access to a working set in ns, where the last cache has `last` bytes
/// for it.
fn latency(set: u64, last: u64) -> f64 {
    let mut time = CACHES[0].1;
    let slower = [CACHES[1].1, CACHES[2].1, MEMORY_NS];
    for ((size, _), next) in CACHES.into_iter().zip(slower) {
        let size = if size == CACHES[2].0 { last } else { size };
        // Part of the set that a cache of this size does not hold.
        let missed = 1.0 / (1.0 + (size as f64 / set as f64).powi(5));
        time += (next - time) * missed;
    }
    time
}

fn time(pattern: AccessPattern, set: u64, last: u64) -> f64 {
    match pattern {
        AccessPattern::Random => latency(set, last),
        AccessPattern::Sequential => 0.45 + (latency(set, last) - 1.2).max(0.0) * 0.09,
    }
}

fn block(round: u32, access_ns: f64, load: f64, random: &mut Random) -> MemoryBlock {
    let accesses = 100_000;
    let noisy = access_ns * (0.03 * random.normal()).exp();
    MemoryBlock {
        round,
        accesses,
        time_ns: (noisy * accesses as f64) as u64,
        load_bytes_per_second: load,
    }
}

fn interference() -> Interference {
    Interference {
        kind: "memory-bandwidth".to_owned(),
        workers: 3,
        size_bytes: Some(20 << 20),
        cpus: "0-2".to_owned(),
        backend: None,
    }
}

fn run(
    pattern: AccessPattern,
    beside: bool,
    ways: Option<u32>,
    measured: MemoryMeasured,
) -> MemoryRun {
    let level = |(index, (bytes, _)): (usize, (u64, f64))| CacheLevel {
        level: index as u32 + 1,
        bytes,
        cpus: if index == 2 { "0-3" } else { "3" }.to_owned(),
    };
    MemoryRun {
        pattern,
        stride_bytes: 64,
        pages: "pages of 4 KiB, 96.0 MiB locked".to_owned(),
        caches: CACHES.into_iter().enumerate().map(level).collect(),
        ways: ways.map(|count| ReservedWays {
            count,
            mask: "f00".to_owned(),
            contention: Vec::new(),
        }),
        interference: beside.then(interference),
        measured,
    }
}

fn of_run(profile: &str, run: MemoryRun) -> Record {
    let mut record = record("tp2", 3, 1, ASLEEP, 1);
    record.name = format!("process.{profile}.{}", run.pattern.name());
    record.probe = "memory".to_owned();
    record.partition = "process".to_owned();
    record.profile = profile.to_owned();
    record.period_ns = None;
    record.release = run.histogram();
    record.wakeup = None;
    record.spikes.clear();
    record.timeline = Timeline::default();
    record.counters = Counters { planned_cycles: record.release.count(), ..Counters::default() };
    record.conditions.mode = ReleaseMode::not_timed("blocks of 5 ms, 9 rounds in turns, synthetic");
    record.conditions.loads.clear();
    if run.interference.is_some() {
        record.conditions.loads = vec![LoadAchieved {
            kind: "memory-bandwidth".to_owned(),
            workers: 3,
            working: 3,
            cpus: "0-2".parse().expect("it is a list"),
            operations_per_second: FULL / 65_536.0,
            unit: "blocks/s".to_owned(),
            cpu_share: 2.97,
            bytes_per_second: Some(FULL),
        }];
    }
    record.measured = Measured::Memory(run);
    record
}

fn curve(pattern: AccessPattern, beside: bool, ways: Option<u32>, sizes: &[u64]) -> Record {
    let mut random = Random::new(u64::from(beside) + pattern as u64 * 7);
    let last = match (beside, ways) {
        (_, Some(_)) => 2 << 20,
        (true, None) => 500 << 10,
        (false, None) => CACHES[2].0,
    };
    let load = if beside { FULL } else { 0.0 };
    let points = sizes.iter().map(|set| MemoryPoint {
        working_set_bytes: *set,
        blocks: (0..ROUNDS)
            .map(|round| block(round, time(pattern, *set, last), load, &mut random))
            .collect(),
    });
    let measured = MemoryMeasured::Curve { points: points.collect() };
    let profile = if beside { "neighbours" } else { "alone" };
    let own = if ways.is_some() { "-own-ways" } else { "" };
    of_run(&format!("{profile}{own}"), run(pattern, beside, ways, measured))
}

fn pressure() -> Record {
    let mut random = Random::new(99);
    let set = 1 << 20;
    let alone_ns = time(AccessPattern::Random, set, CACHES[2].0);
    let steps = (1..=10_u32).map(|step| {
        let part = f64::from(step) / 10.0;
        let slowdown = 1.0 + 2.4 * (part - 0.45).max(0.0) + 0.06 * part;
        let pair = |round| PressurePair {
            alone: block(round, alone_ns, 0.0, &mut random),
            beside: block(round, alone_ns * slowdown, FULL * part, &mut random),
        };
        PressureStep { asked_permille: step * 100, pairs: (0..ROUNDS).map(pair).collect() }
    });
    let measured = MemoryMeasured::Pressure { working_set_bytes: set, steps: steps.collect() };
    of_run("pressure", run(AccessPattern::Random, true, None, measured))
}

/// Makes the routines of a kernel in blocks, alone and beside neighbours that slow some of them
/// down.
fn routines() -> Vec<Record> {
    let mut records = Vec::new();
    for beside in [false, true] {
        for (index, mut record) in kernel(&[2_000]).records.into_iter().enumerate() {
            let mut random = Random::new(index as u64 + u64::from(beside) * 50);
            let Some(routine) = record.routine_mut() else { continue };
            let slowed = if beside && index % 3 == 1 { 2.6 } else { 1.0 };
            let mean = routine.figures().mean_ns.unwrap_or_default() * slowed;
            routine.block_means_ns =
                (0..ROUNDS).map(|_| mean * (0.02 * random.normal()).exp()).collect();
            let profile = if beside { "neighbours" } else { "alone" };
            record.name = record.name.replace("loops-2000", profile);
            record.profile = profile.to_owned();
            record.conditions.loads.clear();
            if beside {
                record.conditions.loads = vec![LoadAchieved::default()];
            }
            records.push(record);
        }
    }
    records
}

/// Makes records of all parts, with or without ways of the partition's own.
pub(crate) fn memory(with_ways: bool) -> Evidence {
    let sizes: Vec<u64> = (0..=66)
        .map(|step| 1_u64 << (10 + step / 4))
        .zip(0..)
        .map(|(octave, step)| (octave as f64 * f64::from(step % 4 + 4) / 4.0) as u64)
        .collect();
    let mut records = Vec::new();
    for ways in [None, Some(4)] {
        if ways.is_some() && !with_ways {
            continue;
        }
        for beside in [false, true] {
            for pattern in AccessPattern::ALL {
                records.push(curve(pattern, beside, ways, &sizes));
            }
        }
    }
    records.push(pressure());
    records.extend(routines());
    let mut evidence = evidence(Vec::new(), 1e-6);
    evidence.manifest.name = "probe memory (synthetic)".to_owned();
    evidence.manifest.origin = Origin::Probe;
    evidence.manifest.classes.clear();
    evidence.manifest.declared.clear();
    evidence.manifest.profiles.clear();
    evidence.records = records;
    evidence
}
