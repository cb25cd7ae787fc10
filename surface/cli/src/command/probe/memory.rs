//! `quietcore probe memory`
//!
//! | module | what |
//! |---|---|
//! | `wanted` | what was asked for, checked all at once |
//! | `neighbours` | those that rest and work in turns |
//! | `bench` | a block of the partition, with neighbours or without |
//! | `curves`, `pressure`, `routines` | the three parts, from the first block to the last |
//! | `records` | what they yielded, as records |

mod bench;
mod curves;
mod neighbours;
mod pressure;
mod records;
mod routines;
mod wanted;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use quietcore_backend::memory::Victim;
use quietcore_evidence::Writer;
use quietcore_host::Facts;
use quietcore_probe::memory::MemoryJob;
use quietcore_probe::thread::Standing;
use quietcore_record::record::Record;
use quietcore_record::slowdown;

use super::super::plan::shared;
use super::{EXCEEDANCE, Identity, keep};
use crate::arguments::{Memory, MemoryPart};
use crate::status::{Failure, Status};
use crate::{files, machine};
use bench::{Bench, Progress};
use neighbours::Neighbours;
use records::{Maker, PARTITION, profiles};
use wanted::Wanted;

pub(super) fn run(request: &Memory) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let wanted = Wanted::of(request, &facts)?;
    shared::remark_cpus(PARTITION, wanted.place.cpu);
    // Neighbours that can't be had are refused before anything is made.
    let neighbours = Neighbours::start(wanted.neighbours.clone())?;
    let writer = request.out.as_deref().map(Writer::create).transpose()?;
    let records = measured(&wanted, neighbours, &facts, &stop)?;
    if records.iter().all(|record| record.release.count() == 0) {
        return Err(Failure::new("quietcore: stopped before anything was measured"));
    }
    let identity = Identity {
        name: "probe memory",
        site_sha256: "",
        // An access to memory is no release: no class says anything about it.
        classes: &[],
        exceedance: EXCEEDANCE,
        declared: BTreeMap::new(),
        profiles: profiles(&wanted, &records),
        limits: wanted.limits(),
    };
    let evidence = keep(writer.as_ref(), &facts, records, &identity)?;
    super::super::show::print_evidence(&evidence, request.json)?;
    Ok(Status::Done)
}

/// All parts that were asked for, as records.
fn measured(
    wanted: &Wanted,
    mut neighbours: Neighbours,
    facts: &Facts,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<Record>, Failure> {
    let awake = machine::hold_awake();
    let progress = Progress::new(stop);
    let mut records = Vec::new();
    let make = |begin: Instant, started_at: String| Maker {
        wanted,
        facts,
        started_at,
        duration: begin.elapsed(),
        dma_latency_held: awake.is_some(),
        stopped: progress.is_stopped(),
    };
    if wanted.has(MemoryPart::Curves) || wanted.has(MemoryPart::Pressure) {
        let mut bench = Bench::new(victim(wanted)?, &mut neighbours);
        if wanted.has(MemoryPart::Curves) {
            let (begin, started_at) = (Instant::now(), machine::time_of_day());
            let curves = curves::measure(wanted, &mut bench, &progress)?;
            records.extend(make(begin, started_at).curves(curves, bench.ended()));
        }
        if wanted.has(MemoryPart::Pressure) && !progress.is_stopped() {
            let (begin, started_at) = (Instant::now(), machine::time_of_day());
            let bytes = wanted.working_set.unwrap_or_else(|| most_slowed(wanted, &records));
            let run = pressure::measure(wanted, bytes, &mut bench, &progress)?;
            records.push(make(begin, started_at).pressure(run, bench.ended()));
        }
    }
    if wanted.has(MemoryPart::Routines) && !progress.is_stopped() {
        let (begin, started_at) = (Instant::now(), machine::time_of_day());
        let blocks = routines::measure(wanted, &mut neighbours, &progress)?;
        records.extend(make(begin, started_at).routines(blocks));
    }
    neighbours.stop()?;
    Ok(records)
}

/// The partition, ready.
fn victim(wanted: &Wanted) -> Result<Victim, Failure> {
    let job = MemoryJob {
        // Filled in by who starts it.
        commands: 0,
        answers: 0,
        cpu: wanted.place.cpu.map(quietcore_units::CpuId::get),
        policy: wanted.place.policy,
        field_bytes: wanted.field_bytes(),
        stride_bytes: wanted.sets.stride_bytes,
        pages: wanted.pages,
        block: wanted.block,
        warm_up_max: wanted.warm_up,
    };
    Ok(Victim::start(&files::runtime()?, &job)?)
}

/// The working set that neighbours slow down most, of those read at random where there are some;
/// half of the last-level cache where no curve was measured.
fn most_slowed(wanted: &Wanted, records: &[Record]) -> u64 {
    let found = slowdown::memory(records);
    let plain = found.iter().filter(|it| it.ways.is_none() && it.pattern == wanted.chased());
    let worst = plain.filter_map(|it| it.worst()).next();
    worst.map_or(wanted.half_of_cache(), |point| point.working_set_bytes)
}

/// What held for a thread that was measured from outside.
struct Ended {
    standing: Standing,
    pages: String,
}
