//! The routines of the OSEK kernel, in blocks beside neighbours and without.

use quietcore_load::{Achieved, Pace};
use quietcore_probe::memory::plan::turns;
use quietcore_probe::osek::{ClockUsed, Measured, PUBLISHED_LOOPS, Plan, Series, Variant};
use quietcore_record::reason::RunProblem;

use super::bench::Steps;
use super::neighbours::Neighbours;
use super::plan::MemoryPlan;
use crate::probe::ProbeError;
use crate::probe::osek::blocks as osek_block;

/// The blocks of the routines that were measured.
pub(super) struct Blocks {
    pub(super) plan: Plan,
    pub(super) clock: ClockUsed,
    /// The blocks without neighbours, and those beside them, equally many of each.
    pub(super) blocks: [Vec<Measured>; 2],
    pub(super) achieved: Vec<Achieved>,
    pub(super) wrong: Option<RunProblem>,
}

/// Measures all rounds, or until it is told to stop.
pub(super) fn measure(
    memory: &MemoryPlan,
    neighbours: &mut Neighbours,
    steps: &mut Steps<'_>,
) -> Result<Blocks, ProbeError> {
    let plan = Plan {
        series: Series::all(memory.loops),
        warm_up: PUBLISHED_LOOPS,
        variant: Variant::default(),
    };
    let clock = ClockUsed::choose();
    let mut blocks = [Vec::new(), Vec::new()];
    steps.begin("routines", u64::from(memory.rounds));
    for round in 0..memory.rounds {
        if !steps.step(&format!("round {}", round + 1)) {
            break;
        }
        let mut pair = [None, None];
        for beside in turns(round, 0) {
            neighbours.turn(if beside { Pace::Full } else { Pace::Rest })?;
            neighbours.begin();
            let measured = osek_block(&plan, memory.thread, clock, steps.stop_flag(), |_| {})?;
            neighbours.end();
            if !measured.stopped {
                pair[usize::from(beside)] = Some(measured);
            }
        }
        if let [Some(alone), Some(beside)] = pair {
            blocks[0].push(alone);
            blocks[1].push(beside);
        }
    }
    neighbours.turn(Pace::Rest)?;
    let (achieved, wrong) = neighbours.take_achieved();
    Ok(Blocks { plan, clock, blocks, achieved, wrong })
}
