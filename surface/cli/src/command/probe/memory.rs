//! `quietcore probe memory`

use quietcore_backend::neighbour::NeighbourKind;
use quietcore_campaign::probe::memory::{
    Memory as Probe, MemoryPart, MemoryPlan, Ways, caches_of, memory_available,
};
use quietcore_host::Facts;
use quietcore_load::LoadRequest;
use quietcore_probe::memory::plan::{Sets, SetsError, default_most};
use quietcore_site::{LoadKind, NeighbourForm};
use quietcore_units::{ByteSize, CpuSet, Nanos, Scheduling, ThreadRequest};

use super::super::neighbours::Wanted;
use super::by_hand;
use crate::arguments::Memory;
use crate::machine;
use crate::status::{Failure, Status};

/// The partition's name in the records: what realises it.
const PARTITION: &str = "process";
/// The longest block: it is measured in one piece, between two rests of a real-time thread.
const BLOCK_MAX: Nanos = Nanos::from_millis(20);
/// The shortest block: in a shorter one, the time to read the clock would matter.
const BLOCK_MIN: Nanos = Nanos::from_micros(200);
/// The longest pass through a working set.
const WARM_UP_MAX: Nanos = Nanos::from_secs(30);

pub(super) fn run(request: &Memory) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let mut probe = Probe::new(plan(request, &facts)?);
    let evidence = by_hand(&mut probe, &facts, &stop, request.out.as_deref())?;
    super::super::show::print_evidence(&evidence, request.json)?;
    Ok(Status::Done)
}

/// Returns the plan of the request; all problems of the request become one failure.
fn plan(request: &Memory, facts: &Facts) -> Result<MemoryPlan, Failure> {
    let mut problems = Vec::new();
    let machine = facts.machine();
    let cpu = match request.cpu {
        Some(asked) => super::cpu("--cpu", asked, &machine, &mut problems),
        None => machine.usable.iter().last(),
    };
    let own: CpuSet = cpu.into_iter().collect();
    let caches = cpu.map_or_else(Vec::new, |cpu| caches_of(cpu, facts));
    let available = memory_available(facts);
    let last = caches.last().map(|level| level.bytes);
    let most = request.to.map_or_else(|| default_most(last, available), ByteSize::get);
    let sets = Sets {
        least: request.from.get(),
        most,
        per_octave: request.per_octave,
        stride_bytes: request.stride,
    };
    let sizes = sets.sizes(available).unwrap_or_else(|wrong| {
        problems.extend(wrong.iter().map(SetsError::to_string));
        Vec::new()
    });
    times(request, &mut problems);
    let (neighbour_kind, neighbour_limits) = neighbour_kind(request, facts, &mut problems);
    let mut plan = MemoryPlan {
        partition: PARTITION.to_owned(),
        parts: once(&request.parts),
        patterns: once(&request.pattern),
        sizes,
        sets,
        pages: request.pages,
        rounds: request.rounds,
        block: request.block,
        warm_up: request.warm_up,
        thread: ThreadRequest::measuring(Scheduling::fifo(request.priority), cpu),
        neighbours: neighbours(request, own, machine.usable, &mut problems),
        neighbour_kind,
        neighbour_limits,
        ways: Ways::Unasked,
        working_set: None,
        steps: request.steps,
        loops: request.loops,
        caches,
    };
    plan.working_set = pressed(&plan, request, available, &mut problems);
    if problems.is_empty() && plan.has(MemoryPart::Curves) && !request.no_ways {
        plan.ways = Ways::tried(request.ways, facts);
        if let (Ways::Absent(because), Some(count)) = (&plan.ways, request.ways) {
            problems.push(format!("--ways {count}: {because}"));
        }
    }
    if let Some(duration) = request.duration {
        plan.rounds = plan.rounds_within(duration);
    }
    if problems.is_empty() { Ok(plan) } else { Err(Failure::new(problems.join("\n"))) }
}

/// Returns the working set of the pressure part in bytes, if one is requested and allowed.
fn pressed(
    plan: &MemoryPlan,
    request: &Memory,
    available: u64,
    problems: &mut Vec<String>,
) -> Option<u64> {
    let bytes = request.working_set?.get();
    let sets = Sets { least: bytes, most: bytes, per_octave: 1, ..plan.sets };
    match sets.sizes(available) {
        Ok(_) => Some(plan.whole(bytes)),
        Err(wrong) => {
            let of_its_size = |error: &SetsError| {
                matches!(error, SetsError::TooSmall { .. } | SetsError::TooLarge { .. })
            };
            let wrong = wrong.into_iter().filter(of_its_size);
            problems.extend(wrong.map(|error| format!("--working-set: {error}")));
            None
        }
    }
}

