//! `quietcore probe exec`

use std::collections::BTreeMap;

use quietcore_campaign::{PartitionRun, ProgramRun, Run, Work, container_of};
use quietcore_evidence::Writer;
use quietcore_host::controls::{MemoryShare, Wanted};
use quietcore_record::{compare, published};
use quietcore_report::comparison;
use quietcore_site::{Length, Site};
use quietcore_units::Nanos;

use super::{CYCLES_MAX, Identity, RUN_MAX, keep, load, measured, of_pinning};
use crate::arguments::Exec;
use crate::files::{self, SiteFile};
use crate::programs;
use crate::status::{Failure, Status};
use crate::{finish, machine, terminal};

/// What its records are called.
const PROBE: &str = "exec";

pub(super) fn run(request: &Exec) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let SiteFile { site, sha256, .. } = files::read_site(&request.site)?;
    let length = length(request, &site)?;
    let table = request.with.as_deref().map(published::find).transpose()?;
    table.map_or(Ok(()), |table| compare::stands_beside(PROBE, table))?;
    let facts = machine::read_facts(&stop)?;
    super::super::plan::make_run(&site, &facts)?;
    let built = programs::build(&site, programs::folder_of(&request.site))?;
    let mut partitions = Vec::new();
    for partition in site.partitions() {
        let chosen = request.partition.as_ref().is_none_or(|name| *name == partition.name);
        let Some(assembly) = built.programs.get(&partition.name).filter(|_| chosen) else {
            continue;
        };
        let pinned = !request.unpinned;
        let run = ProgramRun::new(partition, assembly, pinned, length, request.warm_up);
        let work = Work::Program(Box::new(run));
        let container = container_of(partition, &built.programs, pinned);
        let (name, share) = (partition.name.clone(), MemoryShare::of(&partition.vcr));
        partitions.push(PartitionRun { name, work, container, share });
    }
    let loads: Result<Vec<_>, _> = request.load.iter().map(|text| load(text)).collect();
    let run = Run {
        profile: if request.unpinned { "unpinned" } else { "pinned" }.to_owned(),
        reserved: !request.unpinned,
        settings: if request.unpinned { Wanted::default() } else { Wanted::of(&site) },
        partitions,
        loads: loads.map_err(Failure::new)?,
        container_runtime: site.container_runtime(),
        explain: request.explain,
        site_sha256: sha256,
    };
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let records = measured(&run, &facts, &stop)?;
    let failed = records
        .iter()
        .any(|record| record.scan.as_ref().is_some_and(|scan| !scan.faults.is_empty()));
    let identity = Identity {
        name: "probe exec",
        site_sha256: &run.site_sha256,
        classes: site.classes(),
        exceedance: site.campaign().exceedance,
        declared: declared(&site, &run),
        profiles: of_pinning(),
        limits: Vec::new(),
    };
    let evidence = keep(writer.as_ref(), &facts, records, &identity)?;
    super::super::show::print_evidence(&evidence, request.json)?;
    if let Some(table) = table {
        let beside = finish::beside(&evidence.records, table)?;
        super::super::print(&comparison::beside(&beside, terminal::width()))?;
    }
    Ok(if failed { Status::NotPassed } else { Status::Done })
}

/// How long to measure; all that is wrong with the request becomes one failure.
fn length(request: &Exec, site: &Site) -> Result<Length, Failure> {
    let mut problems = Vec::new();
    let with_program = |name: Option<&String>| {
        let chosen = |partition: &&quietcore_site::Partition| {
            name.is_none_or(|name| *name == partition.name) && partition.program.model.is_some()
        };
        site.partitions().iter().filter(chosen).map(|it| it.name.as_str()).collect::<Vec<_>>()
    };
    if with_program(request.partition.as_ref()).is_empty() {
        let all = with_program(None);
        problems.push(match (&request.partition, all.is_empty()) {
            (_, true) => "no partition of the site has a `model`; `probe latency` measures a CPU \
                          without one"
                .to_owned(),
            (name, false) => format!(
                "--partition {}: no partition with a program; there are {}",
                name.as_deref().unwrap_or_default(),
                all.join(", ")
            ),
        });
    }
    let cycles = request.cycles.unwrap_or(1);
    if !(1..=CYCLES_MAX).contains(&cycles) {
        problems.push(format!("--cycles {cycles}: out of range; give 1 to {CYCLES_MAX}"));
    }
    let longest = site.partitions().iter().map(|partition| partition.program.period).max();
    let longest = longest.unwrap_or_default();
    let length = request.cycles.map_or(Length::Duration(request.duration), Length::Cycles);
    let whole = length.duration(longest).get().saturating_add(request.warm_up.get());
    if whole > RUN_MAX.get() {
        problems.push(format!("it would take {}; give at most {RUN_MAX}", Nanos::new(whole)));
    }
    if length.duration(longest) < longest {
        problems.push(format!(
            "--duration {}: shorter than a cycle of {longest}; give more",
            request.duration
        ));
    }
    if problems.is_empty() { Ok(length) } else { Err(Failure::new(problems.join("\n"))) }
}

/// The class that each partition is judged against.
fn declared(site: &Site, run: &Run) -> BTreeMap<String, String> {
    let measured = |name: &str| run.partitions.iter().any(|partition| partition.name == name);
    let partitions = site.partitions().iter().filter(|partition| measured(&partition.name));
    partitions.map(|partition| (partition.name.clone(), partition.class.name.clone())).collect()
}
