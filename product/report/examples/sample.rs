//! Writes reports of synthetic evidence into a folder, to look at them: a mixed campaign, one that
//! passes, one in mode `sleep`, a program of two tasks, an imported one with an overflow, an
//! emulated one, a large one, the routines of a kernel, interrupts, accesses to memory, late
//! releases, controls and neighbours that were tried, an isolation matrix, and an empty one.
//!
//! ```text
//! cargo run --release -p quietcore-report --example sample -- /tmp/report-samples [FOLDER..]
//! ```
//!
//! No number in them was measured. The pages of further evidence folders are written beside them.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::path::Path;
use std::time::Instant;
use std::{env, fs, io};

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::histogram::Histogram;
use quietcore_record::reason::{NotInForce, NotReal, ThreadSetting};
use quietcore_record::record::{
    Counters, PolicyInForce, Record, ReleaseMode, TimeReality, Timeline,
};
use quietcore_report::{Published, PublishedBox, html, junit, text};
use quietcore_units::SchedulingPolicy;
use serde_json::json;
use synthetic::experiment::{compared, compared_by_routines, disturbed, tuned};
use synthetic::interrupt::interrupt;
use synthetic::isolation::isolation;
use synthetic::kernel::kernel;
use synthetic::late::late;
use synthetic::memory::memory;
use synthetic::{
    ASLEEP, LOUD, QUIET, Shape, evidence, on_cpus, papers_load, record, with_program, without,
};

/// The probability per cycle that a PASS must exclude.
const EXCEEDANCE: f64 = 1e-5;

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| "report-samples".to_owned());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let samples = [
        ("report", mixed()),
        ("pass", passing()),
        ("sleep", asleep()),
        ("program", program()),
        ("import", imported()),
        ("emulated", emulated()),
        ("large", large()),
        ("kernel", kernel(&[100, 100_000])),
        ("interrupt", interrupt()),
        ("memory", memory(true)),
        ("late", late()),
        ("tune", tuned()),
        ("disturb", disturbed()),
        ("cost", compared()),
        ("cost-of-routines", compared_by_routines()),
        ("isolation", isolation(Some(45_000.0))),
        ("empty", evidence(Vec::new(), EXCEEDANCE)),
    ];
    for (name, evidence) in samples {
        let begin = Instant::now();
        let page = html::render(&evidence, &[published()]);
        println!("{name}: {} bytes in {:?}", page.len(), begin.elapsed());
        fs::write(folder.join(format!("{name}.html")), page)?;
        fs::write(folder.join(format!("{name}.xml")), junit::render(&evidence))?;
        fs::write(folder.join(format!("{name}.txt")), text::render(&evidence, 100, true))?;
    }
    for real in env::args().skip(2) {
        let evidence = quietcore_evidence::read(Path::new(&real)).map_err(io::Error::other)?;
        let name = Path::new(&real).file_name().unwrap_or_default().to_string_lossy();
        fs::write(folder.join(format!("real-{name}.html")), html::render(&evidence, &[]))?;
    }
    Ok(())
}

/// Makes a campaign with a FAIL, a NOT PROVEN, an interrupted record, and one for comparison.
fn mixed() -> Evidence {
    let mut free = record("tp1", 0, 300_000, LOUD, 1);
    free.reserved = false;
    free.name = "axis.tp1.task0".to_owned();
    free.cpu = None;
    free.conditions.affinity = on_cpus("0,1");
    let quiet = record("tp2", 1, 400_000, QUIET, 2);
    let mut loaded = record("tp3", 1, 400_000, LOUD, 3);
    loaded.conditions.loads = papers_load();
    loaded.counters.missed_cycles = Some(2);
    loaded.counters.longest_miss_run = Some(1);
    let mut short = record("tp4", 1, 160_000, QUIET, 4);
    short.interrupted = true;
    short.counters.planned_cycles = 400_000;
    short.conditions.loads = papers_load();
    let mut evidence = evidence(vec![free, quiet, loaded, short], EXCEEDANCE);
    evidence.manifest.complete = false;
    evidence.site = Some(SITE.to_owned());
    evidence.doctor = Some(doctor());
    evidence
}

/// Makes a campaign whose reserved profiles are all quiet, so that the declared class passes.
fn passing() -> Evidence {
    let tight = Shape { margin_ns: Some(90_000.0), ..QUIET };
    let records =
        ["tp2", "tp3", "tp4"].iter().zip(5..).map(|(p, seed)| record(p, 1, 400_000, tight, seed));
    evidence(records.collect(), EXCEEDANCE)
}

/// Makes a program of two tasks, of which the slow one is not always done in time.
fn program() -> Evidence {
    let tasks = [("tp2", "fast", 0), ("tp2", "slow", 0), ("tp4", "fast", 0), ("tp4", "slow", 3)];
    let records = tasks.iter().zip(30..).map(|((profile, task, overruns), seed)| {
        with_program(record(profile, 1, 300_000, QUIET, seed), task, *overruns)
    });
    evidence(records.collect(), EXCEEDANCE)
}

/// Makes a campaign in mode `sleep`, with one profile that could not be measured.
fn asleep() -> Evidence {
    let mut records =
        vec![record("tp2", 1, 300_000, ASLEEP, 8), record("tp3", 1, 300_000, ASLEEP, 9)];
    for record in &mut records {
        record.wakeup = Some(record.release.clone());
        record.degraded = vec![NotInForce::refused(ThreadSetting::Policy, "not permitted").into()];
        record.conditions.policy = PolicyInForce::ReadBack(SchedulingPolicy::Other);
    }
    without(
        evidence(records, EXCEEDANCE),
        "tp4",
        "the load `memory` could not be started: out of memory",
    )
}