/// Removes repetitions and keeps the order of the first mentions.
fn once<T: Copy + PartialEq>(asked: &[T]) -> Vec<T> {
    let mut all = Vec::new();
    for one in asked {
        if !all.contains(one) {
            all.push(*one);
        }
    }
    all
}

fn times(request: &Memory, problems: &mut Vec<String>) {
    if !(BLOCK_MIN..=BLOCK_MAX).contains(&request.block) {
        problems.push(format!(
            "--block {}: out of range; give {BLOCK_MIN} to {BLOCK_MAX}",
            request.block
        ));
    }
    if request.warm_up > WARM_UP_MAX {
        problems.push(format!(
            "--warm-up {}: out of range; give {WARM_UP_MAX} at most",
            request.warm_up
        ));
    }
}

/// Returns the neighbours' load, on other CPUs than the partition's.
fn neighbours(
    request: &Memory,
    own: CpuSet,
    usable: CpuSet,
    problems: &mut Vec<String>,
) -> LoadRequest {
    let kind: LoadKind = request.neighbour_kind.parse().unwrap_or_else(|error| {
        problems.push(format!("--neighbour-kind: {error}"));
        LoadKind::MemoryBandwidth
    });
    if request.parts.contains(&MemoryPart::Pressure) && !kind.counts_bytes() {
        problems.push(format!(
            "--neighbour-kind {kind}: it counts no bytes, and the pressure is in bytes a second; \
             use memory-bandwidth, or leave pressure out of --parts"
        ));
    }
    let cpus = request.neighbour_cpus.unwrap_or_else(|| usable.without(&own));
    if cpus.is_empty() {
        problems.push(
            "neighbours work beside the partition, on other CPUs, and there is no other one"
                .to_owned(),
        );
    } else if !cpus.intersection(&own).is_empty() {
        problems.push(format!(
            "--neighbour-cpus {cpus}: CPU {own} is the partition's; on it they would take turns \
             with it instead of working beside it"
        ));
    }
    LoadRequest {
        size: has_size(kind).then_some(request.neighbour_size),
        cpus: Some(cpus),
        ..LoadRequest::new(kind, request.neighbours)
    }
}

/// Returns the kind of the neighbours with its limits; what this machine can't run is a problem.
fn neighbour_kind(
    request: &Memory,
    facts: &Facts,
    problems: &mut Vec<String>,
) -> (NeighbourKind, Vec<String>) {
    let form = request.neighbour_backend;
    let guests = &request.guests;
    let wanted = Wanted {
        forms: &[form],
        image: guests.neighbour_image.clone(),
        accelerator: guests.neighbour_accelerator.unwrap_or_default(),
        runtime: None,
    };
    let (mut kinds, limits) = wanted.found(facts);
    let (size, available) = (request.neighbour_size, ByteSize::new(memory_available(facts)));
    let each = NeighbourForm::guest_memory(size).get();
    let all = ByteSize::new(each.saturating_mul(u64::from(request.neighbours)));
    if form == NeighbourForm::LinuxGuest && all > available {
        let count = request.neighbours;
        problems.push(format!(
            "--neighbours {count}: as guests they take {all} of memory and {available} is \
             available; use fewer, or a smaller --neighbour-size"
        ));
    }
    if let Ok(kind) = request.neighbour_kind.parse()
        && let Some(lacking) = form.lacks(kind)
    {
        problems.push(format!("--neighbour-kind {kind}: not in a {form}: {lacking}"));
    }
    match kinds.pop() {
        Some(kind) => (kind, limits),
        None => {
            problems.extend(limits);
            (NeighbourKind::process(), Vec::new())
        }
    }
}

/// Returns `true` if workers of a kind have a size.
fn has_size(kind: LoadKind) -> bool {
    matches!(
        kind,
        LoadKind::Malloc
            | LoadKind::Cache
            | LoadKind::MemoryBandwidth
            | LoadKind::Disk
            | LoadKind::Network
    )
}
