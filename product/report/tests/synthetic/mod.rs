//! Evidence that was never measured: for tests and for looking at the report. Every name in it says
//! so. The generator has a fixed seed, so that each run gives the same numbers.

pub(crate) mod experiment;
pub(crate) mod interrupt;
pub(crate) mod isolation;
pub(crate) mod kernel;
pub(crate) mod late;
pub(crate) mod memory;

use std::collections::BTreeMap;

use quietcore_evidence::{Evidence, MANIFEST_SCHEMA, Manifest, NotMeasured, Origin};
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{
    AffinityInForce, Conditions, Counters, LoadAchieved, Measured, PolicyInForce, RECORD_SCHEMA,
    Record, ReleaseMode, Scan, ScanCounters, ScanTerms, Spike, SpikeCondition, TimeReality,
    Timeline, Worst,
};
use quietcore_record::verdict::judge;
use quietcore_units::{SchedulingPolicy, Wake, WakeKind};

/// Stretches of a synthetic time line.
const SLOTS: u64 = 200;

/// A generator of pseudo-random numbers: xorshift with 64 bits.
pub(crate) struct Random(u64);

impl Random {
    /// Makes a generator that always gives the same numbers for one seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number evenly distributed between 0 and 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number of the normal distribution with mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.part().max(1e-12).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.part()).cos()
    }
}

/// The look of a synthetic record.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Median wake-up latency, in ns.
    pub(crate) wakeup_ns: f64,
    /// Spread of its logarithm.
    pub(crate) spread: f64,
    /// Number of cycles of which one is a spike.
    pub(crate) spike_every: u64,
    /// Most that a spike adds to the wake-up latency, as a multiple of the median.
    pub(crate) spike_times: f64,
    /// Margin of early wake, in ns; `None` for mode `sleep`.
    pub(crate) margin_ns: Option<f64>,
}

/// Makes a record of `cycles` values of the given shape.
pub(crate) fn record(profile: &str, cpu: u32, cycles: u64, shape: Shape, seed: u64) -> Record {
    let mut random = Random::new(seed);
    let (mut release, mut wakeup) = (Histogram::new(), Histogram::new());
    let mut slots: Vec<(u64, u64, u64)> = Vec::new();
    let mut spikes: Vec<Spike> = Vec::new();
    let (mut difference_sum, mut last) = (0_u64, None::<u64>);
    let slot_cycles = cycles.div_ceil(SLOTS).max(1);
    for cycle in 0..cycles {
        let mut woken = shape.wakeup_ns * (random.normal() * shape.spread).exp();
        if random.next().is_multiple_of(shape.spike_every) {
            woken += shape.wakeup_ns * shape.spike_times * random.part().powi(4);
        }
        let late = match shape.margin_ns {
            None => woken,
            Some(margin) => (woken - margin).max(0.0) + 18.0 + 4.0 * random.normal().abs(),
        };
        let (woken, late) = (woken as u64, late as u64);
        release.record(late);
        wakeup.record(woken);
        difference_sum += last.map_or(0, |last| last.abs_diff(late));
        last = Some(late);
        if cycle % slot_cycles == 0 {
            slots.push((0, 0, 0));
        }
        let slot = slots.last_mut().expect("the first cycle begins a slot");
        *slot = (slot.0 + 1, slot.1.max(late), slot.2 + late);
        if spikes.len() < 16 || late > spikes.last().map_or(0, |spike| spike.latency_ns) {
            spikes.push(spike(cycle, late, woken, cpu));
            spikes.sort_by_key(|spike| std::cmp::Reverse(spike.latency_ns));
            spikes.truncate(16);
        }
    }
    let counters = Counters {
        planned_cycles: cycles,
        missed_cycles: Some(0),
        longest_miss_run: Some(0),
        difference_sum_ns: Some(difference_sum),
        own_cost_ns: 412,
        margin_ns: shape.margin_ns.unwrap_or(0.0) as u64,
        spin_ns: cycles * shape.margin_ns.unwrap_or(0.0) as u64,
        ..Counters::default()
    };
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("axis.{profile}.cpu{cpu}"),
        probe: "latency".to_owned(),
        partition: "axis".to_owned(),
        profile: profile.to_owned(),
        reserved: true,
        cpu: Some(cpu),
        period_ns: Some(1_000_000),
        release,
        wakeup: Some(wakeup),
        measured: Measured::default(),
        trial: None,
        counters,
        spikes,
        ledgers: None,
        timeline: Timeline { slot_cycles, slots },
        stretches: None,
        conditions: conditions(cycles * 1_000_000, shape),
        interrupted: false,
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}

