//! `quietcore probe osek`

use quietcore_campaign::probe::osek::Osek as Probe;
use quietcore_probe::osek::Variant;
use quietcore_site::Machine;
use quietcore_units::{Scheduling, ThreadRequest};

use super::backend::{accelerator_of, is_in_guest};
use super::{by_hand, loads};
use crate::arguments::Osek;
use crate::machine;
use crate::status::{Failure, Status};

/// Names of the partitions in the records: the ports that the kernel runs on.
const HOSTED: &str = "hosted";
const GUEST: &str = "guest";

pub(super) fn run(request: &Osek) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let mut probe = wanted(request, &facts.machine())?;
    let evidence = by_hand(&mut probe, &facts, &stop, request.out.as_deref())?;
    super::super::show::print_evidence(&evidence, request.json)?;
    Ok(Status::Done)
}

/// Returns the requested probe; all problems of the request become one failure.
fn wanted(request: &Osek, machine: &Machine) -> Result<Probe, Failure> {
    let mut problems = Vec::new();
    let Osek { backend, accelerator, .. } = *request;
    let in_guest = is_in_guest(backend);
    if in_guest && request.other_tasks > 0 {
        problems.push("--other-tasks: a guest has the four tasks alone; leave it out".to_owned());
    }
    let accelerator = accelerator_of(backend, accelerator, machine, &mut problems);
    let mut loops: Vec<u64> = request.loops.clone();
    loops.sort_unstable();
    loops.dedup();
    if loops.len() < request.loops.len() {
        problems.push("--loops: a number stands there twice; each is a run of its own".to_owned());
    }
    let cpu = match request.cpu {
        Some(asked) => super::cpu("--cpu", asked, machine, &mut problems),
        None => machine.usable.iter().last(),
    };
    let cpu = cpu.filter(|_| !request.unpinned);
    let loads = loads(&request.load, &mut problems);
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    Ok(Probe {
        partition: if in_guest { GUEST } else { HOSTED }.to_owned(),
        loops: request.loops.clone(),
        duration: request.duration,
        variant: Variant {
            others: request.other_tasks,
            extended: request.extended,
            accounting: request.accounting,
        },
        thread: ThreadRequest::measuring(Scheduling::fifo(request.priority), cpu),
        loads,
        backend,
        accelerator,
    })
}
