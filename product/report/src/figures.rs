//! Numbers as people read them: SI units with a space, three significant digits.
//!
//! The space before a unit never breaks a line. A value that is known only from below is written `≥
//! 400 µs`, and one that is not known at all as a dash.

use quietcore_record::experiment::factor;
use quietcore_record::histogram::Quantile;
use quietcore_record::isolation::Exceedance;
use quietcore_record::record::{Routine, Trigger};
use quietcore_record::slowdown::Estimate;
use quietcore_record::statistics::Statistics;
use quietcore_record::verdict::{self, Verdict, thousands};
use quietcore_units::{ByteSize, Nanos};

use crate::summary::{Figure, ProgramFault};

/// Sign in place of a value that is missing.
pub(crate) const NONE: &str = "–";

/// Returns a value as `write` shows it, or [`NONE`].
pub(crate) fn or_dash<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), write)
}

const NO_BREAK_SPACE: &str = "\u{a0}";

/// Formats a duration in ns, with three significant digits.
pub(crate) fn nanos(value_ns: u64) -> String {
    Nanos::new(value_ns).to_string().replace(' ', NO_BREAK_SPACE)
}

/// Formats a duration that someone has set, such as a cycle, without the digits of a measured one.
pub(crate) fn set_nanos(value_ns: u64) -> String {
    let text = nanos(value_ns);
    match text.split_once(NO_BREAK_SPACE) {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number}{NO_BREAK_SPACE}{unit}")
        }
        _ => text,
    }
}

/// Describes the figure that decided a verdict, for a cell of the page.
pub(crate) fn deciding(figure: Figure) -> String {
    match figure {
        Figure::Latency(ns) => format!("max {}", nanos(ns)),
        Figure::LatencyUnsure(ns) => format!("max {} or more", nanos(ns)),
        Figure::Jitter(Some(ns)) => format!("jitter {}", nanos(ns)),
        Figure::Jitter(None) => "jitter in the overflow".to_owned(),
        Figure::JitterUnsure(Some(ns)) => format!("jitter up to {}", nanos(ns)),
        Figure::JitterUnsure(None) => "jitter not known".to_owned(),
        Figure::Response(ns) => format!("response {}", nanos(ns)),
        Figure::Program(ProgramFault::Stopped) => "program failed".to_owned(),
        Figure::Program(ProgramFault::Overruns(1)) => "1 overrun".to_owned(),
        Figure::Program(ProgramFault::Overruns(count)) => format!("{} overruns", thousands(count)),
        Figure::Program(ProgramFault::Held) => "cycles left out".to_owned(),
        Figure::Program(ProgramFault::LostWork(count)) => format!("{} lost", thousands(count)),
        Figure::Nothing => "no data".to_owned(),
        Figure::Invalid => "record invalid".to_owned(),
        Figure::Degraded => "not as the site asks".to_owned(),
        Figure::NoRelease => "no release of a thread".to_owned(),
        Figure::NoCycle => "no cycle published".to_owned(),
        Figure::Period(Some(period)) => format!("period {}", set_nanos(period)),
        Figure::Period(None) => "period not known".to_owned(),
        Figure::TooFew(count, needed) => {
            format!("{} % of cycles", (count as f64 / needed as f64 * 100.0).floor())
        }
        Figure::MissRun(_, 0) | Figure::MissShare(_, 0) => "no miss".to_owned(),
        Figure::MissRun(least, most) if least == most => format!("{} in a row", thousands(most)),
        Figure::MissRun(least, most) => {
            format!("{} to {} in a row", thousands(least), thousands(most))
        }
        Figure::MissShare(least, most) if least == most => format!("{} missed", of_million(most)),
        Figure::MissShare(least, most) => {
            format!("{} to {} missed", of_million(least), of_million(most))
        }
    }
}

fn of_million(ppm: u64) -> String {
    share(ppm as f64 / 1e6)
}

/// Describes the same in the fewer columns of a cell in the terminal.
pub(crate) fn deciding_short(figure: Figure) -> String {
    match figure {
        Figure::Latency(ns) | Figure::LatencyUnsure(ns) => nanos(ns),
        Figure::Jitter(None) | Figure::JitterUnsure(None) => "jitter".to_owned(),
        Figure::JitterUnsure(Some(ns)) => format!("jitter ≤ {}", nanos(ns)),
        Figure::Invalid => "invalid".to_owned(),
        Figure::Degraded => "degraded".to_owned(),
        Figure::NoRelease => "no release".to_owned(),
        Figure::NoCycle => "no cycle".to_owned(),
        Figure::Period(None) => "no period".to_owned(),
        Figure::TooFew(count, needed) => {
            format!("{} %", (count as f64 / needed as f64 * 100.0).floor())
        }
        other => deciding(other),
    }
}

