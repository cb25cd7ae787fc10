//! Verdicts: a record against a class.
//!
//! ```text
//! the program crashed, hung or gave up ────► FAIL
//! invalid or degraded record ──────────────► NOT PROVEN
//! the class has no figure ─────────────────► NOT PROVEN
//! measured with a longer period ───────────► NOT PROVEN
//! misses that the class does not bear ─────► FAIL
//! an activation refused, a job cut off ────► FAIL
//! jitter above the published limit ────────► FAIL
//! jitter unknown, or perhaps above the limit ► NOT PROVEN
//! releases that may have been too late ────► NOT PROVEN
//! perhaps more misses than the class bears ► NOT PROVEN
//! too few cycles for the confidence asked ─► NOT PROVEN, with the number needed
//! otherwise ───────────────────────────────► PASS
//! ```
//!
//! A class is about the fastest task of a program. A slower task of it may take a tenth of its own
//! period, and the class's jitter is not asked of it.
//!
//! A miss is a release later than a tenth of the cycle, or than the limit of the class's source, or
//! a cycle of the program after its deadline. Of a class that is hard, as all published ones are, a
//! single miss fails: a quantile would certify a machine that stalls now and then. What firm and
//! soft classes bear is judged in `misses`.

mod misses;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class::{CYCLE_PART, Class, JitterDefinition, Strictness};
use crate::reason::{ForeignProblem, Missing, Reason, VerdictReason};
use crate::record::{Record, ScanCounters};
use crate::statistics::{Statistics, cycles_needed, exceedance_bound};

pub(crate) use misses::is_surely_above;

/// The three values of a verdict.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Verdict {
    /// The evidence shows that the class's limits hold.
    #[serde(rename = "PASS")]
    Pass,
    /// The evidence does not suffice, whatever it looks like.
    #[serde(rename = "NOT PROVEN")]
    NotProven,
    /// The evidence shows that a limit doesn't hold.
    #[serde(rename = "FAIL")]
    Fail,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::NotProven => "NOT PROVEN",
            Self::Fail => "FAIL",
        })
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// Name of the record.
    pub record: String,
    /// Name of the class.
    pub class: String,
    /// PASS, FAIL or NOT PROVEN.
    pub verdict: Verdict,
    /// The reason, as a sentence with the deciding figures.
    pub because: String,
    /// The same as a code with the figures; absent in documents of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<VerdictReason>,
    /// Cycles that would be needed, where more would help.
    pub cycles_needed: Option<u64>,
    /// The latency limit, in ns.
    pub latency_limit_ns: Option<u64>,
    /// Releases that were or may have been later than the limit.
    pub exceedances: Option<u64>,
    /// Those of them that surely were; absent where that is the same number, and in documents of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceedances_least: Option<u64>,
    /// Upper 95 % bound on the probability of exceeding the limit.
    pub bound_95: Option<f64>,
}

/// The shortest cycle that a record qualifies its partition for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FastestCycle {
    /// The cycle, in ns.
    pub cycle_ns: u64,
    /// The measurement's period was the limit, not the latency: a faster one may be possible.
    pub limited_by_period: bool,
}

/// Returns `true` if a record can be judged. A task that the program's own kernel released is held
/// to nothing where it has no deadline, and a busy loop of another program to nothing at all.
pub fn is_judged(record: &Record) -> bool {
    let terms = record.scan().map(|scan| scan.terms);
    !is_of_a_busy_loop(record)
        && terms.is_none_or(|terms| !terms.by_kernel || terms.deadline_ns.is_some())
}

/// Returns `true` if the values are durations for which a busy loop of another program was held up.
pub fn is_of_a_busy_loop(record: &Record) -> bool {
    let is_loop =
        |reason: &Reason| matches!(reason, Reason::Foreign(ForeignProblem::BusyLoop { .. }));
    record.degraded.iter().any(is_loop)
}