/// Adds the scan cycles of a program to a record: each takes a quarter to a half of a period of
/// 1 ms, and `overruns` of them end after their deadline.
pub(crate) fn with_program(mut record: Record, task: &str, overruns: u64) -> Record {
    const DEADLINE_NS: u64 = 800_000;
    let mut random = Random::new(record.release.count());
    let (mut execution, mut response) = (Histogram::new(), Histogram::new());
    let mut worst = (0, 0);
    for cycle in 0..record.release.count() {
        let late = cycle < overruns;
        let took =
            if late { 850_000 + cycle } else { 250_000 + (random.part() * 250_000.0) as u64 };
        execution.record(took);
        response.record(took + 20_000);
        worst = worst.max((took, cycle));
    }
    let (value_ns, release) = worst;
    let at_ns = release * 1_000_000;
    record.name = format!("{}.{}.{task}", record.partition, record.profile);
    record.measured = Measured::releases(Some(Scan {
        terms: ScanTerms {
            program_period_ns: 1_000_000,
            deadline_ns: Some(DEADLINE_NS),
            watchdog_ns: Some(500_000),
            by_kernel: false,
        },
        execution,
        response,
        counters: ScanCounters {
            overruns,
            longest_overrun_run: overruns,
            ..ScanCounters::default()
        },
        worst_execution: Some(Worst { value_ns, release, at_ns }),
        worst_response: Some(Worst { value_ns: value_ns + 20_000, release, at_ns }),
        kernel_errors: Vec::new(),
        faults: Vec::new(),
    }));
    record
}

fn spike(cycle: u64, late: u64, woken: u64, cpu: u32) -> Spike {
    let conditions = match cycle % 3 {
        0 => vec!["steal 1.2 % on this CPU", "412 interrupts in 100 ms"],
        1 => vec!["9100 context switches in 100 ms"],
        _ => Vec::new(),
    };
    let stated = |words: &str| SpikeCondition::Stated(words.to_owned());
    let conditions = conditions.into_iter().map(stated).collect();
    Spike {
        release: cycle,
        at_ns: cycle * 1_000_000,
        latency_ns: late,
        wakeup_ns: woken,
        cpu,
        conditions,
    }
}

fn conditions(duration_ns: u64, shape: Shape) -> Conditions {
    let machine = [
        ("cpu_model", "Synthetic CPU, never built"),
        ("cpus_online", "0-1"),
        ("kernel", "Linux 6.1.0-synthetic"),
        ("preemption", "PREEMPT_RT"),
        ("hypervisor", "KVM"),
        ("clock_source", "tsc"),
        ("governor", "performance"),
        ("command_line", "quiet isolcpus=1 nohz_full=1 rcu_nocbs=1"),
        ("c_states", "no cpuidle driver"),
        ("memory", "7.75 GiB"),
    ];
    let mode = match shape.margin_ns {
        None => ReleaseMode::timer(Wake::Sleep),
        // A reason as an earlier version worded it.
        Some(_) => ReleaseMode::Stated {
            words: "early wake, adaptive, at most 25 % of the core".to_owned(),
            wake: Some(WakeKind::Early),
        },
    };
    Conditions {
        started_at: "2026-11-21T20:15:03Z".to_owned(),
        duration_ns,
        mode,
        policy: fifo(90),
        affinity: on_cpus("1"),
        dma_latency_held: true,
        time: TimeReality::Stated("yes".to_owned()),
        platform: None,
        machine: machine.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        loads: Vec::new(),
        neighbours: Vec::new(),
        activity: BTreeMap::from([("steal".to_owned(), "0.1 %".to_owned())]),
        site_sha256: "5e1f".repeat(16),
        quietcore_version: "0.1.0".to_owned(),
        earlier_part: None,
        injection: None,
    }
}

