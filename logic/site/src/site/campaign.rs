//! The campaign: which profiles, for how long, and what a PASS must exclude.

mod probe;

use std::fmt;

use quietcore_record::statistics::cycles_needed;
use quietcore_units::Nanos;
use serde::Serialize;

use crate::site::{Partition, Profile};
use crate::words::exact;

pub use probe::ProbeName;

/// A profile is measured at least this long.
pub const DURATION_MIN: Nanos = Nanos::from_millis(100);
/// A profile is measured at most this long: 7 days.
pub const DURATION_MAX: Nanos = Nanos::from_secs(7 * 86_400);
/// A profile is measured for at most this many cycles.
pub const CYCLES_MAX: u64 = 100_000_000_000;
/// All profiles together take at most this long: 31 days.
pub const CAMPAIGN_MAX: Nanos = Nanos::from_secs(31 * 86_400);

/// The profiles that are measured, the length of the measurement, and what a PASS must exclude.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Campaign {
    /// The profiles to run, in this order; never empty.
    pub profiles: Vec<Profile>,
    /// `true` if each partition is measured alone, one after the other, and not all at the same
    /// time.
    pub alone: bool,
    /// The probes that are run after them on each partition, each once.
    pub probes: Vec<ProbeName>,
    /// Length of the measurement of each of them.
    pub length: Length,
    /// Time that is run before each measurement and not recorded.
    pub warm_up: Nanos,
    /// The probability per cycle of exceeding a limit that a PASS must exclude with 95 %
    /// confidence; 1e-9 to 0.1.
    pub exceedance: f64,
    /// Releases later than this are explained, 1 µs to 10 s; `None` where none are.
    pub explain: Option<Nanos>,
    /// Folder with the image of neighbours that are Linux guests, as written; `None` leaves it to
    /// the partitions.
    pub neighbour_image: Option<String>,
}

impl Campaign {
    /// The cycles without an exceedance that exclude [`exceedance`](Self::exceedance).
    pub fn cycles_needed(&self) -> u64 {
        cycles_needed(self.exceedance)
    }

    /// Returns about how long a probe measures a partition.
    pub fn length_of(&self, probe: ProbeName, partition: &Partition) -> Nanos {
        self.length.duration(partition.program.period).max(probe.shortest())
    }

    /// Returns the same with its warm-up.
    pub(crate) fn time_of(&self, probe: ProbeName, partition: &Partition) -> Nanos {
        let warm_up = if probe.warms_up() { self.warm_up } else { Nanos::ZERO };
        Nanos::new(self.length_of(probe, partition).get().saturating_add(warm_up.get()))
    }
}

/// Length of the measurement of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// This long, [`DURATION_MIN`] to [`DURATION_MAX`].
    Duration(Nanos),
    /// This many cycles of every partition, 1 to [`CYCLES_MAX`].
    Cycles(u64),
}

impl Length {
    /// The number of releases at this period.
    pub const fn cycles(self, period: Nanos) -> u64 {
        match self {
            Self::Duration(duration) => duration.whole_times(period),
            Self::Cycles(cycles) => cycles,
        }
    }

    /// Returns the time that it takes at this period; beyond 584 years it saturates.
    pub const fn duration(self, period: Nanos) -> Nanos {
        match self {
            Self::Duration(duration) => duration,
            Self::Cycles(cycles) => Nanos::new(cycles.saturating_mul(period.get())),
        }
    }

    /// Returns `true` if it is within the limits.
    pub(crate) fn is_allowed(self) -> bool {
        match self {
            Self::Duration(duration) => (DURATION_MIN..=DURATION_MAX).contains(&duration),
            Self::Cycles(cycles) => (1..=CYCLES_MAX).contains(&cycles),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(duration) => f.write_str(&exact(*duration)),
            Self::Cycles(1) => f.write_str("1 cycle"),
            Self::Cycles(cycles) => write!(f, "{cycles} cycles"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_divided_by_the_exceedance_is_needed() {
        assert_eq!(cycles_needed(1e-4), 29_956);
        assert_eq!(cycles_needed(1e-6), 2_995_731);
        assert_eq!(cycles_needed(1e-9), 2_995_732_273);
        assert_eq!(cycles_needed(0.1), 29);
    }

    #[test]
    fn length_is_duration_or_cycles() {
        let period = Nanos::from_millis(1);
        assert_eq!(Length::Duration(Nanos::from_secs(2)).cycles(period), 2_000);
        assert_eq!(Length::Cycles(500).duration(period), Nanos::from_millis(500));
        assert_eq!(Length::Cycles(u64::MAX).duration(period), Nanos::MAX);
        assert!(!Length::Cycles(0).is_allowed());
    }
}
