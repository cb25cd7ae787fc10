//! Durations and instants in whole nanoseconds.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use core::str::FromStr;

use crate::quantity::{self, UnitError, Units};

/// A duration, or an instant counted from the monotonic clock's origin, in nanoseconds.
///
/// The range is 0 to 584 years. There are no negative durations: where something may come too
/// early, [`checked_sub`](Self::checked_sub) says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

const UNITS: Units = Units {
    table: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ],
    spellings: "ns, us, ms, s, min, h, d",
};

impl Nanos {
    /// A duration of 0 ns.
    pub const ZERO: Self = Self(0);
    /// The longest representable duration.
    pub const MAX: Self = Self(u64::MAX);

    /// A duration of `nanos` nanoseconds.
    #[inline]
    pub const fn new(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A duration of `micros` microseconds; longer than 584 years saturates.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A duration of `millis` milliseconds; longer than 584 years saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A duration of `seconds` seconds; longer than 584 years saturates.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// The number of nanoseconds.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of microseconds, with a fraction.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The number of seconds, with a fraction.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self − other`, or `None` where `other` is later.
    #[inline]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }

    /// `self + other`, or `None` beyond the range.
    #[inline]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }

    /// `self − other`, or zero where `other` is later.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Counts how often `other` fits into `self`; zero for a zero `other`.
    #[inline]
    pub const fn whole_times(self, other: Self) -> u64 {
        match self.0.checked_div(other.0) {
            Some(times) => times,
            None => 0,
        }
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Div<u64> for Nanos {
    type Output = Self;
    #[inline]
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(durations: I) -> Self {
        durations.fold(Self::ZERO, Add::add)
    }
}

/// Three significant digits and the unit that fits: `940 ns`, `23.4 µs`, `1.00 ms`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STEPS: [(u64, &str); 4] =
            [(1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")];
        const MINUTE: u64 = 60_000_000_000;
        const LONG: [(u64, &str); 3] = [(60, "min"), (3_600, "h"), (86_400, "d")];
        if self.0 < 2 * MINUTE {
            return quantity::write_rounded(f, self.0, &STEPS);
        }
        let seconds = self.0 / 1_000_000_000;
        let (size, unit) = match seconds {
            s if s < 7_200 => LONG[0],
            s if s < 172_800 => LONG[1],
            _ => LONG[2],
        };
        let scaled = seconds as f64 / size as f64;
        let decimals = usize::from(!seconds.is_multiple_of(size));
        quantity::write_text(f, format_args!("{scaled:.decimals$} {unit}"))
    }
}

impl FromStr for Nanos {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        quantity::parse(text, &UNITS).map(Self)
    }
}

#[cfg(feature = "serde")]
crate::size::serde_as_text!(Nanos, "a duration with its unit, such as `1 ms`", |nanos: &Nanos| {
    // The exact value: rounding for people is Display's business.
    let (size, unit) = UNITS
        .table
        .iter()
        .rev()
        .find(|(_, size)| nanos.0 != 0 && nanos.0.is_multiple_of(*size))
        .map_or((1, "ns"), |(unit, size)| (*size, *unit));
    (nanos.0 / size, unit)
});

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_exactly() {
        for (text, nanos) in [
            ("1 ms", 1_000_000),
            ("800us", 800_000),
            ("0.1 ms", 100_000),
            ("1.5 s", 1_500_000_000),
            ("8 h", 28_800_000_000_000),
            ("2 µs", 2_000),
            ("0 ns", 0),
        ] {
            assert_eq!(text.parse(), Ok(Nanos::new(nanos)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_reason() {
        let cases = [
            ("", UnitError::Empty),
            ("-1 ms", UnitError::NotANumber),
            ("fast", UnitError::NotANumber),
            ("1..5 ms", UnitError::NotANumber),
            ("1. ms", UnitError::NotANumber),
            ("5", UnitError::NoUnit(UNITS.spellings)),
            ("5 parsec", UnitError::UnknownUnit(UNITS.spellings)),
            ("0.5 ns", UnitError::TooFine),
            ("999999999999 d", UnitError::TooLarge),
            ("9999999999999999999999 s", UnitError::TooLarge),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Nanos>(), Err(expected), "{text}");
        }
    }

    #[test]
    fn durations_are_written_with_three_significant_digits() {
        for (nanos, text) in [
            (0, "0 ns"),
            (940, "940 ns"),
            (1_000, "1.00 µs"),
            (23_449, "23.4 µs"),
            (999_499, "999 µs"),
            (999_999, "1.00 ms"),
            (40_000_000, "40.0 ms"),
            (3_000_000_000, "3.00 s"),
            (180_000_000_000, "3 min"),
            (28_800_000_000_000, "8 h"),
        ] {
            assert_eq!(Nanos::new(nanos).to_string(), text);
        }
        assert_eq!(format!("{:>9}", Nanos::new(940)), "   940 ns");
    }

    proptest! {
        #[test]
        fn whole_nanoseconds_survive_writing_and_reading(nanos in 0..1_u64 << 59) {
            prop_assert_eq!(format!("{nanos} ns").parse::<Nanos>(), Ok(Nanos::new(nanos)));
        }

        #[test]
        fn reading_never_panics(text in ".{0,40}") {
            let _ = text.parse::<Nanos>();
        }
    }
}
