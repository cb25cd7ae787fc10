//! Release latency of a partition with its program and fieldbus, beside `cyclictest`.
//!
//! | block | what runs on the CPU | beside |
//! |-------|----------------------|--------|
//! | idle | the site's partition, then `cyclictest`, or the other way round | nothing |
//! | loaded | the same | the published load: 10 workers on the square root, 10 on malloc |
//!
//! Both have the same CPU, period and priority, and a block of each has the same number of cycles.
//! `cyclictest` sleeps until its release. A partition with early wake sleeps until shortly before
//! it, so its wake-up latency is what corresponds to `cyclictest`'s figure, and its release latency
//! is what the program gets.

use std::path::PathBuf;

use quietcore_load::{LoadSet, presets};
use quietcore_record::histogram::Histogram;
use quietcore_units::{CpuSet, Nanos};

use crate::cores::Awake;
use crate::findings::{Common, Findings};
use crate::peers::cyclictest::{self, Setup};
use crate::peers::versions;
use crate::site::{Stand, Window, quantile, runtime};

/// Cycles after the start of the partition that don't count: its early wake learns.
const SETTLING: u64 = 500;
/// Time in which the workers of the load must work.
const START_WITHIN: Nanos = Nanos::from_secs(20);

/// Release latency of the servo partition, idle and loaded, beside `cyclictest`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The site file; its first partition is measured, on its first CPU
    #[arg(long, default_value = "examples/servo.toml")]
    site: PathBuf,
    /// Time between releases of cyclictest
    #[arg(long, default_value = "1 ms")]
    period: Nanos,
    /// Priority of SCHED_FIFO of cyclictest
    #[arg(long, default_value_t = 90)]
    priority: u8,
    /// Cycles of a block
    #[arg(long)]
    cycles: Option<u64>,
    /// CPUs of the load; anywhere by default
    #[arg(long)]
    load_cpus: Option<CpuSet>,
}

/// One side under one condition, a value a round.
#[derive(Default)]
struct Side {
    p50_ns: Vec<f64>,
    p99_ns: Vec<f64>,
    p999_ns: Vec<f64>,
    max_ns: Vec<f64>,
}

impl Side {
    fn add(&mut self, histogram: &Histogram) -> Result<(), String> {
        self.p50_ns.push(quantile(histogram, 0.5)?);
        self.p99_ns.push(quantile(histogram, 0.99)?);
        self.p999_ns.push(quantile(histogram, 0.999)?);
        self.max_ns.push(histogram.max_ns() as f64);
        Ok(())
    }

    fn tell(&self, findings: &mut Findings, name: &str) {
        let quantiles = [
            ("p50", &self.p50_ns),
            ("p99", &self.p99_ns),
            ("p99.9", &self.p999_ns),
            ("max", &self.max_ns),
        ];
        for (quantile, values) in quantiles {
            findings.figure(&format!("{name}, {quantile}"), "ns", values);
        }
        let worst = self.max_ns.iter().copied().fold(0.0, f64::max);
        findings.remark(format!("{name}: {} at worst in all rounds", Nanos::new(worst as u64)));
    }
}

/// All that was measured under one condition.
#[derive(Default)]
struct Condition {
    release: Side,
    wakeup: Side,
    peer: Side,
    execution_ns: Vec<f64>,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(20);
    let cycles = request.cycles.unwrap_or(common.length(4_000, 500));
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let stand = Stand::new(&request.site, folder)?;
    let cpu = stand.first()?.0;
    let method = format!(
        "the first partition of {} and cyclictest (SCHED_FIFO {}, {}) in turn on CPU {cpu}, blocks \
         of {cycles} cycles, idle and under 10 sqrt and 10 malloc workers on {}",
        request.site.display(),
        request.priority,
        request.period,
        request.load_cpus.map_or_else(|| "any CPU".to_owned(), |cpus| format!("CPUs {cpus}")),
    );
    let mut findings = Findings::begin("scan", method, common, rounds);
    findings.peer("cyclictest", versions::of_cyclictest());
    let _awake = Awake::hold(&mut findings);
    let setup = Setup { cpu, priority: request.priority, period: request.period, cycles };
    let (mut idle, mut loaded) = (Condition::default(), Condition::default());
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        idle.round(&stand, &setup, round)?;
        let load = start_load(request)?;
        let outcome = loaded.round(&stand, &setup, round);
        load.stop().map_err(|error| error.to_string())?;
        outcome?;
    }
    idle.tell(&mut findings, "idle");
    loaded.tell(&mut findings, "loaded");
    findings.print(common)
}

fn start_load(request: &Request) -> Result<LoadSet, String> {
    let mut loads = presets::papers_load();
    for load in &mut loads {
        load.cpus = request.load_cpus;
    }
    let mut set = LoadSet::start(&runtime()?, &loads).map_err(|error| error.to_string())?;
    set.wait_until_running(START_WITHIN).map_err(|error| error.to_string())?;
    Ok(set)
}

impl Condition {
    /// A block of each side; which one comes first turns with the rounds.
    fn round(&mut self, stand: &Stand, setup: &Setup, round: usize) -> Result<(), String> {
        let own_is_first = round.is_multiple_of(2);
        for own in [own_is_first, !own_is_first] {
            if own {
                let window = partition(stand, setup.cycles)?;
                self.release.add(&window.release)?;
                if window.wakeup.count() > 0 {
                    self.wakeup.add(&window.wakeup)?;
                }
                self.execution_ns.push(quantile(&window.execution, 0.5)?);
            } else {
                self.peer.add(&cyclictest::run(setup)?)?;
            }
        }
        Ok(())
    }

    fn tell(&self, findings: &mut Findings, name: &str) {
        self.release.tell(findings, &format!("{name}: release latency"));
        self.wakeup.tell(findings, &format!("{name}: wake-up latency"));
        self.peer.tell(findings, &format!("{name}: cyclictest"));
        findings.figure(&format!("{name}: execution time, p50"), "ns", &self.execution_ns);
        for (what, own, peer) in [
            ("p50", &self.release.p50_ns, &self.peer.p50_ns),
            ("p99", &self.release.p99_ns, &self.peer.p99_ns),
            ("p99.9", &self.release.p999_ns, &self.peer.p999_ns),
        ] {
            findings.ratio(&format!("{name}: cyclictest / release, {what}"), peer, own, None);
        }
        if !self.wakeup.p50_ns.is_empty() {
            let (own, peer) = (&self.wakeup.p50_ns, &self.peer.p50_ns);
            findings.ratio(&format!("{name}: wake-up / cyclictest, p50"), own, peer, None);
        }
    }
}

/// A block of the partition: started, settled, measured, brought down.
fn partition(stand: &Stand, cycles: u64) -> Result<Window, String> {
    let life = stand.up()?;
    life.cycles_since(&life.moment()?, SETTLING)?;
    life.cycles_since(&life.moment()?, cycles)
}
