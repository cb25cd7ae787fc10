//! When: the wall clock, beside a clock that nobody sets.

use std::fs;

use jiff::{SignedDuration, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The most by which the two clocks may differ between two entries of one boot; beyond it the wall
/// clock was set.
const APART_MAX: SignedDuration = SignedDuration::from_secs(2);

/// The instant of an entry by two clocks. Within one boot both go forward alike, so that a wall
/// clock that was set is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instant {
    /// By the wall clock, UTC, to the microsecond.
    #[serde(with = "wall_clock")]
    pub at: Timestamp,
    /// Name of the boot, from the kernel; empty where it can't be read.
    pub boot: String,
    /// Time since that boot in microseconds, with the time in which the machine slept.
    pub since_boot_us: u64,
}

impl Instant {
    /// Reads both clocks of this machine; without a name of the boot where it can't be read.
    pub fn now() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let since = clock_gettime(ClockId::Boottime);
        let us = since.tv_sec.saturating_mul(1_000_000).saturating_add(since.tv_nsec / 1000);
        let now = Timestamp::now();
        // Nanoseconds would be more than the other clock is told in.
        let at = Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now);
        Self {
            at,
            boot: boot.trim().to_owned(),
            since_boot_us: u64::try_from(us).unwrap_or_default(),
        }
    }

    /// Returns by how much the wall clock was set forward (or backward, if negative) since an
    /// earlier instant of the same boot; `None` if it was not, and across boots, where nobody
    /// knows.
    pub fn set_by(&self, earlier: &Self) -> Option<SignedDuration> {
        if self.boot.is_empty() || self.boot != earlier.boot {
            return None;
        }
        let us = i64::try_from(self.since_boot_us.abs_diff(earlier.since_boot_us)).ok()?;
        let us = if self.since_boot_us < earlier.since_boot_us { -us } else { us };
        let apart = self.at.duration_since(earlier.at) - SignedDuration::from_micros(us);
        (apart.abs() > APART_MAX).then_some(apart)
    }
}

/// The wall clock in RFC 3339.
mod wall_clock {
    use super::Timestamp;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(at)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Timestamp, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_is_recognised_within_a_boot() {
        let instant = |at: i64, since: u64, boot: &str| Instant {
            at: Timestamp::from_second(at).unwrap(),
            boot: boot.to_owned(),
            since_boot_us: since * 1_000_000,
        };
        let first = instant(1_000_000, 50, "a");
        assert_eq!(instant(1_000_600, 650, "a").set_by(&first), None);
        assert_eq!(instant(1_000_602, 650, "a").set_by(&first), None, "clocks drift a little");
        let hour = SignedDuration::from_hours(1);
        assert_eq!(instant(1_004_200, 650, "a").set_by(&first), Some(hour));
        assert_eq!(instant(997_000, 650, "a").set_by(&first), Some(-hour));
        assert_eq!(instant(997_000, 650, "b").set_by(&first), None);
    }

    #[test]
    fn the_clocks_of_this_machine_agree() {
        let first = Instant::now();
        let second = Instant::now();
        assert!(second.since_boot_us >= first.since_boot_us && !first.boot.is_empty());
        let text = serde_json::to_value(&first).unwrap();
        assert_eq!(serde_json::from_value::<Instant>(text).unwrap(), first);
    }
}
