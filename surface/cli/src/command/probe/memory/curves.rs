//! Curves: all working sets, in every round beside neighbours and without.
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

use super::bench::{Bench, Progress};
use super::wanted::{Wanted, Ways};
use crate::status::Failure;

/// One pattern under one condition.
pub(super) struct Curve {
    pub(super) pattern: AccessPattern,
    /// Whether the neighbours work.
    pub(super) beside: bool,
    /// Ways of the partition's own.
    pub(super) ways: Option<ReservedWays>,
    pub(super) points: Vec<MemoryPoint>,
}

/// Measures all rounds, or until it is told to stop.
pub(super) fn measure(
    wanted: &Wanted,
    bench: &mut Bench<'_>,
    progress: &Progress<'_>,
) -> Result<Vec<Curve>, Failure> {
    let counts: &[Option<u32>] = match wanted.ways {
        Ways::Count(count) => &[None, Some(count)],
        Ways::Unasked | Ways::Absent(_) => &[None],
    };
    let mut curves = Vec::new();
    for _ in counts {
        for beside in [false, true] {
            for pattern in &wanted.patterns {
                let points = wanted
                    .sizes
                    .iter()
                    .map(|size| MemoryPoint { working_set_bytes: *size, blocks: Vec::new() });
                let points = points.collect();
                curves.push(Curve { pattern: *pattern, beside, ways: None, points });
            }
        }
    }
    progress.begin("curves", u64::from(wanted.rounds) * wanted.sizes.len() as u64);
    'rounds: for round in 0..wanted.rounds {
        bench.cycle(round)?;
        for (place, size) in wanted.sizes.iter().enumerate() {
            if !progress.step(&format!("round {}, {}", round + 1, ByteSize::new(*size))) {
                break 'rounds;
            }
            bench.working_set(*size)?;
            for (index, ways) in counts.iter().enumerate() {
                let of_ways = &mut curves[index * 2 * wanted.patterns.len()..];
                point(wanted, bench, (round, place, *ways), of_ways)?;
            }
        }
    }
    curves.iter_mut().for_each(|curve| curve.points.retain(|point| !point.blocks.is_empty()));
    Ok(curves)
}

/// One working set in one round, with these ways of its own.
fn point(
    wanted: &Wanted,
    bench: &mut Bench<'_>,
    (round, place, ways): (u32, usize, Option<u32>),
    curves: &mut [Curve],
) -> Result<(), Failure> {
    let held = ways.map(Wanted::hold_ways).transpose()?;
    if let Some(held) = &held {
        held.add(bench.thread())?;
    }
    for beside in turns(round, place) {
        let pace = if beside { Pace::Full } else { Pace::Rest };
        for (index, pattern) in wanted.patterns.iter().enumerate() {
            let block: MemoryBlock = bench.block(*pattern, round, pace)?;
            let curve = &mut curves[usize::from(beside) * wanted.patterns.len() + index];
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
        let own = curves.iter_mut().take(2 * wanted.patterns.len());
        own.for_each(|curve| curve.ways = Some(reserved.clone()));
    }
    Ok(())
}
