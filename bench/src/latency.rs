//! Release latency beside `cyclictest`: the same core, the same priority, alternating, without a
//! warm-up on either side.

use std::path::Path;
use std::thread;
use std::time::Duration;

use quietcore_backend::job::{Job, latency_shape};
use quietcore_backend::process::Partition;
use quietcore_probe::job::{LatencyJob, Wake};
use quietcore_process::setting::Policy;
use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_units::Nanos;

use crate::cyclictest::{self, Setup};
use crate::findings::pairs::Median;
use crate::site::runtime;

/// Release latency in modes `sleep` and `early-wake`, beside `cyclictest`
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    /// The CPU both run on
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// Priority of SCHED_FIFO for both
    #[arg(long, default_value_t = 90)]
    priority: u8,
    /// Time between releases
    #[arg(long, default_value = "1 ms")]
    period: Nanos,
    /// Releases in each run
    #[arg(long, default_value_t = 4_000)]
    cycles: u64,
    /// Rounds; each runs cyclictest, mode sleep and mode early-wake once
    #[arg(long, default_value_t = 20)]
    rounds: usize,
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
    let mut peer = Vec::new();
    let mut sleep = Vec::new();
    let mut early = Vec::new();
    for round in 0..request.rounds {
        eprintln!("round {} of {}", round + 1, request.rounds);
        // The order turns with the rounds, so that no side always follows the same other.
        for step in 0..3 {
            match (round + step) % 3 {
                0 => peer.push(cyclictest(request)?),
                1 => sleep.push(quietcore(&runtime, request, Wake::Sleep)?),
                _ => {
                    let wake = Wake::Adaptive { share_percent: request.share };
                    early.push(quietcore(&runtime, request, wake)?);
                }
            }
        }
    }
    println!(
        "release latency on CPU {}, SCHED_FIFO {}, every {}, {} rounds of {} cycles each",
        request.cpu, request.priority, request.period, request.rounds, request.cycles
    );
    for (name, runs) in [("cyclictest", &peer), ("mode sleep", &sleep), ("mode early-wake", &early)]
    {
        let of = |what: fn(&Run) -> f64| Median::of(&runs.iter().map(what).collect::<Vec<_>>());
        let (Some(median), Some(p99)) = (of(|run| run.median_ns), of(|run| run.p99_ns)) else {
            return Err("no rounds".to_owned());
        };
        let max = runs.iter().map(|run| run.max_ns).max().unwrap_or_default();
        let share = of(|run| run.spin_share).map_or(0.0, |share| share.value * 100.0);
        println!(
            "  {name:<16} p50 {:>9}  p99 {:>9}  max {:>9}  spun {share:4.1} % of the core",
            Nanos::new(median.value as u64).to_string(),
            Nanos::new(p99.value as u64).to_string(),
            Nanos::new(max).to_string(),
        );
    }
    ratio("sleep / cyclictest, p50", &sleep, &peer, |run| run.median_ns)?;
    ratio("sleep / cyclictest, p99", &sleep, &peer, |run| run.p99_ns)?;
    ratio("cyclictest / early-wake, p50", &peer, &early, |run| run.median_ns)?;
    ratio("cyclictest / early-wake, p99", &peer, &early, |run| run.p99_ns)
}

fn ratio(name: &str, above: &[Run], below: &[Run], what: fn(&Run) -> f64) -> Result<(), String> {
    let pairs = above.iter().zip(below);
    let ratios: Vec<f64> = pairs.map(|(above, below)| what(above) / what(below).max(1.0)).collect();
    let median = Median::of(&ratios).ok_or("no rounds")?;
    println!("  {name:<30} {median}");
    Ok(())
}

fn quietcore(runtime: &Path, request: &Request, wake: Wake) -> Result<Run, String> {
    let job = LatencyJob {
        cpus: vec![Some(request.cpu)],
        period: request.period,
        cycles: request.cycles,
        warm_up_cycles: 0,
        policy: Policy::Fifo(request.priority),
        wake,
        injection: None,
        memory: None,
        snare: None,
    };
    // What cyclictest does as well, with the same effect on the machine.
    let _awake = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/cpu_dma_latency")
        .and_then(|mut file| std::io::Write::write_all(&mut file, &[0; 4]).map(|()| file));
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
    let span_ns = (request.period * request.cycles).get() as f64;
    let release = Histogram::from_exchange(task.release()).map_err(|error| error.to_string())?;
    run_of(&release, spin_ns / span_ns)
}

fn cyclictest(request: &Request) -> Result<Run, String> {
    let Request { cpu, priority, period, cycles, .. } = *request;
    run_of(&cyclictest::run(&Setup { cpu, priority, period, cycles })?, 0.0)
}

fn run_of(histogram: &Histogram, spin_share: f64) -> Result<Run, String> {
    let value = |part: f64| {
        let quantile = histogram.quantile(part).and_then(Quantile::exact);
        quantile.map(|ns| ns as f64).ok_or("nothing was measured")
    };
    Ok(Run { median_ns: value(0.5)?, p99_ns: value(0.99)?, max_ns: histogram.max_ns(), spin_share })
}
