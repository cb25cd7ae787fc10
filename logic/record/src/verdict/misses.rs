//! The misses of a record, and whether a firm or a soft class bears them.
//!
//! The record counts late releases and late ends of cycles, and holds the numbers of its worst
//! releases only. So which of them came in a row is known exactly where the worst releases are all
//! that were late, and else between two bounds; a verdict takes the bound that is against it.

use super::{Missing, Verdict, VerdictReason, missing, verdict_of};
use crate::record::Record;
use crate::statistics::{cycles_needed, exceedance_bound};

/// The misses of a record against a limit of the release latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Misses {
    /// Releases later than the limit.
    late: u64,
    /// Cycles of the program that ended after their deadline or were cut off, and releases left
    /// out.
    ended_late: u64,
    /// The longest run of misses that surely occurred.
    run_least: u64,
    /// The longest run that can have occurred.
    run_most: u64,
}

impl Misses {
    fn of(record: &Record, limit_ns: u64) -> Self {
        let late = record.release.count_above(limit_ns);
        let (ended_late, run_of_ends) = ends(record);
        let (late_least, late_most) = run_of_late(record, limit_ns, late);
        let run_most = match (late, ended_late) {
            (0, _) => run_of_ends.unwrap_or(ended_late),
            (_, 0) => late_most,
            // Late releases and late ends may have taken turns.
            _ => late.saturating_add(ended_late),
        };
        let run_least = late_least.max(run_of_ends.unwrap_or(0));
        Self { late, ended_late, run_least, run_most }
    }

    fn all(&self) -> u64 {
        self.late.saturating_add(self.ended_late)
    }
}

/// Returns the number of cycles that ended late in any way, and the longest run of them; `None`
/// where cycles were cut off or left out, whose runs are not counted.
fn ends(record: &Record) -> (u64, Option<u64>) {
    let Some(counters) = record.scan().map(|scan| &scan.counters) else { return (0, Some(0)) };
    let others = counters.watchdog_hits.saturating_add(counters.skipped_releases);
    let all = counters.overruns.saturating_add(others);
    (all, (others == 0).then_some(counters.longest_overrun_run))
}

/// Returns the bounds of the longest run of late releases, of which there are `late`.
fn run_of_late(record: &Record, limit_ns: u64, late: u64) -> (u64, u64) {
    let spikes = record.spikes.iter().filter(|spike| spike.latency_ns > limit_ns);
    let mut numbers: Vec<u64> = spikes.map(|spike| spike.release).collect();
    numbers.sort_unstable();
    numbers.dedup();
    // In two parts the numbers of releases begin anew.
    let in_spikes = if record.is_of_one_part() { longest_run(&numbers) } else { 0 };
    // A miss of the counters is a release that came a whole period late.
    let is_late = record.period_ns.is_some_and(|period_ns| period_ns > limit_ns);
    let counted = record.counters.longest_miss_run.filter(|_| is_late).unwrap_or(0);
    let least = in_spikes.max(counted).min(late);
    let is_exact = record.is_of_one_part() && numbers.len() as u64 >= late;
    (least, if is_exact { least } else { late })
}

/// Returns the length of the longest run of successive numbers in an ascending list.
fn longest_run(numbers: &[u64]) -> u64 {
    let runs = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    runs.map(|run| run.len() as u64).max().unwrap_or(0)
}

/// Decides for a firm class: at most `allowed` misses in a row, and no longer run with the
/// confidence that is asked for.
pub(super) fn in_a_row(
    record: &Record,
    limit_ns: u64,
    allowed: u32,
    exceedance: f64,
) -> (Verdict, VerdictReason) {
    let misses = Misses::of(record, limit_ns);
    let Misses { run_least, run_most, .. } = misses;
    let allowed = u64::from(allowed);
    let count = record.release.count();
    let missing = missing(count, exceedance).filter(|_| run_most <= allowed);
    let verdict = if run_least > allowed {
        Verdict::Fail
    } else if run_most > allowed {
        Verdict::NotProven
    } else {
        verdict_of(missing)
    };
    let misses = misses.all();
    let reason = VerdictReason::MissesInARow {
        misses,
        count,
        limit_ns,
        run_least,
        run_most,
        allowed,
        missing,
    };
    (verdict, reason)
}

/// Decides for a soft class: at most this share of misses, with 95 % confidence. FAIL takes the
/// same confidence that it is larger.
pub(super) fn share(record: &Record, limit_ns: u64, misses_ppm: u32) -> (Verdict, VerdictReason) {
    let count = record.release.count();
    let misses = Misses::of(record, limit_ns).all().min(count);
    let allowed = f64::from(misses_ppm) / 1e6;
    let bound_95 = exceedance_bound(misses, count);
    let least_95 = 1.0 - exceedance_bound(count - misses, count);
    let verdict = if least_95 > allowed {
        Verdict::Fail
    } else if bound_95 > allowed {
        Verdict::NotProven
    } else {
        Verdict::Pass
    };
    let needed = cycles_needed(allowed);
    let is_short = verdict == Verdict::NotProven && count < needed;
    let missing = is_short.then_some(Missing { exceedance: allowed, needed });
    let reason =
        VerdictReason::ShareOfMisses { misses, count, limit_ns, misses_ppm, bound_95, missing };
    (verdict, reason)
}

#[cfg(test)]
mod tests;
