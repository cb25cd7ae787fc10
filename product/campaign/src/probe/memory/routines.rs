//! The routines of the OSEK kernel, in blocks beside neighbours and without.

use quietcore_backend::measuring::MeasuringProcess;
use quietcore_load::{Achieved, Pace};
use quietcore_probe::memory::plan::turns;
use quietcore_probe::osek::{
    ClockUsed, Measured, PUBLISHED_LOOPS, Plan, RoutinesPlan, Series, Variant,
};
use quietcore_record::reason::RunProblem;
use quietcore_record::record::ReservationInForce;

use super::bench::Steps;
use super::neighbours::Neighbours;
use super::plan::MemoryPlan;
use crate::measure::reservation_in_force;
use crate::probe::{ProbeContext, ProbeError};

/// The blocks of the routines that were measured.
pub(super) struct Blocks {
    pub(super) plan: RoutinesPlan,
    /// The blocks without neighbours, and those beside them, equally many of each.
    pub(super) blocks: [Vec<Measured>; 2],
    pub(super) achieved: Vec<Achieved>,
    /// The reservation of the processes that measured.
    pub(super) reservation: Option<ReservationInForce>,
    pub(super) wrong: Option<RunProblem>,
}

/// Measures all rounds, or until it is told to stop.
pub(super) fn measure(
    memory: &MemoryPlan,
    neighbours: &mut Neighbours,
    context: &mut ProbeContext<'_>,
) -> Result<Blocks, ProbeError> {
    let plan = RoutinesPlan {
        plan: Plan {
            series: Series::all(memory.loops),
            warm_up: PUBLISHED_LOOPS,
            variant: Variant::default(),
        },
        thread: memory.thread,
        clock: ClockUsed::choose(),
    };
    let mut steps = Steps::new(context.observer, context.stop);
    let (mut blocks, mut reserved) = ([Vec::new(), Vec::new()], None);
    steps.begin("routines", u64::from(memory.rounds));
    for round in 0..memory.rounds {
        if !steps.step(&format!("round {}", round + 1)) {
            break;
        }
        let mut pair = [None, None];
        for beside in turns(round, 0) {
            let pace = if beside { Pace::Full } else { Pace::Rest };
            neighbours.turn(pace, context.machine.world.clock())?;
            neighbours.begin()?;
            let process = MeasuringProcess::start(context.machine.runtime, &plan, &context.room)?;
            reserved = reserved.or_else(|| reservation_in_force(process.partition()));
            let measured = process.finish(context.stop, |_| {})?.outcome;
            neighbours.end()?;
            if !measured.stopped {
                pair[usize::from(beside)] = Some(measured);
            }
        }
        if let [Some(alone), Some(beside)] = pair {
            blocks[0].push(alone);
            blocks[1].push(beside);
        }
    }
    neighbours.rest()?;
    let (achieved, wrong) = neighbours.take_achieved();
    Ok(Blocks { plan, blocks, achieved, reservation: reserved, wrong })
}
