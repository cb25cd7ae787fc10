//! The misses of a record, and whether a firm or a soft class bears them.
//!
//! The record counts late releases and late ends of cycles apart, and holds the numbers of its
//! worst releases only. So the misses, and which of them came in a row, are known exactly where the
//! worst releases are all that missed, and else between two bounds. A PASS takes the upper bound
//! and a FAIL the lower one.

use super::{Missing, Verdict, VerdictReason, missing, verdict_of};
use crate::record::Record;
use crate::statistics::{cycles_needed, exceedance_bound};

/// The misses of a record against a limit of the release latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Misses {
    /// The fewest cycles that missed: a cycle can both begin and end late.
    least: u64,
    /// The most cycles that can have missed.
    most: u64,
    /// The longest run of misses that surely occurred.
    run_least: u64,
    /// The longest run that can have occurred.
    run_most: u64,
}

impl Misses {
    fn of(record: &Record, limit_ns: u64) -> Self {
        let late = record.release.count_above(limit_ns);
        let numbers = late_numbers(record, limit_ns);
        // The worst releases are known exactly, all others to their bins and the resolution.
        let surely = record.release.count_surely_above(limit_ns).max(numbers.len() as u64);
        let (late_least, late_most) = run_of_late(record, limit_ns, &numbers, surely, late);
        let counters = record.scan().map(|scan| scan.counters).unwrap_or_default();
        // A release that was left out is a late one, too, unless the limit is above the period.
        let is_in_late = record.period_ns.is_some_and(|period_ns| period_ns > limit_ns);
        let left_out = if is_in_late { 0 } else { counters.skipped_releases };
        // A cycle that the watchdog saw may be among those that ended late. Its runs, and those
        // of releases left out, are not counted.
        let uncertain = counters.watchdog_hits.saturating_add(left_out);
        let ended_late = counters.overruns.saturating_add(uncertain);
        let run_most = match (late, uncertain) {
            (0, 0) => counters.longest_overrun_run,
            _ if ended_late == 0 => late_most,
            // Late releases and late ends may have taken turns.
            _ => late.saturating_add(ended_late),
        };
        Self {
            least: surely.max(counters.overruns),
            most: late.saturating_add(ended_late).min(record.release.count()),
            run_least: late_least.max(counters.longest_overrun_run),
            run_most,
        }
    }
}

/// Returns the numbers of those of the worst releases that were later than the limit, ascending.
fn late_numbers(record: &Record, limit_ns: u64) -> Vec<u64> {
    let spikes = record.spikes.iter().filter(|spike| spike.latency_ns > limit_ns);
    let mut numbers: Vec<u64> = spikes.map(|spike| spike.release).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Returns the bounds of the longest run of late releases: `surely` so many were late, `late` at
/// most, and these are the `numbers` of some.
fn run_of_late(
    record: &Record,
    limit_ns: u64,
    numbers: &[u64],
    surely: u64,
    late: u64,
) -> (u64, u64) {
    // In two parts the numbers of releases begin anew.
    let in_spikes = if record.is_of_one_part() { longest_run(numbers) } else { 0 };
    // A miss of the counters is a release that came a whole period late.
    let is_late = record.period_ns.is_some_and(|period_ns| period_ns > limit_ns);
    let counted = record.counters.longest_miss_run.filter(|_| is_late).unwrap_or(0);
    // One alone is a run, whatever else is not known.
    let least = in_spikes.max(counted).max(1).min(surely);
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
    let Misses { least, most, run_least, run_most } = Misses::of(record, limit_ns);
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
    let reason = VerdictReason::MissesInARow {
        misses_least: least,
        misses_most: most,
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
    let Misses { least, most, .. } = Misses::of(record, limit_ns);
    let allowed = f64::from(misses_ppm) / 1e6;
    let bound_95 = exceedance_bound(most, count);
    let verdict = if is_surely_above(least, count, misses_ppm) {
        Verdict::Fail
    } else if bound_95 > allowed {
        Verdict::NotProven
    } else {
        Verdict::Pass
    };
    let needed = cycles_needed(allowed);
    let is_short = verdict == Verdict::NotProven && count < needed;
    let missing = is_short.then_some(Missing { exceedance: allowed, needed });
    let reason = VerdictReason::ShareOfMisses {
        misses_least: least,
        misses_most: most,
        count,
        limit_ns,
        misses_ppm,
        bound_95,
        missing,
    };
    (verdict, reason)
}

/// Returns `true` if the share of misses, of which there are so many in `count` cycles, is above
/// the limit with 95 % confidence.
pub(crate) fn is_surely_above(misses: u64, count: u64, limit_ppm: u32) -> bool {
    let least_95 = 1.0 - exceedance_bound(count.saturating_sub(misses), count);
    least_95 > f64::from(limit_ppm) / 1e6
}

#[cfg(test)]
mod tests;
