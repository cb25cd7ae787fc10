//! The pressure: one working set beside neighbours at many rates.

use quietcore_load::Pace;
use quietcore_probe::memory::AccessPattern;
use quietcore_probe::memory::plan::turns;
use quietcore_record::record::{MemoryBlock, PressurePair, PressureStep};
use quietcore_units::ByteSize;

use super::bench::{Bench, Steps};
use super::neighbours::Neighbours;
use super::plan::MemoryPlan;
use crate::probe::ProbeError;

/// The pressure that was measured: one working set, step by step.
pub(super) struct Run {
    pub(super) pattern: AccessPattern,
    pub(super) working_set_bytes: u64,
    pub(super) steps: Vec<PressureStep>,
}

/// Measures all rounds, or until it is told to stop. Rates go up in one round and down in the next.
pub(super) fn measure(
    plan: &MemoryPlan,
    working_set_bytes: u64,
    bench: &mut Bench<'_>,
    progress: &mut Steps<'_>,
) -> Result<Run, ProbeError> {
    let pattern = plan.chased();
    let full = bench.full_pace()?;
    let mut steps: Vec<PressureStep> = (1..=plan.steps)
        .map(|step| PressureStep { asked_permille: step * 1_000 / plan.steps, pairs: Vec::new() })
        .collect();
    progress.begin("pressure", u64::from(plan.rounds) * steps.len() as u64);
    'rounds: for round in 0..plan.rounds {
        bench.cycle(round)?;
        bench.working_set(working_set_bytes)?;
        for index in 0..steps.len() {
            let place = if round % 2 == 0 { index } else { steps.len() - 1 - index };
            let step = &mut steps[place];
            let set = ByteSize::new(working_set_bytes);
            let what = format!("round {}, {set}, {} ‰", round + 1, step.asked_permille);
            if !progress.step(&what) {
                break 'rounds;
            }
            let mut blocks: [Option<MemoryBlock>; 2] = [None; 2];
            for beside in turns(round, index) {
                let pace = match beside {
                    true => Neighbours::part_of(full, step.asked_permille),
                    false => Pace::Rest,
                };
                blocks[usize::from(beside)] = Some(bench.block(pattern, round, pace)?);
            }
            if let [Some(alone), Some(beside)] = blocks {
                step.pairs.push(PressurePair { alone, beside });
            }
        }
    }
    bench.rest()?;
    steps.retain(|step| !step.pairs.is_empty());
    Ok(Run { pattern, working_set_bytes, steps })
}
