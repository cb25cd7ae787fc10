//! The reasons of a verdict, with the figures that decided.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Reason, sentences};
use crate::class::JitterDefinition;
use crate::record::{KernelErrors, ProgramStop};
use crate::verdict::{is_surely_above, one_in, thousands};

/// The reason of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum VerdictReason {
    /// FAIL: the program stopped before its time.
    ProgramFailed {
        /// The stops, each with its cause.
        faults: Vec<ProgramStop>,
    },
    /// NOT PROVEN: the record can't be trusted.
    RecordInvalid {
        /// The reasons against it.
        reasons: Vec<Reason>,
    },
    /// NOT PROVEN: something that was asked for was not in force.
    NotAsAsked {
        /// The settings that were not.
        reasons: Vec<Reason>,
    },
    /// NOT PROVEN: the record has no value.
    NothingMeasured,
    /// NOT PROVEN: the class has no cycle.
    ClassWithoutCycle,
    /// NOT PROVEN: the data have no period.
    PeriodUnknown,
    /// NOT PROVEN: the period is longer than the class's cycle.
    PeriodTooLong {
        /// The period, in ns.
        period_ns: u64,
        /// The class's cycle, in ns.
        cycle_ns: u64,
    },
    /// FAIL: releases were later than every limit of the class, whatever the period.
    BeyondAllLimits {
        /// Late releases, at least so many.
        late: u64,
        /// Number of all releases.
        count: u64,
        /// The largest limit, in ns.
        limit_ns: u64,
        /// The largest latency, in ns.
        max_ns: u64,
    },
    /// FAIL: releases were later than a tenth of the cycle, or than the limit of the class.
    LateReleases {
        /// Number of releases that were or may have been late.
        late: u64,
        /// Those of them that surely were; absent where the number is exact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        late_least: Option<u64>,
        /// Number of all releases.
        count: u64,
        /// The limit, in ns.
        limit_ns: u64,
        /// The largest latency, in ns.
        max_ns: u64,
        /// `true` if the source of the class states the limit; else it is a tenth of the cycle.
        #[serde(default, skip_serializing_if = "is_false")]
        is_stated: bool,
    },
    /// NOT PROVEN: no release was surely later than the limit, and some may have been.
    PerhapsLate {
        /// The most that can have been late.
        most: u64,
        /// Number of all releases.
        count: u64,
        /// The limit, in ns.
        limit_ns: u64,
        /// The largest latency as it is known, in ns.
        max_ns: u64,
        /// Values are multiples of this, rounded down, in ns.
        resolution_ns: u64,
    },
    /// Of a firm class: FAIL where more misses came in a row than it bears, NOT PROVEN where they
    /// may have, or more cycles are needed, else PASS.
    MissesInARow {
        /// The fewest misses that there were: late releases and late ends of cycles.
        misses_least: u64,
        /// The most misses that there can have been.
        misses_most: u64,
        /// Number of all releases.
        count: u64,
        /// The limit of the release latency, in ns.
        limit_ns: u64,
        /// The longest run of misses that surely occurred, in cycles.
        run_least: u64,
        /// The longest run that can have occurred, in cycles.
        run_most: u64,
        /// The longest run that the class bears, in cycles.
        allowed: u64,
        /// The cycles that are missing; absent where more would not help.
        missing: Option<Missing>,
    },
    /// Of a soft class: FAIL or PASS where the share of misses is surely above or below what it
    /// bears, else NOT PROVEN.
    ShareOfMisses {
        /// The fewest misses that there were: late releases and late ends of cycles.
        misses_least: u64,
        /// The most misses that there can have been.
        misses_most: u64,
        /// Number of all releases.
        count: u64,
        /// The limit of the release latency, in ns.
        limit_ns: u64,
        /// The largest share that the class bears, in millionths.
        misses_ppm: u32,
        /// Upper 95 % bound on the probability of a miss per cycle.
        bound_95: f64,
        /// The cycles that are missing at least; absent where there are enough for a share of zero.
        missing: Option<Missing>,
    },
    /// FAIL: cycles of the program ended late, were cut off, or were left out.
    LateEnds {
        /// Cycles that ended after their deadline.
        overruns: u64,
        /// Number of all cycles.
        count: u64,
        /// The deadline, in ns; absent where the task has none.
        deadline_ns: Option<u64>,
        /// The longest response time, in ns.
        longest_response_ns: u64,
        /// Cycles that the watchdog cut off.
        watchdog_hits: u64,
        /// Releases that were left out.
        skipped_releases: u64,
    },
    /// FAIL: the program's kernel refused or cut off work.
    WorkLost {
        /// Errors of the kernel.
        errors: Vec<KernelErrors>,
    },
    /// FAIL: the jitter is above the class's limit.
    JitterAbove {
        /// The definition of jitter.
        definition: JitterDefinition,
        /// The jitter, in ns.
        jitter_ns: u64,
        /// The limit, in ns.
        limit_ns: u64,
    },
    /// NOT PROVEN: the jitter may be above the class's limit.
    JitterOpen {
        /// The definition of jitter.
        definition: JitterDefinition,
        /// The most it can have been, in ns; absent where it lies beyond the histogram.
        most_ns: Option<u64>,
        /// The limit, in ns.
        limit_ns: u64,
    },
    /// NOT PROVEN: the data don't hold the jitter.
    JitterUnknown {
        /// The definition of jitter.
        definition: JitterDefinition,
        /// The limit, in ns.
        limit_ns: u64,
    },
    /// NOT PROVEN: the task has no deadline, and no class is about it.
    NoDeadline,
    /// PASS, or NOT PROVEN where more releases are needed: none was later than the limit.
    NoneLate {
        /// Number of releases that were measured.
        count: u64,
        /// The limit, in ns.
        limit_ns: u64,
        /// The largest latency, in ns.
        max_ns: u64,
        /// The cycles that are missing; absent for a PASS.
        missing: Option<Missing>,
        /// Upper 95 % bound on the probability of exceeding the limit.
        bound_95: f64,
    },
    /// PASS, or NOT PROVEN where more jobs are needed: none ended after its deadline.
    NoneEndedLate {
        /// Number of jobs that were measured.
        count: u64,
        /// The deadline, in ns.
        deadline_ns: u64,
        /// The longest response time, in ns.
        longest_response_ns: u64,
        /// The cycles that are missing; absent for a PASS.
        missing: Option<Missing>,
        /// Upper 95 % bound on the probability of exceeding the deadline.
        bound_95: f64,
    },
    /// No fastest cycle: too few cycles.
    TooFewCycles {
        /// Number of cycles that were measured.
        count: u64,
        /// Number of cycles needed.
        needed: u64,
    },
}

