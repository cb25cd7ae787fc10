//! `quietcore probe`

mod circumstances;
mod ethercat;
mod exec;
mod guest;
mod irq;
mod memory;
mod osek;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use quietcore_backend::container::ContainerWish;
use quietcore_campaign::{PartitionRun, Run, Work, measure};
use quietcore_evidence::{Evidence, MANIFEST_SCHEMA, Manifest, Origin, Writer};
use quietcore_host::Facts;
use quietcore_host::controls::{MemoryShare, Wanted};
use quietcore_host::doctor::Report;
use quietcore_load::{LoadKind, LoadRequest, LoadSet};
use quietcore_probe::job::{LatencyJob, Wake};
use quietcore_process::setting::Policy;
use quietcore_record::class::{Class, catalogue};
use quietcore_record::export::cyclictest_text;
use quietcore_record::record::Record;
use quietcore_units::{CpuId, CpuSet, Nanos};

use crate::arguments::{Latency, Mode, PolicyName, Probe, ProbeBackend, ProbeKind};
use crate::machine;
use crate::progress::Bar;
use crate::status::{Failure, Status};
use crate::{files, finish};

/// The shortest period; below, the recording itself would be what is measured.
const PERIOD_MIN: Nanos = Nanos::from_micros(20);
/// The longest period: a stop is noticed once a period.
const PERIOD_MAX: Nanos = Nanos::from_secs(10);
/// The most releases: 3 years at 1 ms.
const CYCLES_MAX: u64 = 100_000_000_000;
/// The longest run, warm-up included: some 3 years.
const RUN_MAX: Nanos = Nanos::from_secs(1_200 * 86_400);
/// The smallest limit above which releases are explained.
const EXPLAIN_MIN: Nanos = Nanos::from_micros(1);
/// The largest: it is longer than any run lasts whose releases are late by it.
const EXPLAIN_MAX: Nanos = Nanos::from_secs(10);
/// How long all workers of the loads may take until they work.
const LOAD_START_MAX: Nanos = Nanos::from_secs(10);
/// The probability that a probe by hand is judged with; a campaign chooses its own.
pub(super) const EXCEEDANCE: f64 = 1e-6;

pub(super) fn run(request: Probe) -> Result<Status, Failure> {
    let request = match request.probe {
        ProbeKind::Latency(request) if request.backend == ProbeBackend::Kvm => {
            return guest::latency::run(&request);
        }
        ProbeKind::Latency(request) => request,
        ProbeKind::Ethercat(request) => return ethercat::run(&request),
        ProbeKind::Exec(request) => return exec::run(&request),
        ProbeKind::Memory(request) => return memory::run(&request),
        ProbeKind::Osek(request) => return osek::run(&request),
        ProbeKind::Irq(request) => return irq::run(&request),
    };
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let run = run_of(&request, facts.machine().online)?;
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let records = measured(&run, &facts, &stop)?;
    let seen = injection_seen(&run, &records);
    let identity = Identity {
        name: "probe latency",
        site_sha256: "",
        classes: &catalogue(),
        exceedance: EXCEEDANCE,
        declared: BTreeMap::new(),
        profiles: of_pinning(),
        limits: Vec::new(),
    };
    let evidence = keep(writer.as_ref(), &facts, records, &identity)?;
    print_latency(&request, &evidence)?;
    Ok(if seen { Status::Done } else { Status::NotPassed })
}

/// Prints what was asked for: the evidence, or a histogram as cyclictest has it.
fn print_latency(request: &Latency, evidence: &Evidence) -> Result<(), Failure> {
    let Some(buckets) = request.histogram else {
        return super::show::print_evidence(evidence, request.json);
    };
    let records = finish::as_slept(&evidence.records);
    super::print(&cyclictest_text(&records, Nanos::from_micros(buckets)))
}

/// Measures one run, with its progress shown.
fn measured(run: &Run, facts: &Facts, stop: &AtomicBool) -> Result<Vec<Record>, Failure> {
    let runs = std::slice::from_ref(run);
    super::plan::shared::remark_run(run);
    let mut bar = Bar::new(runs);
    let controls = &run.settings.controls;
    let measured =
        machine::with(facts, controls, runs, |machine| measure(run, machine, &mut bar, stop))?;
    Ok(measured?.records)
}