/// Formats a duration in ns with a fraction, such as a mean. Below 100 ns the fraction is shown.
pub(crate) fn nanos_f64(value_ns: f64) -> String {
    if !value_ns.is_finite() || value_ns < 0.0 {
        return NONE.to_owned();
    }
    // Two digits before the point and one behind are three significant ones.
    if value_ns > 0.0 && value_ns < 99.95 {
        let decimals = if value_ns < 9.995 { 2 } else { 1 };
        return format!("{value_ns:.decimals$}{NO_BREAK_SPACE}ns");
    }
    nanos(value_ns.round() as u64)
}

/// Formats a quantile: a value, or a bound.
pub(crate) fn quantile(value: Quantile) -> String {
    match value {
        Quantile::Exactly(value_ns) => nanos(value_ns),
        Quantile::AtLeast { at_least } => format!("≥{NO_BREAK_SPACE}{}", nanos(at_least)),
    }
}

/// Formats the largest value of a sample, which is exact even where it has no bin; a dash without
/// values.
pub(crate) fn maximum(statistics: &Statistics) -> String {
    or_dash(statistics.max_ns, nanos)
}

/// Formats a count, its thousands apart.
pub(crate) fn count(count: u64) -> String {
    thousands(count)
}

/// Formats a probability per cycle as `1 in 133 000`.
pub(crate) fn one_in(probability: f64) -> String {
    if probability.is_nan() || probability <= 0.0 {
        return NONE.to_owned();
    }
    verdict::one_in(probability).replace(' ', NO_BREAK_SPACE)
}

/// Formats the number of values beyond a limit: one number, or two where a bin holds the limit.
pub(crate) fn at_most_count(beyond: &Exceedance) -> String {
    if beyond.surely == beyond.count {
        return count(beyond.count);
    }
    format!("{} to {}", count(beyond.surely), count(beyond.count))
}

/// Formats a share of all, in per cent.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    let number = match percent {
        none if none <= 0.0 => "0".to_owned(),
        few if few < 0.001 => format!("{few:.1e}"),
        some if some < 1.0 => format!("{some:.3}"),
        many if many < 9.995 => format!("{many:.2}"),
        most => format!("{most:.1}"),
    };
    format!("{number}{NO_BREAK_SPACE}%")
}

/// Formats the time that `cycles` take with a period of `period_ns`.
pub(crate) fn time_of(cycles: u64, period_ns: u64) -> String {
    nanos(cycles.saturating_mul(period_ns))
}

/// Formats a number without a unit, such as operations per second, with three significant digits.
pub(crate) fn amount(value: f64) -> String {
    const STEPS: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    if !value.is_finite() || value < 0.0 {
        return NONE.to_owned();
    }
    let (size, prefix) =
        STEPS.into_iter().find(|(size, _)| value >= *size * 0.9995).unwrap_or((1.0, ""));
    let scaled = value / size;
    let decimals = match scaled {
        scaled if scaled >= 99.95 || scaled == 0.0 => 0,
        scaled if scaled >= 9.995 => 1,
        _ => 2,
    };
    let space = if prefix.is_empty() { "" } else { NO_BREAK_SPACE };
    format!("{scaled:.decimals$}{space}{prefix}")
}

/// Formats a size of memory without needless digits.
pub(crate) fn bytes(bytes: u64) -> String {
    let text = ByteSize::new(bytes).to_string().replace(' ', NO_BREAK_SPACE);
    match text.split_once(NO_BREAK_SPACE) {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number}{NO_BREAK_SPACE}{unit}")
        }
        _ => text,
    }
}

/// Formats a rate of bytes per second.
pub(crate) fn rate(bytes_per_second: f64) -> String {
    let text = amount(bytes_per_second);
    let space = if text.contains(NO_BREAK_SPACE) { "" } else { NO_BREAK_SPACE };
    format!("{text}{space}B/s")
}

/// Formats a ratio with its interval: `1.52× (1.48 to 1.60)`.
pub(crate) fn ratio(estimate: &Estimate) -> String {
    let interval = interval(estimate).map(|interval| format!(" ({interval})"));
    format!("{}{}", times(estimate.median), interval.unwrap_or_default())
}

/// Formats the interval of a ratio, such as `1.48 to 1.60`; `None` where there is none.
pub(crate) fn interval(estimate: &Estimate) -> Option<String> {
    let (low, high) = estimate.low.zip(estimate.high)?;
    Some(format!("{} to {}", factor(low), factor(high)))
}

