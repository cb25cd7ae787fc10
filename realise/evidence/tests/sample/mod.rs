//! A folder of a campaign that was never run, and in which everything follows from everything else
//! as in one that was: a partition with the probe, and one with a program whose own kernel has a
//! task. The generator has a fixed seed, so that each run gives the same numbers.

use std::collections::BTreeMap;
use std::path::Path;

use quietcore_evidence::{MANIFEST_SCHEMA, Manifest, Origin, Writer};
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{
    AffinityInForce, Conditions, Counters, LoadAchieved, Measured, PolicyInForce, Record,
    ReleaseMode, Scan, ScanCounters, ScanTerms, Spike, Timeline, Worst,
};
use quietcore_units::{Nanos, SchedulingPolicy, Wake};
use sha2::{Digest as _, Sha256};

/// The site file of the sample.
pub(crate) const SITE: &str = r#"[site]
name = "sample"

[host]
housekeeping = [0]

[[partition]]
name = "axis"
class = "fast-control-loop"
[partition.vcr]
cpus = [1]
[partition.program]
period = "1 ms"
priority = 90
early_wake = "100 us"

[[partition]]
name = "press"
class = "process-control"
[partition.vcr]
cpus = [2]
[partition.program]
model = "models/press"
period = "1 ms"
deadline = "800 us"
priority = 80
deadlines = { Sort = "2 ms" }

[campaign]
profiles = ["tp1", "tp2", "tp4"]
duration = "2 s"
exceedance = 1e-2
"#;

/// The cycles of each record.
pub(crate) const CYCLES: u64 = 2_000;
/// The time between two of them.
pub(crate) const PERIOD_NS: u64 = 1_000_000;
/// The file of the record whose partition is judged by its latency.
pub(crate) const RECORD: &str = "records/axis.tp4.cpu1.json";

/// The SHA-256 of the site file.
pub(crate) fn site_sha256() -> String {
    Sha256::digest(SITE).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The manifest of the whole campaign.
pub(crate) fn manifest() -> Manifest {
    let declared = [("axis", "fast-control-loop"), ("press", "process-control")];
    let profiles =
        [("tp1", "not pinned, no load"), ("tp2", "pinned, no load"), ("tp4", "pinned, load")];
    let owned = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        name: "sample".to_owned(),
        origin: Origin::Campaign,
        started_at: "2026-01-02T03:04:05.25Z".to_owned(),
        quietcore_version: "0.1.0".to_owned(),
        site_sha256: site_sha256(),
        site_folder: None,
        exceedance: 1e-2,
        classes: catalogue(),
        declared: BTreeMap::from(declared.map(owned)),
        profiles: profiles.map(owned).to_vec(),
        length: None,
        limits: Vec::new(),
        not_measured: Vec::new(),
        probes: Vec::new(),
        complete: true,
        renewal: None,
    }
}

/// All records of the campaign. Those of `axis` under `tp4` are late by `late_ns` once.
pub(crate) fn records(late_ns: u64) -> Vec<Record> {
    let mut all = Vec::new();
    for profile in ["tp1", "tp2", "tp4"] {
        all.push(probe(profile, if profile == "tp4" { late_ns } else { 0 }));
        all.push(task(profile));
        all.push(kernel_task(profile));
    }
    all
}

/// Writes a folder with these, sealed.
pub(crate) fn write(root: &Path, manifest: &Manifest, records: &[Record]) -> Writer {
    let writer = Writer::create(root).unwrap();
    writer.manifest(manifest).unwrap();
    writer.site(SITE.as_bytes()).unwrap();
    let kernel = serde_json::json!({ "release": { "read": "6.1.0-synthetic" } });
    let facts = serde_json::json!({ "kernel": kernel });
    writer.doctor(&serde_json::json!({ "schema": "quietcore.doctor/1", "facts": facts })).unwrap();
    for record in records {
        writer.record(record).unwrap();
    }
    writer.seal().unwrap();
    writer
}

/// A record of the probe in partition `axis`.
pub(crate) fn probe(profile: &str, late_ns: u64) -> Record {
    let pinned = profile != "tp1";
    let label = if pinned { "cpu1" } else { "task0" };
    let mut record = record("axis", profile, label, late_ns);
    record.cpu = pinned.then_some(1);
    record.wakeup = Some(record.release.clone());
    record.conditions.mode = ReleaseMode::timer(Wake::Early { margin: Nanos::from_micros(100) });
    record.conditions.policy = fifo(90);
    record.conditions.affinity = on_cpus(if pinned { "1" } else { "0-2" });
    record
}

/// A record of the task of the program in partition `press`.
pub(crate) fn task(profile: &str) -> Record {
    let mut record = record("press", profile, "cycle", 0);
    let terms = ScanTerms {
        program_period_ns: PERIOD_NS,
        deadline_ns: Some(800_000),
        watchdog_ns: Some(800_000),
        by_kernel: false,
    };
    with_scan(&mut record, terms);
    record
}

/// A record of the task `Sort` of the program's own kernel.
pub(crate) fn kernel_task(profile: &str) -> Record {
    let mut record = record("press", profile, "Sort", 0);
    let terms = ScanTerms {
        program_period_ns: PERIOD_NS,
        deadline_ns: Some(2_000_000),
        watchdog_ns: None,
        by_kernel: true,
    };
    with_scan(&mut record, terms);
    record.period_ns = None;
    record.counters.planned_cycles = 0;
    record.conditions.duration_ns = CYCLES * PERIOD_NS;
    record.conditions.mode = ReleaseMode::Kernel;
    record
}