/// What was asked for as a run; all that is wrong with it becomes one failure.
fn run_of(request: &Latency, online: CpuSet) -> Result<Run, Failure> {
    let mut problems = Vec::new();
    if !(PERIOD_MIN..=PERIOD_MAX).contains(&request.period) {
        problems.push(format!(
            "--period {}: out of range; give {PERIOD_MIN} to {PERIOD_MAX}",
            request.period
        ));
    }
    let cycles = request.cycles.unwrap_or(request.duration.whole_times(request.period));
    if !(1..=CYCLES_MAX).contains(&cycles) {
        problems.push(format!("{cycles} cycles: out of range; give 1 to {CYCLES_MAX}"));
    }
    let warm_up_cycles = request.warm_up.whole_times(request.period);
    let releases = cycles.saturating_add(warm_up_cycles);
    if request.period.get().checked_mul(releases).is_none_or(|whole| whole > RUN_MAX.get()) {
        problems.push(format!(
            "{releases} releases every {}, warm-up included: they take longer than {RUN_MAX}",
            request.period
        ));
    }
    options_that_clash(request, cycles, &mut problems);
    let cpus = cpus(request, online, &mut problems);
    let cpu_set: CpuSet = cpus.iter().flatten().filter_map(|cpu| CpuId::new(*cpu)).collect();
    let loads = request
        .load
        .iter()
        .filter_map(|text| load(text).map_err(|problem| problems.push(problem)).ok())
        .collect();
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    Ok(Run {
        profile: if request.unpinned { "unpinned" } else { "pinned" }.to_owned(),
        reserved: !request.unpinned,
        settings: Wanted::default(),
        partitions: vec![PartitionRun {
            name: "probe".to_owned(),
            work: Work::Latency(LatencyJob {
                cpus,
                period: request.period,
                cycles,
                warm_up_cycles,
                policy: policy(request),
                wake: wake(request),
                injection: request.inject,
                memory: None,
                snare: None,
            }),
            container: (request.backend == ProbeBackend::Container).then(|| ContainerWish {
                cpus: (!request.unpinned).then_some(cpu_set),
                real_time: request.policy != PolicyName::Other,
                ..ContainerWish::default()
            }),
            share: MemoryShare::default(),
        }],
        container_runtime: None,
        loads,
        explain: request.explain,
        site_sha256: String::new(),
    })
}

/// Options that are fine by themselves and not together.
fn options_that_clash(request: &Latency, cycles: u64, problems: &mut Vec<String>) {
    if let Some(limit) = request.explain {
        if !(EXPLAIN_MIN..=EXPLAIN_MAX).contains(&limit) {
            problems.push(format!("--explain {limit}: give {EXPLAIN_MIN} to {EXPLAIN_MAX}"));
        }
        if request.backend == ProbeBackend::Kvm {
            problems.push(
                "--explain: the probe of a guest tells of its worst cycles which exits explain \
                 them; leave it out, or explain a program in a guest with `probe exec`"
                    .to_owned(),
            );
        }
    }
    if request.margin.is_some() && request.mode != Mode::EarlyWake {
        problems.push("--margin: only mode early-wake has one; add --mode early-wake".to_owned());
    }
    if request.mode == Mode::Spin && request.backend != ProbeBackend::Kvm {
        problems.push(
            "--mode spin: a thread that never sleeps is stopped by the operating system for a \
             part of each second; use --mode early-wake, or --backend kvm"
                .to_owned(),
        );
    }
    if request.policy == PolicyName::Deadline && !request.unpinned {
        problems.push(
            "--policy deadline: the kernel lets no such thread be pinned; add --unpinned"
                .to_owned(),
        );
    }
    if let Some(margin) = request.margin.filter(|margin| *margin >= request.period) {
        problems.push(format!(
            "--margin {margin}: not below the period of {}; give less",
            request.period
        ));
    }
    if let Some(injection) = request.inject
        && (injection.release >= cycles || injection.delay > Nanos::from_secs(10))
    {
        problems.push(format!(
            "--inject {}@{}: out of range; give at most 10 s, at a release from 0 to {}",
            injection.delay,
            injection.release,
            cycles.saturating_sub(1)
        ));
    }
}