/// Returns `true` if the limits of a class are about a record: those of the cycle, not those of the
/// tasks that the program's own kernel releases within it.
pub fn is_held_to_class(record: &Record) -> bool {
    record.scan().is_none_or(|scan| !scan.terms.by_kernel)
}

/// Judges a record against a class. `exceedance` is the probability per cycle that must be
/// excluded for a PASS.
pub fn judge(record: &Record, class: &Class, exceedance: f64) -> Judgement {
    let limit = limit_ns(record, class);
    let exceedances = limit.map(|limit| record.release.count_above(limit));
    let least = limit.map(|limit| record.release.count_surely_above(limit));
    let count = record.release.count();
    let (verdict, reason) = decide(record, class, exceedance);
    let cycles_needed = match &reason {
        VerdictReason::NoneLate { missing, .. }
        | VerdictReason::NoneEndedLate { missing, .. }
        | VerdictReason::MissesInARow { missing, .. }
        | VerdictReason::ShareOfMisses { missing, .. } => missing.map(|missing| missing.needed),
        _ => None,
    };
    Judgement {
        record: record.name.clone(),
        class: class.name.clone(),
        verdict,
        because: reason.to_string(),
        reason: Some(reason),
        cycles_needed,
        latency_limit_ns: limit,
        exceedances,
        exceedances_least: least.filter(|_| least != exceedances),
        bound_95: exceedances.map(|seen| exceedance_bound(seen, count)),
    }
}

fn decide(record: &Record, class: &Class, exceedance: f64) -> (Verdict, VerdictReason) {
    if let Some(reason) = fault(record) {
        return (Verdict::Fail, reason);
    }
    if let Some(reason) = distrust(record) {
        return (Verdict::NotProven, reason);
    }
    if !is_held_to_class(record) {
        return decide_by_deadline(record, exceedance);
    }
    let Some(limit_ns) = limit_ns(record, class) else {
        return (Verdict::NotProven, VerdictReason::ClassWithoutCycle);
    };
    if let Some(cycle_ns) = class.cycle_ns
        && let Some(objection) = period_objection(record, class, cycle_ns, limit_ns)
    {
        return objection;
    }
    let (verdict, reason) = match class.strictness {
        Strictness::Hard => none_missed(record, class, limit_ns, exceedance),
        Strictness::Firm { survival_cycles } => {
            misses::in_a_row(record, limit_ns, survival_cycles, exceedance)
        }
        Strictness::Soft { misses_ppm } => misses::share(record, limit_ns, misses_ppm),
    };
    if verdict == Verdict::Fail {
        return (verdict, reason);
    }
    if let Some(reason) = lost_work(record) {
        return (Verdict::Fail, reason);
    }
    let is_slower = record.period_ns > class.cycle_ns && class.cycle_ns.is_some();
    if let Some(objection) = jitter_objection(record, class)
        && !is_slower
    {
        return objection;
    }
    (verdict, reason)
}

/// Returns what stands against a record because of its period, which is to be at most the cycle.
fn period_objection(
    record: &Record,
    class: &Class,
    cycle_ns: u64,
    limit_ns: u64,
) -> Option<(Verdict, VerdictReason)> {
    let period_ns = measured_every(record);
    if period_ns.is_some_and(|period_ns| period_ns <= cycle_ns) {
        return None;
    }
    if class.strictness.is_hard()
        && let Some(reason) = beyond_all_limits(record, class, limit_ns)
    {
        return Some((Verdict::Fail, reason));
    }
    let reason = match period_ns {
        None => VerdictReason::PeriodUnknown,
        Some(period_ns) => VerdictReason::PeriodTooLong { period_ns, cycle_ns },
    };
    Some((Verdict::NotProven, reason))
}

