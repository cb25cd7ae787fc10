//! `quietcore probe`

mod backend;
mod ethercat;
mod exec;
mod irq;
mod latency;
mod memory;
mod osek;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use quietcore_backend::process::Room;
use quietcore_backend::rooms::Rooms;
use quietcore_campaign::probe::{self, ProbeContext, ProbeTerms};
use quietcore_evidence::{Evidence, MANIFEST_SCHEMA, Manifest, Origin, Writer};
use quietcore_host::Facts;
use quietcore_host::doctor::Report;
use quietcore_load::LoadRequest;
use quietcore_record::class::Class;
use quietcore_record::record::Record;
use quietcore_settings::MemoryShare;
use quietcore_site::{LoadKind, Machine, Obstacle};
use quietcore_units::{CPU_LIMIT, CpuId, CpuSet, Nanos};

use crate::arguments::{Probe, ProbeKind};
use crate::machine;
use crate::progress::Bar;
use crate::status::{Failure, Status};
use crate::{files, finish};

/// The largest number of releases: 3 years at 1 ms.
const CYCLES_MAX: u64 = 100_000_000_000;
/// The longest run, warm-up included: about 3 years.
const RUN_MAX: Nanos = Nanos::from_secs(1_200 * 86_400);

pub(super) fn run(request: Probe) -> Result<Status, Failure> {
    match request.probe {
        ProbeKind::Latency(request) => latency::run(&request),
        ProbeKind::Ethercat(request) => ethercat::run(&request),
        ProbeKind::Exec(request) => exec::run(&request),
        ProbeKind::Memory(request) => memory::run(&request),
        ProbeKind::Osek(request) => osek::run(&request),
        ProbeKind::Irq(request) => irq::run(&request),
    }
}

/// Returns the problem of an option that names CPUs which a probe can't be pinned to.
fn unusable(option: &str, cpus: &CpuSet, machine: &Machine) -> Option<String> {
    let Obstacle { what, remedy } = machine.unusable(cpus)?;
    Some(format!("{option} {cpus}: {what}; {remedy}"))
}

/// Returns the CPU that an option asks for, and adds what stands in its way to `problems`.
fn cpu(option: &str, asked: u32, machine: &Machine, problems: &mut Vec<String>) -> Option<CpuId> {
    let cpu = CpuId::new(asked);
    match cpu {
        Some(cpu) => problems.extend(unusable(option, &CpuSet::from_iter([cpu]), machine)),
        None => problems.push(format!("{option} {asked}: CPUs are numbered below {CPU_LIMIT}")),
    }
    cpu
}

/// Parses a load such as `sqrt:4`.
fn load(text: &str) -> Result<LoadRequest, String> {
    let (kind, workers) = text.split_once(':').unwrap_or((text, "1"));
    let kind: LoadKind = kind.parse().map_err(|error| format!("--load {text}: {error}"))?;
    let workers = workers
        .parse()
        .map_err(|_| format!("--load {text}: `{workers}` is no number of workers"))?;
    Ok(LoadRequest::new(kind, workers))
}

/// Parses all loads and adds what is wrong with them to `problems`.
fn loads(texts: &[String], problems: &mut Vec<String>) -> Vec<LoadRequest> {
    let loads = texts.iter().map(|text| load(text).map_err(|problem| problems.push(problem)));
    loads.flatten().collect()
}

/// Measures with a probe, shows its progress, and keeps the records if a folder is given.
fn by_hand(
    probe: &mut dyn probe::Probe,
    facts: &Facts,
    stop: &AtomicBool,
    out: Option<&Path>,
) -> Result<Evidence, Failure> {
    out.map_or(Ok(()), |folder| files::refuse_dash("--out", folder))?;
    for (partition, cpus) in probe.pinned() {
        super::plan::shared::remark_cpus(partition, cpus.iter());
    }
    let runs = probe.runs().to_vec();
    let mut bar = Bar::new(&runs);
    let all: Vec<_> = runs.iter().cloned().chain(probe.beside()).collect();
    let (writer, records) = machine::with(facts, &[], &all, |machine| {
        let room = room_of(probe);
        let mut context = ProbeContext { machine, room, observer: &mut bar, stop };
        probe.prepare(&mut context)?;
        let writer = out.map(Writer::create).transpose()?;
        match probe.measure(&mut context) {
            Ok(records) => Ok::<_, Failure>((writer, records)),
            Err(error) => {
                writer.into_iter().for_each(Writer::give_up);
                Err(error.into())
            }
        }
    })??;
    drop(bar);
    let ProbeTerms { site_sha256, classes, exceedance, declared } = probe.terms();
    let identity = Identity {
        name: &probe.title(),
        site_sha256: &site_sha256,
        classes: &classes,
        exceedance,
        declared,
        profiles: probe.profiles(&records),
        limits: probe.limits(),
    };
    keep(writer.as_ref(), facts, records, &identity)
}

/// Returns the room of what a probe measures in, which is called as its partition is.
fn room_of(probe: &dyn probe::Probe) -> Room {
    let pinned = probe.pinned();
    let partition = pinned.first().map_or("", |(partition, _)| *partition);
    Rooms::default().of(partition, &probe.setting(), MemoryShare::default())
}

/// The name of a run by hand in its evidence, and the classes and limits that it is judged by.
pub(super) struct Identity<'a> {
    pub(super) name: &'a str,
    pub(super) site_sha256: &'a str,
    pub(super) classes: &'a [Class],
    pub(super) exceedance: f64,
    pub(super) declared: BTreeMap<String, String>,
    /// Name and description of each profile, in order.
    pub(super) profiles: Vec<(String, String)>,
    /// Limits of this machine because of which something was not measured.
    pub(super) limits: Vec<String>,
}

/// Keeps the records in the writer's folder, if there is one.
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
        probes: Vec::new(),
        complete: records.iter().all(|record| !record.interrupted),
        renewal: None,
    }
}
