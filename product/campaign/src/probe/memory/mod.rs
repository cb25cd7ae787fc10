//! The probe `memory`: accesses to memory, alone and beside neighbours.
//!
//! | module | what |
//! |---|---|
//! | `plan` | the plan: working sets, rounds, neighbours, ways of the cache |
//! | `neighbours` | loads that rest and work in turns |
//! | `bench` | a block of the partition, with neighbours or without |
//! | `curves`, `pressure`, `routines` | the three parts, from the first block to the last |
//! | `records` | their results, as records |

mod bench;
mod curves;
mod neighbours;
mod plan;
mod pressure;
mod records;
mod routines;

use std::time::Duration;

use quietcore_backend::memory::Victim;
use quietcore_probe::memory::MemoryJob;
use quietcore_process::thread::Standing;
use quietcore_record::record::Record;
use quietcore_record::slowdown;
use quietcore_units::{CpuId, CpuSet, Nanos};

use super::{Probe, ProbeContext, ProbeError, Probed, some_measured};
use crate::measure::others::Others;
use crate::measure::reservation_in_force;
use crate::run::Run;
use bench::{Bench, Steps};
use neighbours::Neighbours;
use records::Maker;

pub use plan::{MemoryPart, MemoryPlan, Ways, caches_of, memory_available};

/// The probe `memory`: accesses to memory, with neighbours that rest and work in turns.
pub struct Memory {
    plan: MemoryPlan,
    /// Started by [`Probe::prepare`]; `None` before.
    neighbours: Option<Neighbours>,
}

impl Memory {
    /// Makes the probe of a plan, without starting anything.
    pub fn new(plan: MemoryPlan) -> Self {
        Self { plan, neighbours: None }
    }
}

impl Memory {
    /// Makes the probe of a site's partition in its campaign.
    pub(super) fn of_partition(probed: &Probed<'_>) -> Self {
        Self::new(MemoryPlan::of_partition(probed))
    }
}

impl Probe for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        vec![(&self.plan.partition, self.plan.thread.cpu().into_iter().collect())]
    }

    fn beside(&self) -> Option<Run> {
        self.plan.beside()
    }

    fn profiles(&self, records: &[Record]) -> Vec<(String, String)> {
        records::profiles(&self.plan, records)
    }

    fn limits(&self) -> Vec<String> {
        self.plan.limits()
    }

    /// Starts the neighbours, so that they are refused before anything of the evidence is written.
    fn prepare(&mut self, context: &mut ProbeContext<'_>) -> Result<(), ProbeError> {
        self.neighbours = Some(Neighbours::start(&self.plan, context)?);
        Ok(())
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        if self.neighbours.is_none() {
            self.prepare(context)?;
        }
        let Some(mut neighbours) = self.neighbours.take() else { return Err(ProbeError::Stopped) };
        let records = self.parts(&mut neighbours, context)?;
        neighbours.stop(context.machine.world.clock())?;
        some_measured(records, context)
    }
}

impl Memory {
    /// Measures all parts that were asked for; returns their records.
    fn parts(
        &self,
        neighbours: &mut Neighbours,
        context: &mut ProbeContext<'_>,
    ) -> Result<Vec<Record>, ProbeError> {
        let (plan, machine, stop) = (&self.plan, context.machine, context.stop);
        let mut records = Vec::new();
        let clock = machine.world.clock();
        let mut others = Others::default();
        let mut make =
            |begin: Nanos, started_at: String, reservation, own: &[u32], stopped: bool| {
                others.look_now(machine.world, own);
                Maker {
                    plan,
                    machine,
                    started_at,
                    duration: Duration::from_nanos(clock.now().saturating_sub(begin).get()),
                    reservation,
                    others: others.clone(),
                    stopped,
                }
            };
        let now = || (clock.now(), (machine.time_of_day)());
        if plan.has(MemoryPart::Curves) || plan.has(MemoryPart::Pressure) {
            let victim = Victim::start(machine.runtime, &job(plan), &context.room)?;
            let reserved = reservation_in_force(victim.partition());
            let own = [victim.partition().process_id()];
            let mut steps = Steps::new(context.observer, stop);
            let mut bench = Bench::new(victim, neighbours, clock);
            if plan.has(MemoryPart::Curves) {
                let (begin, started_at) = now();
                let curves = curves::measure(plan, &mut bench, &mut steps)?;
                let maker = make(begin, started_at, reserved.clone(), &own, steps.is_stopped());
                records.extend(maker.curves(curves, bench.ended()));
            }
            if plan.has(MemoryPart::Pressure) && !steps.is_stopped() {
                let (begin, started_at) = now();
                let bytes = plan.working_set.unwrap_or_else(|| most_slowed(plan, &records));
                let run = pressure::measure(plan, bytes, &mut bench, &mut steps)?;
                let maker = make(begin, started_at, reserved, &own, steps.is_stopped());
                records.push(maker.pressure(run, bench.ended()));
            }
        }
        if plan.has(MemoryPart::Routines) && !context.is_stopped() {
            let (begin, started_at) = now();
            let mut blocks = routines::measure(plan, neighbours, context)?;
            let reserved = blocks.reservation.take();
            let maker = make(begin, started_at, reserved, &[], context.is_stopped());
            records.extend(maker.routines(blocks));
        }
        Ok(records)
    }
}

/// Makes the job of the partition's process.
fn job(plan: &MemoryPlan) -> MemoryJob {
    MemoryJob {
        // Filled in when the process is started.
        commands: 0,
        answers: 0,
        cpu: plan.thread.cpu().map(CpuId::get),
        policy: plan.thread.scheduling,
        field_bytes: plan.field_bytes(),
        stride_bytes: plan.sets.stride_bytes,
        pages: plan.pages,
        block: plan.block,
        warm_up_max: plan.warm_up,
    }
}

/// Returns the working set that neighbours slow down most, among those read at random where there
/// are some; half of the last-level cache where no curve was measured.
fn most_slowed(plan: &MemoryPlan, records: &[Record]) -> u64 {
    let found = slowdown::memory(records);
    let plain = found.iter().filter(|it| it.ways.is_none() && it.pattern == plan.chased());
    let worst = plain.filter_map(|it| it.worst()).next();
    worst.map_or(plan.half_of_cache(), |point| point.working_set_bytes)
}

/// The settings and the pages of a thread that was measured from outside.
struct Ended {
    standing: Standing,
    pages: String,
}