/// Decides for a hard class: one miss fails.
fn none_missed(
    record: &Record,
    class: &Class,
    limit_ns: u64,
    exceedance: f64,
) -> (Verdict, VerdictReason) {
    let is_stated = class.latency_ns == Some(limit_ns);
    let late = late_releases(record, limit_ns, is_stated).or_else(|| late_ends(record));
    if let Some(reason) = late {
        return (Verdict::Fail, reason);
    }
    if let Some(reason) = perhaps_late(record, limit_ns) {
        return (Verdict::NotProven, reason);
    }
    let count = record.release.count();
    let missing = missing(count, exceedance);
    let reason = VerdictReason::NoneLate {
        count,
        limit_ns,
        max_ns: record.release.max_ns(),
        missing,
        bound_95: exceedance_bound(0, count),
    };
    (verdict_of(missing), reason)
}

/// Decides on a task that the program's own kernel released, by its jobs that ended late.
fn decide_by_deadline(record: &Record, exceedance: f64) -> (Verdict, VerdictReason) {
    if let Some(reason) = late_ends(record).or_else(|| lost_work(record)) {
        return (Verdict::Fail, reason);
    }
    let scan = record.scan();
    let Some((scan, deadline_ns)) = scan.and_then(|scan| Some((scan, scan.terms.deadline_ns?)))
    else {
        return (Verdict::NotProven, VerdictReason::NoDeadline);
    };
    let count = scan.response.count();
    let missing = missing(count, exceedance);
    let reason = VerdictReason::NoneEndedLate {
        count,
        deadline_ns,
        longest_response_ns: scan.response.max_ns(),
        missing,
        bound_95: exceedance_bound(0, count),
    };
    (verdict_of(missing), reason)
}

/// Returns what `count` values lack to exclude `exceedance`; `None` where they suffice.
fn missing(count: u64, exceedance: f64) -> Option<Missing> {
    let needed = cycles_needed(exceedance);
    (count < needed).then_some(Missing { exceedance, needed })
}

fn verdict_of(missing: Option<Missing>) -> Verdict {
    if missing.is_some() { Verdict::NotProven } else { Verdict::Pass }
}

/// Returns the period that decides which classes a record can be about: that of the program's
/// fastest task.
fn measured_every(record: &Record) -> Option<u64> {
    record.scan().map_or(record.period_ns, |scan| Some(scan.terms.program_period_ns))
}

/// Returns the latest release: the limit of the class, or a tenth of the period of a slower task of
/// a program.
fn limit_ns(record: &Record, class: &Class) -> Option<u64> {
    let of_class = class.latency_limit_ns().filter(|_| is_held_to_class(record));
    Some(of_class?.max(own_limit_ns(record).unwrap_or(0)))
}

/// Returns a tenth of the own period of a program's task, in ns: its latency limit for every class
/// whose own is shorter. `None` where the probe ran alone, or the task has no period.
pub fn own_limit_ns(record: &Record) -> Option<u64> {
    record.scan()?;
    Some(record.period_ns? / CYCLE_PART)
}

/// Returns the reason why the program stopped before its time. A program that can't go on has
/// failed, on whatever machine and under whatever settings.
fn fault(record: &Record) -> Option<VerdictReason> {
    let faults = &record.scan()?.faults;
    (!faults.is_empty()).then(|| VerdictReason::ProgramFailed { faults: faults.clone() })
}

/// Returns the reason why a record proves nothing, whatever its numbers.
fn distrust(record: &Record) -> Option<VerdictReason> {
    if !record.is_valid() {
        return Some(VerdictReason::RecordInvalid { reasons: record.invalid_because.clone() });
    }
    if !record.degraded.is_empty() {
        return Some(VerdictReason::NotAsAsked { reasons: record.degraded.clone() });
    }
    (record.release.count() == 0).then_some(VerdictReason::NothingMeasured)
}

/// Counts the releases that were later than every limit of the class allows; `None` without any.
/// They were as late whatever period they were measured with.
fn beyond_all_limits(record: &Record, class: &Class, limit_ns: u64) -> Option<VerdictReason> {
    let limit_ns = limit_ns.max(class.jitter_ns.unwrap_or(0));
    let late = record.release.count_surely_above(limit_ns);
    let (count, max_ns) = (record.release.count(), record.release.max_ns());
    (late > 0).then_some(VerdictReason::BeyondAllLimits { late, count, limit_ns, max_ns })
}