/// The cycles that a PASS takes, and the bound that takes them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// The probability per cycle that must be excluded.
    pub exceedance: f64,
    /// The cycles that this takes.
    pub needed: u64,
}

impl fmt::Display for VerdictReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProgramFailed { faults } => {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                write!(f, "the program failed: {}", faults.join("; "))
            }
            Self::RecordInvalid { reasons } => {
                write!(f, "the record is invalid: {}", sentences(reasons))
            }
            // Nothing was asked for: another program has measured it.
            Self::NotAsAsked { reasons }
                if reasons.iter().all(|reason| matches!(reason, Reason::Foreign(_))) =>
            {
                f.write_str(&sentences(reasons))
            }
            Self::NotAsAsked { reasons } => {
                write!(f, "not measured as asked for: {}", sentences(reasons))
            }
            Self::NothingMeasured => f.write_str("nothing was measured"),
            Self::ClassWithoutCycle => f.write_str("the source gives no cycle for this class"),
            Self::PeriodUnknown => f.write_str(
                "the data do not say with which period they were measured; if you know it, import \
                 them with `--interval`",
            ),
            Self::PeriodTooLong { period_ns, cycle_ns } => {
                let [period, cycle] = [*period_ns, *cycle_ns].map(Nanos::new);
                write!(
                    f,
                    "measured every {period}, the class cycles every {cycle}; measure with a \
                     period of at most {cycle}"
                )
            }
            Self::BeyondAllLimits { .. } | Self::LateReleases { .. } | Self::PerhapsLate { .. } => {
                self.write_late(f)
            }
            Self::MissesInARow { .. } => self.write_in_a_row(f),
            Self::ShareOfMisses { .. } => self.write_share(f),
            Self::LateEnds { .. } => self.write_late_ends(f),
            Self::WorkLost { errors } => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                write!(f, "work of the program was lost: {}", errors.join("; "))
            }
            Self::JitterAbove { .. } | Self::JitterOpen { .. } | Self::JitterUnknown { .. } => {
                self.write_jitter(f)
            }
            Self::NoDeadline => f.write_str("the task has no deadline to be held to"),
            Self::NoneLate { .. } | Self::NoneEndedLate { .. } => self.write_none(f),
            Self::TooFewCycles { count, needed } => {
                let [count, needed] = [*count, *needed].map(thousands);
                write!(f, "{count} cycles are too few; {needed} are needed")
            }
        }
    }
}

