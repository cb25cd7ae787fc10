//! A partition in a container: how soon it runs, and whether its releases come as they do in a
//! process.
//!
//! ```text
//! start    own container to its first cycle ─ process to its first cycle ─ podman run, whole ─ …
//! latency  process ─ container ─ container ─ process ─ …         the same probe, CPU and priority
//! ```
//!
//! `podman run` gets the program and the libraries of the same bundle, and ends at once. It sets up
//! what ours does (namespaces, mounts, control groups, through the same container runtime), and
//! keeps books of containers and images beside that.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_backend::container::Containers;
use quietcore_backend::job::{Job, latency_shape};
use quietcore_backend::process::{Partition, Room};
use quietcore_backend::rooms::Rooms;
use quietcore_backend::setting::{BackendSetting, ProbeNeeds};
use quietcore_probe::job::LatencyJob;
use quietcore_record::histogram::{Histogram, Quantile};
use quietcore_settings::MemoryShare;
use quietcore_site::Backend;
use quietcore_units::{CpuId, Nanos, Scheduling, ThreadSetting, Wake};

use crate::cores::Awake;
use crate::findings::{Common, Findings, Goal};
use crate::site::runtime;

/// The longest that a container may take to its first cycle, in ms.
const START_GOAL: Goal = Goal::AtMost(150.0);
/// Time between two looks at an exchange for its first cycle.
const GLANCE: Duration = Duration::from_micros(200);
/// The longest that a partition may take to its first cycle.
const PATIENCE: Duration = Duration::from_secs(20);

/// A partition in a container, beside one in a process and `podman run`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    common: Common,
    /// The CPU of the partitions
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// Releases of each run, 1 ms apart
    #[arg(long)]
    cycles: Option<u64>,
}

/// The common needs of both sides.
struct Side<'a> {
    request: &'a Request,
    runtime: PathBuf,
    setting: BackendSetting,
    rooms: Rooms,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(20);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let method = format!(
        "the probe `latency` on CPU {}, SCHED_FIFO 90, every 1 ms; in a container and in a process \
         in turn, the order turning with the rounds",
        request.cpu
    );
    let mut findings = Findings::begin("container", method, common, rounds);
    let _awake = Awake::hold(&mut findings);
    let cpus = CpuId::new(request.cpu).into_iter().collect();
    let needs = ProbeNeeds { cpus: Some(cpus), is_real_time: true, ..ProbeNeeds::default() };
    let setting = BackendSetting::of_probe(Backend::Container, needs);
    let own_folder = Some(folder.path().to_owned());
    match Rooms::prepare([&setting].into_iter(), "bench", own_folder, None, None) {
        Ok(rooms) => {
            let side = Side { request, runtime: runtime()?, setting, rooms };
            findings.remark(format!("containers are run by {}", side.containers()?.runtime()));
            starts(&side, rounds, &mut findings)?;
            latencies(&side, rounds, &mut findings)?;
        }
        Err(why) => findings.not_measured(format!("anything: {why}")),
    }
    findings.print(common)
}

impl Side<'_> {
    fn job(&self, cycles: u64, wake: Wake) -> LatencyJob {
        LatencyJob {
            cpus: vec![Some(self.request.cpu)],
            period: Nanos::from_millis(1),
            cycles,
            warm_up_cycles: 0,
            policy: Scheduling::Fifo { priority: 90 },
            wake,
            injection: None,
            memory: None,
            snare: None,
        }
    }

    fn room(&self, contained: bool) -> Room {
        if !contained {
            return Room::among_others();
        }
        self.rooms.of("probe", &self.setting, MemoryShare::default())
    }

    fn containers(&self) -> Result<&Containers, String> {
        self.rooms.containers().ok_or_else(|| "no containers were prepared for".to_owned())
    }

    fn start(&self, job: &LatencyJob, contained: bool) -> Result<Partition, String> {
        let shape = latency_shape(job);
        let (job, room) = (Job::Latency(job.clone()), self.room(contained));
        let started = Partition::start_with(&self.runtime, &job, &shape, Vec::new(), &room);
        started.map_err(|error| error.to_string())
    }
}

/// Times from the start to the first cycle, and of a whole `podman run`, in ms.
fn starts(side: &Side<'_>, rounds: usize, findings: &mut Findings) -> Result<(), String> {
    let podman = Podman::lay_out(side);
    if let Err(why) = &podman {
        findings.not_measured(format!("podman run: {why}"));
    }
    let (mut container, mut process, mut peer) = (Vec::new(), Vec::new(), Vec::new());
    // The first round fills the caches, and doesn't count.
    for round in 0..=rounds {
        for place in 0..3 {
            match (round + place) % 3 {
                0 => container.push(first_cycle(side, true)?),
                1 => process.push(first_cycle(side, false)?),
                _ => peer.extend(podman.as_ref().ok().map(Podman::run).transpose()?),
            }
        }
    }
    let [container, process, peer] =
        [container, process, peer].map(|all| all.into_iter().skip(1).collect::<Vec<f64>>());
    findings.goal("container, start to its first cycle", "ms", &container, START_GOAL);
    findings.figure("process, start to its first cycle", "ms", &process);
    if !peer.is_empty() {
        findings.figure("podman run, start to its end", "ms", &peer);
        findings.ratio("podman run / container", &peer, &container, None);
    }
    Ok(())
}

