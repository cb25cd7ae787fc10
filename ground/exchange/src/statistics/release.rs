//! One release of a task as it was seen, and when a release is late.

use quietcore_units::Nanos;

/// A release, as the thread that waited for it saw it.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The instant at which it was due.
    pub due: Nanos,
    /// The instant at which the work started.
    pub started: Nanos,
    /// The time from the instant at which the thread asked to be woken to the one at which it ran.
    pub wakeup_latency: Nanos,
    /// The time before `due` at which the thread asked to be woken.
    pub margin: Nanos,
    /// The time that the thread spun until `due`.
    pub spin: Nanos,
    /// The CPU on which the thread ran.
    pub cpu: u32,
}

impl Release {
    /// Makes a release for which no thread waited: nothing was slept for and nothing spun.
    pub const fn unawaited(due: Nanos, started: Nanos, cpu: u32) -> Self {
        let none = Nanos::ZERO;
        Self { due, started, wakeup_latency: none, margin: none, spin: none, cpu }
    }

    /// Returns the time from `due` to `started`; `None` when the work started too early.
    #[inline]
    pub fn latency(&self) -> Option<Nanos> {
        self.started.checked_sub(self.due)
    }
}

/// The release latency above which a release is late, and is to be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateLimit(Nanos);

impl LateLimit {
    /// Makes a limit; without one no release is late.
    pub const fn new(limit: Option<Nanos>) -> Self {
        match limit {
            Some(limit) => Self(limit),
            None => Self(Nanos::MAX),
        }
    }

    /// Returns whether a release is late.
    #[inline]
    pub fn is_exceeded(&self, release: &Release) -> bool {
        release.started.saturating_sub(release.due) > self.0
    }

    /// Counts the late ones among `count` releases that were left out, each a `period` after the
    /// one before it and the last of them a period ago.
    pub fn late_of_skipped(&self, period: Nanos, count: u64) -> u64 {
        count.saturating_sub(self.0.whole_times(period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn release(due: u64, started: u64) -> Release {
        Release::unawaited(Nanos::from_micros(due), Nanos::from_micros(started), 0)
    }

    #[test]
    fn a_release_is_late_beyond_its_limit_and_never_without_one() {
        let limit = LateLimit::new(Some(Nanos::from_micros(50)));
        assert!(!limit.is_exceeded(&release(1000, 1050)));
        assert!(limit.is_exceeded(&release(1000, 1051)));
        assert!(!limit.is_exceeded(&release(1000, 900)), "it started too early");
        assert!(!LateLimit::new(None).is_exceeded(&release(0, 1 << 40)));
    }

    #[test]
    fn of_skipped_releases_the_first_ones_are_late() {
        // 60, 40 and 20 µs late.
        let limit = LateLimit::new(Some(Nanos::from_micros(50)));
        let period = Nanos::from_micros(20);
        assert_eq!(limit.late_of_skipped(period, 3), 1);
        assert_eq!(limit.late_of_skipped(period, 2), 0);
        assert_eq!(LateLimit::new(None).late_of_skipped(period, 1_000_000), 0);
    }

    #[test]
    fn a_release_has_a_latency_unless_it_was_early() {
        assert_eq!(release(10, 13).latency(), Some(Nanos::from_micros(3)));
        assert_eq!(release(13, 10).latency(), None);
    }
}
