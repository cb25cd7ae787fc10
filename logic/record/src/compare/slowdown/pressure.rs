//! The neighbours' bandwidth against the slowdown of a partition, and the bandwidth at which it
//! begins to hurt.
//!
//! Two points of such a curve are worth a name, and each has its rule:
//!
//! - **Onset**: the least bandwidth from which on all larger ones slow the partition down surely:
//!   the interval of the slowdown lies above [`ONSET`].
//! - **Knee**: where the curve bends most. Bandwidth and slowdown are drawn from 0 to 1 each; the
//!   knee is the point farthest from the straight line between the first point, no neighbours at
//!   all, and the last one. Below that line the slowdown grows faster beyond the knee; above it
//!   slower. There is none where the last point is not surely slowed down, and none where no point
//!   is farther from the line than [`BEND`], which a straight line with some noise is not either.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::record::{AccessPattern, MemoryMeasured, PressurePair, Record};

/// A slowdown that is worth being called one.
pub const ONSET: f64 = 1.05;
/// The least distance from the straight line that is a bend.
const BEND: f64 = 0.1;

/// The curve of one working set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Pressure {
    /// Name of the record.
    pub record: String,
    /// The order in which memory was read.
    pub pattern: AccessPattern,
    /// Size of the working set in bytes.
    pub working_set_bytes: u64,
    /// The points, by ascending bandwidth.
    pub points: Vec<PressurePoint>,
    /// The least bandwidth that surely hurts, in bytes a second; absent where none does.
    pub onset_bytes_per_second: Option<f64>,
    /// The point at which the curve bends most; absent where it doesn't.
    pub knee: Option<Knee>,
}

/// Neighbours at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PressurePoint {
    /// The rate that they were told, in thousandths of their full pace.
    pub asked_permille: u32,
    /// The bytes that they moved in a second: the median of the blocks.
    pub bytes_per_second: f64,
    /// Time of an access beside them / time of an access alone.
    pub ratio: Estimate,
}

/// The point at which a curve bends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Knee {
    /// The neighbours' bandwidth there, in bytes a second.
    pub bytes_per_second: f64,
    /// Slowdown at that bandwidth.
    pub ratio: f64,
    /// `true` if the slowdown grows faster beyond, `false` if it grows slower.
    pub is_steeper_beyond: bool,
}

/// Returns the curves of all records that have one.
pub fn pressure(records: &[Record]) -> Vec<Pressure> {
    let of = |record: &Record| {
        let run = record.memory()?;
        let MemoryMeasured::Pressure { working_set_bytes, steps } = &run.measured else {
            return None;
        };
        let point = |(asked_permille, pairs): (u32, &[PressurePair])| {
            let ratio = |pair: &PressurePair| pair.beside.access_ns() / pair.alone.access_ns();
            let rate = |pair: &PressurePair| pair.beside.load_bytes_per_second;
            Some(PressurePoint {
                asked_permille,
                bytes_per_second: Estimate::of(&pairs.iter().map(rate).collect::<Vec<_>>())?.median,
                ratio: Estimate::of(&pairs.iter().map(ratio).collect::<Vec<_>>())?,
            })
        };
        let steps = steps.iter().map(|step| (step.asked_permille, &*step.pairs));
        let mut points: Vec<PressurePoint> = steps.filter_map(point).collect();
        points.sort_by(|one, next| one.bytes_per_second.total_cmp(&next.bytes_per_second));
        Some(Pressure {
            record: record.name.clone(),
            pattern: run.pattern,
            working_set_bytes: *working_set_bytes,
            onset_bytes_per_second: onset(&points),
            knee: knee(&points),
            points,
        })
    };
    records.iter().filter_map(of).collect()
}

/// Returns the least bandwidth from which on all larger ones slow down surely.
fn onset(points: &[PressurePoint]) -> Option<f64> {
    let hurts = points.iter().rev().take_while(|point| point.ratio.is_surely_above(ONSET));
    hurts.last().map(|point| point.bytes_per_second)
}

