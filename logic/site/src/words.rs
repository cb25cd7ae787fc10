//! Words for texts that people read: remedies, lists, quotations, exact quantities.

use quietcore_units::{BitCount, BitRate, ByteSize, Nanos, Scheduling, Wake};
use quietcore_wording::meant;
pub(crate) use quietcore_wording::nearest;

/// Characters of a value that an error text shows.
const QUOTED_CHARS_MAX: usize = 60;

/// Returns the remedy for `word`: the nearest of the candidates, or all of them.
pub(crate) fn instead<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str> + Clone,
) -> String {
    meant(word, candidates.clone(), format!("write one of {}", list(candidates)))
}

/// The words in backticks with commas between them.
pub(crate) fn list<'c>(words: impl IntoIterator<Item = &'c str>) -> String {
    let words: Vec<_> = words.into_iter().map(quoted).collect();
    words.join(", ")
}

/// A text from the file in backticks, shortened and on one line.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// A text from the file, shortened and on one line.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(QUOTED_CHARS_MAX)
        .flat_map(|c| {
            let escaped: Box<dyn Iterator<Item = char>> = if c.is_control() {
                Box::new(c.escape_default())
            } else {
                Box::new(std::iter::once(c))
            };
            escaped
        })
        .collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// A policy with its parameters, without rounding.
pub(crate) fn policy(scheduling: Scheduling) -> String {
    match scheduling {
        Scheduling::Deadline { run_time, deadline, period } => {
            let [run_time, deadline, period] = [run_time, deadline, period].map(exact);
            format!("SCHED_DEADLINE {run_time} within {deadline} every {period}")
        }
        other => other.policy().to_string(),
    }
}

pub(crate) fn early_wake_words(wake: Wake) -> String {
    match wake {
        Wake::Sleep => "no early wake".to_owned(),
        Wake::Spin => "always awake".to_owned(),
        Wake::Early { margin } => format!("woken {} early", exact(margin)),
        Wake::Adaptive { share_percent } => {
            format!("woken early by a learned margin of at most {share_percent} % of the CPU")
        }
    }
}

/// A rate without rounding.
pub(crate) fn exact_rate(rate: BitRate) -> String {
    format!("{}/s", exact_bits(BitCount::new(rate.get())))
}

/// A number of bits without rounding.
pub(crate) fn exact_bits(bits: BitCount) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000, "Gbit"), (1_000_000, "Mbit"), (1_000, "kbit"), (1, "bit")];
    whole(bits.get(), &UNITS)
}

/// A duration without rounding, so that two that differ also look different.
pub(crate) fn exact(duration: Nanos) -> String {
    const UNITS: [(u64, &str); 7] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
        (1, "ns"),
    ];
    whole(duration.get(), &UNITS)
}

/// An amount of memory without rounding, in the unit that gives the smallest number.
pub(crate) fn exact_size(size: ByteSize) -> String {
    const UNITS: [(u64, &str); 8] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "kB"),
        (1, "B"),
    ];
    whole(size.get(), &UNITS)
}

/// The value in the largest of the units (descending, the last one 1) that divides it.
fn whole(value: u64, units: &[(u64, &str)]) -> String {
    let fitting = units.iter().find(|(size, _)| value != 0 && value.is_multiple_of(*size));
    let (size, unit) = fitting.or(units.last()).copied().unwrap_or((1, ""));
    format!("{} {unit}", value / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_asked_or_all_words_are_listed() {
        assert_eq!(instead("memroy", ["cpus", "memory"]), "did you mean `memory`?");
        assert_eq!(instead("xyzzy", ["a", "b"]), "write one of `a`, `b`");
    }

    #[test]
    fn quantities_are_exact_in_the_unit_that_fits() {
        assert_eq!(exact(Nanos::from_millis(1)), "1 ms");
        assert_eq!(exact(Nanos::from_micros(1_001)), "1001 µs");
        assert_eq!(exact(Nanos::from_secs(5_400)), "90 min");
        assert_eq!(exact(Nanos::ZERO), "0 ns");
        assert_eq!(exact_rate(BitRate::new(1_500_000)), "1500 kbit/s");
        assert_eq!(exact_bits(BitCount::new(12_112)), "12112 bit");
        assert_eq!(exact_size(ByteSize::new(64_000_000)), "64 MB");
        assert_eq!(exact_size(ByteSize::new(64 << 20)), "64 MiB");
    }

    #[test]
    fn a_quoted_value_stays_short_and_on_one_line() {
        assert_eq!(quoted("1 ms"), "`1 ms`");
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), 63);
    }
}