/// Makes four files of another program, one of them with an overflow.
fn imported() -> Evidence {
    let medians =
        [("T3-Rt", 9_u64, 40_u64), ("T3-Std", 120, 5_000), ("C5-Rt", 7, 20), ("Metal", 5, 60)];
    let records = medians.iter().enumerate().flat_map(|(seed, (file, median, tail))| {
        (0..2).map(move |thread| import(file, thread, *median, *tail, seed as u64 + 20))
    });
    let mut evidence = evidence(records.collect(), EXCEEDANCE);
    evidence.manifest.name = "cyclictest files (synthetic)".to_owned();
    evidence.manifest.origin = Origin::Import;
    evidence.manifest.declared.clear();
    evidence.manifest.profiles.clear();
    evidence
}

fn import(file: &str, thread: u32, median_us: u64, tail_us: u64, seed: u64) -> Record {
    let shape = Shape {
        wakeup_ns: median_us as f64 * 1_000.0,
        spread: 0.35,
        spike_every: if tail_us > 1_000 { 12 } else { 4_000 },
        spike_times: tail_us as f64 / median_us as f64,
        margin_ns: None,
    };
    let mut record = record("imported", thread, 200_000, shape, seed + u64::from(thread));
    let mut release = Histogram::imported(1_000, 400_000);
    let (mut over, mut sum) = (0, 0);
    for bin in record.release.bins() {
        let value = bin.low_ns / 1_000 * 1_000;
        if value >= 400_000 {
            over += bin.count;
            sum += value * bin.count;
        } else {
            release.record_many(value, bin.count);
        }
    }
    release.record_overflow(over, record.release.max_ns() / 1_000 * 1_000, sum);
    record.release = release;
    record.partition = file.to_owned();
    record.name = format!("{file}.thread{thread}");
    record.probe = "cyclictest".to_owned();
    record.cpu = None;
    record.wakeup = None;
    record.spikes.clear();
    record.timeline = Timeline::default();
    record.counters = Counters::default();
    record.conditions.machine.clear();
    record.conditions.mode = ReleaseMode::not_timed("imported from cyclictest");
    record
}

/// Makes evidence whose time is emulated.
fn emulated() -> Evidence {
    let mut record = record("tp2", 1, 300_000, ASLEEP, 30);
    let evidence_of_it = "0.9 million instructions a second".to_owned();
    record.invalid_because.push(NotReal::Machine { evidence: evidence_of_it }.into());
    record.conditions.time = TimeReality::Emulated("interpreted".to_owned());
    evidence(vec![record], EXCEEDANCE)
}

/// Makes 24 records: four profiles on six CPUs.
fn large() -> Evidence {
    let records = ["tp1", "tp2", "tp3", "tp4"].iter().flat_map(|profile| {
        (0..6).map(move |cpu| {
            let shape = if *profile == "tp3" { LOUD } else { QUIET };
            record(profile, cpu, 300_000, shape, u64::from(cpu) + 40)
        })
    });
    evidence(records.collect(), EXCEEDANCE)
}

fn published() -> Published {
    let row = |label: &str, us: [u64; 7]| PublishedBox {
        label: label.to_owned(),
        lower_whisker_ns: us[0] * 1_000,
        q1_ns: us[1] * 1_000,
        median_ns: us[2] * 1_000,
        mean_ns: Some(us[3] * 1_000),
        q3_ns: us[4] * 1_000,
        upper_whisker_ns: us[5] * 1_000,
        max_ns: Some(us[6] * 1_000),
    };
    Published {
        title: "A published table (synthetic figures)".to_owned(),
        source: "Nobody et al., Never measured, 2026, table 0".to_owned(),
        rows: vec![
            row("Baseline, tp3", [1, 2, 3, 3, 4, 5, 140]),
            row("Hypervisor, tp3", [6, 11, 19, 35, 42, 310, 4_800]),
        ],
    }
}

const SITE: &str =
    "[site]\nname = \"press-line\"\n\n[[partition]]\nname = \"axis\"\nclass = \"motion-control\"\n";

fn doctor() -> serde_json::Value {
    let finding = |id: &str, subject: &str, severity: &str, read: &str, fix: &str| {
        json!({
            "id": id, "area": "scheduler", "subject": subject, "read": read,
            "right": "what would be right stands here",
            "effect": "a synthetic effect: wake-ups wait for the end of the tick",
            "fix": fix, "severity": severity,
        })
    };
    json!({
        "schema": "quietcore.doctor/1",
        "facts": { "kernel": { "release": "6.1.0-synthetic" }, "cpus": [0, 1] },
        "findings": [
            finding("rt-throttling", "Real-time throttling", "advice", "950000 of 1000000 µs",
                "sysctl kernel.sched_rt_runtime_us=-1"),
            finding("fifo-in-cgroup", "SCHED_FIFO in a fresh cgroup", "conformance", "refused",
                "write `950000` to cpu.rt_runtime_us of the group"),
            finding("smi", "System management interrupts", "unknown", "MSR 0x34 is not readable",
                "modprobe msr"),
            finding("clock-source", "Clock source", "ok", "tsc", ""),
            finding("swap", "Swap", "ok", "off", ""),
        ],
    })
}
