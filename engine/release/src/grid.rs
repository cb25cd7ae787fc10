//! The grid of a cyclic task's releases: which one comes next, which ones are missed.
//!
//! Releases that pass while a job is still running are left out or run late:
//!
//! ```text
//! due      0     1     2     3          one job of 2.4 periods
//!          ├─────┼─────┼─────┼
//! job      ██████████████
//! skip                       █ 3        releases 1 and 2 are skipped, and counted
//! catch-up               █ 1 █ 2 █ 3    all are run, one after the other
//! stop                       █ 3        as with skip, and the partition is in fault
//! ```

use quietcore_units::{Nanos, Overrun};

/// The release after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// When it is due.
    pub due: Nanos,
    /// Releases between the job's own and this one, which are not run.
    pub skipped: u64,
}

impl Next {
    /// The release after the one that was due at `due` and whose job finished at `finished`.
    /// `period` is more than zero. After [`Overrun::Stop`] releases are left out as with
    /// [`Overrun::Skip`], so that the task goes on where the fault ends.
    pub fn after(due: Nanos, period: Nanos, finished: Nanos, overrun: Overrun) -> Self {
        let following = due + period;
        if finished <= following {
            return Self { due: following, skipped: 0 };
        }
        match overrun {
            Overrun::CatchUp => Self { due: following, skipped: 0 },
            Overrun::Skip | Overrun::Stop => {
                let late = finished.saturating_sub(following);
                let whole = late.whole_times(period);
                let skipped = if period * whole == late { whole } else { whole + 1 };
                Self { due: following + period * skipped, skipped }
            }
        }
    }
}

/// Returns the first release after both `due` and `now`, on the grid of `due`. `period` is more
/// than zero.
pub fn first_after(due: Nanos, period: Nanos, now: Nanos) -> Nanos {
    due + period * (now.saturating_sub(due).whole_times(period) + 1)
}

/// Counts the releases from `due` on that are late by a period or more at `now`. `period` is more
/// than zero.
pub fn overdue(due: Nanos, period: Nanos, now: Nanos) -> u64 {
    now.saturating_sub(due).whole_times(period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Nanos = Nanos::from_millis(1);

    fn next(policy: Overrun, finished_micros: u64) -> Next {
        Next::after(Nanos::from_millis(10), PERIOD, Nanos::from_micros(finished_micros), policy)
    }

    #[test]
    fn a_job_in_time_is_followed_by_the_next_release() {
        for policy in [Overrun::Skip, Overrun::CatchUp, Overrun::Stop] {
            let following = Next { due: Nanos::from_millis(11), skipped: 0 };
            assert_eq!(next(policy, 10_300), following);
            assert_eq!(next(policy, 11_000), following, "finished with the release");
        }
    }

    #[test]
    fn a_job_of_more_than_two_periods_skips_two_releases() {
        let skipped = Next { due: Nanos::from_millis(13), skipped: 2 };
        assert_eq!(next(Overrun::Skip, 12_400), skipped);
        assert_eq!(next(Overrun::Skip, 13_000), skipped, "finished with the release");
        let following = Next { due: Nanos::from_millis(11), skipped: 0 };
        assert_eq!(next(Overrun::CatchUp, 12_400), following);
        assert_eq!(next(Overrun::Stop, 12_400), skipped, "it goes on when the fault ends");
    }

    #[test]
    fn the_first_release_after_an_instant_is_on_the_grid() {
        let at = Nanos::from_micros;
        assert_eq!(first_after(at(10_000), PERIOD, at(9_000)), at(11_000));
        assert_eq!(first_after(at(10_000), PERIOD, at(10_999)), at(11_000));
        assert_eq!(first_after(at(10_000), PERIOD, at(11_000)), at(12_000));
    }

    #[test]
    fn a_release_is_overdue_when_the_next_one_is_due() {
        let at = Nanos::from_micros;
        assert_eq!(overdue(at(10_000), PERIOD, at(9_000)), 0);
        assert_eq!(overdue(at(10_000), PERIOD, at(10_999)), 0);
        assert_eq!(overdue(at(10_000), PERIOD, at(11_000)), 1);
        assert_eq!(overdue(at(10_000), PERIOD, at(50_100)), 40);
    }

    proptest! {
        #[test]
        fn a_skipping_task_is_released_on_its_grid_and_never_in_the_past(
            due in 0_u64..1 << 50, took in 0_u64..1 << 40, period in 1_u64..1 << 34,
        ) {
            let (due, period) = (Nanos::new(due), Nanos::new(period));
            let finished = due + Nanos::new(took);
            let next = Next::after(due, period, finished, Overrun::Skip);
            prop_assert!(next.due >= finished);
            prop_assert_eq!(next.due, due + period * (next.skipped + 1));
            prop_assert!(next.skipped == 0 || next.due.saturating_sub(finished) < period);
        }
    }
}
