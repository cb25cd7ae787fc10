//! The routines of the OSEK kernel, in blocks beside neighbours and without.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use quietcore_load::{Achieved, Pace};
use quietcore_probe::memory::plan::turns;
use quietcore_probe::osek::{self, ClockUsed, Measured, PUBLISHED_LOOPS, Plan, Series, Variant};
use quietcore_record::reason::RunProblem;

use super::bench::Progress;
use super::neighbours::Neighbours;
use super::wanted::Wanted;
use crate::status::Failure;

/// Time between two looks at whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What was measured.
pub(super) struct Blocks {
    pub(super) plan: Plan,
    pub(super) clock: ClockUsed,
    /// The blocks without neighbours, and those beside them; as many of the one as of the other.
    pub(super) blocks: [Vec<Measured>; 2],
    pub(super) achieved: Vec<Achieved>,
    pub(super) wrong: Option<RunProblem>,
}

/// Measures all rounds, or until it is told to stop.
pub(super) fn measure(
    wanted: &Wanted,
    neighbours: &mut Neighbours,
    progress: &Progress<'_>,
) -> Result<Blocks, Failure> {
    let plan = Plan {
        series: Series::all(wanted.loops),
        warm_up: PUBLISHED_LOOPS,
        variant: Variant::default(),
    };
    let clock = ClockUsed::choose();
    let mut blocks = [Vec::new(), Vec::new()];
    progress.begin("routines", u64::from(wanted.rounds));
    for round in 0..wanted.rounds {
        if !progress.step(&format!("round {}", round + 1)) {
            break;
        }
        let mut pair = [None, None];
        for beside in turns(round, 0) {
            neighbours.turn(if beside { Pace::Full } else { Pace::Rest })?;
            neighbours.begin();
            let measured = block(&plan, wanted, clock, progress)?;
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

fn block(
    plan: &Plan,
    wanted: &Wanted,
    clock: ClockUsed,
    progress: &Progress<'_>,
) -> Result<Measured, Failure> {
    let shared = Arc::new(osek::Progress::default());
    let measured = thread::scope(|scope| {
        let run = scope.spawn(|| osek::measure(plan, wanted.place, clock, &shared));
        while !run.is_finished() {
            thread::sleep(LOOK_EVERY);
            shared.stop.store(progress.stop_flag().load(Relaxed), Relaxed);
        }
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    Ok(measured?)
}