/// Returns `SCHED_FIFO` with this priority, as it was read back.
pub(crate) fn fifo(priority: u32) -> PolicyInForce {
    PolicyInForce::ReadBack(SchedulingPolicy::Fifo { priority })
}

/// Returns CPUs that a task was allowed to run on, as they were read back.
pub(crate) fn on_cpus(cpus: &str) -> AffinityInForce {
    AffinityInForce::ReadBack(cpus.parse().expect("it is a list"))
}

/// Returns the papers' load, as it would be recorded.
pub(crate) fn papers_load() -> Vec<LoadAchieved> {
    let load = |kind: &str, unit: &str, rate: f64, working: u32| LoadAchieved {
        kind: kind.to_owned(),
        workers: 10,
        working,
        cpus: "0".parse().expect("it is a list"),
        operations_per_second: rate,
        unit: unit.to_owned(),
        bytes_per_second: None,
        cpu_share: 0.5,
    };
    vec![load("sqrt", "sqrt/s", 118_300_000.0, 10), load("memory", "malloc/s", 112.4, 9)]
}

/// Makes evidence of these records, judged with this exceedance; `axis` declares `motion-control`.
pub(crate) fn evidence(records: Vec<Record>, exceedance: f64) -> Evidence {
    let all = [
        ("tp1", "idle machine, task free to move"),
        ("tp2", "idle machine, task on its reserved CPU"),
        ("tp3", "the papers' load on all CPUs"),
        ("tp4", "the papers' load on the housekeeping CPUs"),
    ];
    let measured = |name: &str| records.iter().any(|record| record.profile == name);
    let profiles: Vec<_> = all.into_iter().filter(|(name, _)| measured(name)).collect();
    // Written as a file holds it, so that fields of later versions need no change here.
    let manifest = serde_json::json!({
        "schema": MANIFEST_SCHEMA,
        "name": "press-line (synthetic)",
        "origin": Origin::Campaign,
        "started_at": "2026-11-21T20:15:03Z",
        "quietcore_version": "0.1.0",
        "site_sha256": "5e1f".repeat(16),
        "exceedance": exceedance,
        "classes": catalogue(),
        "declared": { "axis": "motion-control" },
        "profiles": profiles,
        "length": null,
        "limits": [], "not_measured": [],
        "complete": true,
    });
    let manifest: Manifest = serde_json::from_value(manifest).expect("it has all fields");
    let judgements = records
        .iter()
        .flat_map(|record| {
            manifest.classes.iter().map(|class| judge(record, class, manifest.exceedance))
        })
        .collect();
    Evidence { judgements, ..Evidence::of(manifest, records) }
}

/// A shape that serves motion control: early wake hides the wake-up.
pub(crate) const QUIET: Shape = Shape {
    wakeup_ns: 9_000.0,
    spread: 0.22,
    spike_every: 3_000,
    spike_times: 3.0,
    margin_ns: Some(45_000.0),
};

/// A shape with spikes beyond 100 µs.
pub(crate) const LOUD: Shape = Shape {
    wakeup_ns: 11_000.0,
    spread: 0.4,
    spike_every: 900,
    spike_times: 38.0,
    margin_ns: Some(45_000.0),
};

/// Returns the shape of a task in mode `sleep`.
pub(crate) const ASLEEP: Shape = Shape {
    wakeup_ns: 6_500.0,
    spread: 0.3,
    spike_every: 2_000,
    spike_times: 9.0,
    margin_ns: None,
};

/// Adds a profile that could not be measured.
pub(crate) fn without(mut evidence: Evidence, profile: &str, because: &str) -> Evidence {
    let missing = serde_json::json!({
        "partition": "axis", "profile": profile, "reserved": true, "because": because,
    });
    let missing: NotMeasured = serde_json::from_value(missing).expect("it has all fields");
    evidence.manifest.not_measured.push(missing);
    evidence.manifest.complete = false;
    evidence
}