/// Finds the point at which the curve bends most.
fn knee(points: &[PressurePoint]) -> Option<Knee> {
    let last = points.last().filter(|last| last.ratio.is_surely_above(ONSET))?;
    let (width, height) = (last.bytes_per_second, last.ratio.median - 1.0);
    if width <= 0.0 || height <= 0.0 {
        return None;
    }
    // Without neighbours the slowdown is 1 by definition: the line begins there.
    let above_line = |point: &PressurePoint| {
        (point.ratio.median - 1.0) / height - point.bytes_per_second / width
    };
    let farthest = points
        .iter()
        .max_by(|one, other| above_line(one).abs().total_cmp(&above_line(other).abs()))?;
    let distance = above_line(farthest);
    (distance.abs() >= BEND).then_some(Knee {
        bytes_per_second: farthest.bytes_per_second,
        ratio: farthest.ratio.median,
        is_steeper_beyond: distance < 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Points at whole GB/s with these slowdowns, each sure to 2 %.
    fn points(ratios: &[f64]) -> Vec<PressurePoint> {
        let point = |(index, ratio): (usize, &f64)| PressurePoint {
            asked_permille: index as u32,
            bytes_per_second: (index + 1) as f64 * 1e9,
            ratio: Estimate {
                median: *ratio,
                low: Some(ratio * 0.98),
                high: Some(ratio * 1.02),
                count: 9,
            },
        };
        ratios.iter().enumerate().map(point).collect()
    }

    #[test]
    fn a_curve_that_rises_late_has_its_knee_where_it_begins_to() {
        let late = points(&[1.0, 1.01, 1.02, 1.05, 1.06, 1.8, 2.6, 3.4]);
        let found = knee(&late).unwrap();
        assert_eq!((found.bytes_per_second, found.is_steeper_beyond), (5e9, true));
        assert_eq!(onset(&late), Some(6e9), "what is below lies within 5 % and its noise");
    }

    #[test]
    fn a_curve_that_is_full_early_has_its_knee_where_it_is() {
        let early = points(&[1.6, 2.3, 2.9, 3.0, 3.02, 3.05, 3.1, 3.12]);
        let found = knee(&early).unwrap();
        assert_eq!((found.bytes_per_second, found.is_steeper_beyond), (3e9, false));
        assert_eq!(onset(&early), Some(1e9));
    }

    #[test]
    fn a_straight_line_and_no_slowdown_at_all_have_no_knee() {
        let straight: Vec<f64> = (1..=8).map(|step| 1.0 + 0.25 * f64::from(step)).collect();
        assert_eq!(knee(&points(&straight)), None);
        assert_eq!(onset(&points(&straight)), Some(1e9));
        let none = points(&[1.0, 1.03, 0.99, 1.02, 1.01, 1.0, 1.04, 1.03]);
        assert_eq!((knee(&none), onset(&none)), (None, None));
        assert_eq!((knee(&[]), onset(&[])), (None, None));
    }

    #[test]
    fn one_bad_point_in_between_moves_the_onset_beyond_it() {
        let found = points(&[1.5, 1.6, 1.0, 1.7, 1.8]);
        assert_eq!(onset(&found), Some(4e9));
    }

    proptest! {
        #[test]
        fn a_knee_is_one_of_the_points_and_none_without_a_sure_slowdown(
            ratios in proptest::collection::vec(0.5_f64..20.0, 0..12),
        ) {
            let points = points(&ratios);
            if let Some(knee) = knee(&points) {
                prop_assert!(points.iter().any(|it| it.ratio.median == knee.ratio));
                prop_assert!(points[points.len() - 1].ratio.is_surely_above(ONSET));
            }
            if let Some(onset) = onset(&points) {
                let beyond = points.iter().filter(|it| it.bytes_per_second >= onset);
                prop_assert!(beyond.into_iter().all(|it| it.ratio.is_surely_above(ONSET)));
            }
        }
    }
}
