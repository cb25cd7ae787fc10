//! Curves: all working sets, in every round beside neighbours and without them.
//!
//! ```text
//! round 0   1 KiB: rest  s r │ work  s r    1.2 KiB: work  s r │ rest  s r    …
//! round 1   1 KiB: work  s r │ rest  s r    …      s sequential, r random
//! ```

use quietcore_load::Pace;
use quietcore_probe::memory::AccessPattern;
use quietcore_probe::memory::plan::turns;
use quietcore_record::record::{MemoryBlock, MemoryPoint, ReservedWays};
use quietcore_units::ByteSize;

use super::bench::{Bench, Steps};
use super::plan::{MemoryPlan, Ways};
use crate::probe::ProbeError;

/// The curve of one pattern under one condition.
pub(super) struct Curve {
    pub(super) pattern: AccessPattern,
    /// `true` if the neighbours work.
    pub(super) beside: bool,
    /// Ways of the cache for the partition alone; `None` where it shares all of them.
    pub(super) ways: Option<ReservedWays>,
    pub(super) points: Vec<MemoryPoint>,
}

/// Measures all rounds, or until it is told to stop.
pub(super) fn measure(
    plan: &MemoryPlan,
    bench: &mut Bench<'_>,
    steps: &mut Steps<'_>,
) -> Result<Vec<Curve>, ProbeError> {
    let counts: &[Option<u32>] = match plan.ways {
        Ways::Count(count) => &[None, Some(count)],
        Ways::Unasked | Ways::Absent(_) => &[None],
    };
    let mut curves = Vec::new();
    for _ in counts {
        for beside in [false, true] {
            for pattern in &plan.patterns {
                let points = plan
                    .sizes
                    .iter()
                    .map(|size| MemoryPoint { working_set_bytes: *size, blocks: Vec::new() });
                let points = points.collect();
                curves.push(Curve { pattern: *pattern, beside, ways: None, points });
            }
        }
    }
    steps.begin("curves", u64::from(plan.rounds) * plan.sizes.len() as u64);
    'rounds: for round in 0..plan.rounds {
        bench.cycle(round)?;
        for (place, size) in plan.sizes.iter().enumerate() {
            if !steps.step(&format!("round {}, {}", round + 1, ByteSize::new(*size))) {
                break 'rounds;
            }
            bench.working_set(*size)?;
            for (index, ways) in counts.iter().enumerate() {
                let of_ways = &mut curves[index * 2 * plan.patterns.len()..];
                point(plan, bench, (round, place, *ways), of_ways)?;
            }
        }
    }
    curves.iter_mut().for_each(|curve| curve.points.retain(|point| !point.blocks.is_empty()));
    Ok(curves)
}

/// Measures one working set in one round, with `ways` for the partition alone.
fn point(
    plan: &MemoryPlan,
    bench: &mut Bench<'_>,
    (round, place, ways): (u32, usize, Option<u32>),
    curves: &mut [Curve],
) -> Result<(), ProbeError> {
    let held = ways.map(MemoryPlan::hold_ways).transpose()?;
    if let Some(held) = &held {
        held.add(bench.thread())?;
    }
    for beside in turns(round, place) {
        let pace = if beside { Pace::Full } else { Pace::Rest };
        for (index, pattern) in plan.patterns.iter().enumerate() {
            let block: MemoryBlock = bench.block(*pattern, round, pace)?;
            let curve = &mut curves[usize::from(beside) * plan.patterns.len() + index];
            curve.points[place].blocks.push(block);
        }
    }
    if let (Some(held), Some(count)) = (&held, ways) {
        held.check()?;
        let reserved = ReservedWays {
            count,
            mask: format!("{:x}", held.mask()),
            contention: held.contention(),
        };
        let own = curves.iter_mut().take(2 * plan.patterns.len());
        own.for_each(|curve| curve.ways = Some(reserved.clone()));
    }
    Ok(())
}