/// Formats a ratio: `1.52×`.
pub(crate) fn times(ratio: f64) -> String {
    format!("{}×", factor(ratio))
}

/// Returns the name of a routine, and how its interrupt was brought unless that was by software.
pub(crate) fn routine(routine: Routine, trigger: Option<Trigger>) -> String {
    match trigger {
        Some(Trigger::Software) | None => routine.name().to_owned(),
        Some(other) => format!("{}, {}", routine.name(), other.name()),
    }
}

/// Formats a moment of RFC 3339 for people: `2026-11-21 20:15:03 UTC`. Other text stays as it is.
pub(crate) fn moment(text: &str) -> String {
    let parts = text.split_once('T').filter(|_| text.is_ascii() && text.ends_with('Z'));
    match parts {
        Some((date, time)) if time.len() >= 9 => format!("{date} {} UTC", &time[..8]),
        _ => text.to_owned(),
    }
}

/// Returns the sign that goes with a verdict's word.
pub(crate) const fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✓",
        Verdict::NotProven => "?",
        Verdict::Fail => "✗",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rates_and_ratios_read_well() {
        assert_eq!(bytes(1536), "1.5\u{a0}KiB");
        assert_eq!(bytes(48 << 10), "48\u{a0}KiB");
        assert_eq!(bytes(480 << 20), "480\u{a0}MiB");
        assert_eq!(rate(12.34e9), "12.3\u{a0}GB/s");
        assert_eq!(rate(7.0), "7.00\u{a0}B/s");
        let estimate = Estimate { median: 1.5, low: Some(1.25), high: Some(11.04), count: 9 };
        assert_eq!(ratio(&estimate), "1.50× (1.25 to 11.0)");
        assert_eq!(ratio(&Estimate { low: None, high: None, ..estimate }), "1.50×");
    }

    #[test]
    fn numbers_have_three_significant_digits_and_units_that_stay_with_them() {
        assert_eq!(nanos(23_449), "23.4\u{a0}µs");
        assert_eq!(set_nanos(1_000_000), "1\u{a0}ms");
        assert_eq!(set_nanos(20_800), "20.8\u{a0}µs");
        assert_eq!(set_nanos(100_000), "100\u{a0}µs");
        assert_eq!(nanos_f64(3.456), "3.46\u{a0}ns");
        assert_eq!(nanos_f64(45.67), "45.7\u{a0}ns");
        assert_eq!(nanos_f64(99.99), "100\u{a0}ns");
        assert_eq!(nanos_f64(0.0), "0\u{a0}ns");
        assert_eq!(nanos_f64(f64::NAN), NONE);
        assert_eq!(amount(1_234_567.0), "1.23\u{a0}M");
        assert_eq!(amount(999.9), "1.00\u{a0}k");
        assert_eq!(amount(12.34), "12.3");
        assert_eq!(amount(0.0), "0");
    }

    #[test]
    fn shares_and_counts_say_what_is_known() {
        assert_eq!(share(0.0), "0\u{a0}%");
        assert_eq!(share(0.005_666), "0.567\u{a0}%");
        assert_eq!(share(0.013_33), "1.33\u{a0}%");
        assert_eq!(share(0.5), "50.0\u{a0}%");
        assert_eq!(share(9.6e-8), "9.6e-6\u{a0}%");
        let beyond = Exceedance {
            cycle_ns: 1_000_000,
            limit_ns: 100_000,
            count: 1_200,
            surely: 1_200,
            share: 0.1,
            bound_95: 0.2,
        };
        assert_eq!(at_most_count(&beyond), "1\u{202f}200");
        assert_eq!(at_most_count(&Exceedance { surely: 7, ..beyond }), "7 to 1\u{202f}200");
    }

    #[test]
    fn moments_read_well() {
        assert_eq!(moment("2026-11-21T20:15:03.25Z"), "2026-11-21 20:15:03 UTC");
        assert_eq!(moment("yesterday"), "yesterday");
        assert_eq!(moment("T\u{fc}Z"), "T\u{fc}Z");
    }

    #[test]
    fn a_bound_is_never_written_as_a_number() {
        assert_eq!(quantile(Quantile::AtLeast { at_least: 400_000 }), "≥\u{a0}400\u{a0}µs");
    }

    #[test]
    fn probabilities_are_rounded_to_the_cautious_side() {
        assert_eq!(one_in(2.9957e-5), "1\u{a0}in\u{a0}33\u{202f}300");
        assert_eq!(one_in(1e-5), "1\u{a0}in\u{a0}100\u{202f}000");
        assert_eq!(one_in(1.0), "1\u{a0}in\u{a0}1");
        assert_eq!(one_in(0.0), NONE);
    }
}
