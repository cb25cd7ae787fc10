//! Dates as mail writes them, `Sat, 21 Nov 2026 20:07:25 +0000`, made into RFC 3339 in UTC.

use std::fmt;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const DAY: i64 = 86_400;

/// Seconds since 1970-01-01, UTC, of the years 1970 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) struct Instant(i64);

impl Instant {
    /// Reads a date; `None` where it isn't one.
    pub(in crate::import) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [_weekday, day, month, year, time, zone] = words.as_slice() else { return None };
        let within = |text: &str, range: std::ops::RangeInclusive<i64>| {
            text.parse::<i64>().ok().filter(|value| range.contains(value))
        };
        let month = MONTHS.iter().position(|name| name == month)? as i64 + 1;
        let days = days_from_civil(within(year, 1970..=9999)?, month, within(day, 1..=31)?);
        let mut parts = time.split(':');
        let hour = within(parts.next()?, 0..=23)?;
        let minute = within(parts.next()?, 0..=59)?;
        let second = within(parts.next()?, 0..=60)?;
        let zone = within(zone, -2_400..=2_400)?;
        let offset = (zone / 100) * 3_600 + (zone % 100) * 60;
        let seconds = days * DAY + hour * 3_600 + minute * 60 + second - offset;
        (seconds >= 0).then_some(Self(seconds))
    }

    /// Nanoseconds from an earlier instant; 0 from a later one.
    pub(in crate::import) fn nanos_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0 - earlier.0).unwrap_or(0).saturating_mul(1_000_000_000)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0.div_euclid(DAY));
        let second = self.0.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Days since 1970-01-01. Years begin in March here, so that a leap day ends one; 400 of them have
/// always the same number of days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_become_utc() {
        let utc = |text: &str| Instant::parse(text).map(|instant| instant.to_string());
        assert_eq!(utc("Sat, 21 Nov 2026 20:07:25 +0000").as_deref(), Some("2026-11-21T20:07:25Z"));
        assert_eq!(utc("Thu, 29 Feb 2024 00:30:00 +0130").as_deref(), Some("2024-02-28T23:00:00Z"));
        for wrong in ["", "yesterday", "Sat, 21 Foo 2026 20:07:25 +0000", "a b c d e f"] {
            assert_eq!(utc(wrong), None);
        }
        let start = Instant::parse("Sat, 21 Nov 2026 20:07:25 +0000").unwrap();
        let end = Instant::parse("Sat, 21 Nov 2026 22:07:26 +0200").unwrap();
        assert_eq!(end.nanos_since(start), 1_000_000_000);
        assert_eq!(start.nanos_since(end), 0);
    }

    proptest! {
        #[test]
        fn a_date_survives_both_ways(days in 0_i64..2_900_000) {
            let (year, month, day) = civil_from_days(days);
            prop_assert_eq!(days_from_civil(year, month, day), days);
        }
    }
}