/// Counts the releases that were later than a tenth of the cycle, or than the limit that the
/// source of the class states; `None` without any.
fn late_releases(record: &Record, limit_ns: u64, is_stated: bool) -> Option<VerdictReason> {
    let least = record.release.count_surely_above(limit_ns);
    let late = record.release.count_above(limit_ns);
    let (count, max_ns) = (record.release.count(), record.release.max_ns());
    (least > 0).then_some(VerdictReason::LateReleases {
        late,
        late_least: (least < late).then_some(least),
        count,
        limit_ns,
        max_ns,
        is_stated,
    })
}

/// Counts the releases that may have been later than the limit, where none surely was: values are
/// known to the record's resolution.
fn perhaps_late(record: &Record, limit_ns: u64) -> Option<VerdictReason> {
    let most = record.release.count_above(limit_ns);
    let (count, max_ns) = (record.release.count(), record.release.max_ns());
    let resolution_ns = record.release.resolution_ns();
    let reason = VerdictReason::PerhapsLate { most, count, limit_ns, max_ns, resolution_ns };
    (most > 0).then_some(reason)
}

/// Returns how the program was late: not done at its deadline, stopped, or releases left out. The
/// period is at most the class's cycle and the deadline at most the period, so that this holds for
/// each class.
fn late_ends(record: &Record) -> Option<VerdictReason> {
    let scan = record.scan()?;
    let ScanCounters { overruns, watchdog_hits, skipped_releases, .. } = scan.counters;
    (overruns > 0 || watchdog_hits > 0 || skipped_releases > 0).then(|| VerdictReason::LateEnds {
        overruns,
        count: scan.response.count(),
        deadline_ns: scan.terms.deadline_ns,
        longest_response_ns: scan.response.max_ns(),
        watchdog_hits,
        skipped_releases,
    })
}

/// Returns what the program's own kernel did not do of what was asked for. A job that was never run
/// is no better than one that ended too late.
fn lost_work(record: &Record) -> Option<VerdictReason> {
    let errors = record.scan()?.kernel_errors.iter();
    let errors: Vec<_> = errors.filter(|errors| errors.is_lost_work).cloned().collect();
    (!errors.is_empty()).then_some(VerdictReason::WorkLost { errors })
}

/// Returns what stands against the class's jitter limit: it is exceeded, or the figures don't show
/// that it is not.
fn jitter_objection(record: &Record, class: &Class) -> Option<(Verdict, VerdictReason)> {
    let (limit_ns, definition) = (class.jitter_ns?, class.jitter_definition);
    let Some(Jitter { shown_ns: jitter_ns, least_ns, most_ns }) = jitter_of(record, definition)
    else {
        return Some((Verdict::NotProven, VerdictReason::JitterUnknown { definition, limit_ns }));
    };
    if least_ns > limit_ns {
        let reason = VerdictReason::JitterAbove { definition, jitter_ns, limit_ns };
        return Some((Verdict::Fail, reason));
    }
    if most_ns.is_some_and(|most_ns| most_ns <= limit_ns) {
        return None;
    }
    Some((Verdict::NotProven, VerdictReason::JitterOpen { definition, most_ns, limit_ns }))
}

/// The jitter of a record: values were rounded to its resolution and to their bins.
struct Jitter {
    /// The figure that reports show, in ns.
    shown_ns: u64,
    /// The least that it can have been, in ns.
    least_ns: u64,
    /// The most that it can have been, in ns; `None` where it lies in the overflow.
    most_ns: Option<u64>,
}