impl VerdictReason {
    fn write_late(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeyondAllLimits { late, count, limit_ns, max_ns } => write!(
                f,
                "at least {} of {} releases were later than {}, the largest limit of the class, \
                 whatever the period; the largest latency was {}",
                thousands(*late),
                thousands(*count),
                Nanos::new(*limit_ns),
                Nanos::new(*max_ns)
            ),
            Self::LateReleases { late, late_least, count, limit_ns, max_ns, is_stated } => write!(
                f,
                "{} of {} releases were later than {} ({}); the largest latency was {}",
                between(late_least.unwrap_or(*late), *late),
                thousands(*count),
                Nanos::new(*limit_ns),
                if *is_stated { "the limit of the class" } else { "a tenth of the cycle" },
                Nanos::new(*max_ns)
            ),
            Self::PerhapsLate { most, count, limit_ns, max_ns, resolution_ns } => write!(
                f,
                "{} of {} releases may have been later than {}: the largest latency was {}, \
                 rounded down to a multiple of {}",
                thousands(*most),
                thousands(*count),
                Nanos::new(*limit_ns),
                Nanos::new(*max_ns),
                Nanos::new(*resolution_ns)
            ),
            _ => Ok(()),
        }
    }

    fn write_in_a_row(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::MissesInARow {
            misses_least,
            misses_most,
            count,
            limit_ns,
            run_least,
            run_most,
            allowed,
            missing,
        } = self
        else {
            return Ok(());
        };
        write_misses(f, (*misses_least, *misses_most), *count, *limit_ns)?;
        match (*run_least, *run_most) {
            (_, 0) => {}
            (1, 1) if *misses_most > 1 => f.write_str(", no two of them in a row")?,
            (1, 1) => {}
            (least, most) => write!(f, ", {} of them in a row", between(least, most))?,
        }
        write!(f, "; the class bears {} in a row", thousands(*allowed))?;
        if run_least != run_most {
            f.write_str("; the record does not say which came together")?;
        }
        write_missing(f, missing.as_ref(), "cycles")
    }

    fn write_share(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::ShareOfMisses {
            misses_least,
            misses_most,
            count,
            limit_ns,
            misses_ppm,
            bound_95,
            missing,
        } = self
        else {
            return Ok(());
        };
        write_misses(f, (*misses_least, *misses_most), *count, *limit_ns)?;
        let allowed = one_in(f64::from(*misses_ppm) / 1e6);
        if is_surely_above(*misses_least, *count, *misses_ppm) {
            return write!(f, "; the class bears {allowed}, and with 95 % confidence more are");
        }
        let bound = one_in(*bound_95);
        write!(f, "; with 95 % confidence fewer than {bound} is, and the class bears {allowed}")?;
        write_missing(f, missing.as_ref(), "cycles at least")
    }

    fn write_late_ends(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::LateEnds {
            overruns,
            count,
            deadline_ns,
            longest_response_ns,
            watchdog_hits,
            skipped_releases,
        } = self
        else {
            return Ok(());
        };
        let longest = Nanos::new(*longest_response_ns);
        match deadline_ns {
            Some(deadline_ns) if *overruns > 0 => write!(
                f,
                "{} of {} cycles of the program ended after their deadline of {}; the longest \
                 response time was {longest}",
                thousands(*overruns),
                thousands(*count),
                Nanos::new(*deadline_ns)
            )?,
            Some(_) => write!(f, "the longest response time was {longest}")?,
            None => write!(f, "the task has no deadline; its longest response time was {longest}")?,
        }
        if *watchdog_hits > 0 {
            let (hits, times) = (thousands(*watchdog_hits), times(*watchdog_hits));
            write!(f, "; the watchdog stopped the program ({hits} {times})")?;
        }
        if *skipped_releases > 0 {
            write!(f, "; {} releases were left out", thousands(*skipped_releases))?;
        }
        Ok(())
    }

    fn write_jitter(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::JitterAbove { definition, limit_ns, .. }
        | Self::JitterOpen { definition, limit_ns, .. }
        | Self::JitterUnknown { definition, limit_ns }) = self
        else {
            return Ok(());
        };
        let (definition, limit) = (definition.description(), Nanos::new(*limit_ns));
        match self {
            Self::JitterAbove { jitter_ns, .. } => {
                let jitter = Nanos::new(*jitter_ns);
                write!(f, "jitter ({definition}) is {jitter}, the class allows {limit}")
            }
            Self::JitterOpen { most_ns: Some(most_ns), .. } => {
                let most = Nanos::new(*most_ns);
                write!(
                    f,
                    "jitter ({definition}) may be {most} at this resolution, the class allows \
                     {limit}"
                )
            }
            Self::JitterOpen { most_ns: None, .. } => write!(
                f,
                "jitter ({definition}) lies beyond the histogram, the class allows {limit}"
            ),
            _ => write!(
                f,
                "the data do not hold the jitter ({definition}); the class allows {limit}"
            ),
        }
    }

    fn write_none(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (missing, unit) = match self {
            Self::NoneLate { count, limit_ns, max_ns, missing, bound_95 } => {
                write!(
                    f,
                    "none of {} releases was later than {} (largest latency {}); with 95 % \
                     confidence fewer than {} is",
                    thousands(*count),
                    Nanos::new(*limit_ns),
                    Nanos::new(*max_ns),
                    one_in(*bound_95)
                )?;
                (missing, "cycles")
            }
            Self::NoneEndedLate { count, deadline_ns, longest_response_ns, missing, bound_95 } => {
                write!(
                    f,
                    "none of {} jobs ended after its deadline of {} (longest response {}); with \
                     95 % confidence fewer than {} does",
                    thousands(*count),
                    Nanos::new(*deadline_ns),
                    Nanos::new(*longest_response_ns),
                    one_in(*bound_95)
                )?;
                (missing, "jobs")
            }
            _ => return Ok(()),
        };
        write_missing(f, missing.as_ref(), unit)
    }
}