/// A task for each CPU asked for, or one that may run anywhere.
fn cpus(request: &Latency, online: CpuSet, problems: &mut Vec<String>) -> Vec<Option<u32>> {
    if request.unpinned {
        return vec![None];
    }
    let wanted = request.cpus.unwrap_or_else(|| online.iter().last().into_iter().collect());
    let absent = wanted.without(&online);
    if !absent.is_empty() {
        problems.push(format!("--cpus: CPU {absent} is not online; online are {online}"));
    }
    if wanted.is_empty() {
        problems.push(format!("--cpus: no CPU is named; online are {online}"));
    }
    wanted.iter().map(|cpu| Some(cpu.get())).collect()
}

fn policy(request: &Latency) -> Policy {
    match request.policy {
        PolicyName::Fifo => Policy::Fifo(request.priority),
        PolicyName::Deadline => Policy::Deadline {
            // Enough for the spinning and the recording.
            budget: request.period / 100 * u64::from(request.share.max(10)),
            period: request.period,
        },
        PolicyName::Other => Policy::Other,
    }
}

fn wake(request: &Latency) -> Wake {
    match (request.mode, request.margin) {
        (Mode::Sleep, _) => Wake::Sleep,
        (Mode::Spin, _) => Wake::Spin,
        (Mode::EarlyWake, Some(margin)) => Wake::Early(margin),
        (Mode::EarlyWake, None) => Wake::Adaptive { share_percent: request.share },
    }
}

/// Reads `sqrt:4`.
fn load(text: &str) -> Result<LoadRequest, String> {
    let (kind, workers) = text.split_once(':').unwrap_or((text, "1"));
    let kind: LoadKind = kind.parse().map_err(|error| format!("--load {text}: {error}"))?;
    let workers = workers
        .parse()
        .map_err(|_| format!("--load {text}: `{workers}` is no number of workers"))?;
    Ok(LoadRequest::new(kind, workers))
}

/// Starts loads beside a run that is measured in this process.
fn start_loads(loads: &[LoadRequest]) -> Result<Option<LoadSet>, Failure> {
    if loads.is_empty() {
        return Ok(None);
    }
    let mut set = LoadSet::start(&files::runtime()?, loads)?;
    set.wait_until_running(LOAD_START_MAX)?;
    Ok(Some(set))
}

/// Whether an injected delay was seen in every record; true where none was injected.
fn injection_seen(run: &Run, records: &[Record]) -> bool {
    let injected = run.partitions.iter().find_map(|it| it.work.injected());
    injected.is_none_or(|injected| records.iter().all(|record| injected.is_seen(record)))
}

/// What a run by hand is called in its evidence, and what it is judged by.
pub(super) struct Identity<'a> {
    pub(super) name: &'a str,
    pub(super) site_sha256: &'a str,
    pub(super) classes: &'a [Class],
    pub(super) exceedance: f64,
    pub(super) declared: BTreeMap<String, String>,
    /// The profiles in their order, each with its description.
    pub(super) profiles: Vec<(String, String)>,
    /// What this machine doesn't give, and so was not measured.
    pub(super) limits: Vec<String>,
}

/// The profiles of a run that differ in whether the tasks may move.
fn of_pinning() -> Vec<(String, String)> {
    ["pinned", "unpinned"].map(|name| (name.to_owned(), String::new())).into()
}

/// Keeps the records in a folder, where one was asked for.
pub(super) fn keep(
    writer: Option<&Writer>,
    facts: &Facts,
    records: Vec<Record>,
    identity: &Identity<'_>,
) -> Result<Evidence, Failure> {
    let manifest = manifest(&records, identity);
    let Some(writer) = writer else { return Ok(Evidence::of(manifest, records)) };
    writer.doctor(&Report::new(facts.clone(), None))?;
    writer.manifest(&manifest)?;
    for record in &records {
        writer.record(record)?;
    }
    let evidence = finish::finish(writer)?;
    crate::terminal::say(format_args!("report: {}", writer.root().join(finish::REPORT).display()));
    Ok(evidence)
}

fn manifest(records: &[Record], identity: &Identity<'_>) -> Manifest {
    let started_at = records.first().map(|record| record.conditions.started_at.clone());
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        name: identity.name.to_owned(),
        origin: Origin::Probe,
        started_at: started_at.unwrap_or_default(),
        quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
        site_sha256: identity.site_sha256.to_owned(),
        exceedance: identity.exceedance,
        classes: identity.classes.to_vec(),
        declared: identity.declared.clone(),
        profiles: identity.profiles.clone(),
        length: None,
        limits: identity.limits.clone(),
        site_folder: None,
        not_measured: Vec::new(),
        complete: records.iter().all(|record| !record.interrupted),
    }
}
