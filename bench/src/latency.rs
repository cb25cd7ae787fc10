//! Release latency beside `cyclictest`: the same core, the same priority, alternating, without a
//! warm-up on either side.

use std::path::Path;
use std::thread;
use std::time::Duration;

use quietcore_backend::job::{Job, latency_shape};
use quietcore_backend::process::Partition;
use quietcore_probe::job::LatencyJob;
use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_units::{Nanos, Scheduling, Wake};

use crate::cores::Awake;
use crate::findings::{Common, Findings, Goal};
use crate::peers::cyclictest::{self, Setup};
use crate::peers::versions;
use crate::site::runtime;

/// Release latency in modes `sleep` and `early-wake`, beside `cyclictest`
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    common: Common,
    /// The CPU both run on
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// Priority of SCHED_FIFO for both
    #[arg(long, default_value_t = 90)]
    priority: u8,
    /// Time between two releases
    #[arg(long, default_value = "1 ms")]
    period: Nanos,
    /// Releases in each run
    #[arg(long)]
    cycles: Option<u64>,
    /// Part of the core that early wake may spin, in per cent
    #[arg(long, default_value_t = 25)]
    share: u8,
}

struct Run {
    median_ns: f64,
    p99_ns: f64,
    max_ns: u64,
    spin_share: f64,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let runtime = runtime()?;
    let common = &request.common;
    let rounds = common.rounds_or(24);
    let method = format!(
        "release latency on CPU {}, SCHED_FIFO {}, every {}, {} cycles a run of each",
        request.cpu,
        request.priority,
        request.period,
        request.cycles()
    );
    let mut findings = Findings::begin("latency", method, common, rounds);
    findings.peer("cyclictest", versions::of_cyclictest());
    let _awake = Awake::hold(&mut findings);
    let mut peer = Vec::new();
    let mut sleep = Vec::new();
    let mut early = Vec::new();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        // The order turns with the rounds, so that no side always follows the same other.
        for step in 0..3 {
            match (round + step) % 3 {
                0 => peer.push(cyclictest(request)?),
                1 => sleep.push(quietcore(&runtime, request, Wake::Sleep)?),
                _ => {
                    let wake = Wake::Adaptive { share_percent: request.share.into() };
                    early.push(quietcore(&runtime, request, wake)?);
                }
            }
        }
    }
    for (name, runs) in [("cyclictest", &peer), ("sleep", &sleep), ("early-wake", &early)] {
        tell(&mut findings, name, runs);
    }
    let (median, p99): (Part, Part) = (|run| run.median_ns, |run| run.p99_ns);
    for (name, part) in [("p50", median), ("p99", p99)] {
        let of = |runs: &[Run]| runs.iter().map(part).collect::<Vec<f64>>();
        let (peer, sleep, early) = (of(&peer), of(&sleep), of(&early));
        let (even, fifty) = (Some(Goal::AtMost(1.0)), Some(Goal::AtLeast(50.0)));
        findings.ratio(&format!("sleep / cyclictest, {name}"), &sleep, &peer, even);
        findings.ratio(&format!("cyclictest / early-wake, {name}"), &peer, &early, fifty);
    }
    findings.print(common)
}

/// One figure of a run.
type Part = fn(&Run) -> f64;

fn tell(findings: &mut Findings, name: &str, runs: &[Run]) {
    let of = |part: Part| runs.iter().map(part).collect::<Vec<f64>>();
    findings.figure(&format!("{name}, p50"), "ns", &of(|run| run.median_ns));
    findings.figure(&format!("{name}, p99"), "ns", &of(|run| run.p99_ns));
    let largest = runs.iter().map(|run| run.max_ns).max().unwrap_or_default();
    findings.figure(&format!("{name}, largest of all rounds"), "ns", &[largest as f64]);
    if runs.iter().any(|run| run.spin_share > 0.0) {
        let share = of(|run| run.spin_share * 100.0);
        findings.figure(&format!("{name}, part of the core spun"), "%", &share);
    }
}

impl Request {
    fn cycles(&self) -> u64 {
        self.cycles.unwrap_or(self.common.length(4_000, 200))
    }
}

fn quietcore(runtime: &Path, request: &Request, wake: Wake) -> Result<Run, String> {
    let job = LatencyJob {
        cpus: vec![Some(request.cpu)],
        period: request.period,
        cycles: request.cycles(),
        warm_up_cycles: 0,
        policy: Scheduling::fifo(request.priority),
        wake,
        injection: None,
        memory: None,
        snare: None,
    };
    let shape = latency_shape(&job);
    let started = Partition::start(runtime, &Job::Latency(job), &shape);
    let mut partition = started.map_err(|error| error.to_string())?;
    while !partition.has_ended().map_err(|error| error.to_string())? {
        thread::sleep(Duration::from_millis(50));
    }
    partition.stop().map_err(|error| error.to_string())?;
    let task = partition.region().task(0).ok_or("the exchange has no task")?;
    let counters = task.counters().map_err(|_| "the task was ended in the middle of a cycle")?;
    let spin_ns = counters.spin_ns as f64;
    let span_ns = (request.period * request.cycles()).get() as f64;
    let release = Histogram::from_exchange(task.release()).map_err(|error| error.to_string())?;
    run_of(&release, spin_ns / span_ns)
}

fn cyclictest(request: &Request) -> Result<Run, String> {
    let Request { cpu, priority, period, .. } = *request;
    let setup = Setup { cpu, priority, period, cycles: request.cycles() };
    run_of(&cyclictest::run(&setup)?, 0.0)
}

fn run_of(histogram: &Histogram, spin_share: f64) -> Result<Run, String> {
    let value = |part: f64| {
        let quantile = histogram.quantile(part).and_then(Quantile::exact);
        quantile.map(|ns| ns as f64).ok_or("nothing was measured")
    };
    Ok(Run { median_ns: value(0.5)?, p99_ns: value(0.99)?, max_ns: histogram.max_ns(), spin_share })
}