fn fifo(priority: u32) -> PolicyInForce {
    PolicyInForce::ReadBack(SchedulingPolicy::Fifo { priority })
}

fn on_cpus(cpus: &str) -> AffinityInForce {
    AffinityInForce::ReadBack(cpus.parse().unwrap())
}

fn with_scan(record: &mut Record, terms: ScanTerms) {
    let pinned = record.profile != "tp1";
    record.probe = "exec".to_owned();
    record.cpu = pinned.then_some(2);
    record.conditions.policy = fifo(80);
    record.conditions.affinity = on_cpus(if pinned { "2" } else { "0-2" });
    let machine = &mut record.conditions.machine;
    machine.insert("program".to_owned(), "models/press".to_owned());
    machine.insert("program_build".to_owned(), "5e".repeat(32));
    let (mut execution, mut response) = (Histogram::new(), Histogram::new());
    let mut worst = (0, 0, 0, 0);
    for (cycle, latency_ns) in latencies(record, 0).into_iter().enumerate() {
        let took_ns = 120_000 + (cycle as u64 * 7_919) % 6_000;
        execution.record(took_ns);
        response.record(took_ns + latency_ns);
        if took_ns > worst.0 {
            (worst.0, worst.1) = (took_ns, cycle as u64);
        }
        if took_ns + latency_ns > worst.2 {
            (worst.2, worst.3) = (took_ns + latency_ns, cycle as u64);
        }
    }
    let at = |value_ns, release| Some(Worst { value_ns, release, at_ns: release * PERIOD_NS });
    record.measured = Measured::releases(Some(Scan {
        terms,
        execution,
        response,
        counters: ScanCounters::default(),
        worst_execution: at(worst.0, worst.1),
        worst_response: at(worst.2, worst.3),
        faults: Vec::new(),
        kernel_errors: Vec::new(),
    }));
}

/// The latencies of a record, in the order of its cycles.
fn latencies(record: &Record, late_ns: u64) -> Vec<u64> {
    let mut state = record.name.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let usual = |random: u64| 9_000 + random % 700 + (random >> 20) % 300;
    (0..CYCLES)
        .map(|cycle| if cycle == 777 { late_ns.max(21_000) } else { usual(next()) })
        .collect()
}

fn record(partition: &str, profile: &str, label: &str, late_ns: u64) -> Record {
    let mut record = empty(partition, profile, label);
    let mut last = None::<u64>;
    let (mut missed, mut difference) = (0, 0);
    let (slot_cycles, mut slots) = (CYCLES / 100, Vec::<(u64, u64, u64)>::new());
    for (cycle, latency_ns) in (0..).zip(latencies(&record, late_ns)) {
        record.release.record(latency_ns);
        missed += u64::from(latency_ns >= PERIOD_NS);
        difference += last.map_or(0, |last| last.abs_diff(latency_ns));
        last = Some(latency_ns);
        if cycle % slot_cycles == 0 {
            slots.push((0, 0, 0));
        }
        let slot = slots.last_mut().unwrap();
        *slot = (slot.0 + 1, slot.1.max(latency_ns), slot.2 + latency_ns);
        if record.spikes.len() < 16 || latency_ns > record.spikes[15].latency_ns {
            let cpu = if partition == "axis" { 1 } else { 2 };
            record.spikes.push(spike(cycle, latency_ns, cpu));
            record.spikes.sort_by_key(|spike| std::cmp::Reverse(spike.latency_ns));
            record.spikes.truncate(16);
        }
    }
    record.timeline = Timeline { slot_cycles, slots };
    record.counters = Counters {
        planned_cycles: CYCLES,
        missed_cycles: Some(missed),
        longest_miss_run: Some(missed),
        difference_sum_ns: Some(difference),
        own_cost_ns: 300,
        ..Counters::default()
    };
    record
}

fn spike(release: u64, latency_ns: u64, cpu: u32) -> Spike {
    let conditions = Vec::new();
    let at_ns = release * PERIOD_NS;
    Spike { release, at_ns, latency_ns, wakeup_ns: latency_ns, cpu, conditions }
}

fn empty(partition: &str, profile: &str, label: &str) -> Record {
    let machine = [("cpu_model", "Synthetic CPU, never built"), ("kernel", "6.1.0-synthetic")];
    let load = |kind: &str, unit: &str| LoadAchieved {
        kind: kind.to_owned(),
        workers: 10,
        working: 10,
        cpus: "0".parse().unwrap(),
        operations_per_second: 1e6,
        unit: unit.to_owned(),
        bytes_per_second: None,
        cpu_share: 0.5,
    };
    let loads = match profile {
        "tp4" => vec![load("sqrt", "square roots"), load("malloc", "blocks")],
        _ => Vec::new(),
    };
    let minute = match profile {
        "tp1" => 5,
        "tp2" => 6,
        _ => 7,
    };
    let name = format!("{partition}.{profile}.{label}");
    Record {
        reserved: profile != "tp1",
        period_ns: Some(PERIOD_NS),
        conditions: Conditions {
            started_at: format!("2026-01-02T03:0{minute}:00.5Z"),
            duration_ns: CYCLES * PERIOD_NS,
            mode: ReleaseMode::timer(Wake::Sleep),
            dma_latency_held: true,
            machine: machine.map(|(key, is)| (key.to_owned(), is.to_owned())).into(),
            loads,
            site_sha256: site_sha256(),
            quietcore_version: "0.1.0".to_owned(),
            ..Conditions::default()
        },
        ..Record::empty(name, "latency", partition, profile)
    }
}
