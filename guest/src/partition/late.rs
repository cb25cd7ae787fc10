//! Late releases, told to a host that asks for them.
//!
//! A release that is not late costs a comparison. One that is late leaves the guest once, after its
//! job is done: the host switches its trace off then, and explains where the time went.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_boot::LateReleases;
use quietcore_exchange::{LateLimit, Release};
use quietcore_scan::shared::TASK_LIMIT;
use quietcore_units::Nanos;

/// Counts the late releases of each task, and holds the limit.
#[derive(Debug)]
pub(crate) struct Late {
    limit: LateLimit,
    counts: [AtomicU64; TASK_LIMIT],
}

impl Late {
    /// Releases later than this are told; none where there is no limit.
    pub(crate) fn new(limit: Option<Nanos>) -> Self {
        Self { limit: LateLimit::new(limit), counts: [const { AtomicU64::new(0) }; TASK_LIMIT] }
    }

    /// Returns whether a release is late.
    #[inline]
    pub(crate) fn is_late(&self, release: &Release) -> bool {
        self.limit.is_exceeded(release)
    }

    /// Counts a late release of a task, the one that has this number; returns what is to be told.
    pub(crate) fn one(&self, task: usize, number: u64, release: &Release) -> LateReleases {
        let (due_ns, started_ns) = (release.due.get(), release.started.get());
        LateReleases { release: number, due_ns, started_ns, ..self.count(task, 1) }
    }

    /// So many releases of a task passed unseen, the last of them a period ago: what there is to be
    /// told of those that were late.
    pub(crate) fn passed(&self, task: usize, period: Nanos, count: u64) -> Option<LateReleases> {
        let late = self.limit.late_of_skipped(period, count);
        (late > 0).then(|| self.count(task, late))
    }

    fn count(&self, task: usize, more: u64) -> LateReleases {
        // One processor runs all tasks, and each counts its own.
        let count = self.counts.get(task).map_or(more, |it| it.fetch_add(more, Relaxed) + more);
        LateReleases { task: task as u64, count, ..LateReleases::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_releases_are_counted_and_the_others_are_none() {
        let late = Late::new(Some(Nanos::from_micros(50)));
        let at = Nanos::from_micros;
        let release = |due, started| Release::unawaited(at(due), at(started), 0);
        assert!(!late.is_late(&release(1000, 1050)) && late.is_late(&release(1000, 1051)));
        let told = late.one(1, 7, &release(1000, 1100));
        let expected = LateReleases {
            task: 1,
            count: 1,
            release: 7,
            due_ns: 1_000_000,
            started_ns: 1_100_000,
        };
        assert_eq!(told, expected);
        // 20, 40 and at last 60 µs late.
        let told = late.passed(1, at(20), 3);
        assert_eq!(told, Some(LateReleases { task: 1, count: 2, ..LateReleases::default() }));
        assert_eq!(late.passed(1, at(20), 2), None);
        assert_eq!(late.one(0, 8, &release(0, 100)).count, 1);
    }

    #[test]
    fn without_a_limit_nothing_is_late() {
        let late = Late::new(None);
        assert!(!late.is_late(&Release::unawaited(Nanos::ZERO, Nanos::MAX, 0)));
        assert_eq!(late.passed(0, Nanos::from_micros(1), 1_000_000), None);
    }
}