fn first_cycle(side: &Side<'_>, contained: bool) -> Result<f64, String> {
    let job = side.job(10, Wake::Sleep);
    let begun = Instant::now();
    let mut partition = side.start(&job, contained)?;
    let has_begun = |partition: &Partition| {
        let task = partition.region().task(0);
        task.and_then(|task| task.counters().ok()).is_some_and(|counters| counters.cycles > 0)
    };
    while !has_begun(&partition) {
        if begun.elapsed() > PATIENCE || partition.has_ended().map_err(|it| it.to_string())? {
            return Err("the partition has begun no cycle".to_owned());
        }
        thread::sleep(GLANCE);
    }
    let taken = begun.elapsed();
    partition.stop().map_err(|error| error.to_string())?;
    Ok(milli(taken))
}

/// Release latencies in ns, each run's median and p99.
fn latencies(side: &Side<'_>, rounds: usize, findings: &mut Findings) -> Result<(), String> {
    let cycles = side.request.cycles.unwrap_or(side.request.common.length(4000, 200));
    for (name, wake) in
        [("sleep", Wake::Sleep), ("early-wake", Wake::Adaptive { share_percent: 25 })]
    {
        let (mut process, mut container) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            eprintln!("latency, mode {name}, round {} of {rounds}", round + 1);
            for place in 0..2 {
                if (round + place) % 2 == 0 {
                    process.push(quantiles(side, cycles, wake, false)?);
                } else {
                    container.push(quantiles(side, cycles, wake, true)?);
                }
            }
        }
        for (index, quantile) in ["median", "p99"].into_iter().enumerate() {
            let of = |all: &[[f64; 2]]| all.iter().map(|run| run[index]).collect::<Vec<_>>();
            let (process, container) = (of(&process), of(&container));
            findings.figure(&format!("process, {name}, {quantile}"), "ns", &process);
            findings.figure(&format!("container, {name}, {quantile}"), "ns", &container);
            let ratio = format!("container / process, {name}, {quantile}");
            findings.ratio(&ratio, &container, &process, None);
        }
    }
    findings.remark("no difference can be seen where the interval of a ratio holds 1");
    Ok(())
}

fn quantiles(
    side: &Side<'_>,
    cycles: u64,
    wake: Wake,
    contained: bool,
) -> Result<[f64; 2], String> {
    let mut partition = side.start(&side.job(cycles, wake), contained)?;
    while !partition.has_ended().map_err(|error| error.to_string())? {
        thread::sleep(Duration::from_millis(50));
    }
    partition.stop().map_err(|error| error.to_string())?;
    let task = partition.region().task(0).ok_or("the exchange has no task")?;
    if task.refused(ThreadSetting::Policy) {
        return Err("SCHED_FIFO was refused, so that nothing is compared".to_owned());
    }
    let release = Histogram::from_exchange(task.release()).map_err(|error| error.to_string())?;
    let value = |part: f64| {
        let quantile = release.quantile(part).and_then(Quantile::exact);
        quantile.map(|ns| ns as f64).ok_or_else(|| "nothing was measured".to_owned())
    };
    Ok([value(0.5)?, value(0.99)?])
}

/// The program of our containers, run by `podman`.
struct Podman {
    /// The container runtime, which is that of ours.
    runtime: String,
    root: tempfile::TempDir,
    mounts: Vec<String>,
}

impl Podman {
    /// Takes the mounts from the description of a container of ours.
    fn lay_out(side: &Side<'_>) -> Result<Self, String> {
        let partition = side.start(&side.job(1_000_000, Wake::Sleep), true)?;
        let config = side.containers()?.description("probe").map_err(|error| error.to_string())?;
        drop(partition);
        let config: serde_json::Value =
            serde_json::from_slice(&config).map_err(|error| error.to_string())?;
        let mounts = config["mounts"].as_array().into_iter().flatten();
        let bound = mounts.filter(|mount| mount["type"] == "bind").filter_map(|mount| {
            let (from, to) = (mount["source"].as_str()?, mount["destination"].as_str()?);
            Some(format!("--volume={from}:{to}:ro"))
        });
        let mounts = bound.collect();
        let root = tempfile::tempdir().map_err(|error| error.to_string())?;
        let runtime = side.containers()?.runtime();
        let runtime = runtime.split(' ').next().unwrap_or_default().to_owned();
        let podman = Self { runtime, root, mounts };
        podman.run()?;
        Ok(podman)
    }

    /// Runs it once; the program says that it is started by others, and ends.
    fn run(&self) -> Result<f64, String> {
        let begun = Instant::now();
        let limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"];
        let output = Command::new("podman")
            .args(["--runtime", &self.runtime, "run", "--rm", "--network=none", "--read-only"])
            .args(limits)
            .args(&self.mounts)
            .arg("--rootfs")
            .arg(self.root.path())
            .arg(Path::new("/usr/bin/quietcore-runtime"))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("`podman` can't be started: {error}"))?;
        let taken = begun.elapsed();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("is started by quietcore") { Ok(milli(taken)) } else { Err(said.into()) }
    }
}

fn milli(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1e3
}