/// Begins the reason of a class that bears misses with how many there were.
fn write_misses(
    f: &mut fmt::Formatter<'_>,
    (least, most): (u64, u64),
    count: u64,
    limit_ns: u64,
) -> fmt::Result {
    let (misses, count, limit) = (between(least, most), thousands(count), Nanos::new(limit_ns));
    if most == 0 {
        return write!(
            f,
            "none of {count} cycles was missed (released later than {limit}, or done after its \
             deadline)"
        );
    }
    let (were, their) = if most == 1 { ("was", "its") } else { ("were", "their") };
    write!(
        f,
        "{misses} of {count} cycles {were} missed (released later than {limit}, or done after \
         {their} deadline)"
    )
}

/// Returns a number that is known between two bounds.
fn between(least: u64, most: u64) -> String {
    if least == most {
        return thousands(most);
    }
    format!("between {} and {}", thousands(least), thousands(most))
}

/// Adds what would be needed for a PASS, where more cycles would help.
fn write_missing(f: &mut fmt::Formatter<'_>, missing: Option<&Missing>, unit: &str) -> fmt::Result {
    let Some(Missing { exceedance, needed }) = missing else { return Ok(()) };
    let (asked, needed) = (one_in(*exceedance), thousands(*needed));
    write!(f, "; asked for is {asked}, which takes {needed} {unit}")
}

/// Lets JSON leave out what is seldom so.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_false(it: &bool) -> bool {
    !*it
}

const fn times(count: u64) -> &'static str {
    if count == 1 { "time" } else { "times" }
}