/// Returns the jitter; `None` where the data say nothing.
fn jitter_of(record: &Record, definition: JitterDefinition) -> Option<Jitter> {
    let statistics = Statistics::of(record);
    let release = &record.release;
    let fraction = release.resolution_ns() - 1;
    match definition {
        JitterDefinition::Whiskers => {
            let (low, high) = (statistics.p2_5_ns?, statistics.p97_5_ns?);
            let shown_ns = high.lower_bound().saturating_sub(low.lower_bound());
            let least_high = high.exact().map_or(high.lower_bound(), |high| release.least_of(high));
            let most_low = low.exact().map_or(u64::MAX, |low| low.saturating_add(fraction));
            let most = high.exact().zip(low.exact());
            let most = most.map(|(high, low)| high - release.least_of(low));
            Some(Jitter {
                shown_ns,
                least_ns: least_high.saturating_sub(most_low),
                most_ns: most.map(|most| most.saturating_add(fraction)),
            })
        }
        JitterDefinition::PeakToPeak => {
            let shown_ns = statistics.jitter_peak_to_peak_ns?;
            let least_ns = shown_ns.saturating_sub(fraction);
            Some(Jitter { shown_ns, least_ns, most_ns: Some(shown_ns.saturating_add(fraction)) })
        }
        JitterDefinition::Successive => {
            let shown_ns = statistics.jitter_successive_ns?.ceil() as u64;
            Some(Jitter { shown_ns, least_ns: shown_ns, most_ns: Some(shown_ns) })
        }
    }
}

/// Returns the worst of several verdicts; NOT PROVEN where there is none.
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().max().unwrap_or(Verdict::NotProven)
}

/// Returns the shortest cycle, on the scale 1, 2, 5, 10 …, whose tenth no release exceeded; `Err`
/// says why there is none. A program is also done within that cycle.
///
/// # Errors
/// When the record is invalid, degraded, of unknown period, or has too few cycles for `exceedance`.
pub fn fastest_cycle(record: &Record, exceedance: f64) -> Result<FastestCycle, VerdictReason> {
    if let Some(reason) = fault(record).or_else(|| distrust(record)) {
        return Err(reason);
    }
    let period_ns = measured_every(record).ok_or(VerdictReason::PeriodUnknown)?;
    let (count, needed) = (record.release.count(), cycles_needed(exceedance));
    if count < needed {
        return Err(VerdictReason::TooFewCycles { count, needed });
    }
    let worst = record.release.max_ns().saturating_add(record.release.resolution_ns() - 1);
    // A program must also be done within the cycle; a slower task of it has several of them.
    let response = record.scan().map_or(0, |scan| scan.response.max_ns());
    let cycles = record.period_ns.map_or(1, |own| (own / period_ns.max(1)).max(1));
    let by_latency = on_scale(worst.saturating_mul(CYCLE_PART).max(response).div_ceil(cycles));
    let cycle_ns = by_latency.max(period_ns);
    Ok(FastestCycle { cycle_ns, limited_by_period: period_ns >= by_latency })
}

/// Returns the smallest value of the scale 1, 2, 5 × 10ⁿ ns that is not below `value`.
fn on_scale(value: u64) -> u64 {
    let mut decade: u64 = 1;
    loop {
        for step in [1, 2, 5] {
            match decade.checked_mul(step) {
                Some(mark) if mark >= value => return mark,
                Some(_) => {}
                None => return u64::MAX,
            }
        }
        match decade.checked_mul(10) {
            Some(next) => decade = next,
            None => return u64::MAX,
        }
    }
}

/// Writes a probability per cycle as `1 in 133 000`: three significant digits, rounded to the
/// cautious side. Every place that shows a bound calls this function, so that no two differ.
pub fn one_in(probability: f64) -> String {
    if probability.is_nan() || probability <= 0.0 {
        return "never".to_owned();
    }
    let cycles = 1.0 / probability;
    let unit = 10_f64.powf((cycles.log10().floor() - 2.0).max(0.0));
    // A round number that the division has put just below itself is that number.
    let units = (cycles / unit + 1e-6).floor();
    format!("1 in {}", thousands((units * unit).round() as u64))
}

/// Writes a count with thin spaces between its thousands.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 * 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
