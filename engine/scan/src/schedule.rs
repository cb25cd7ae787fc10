//! Which release comes next when a job took longer than it should.
//!
//! ```text
//! due      0     1     2     3          one job of 2.4 periods
//!          ├─────┼─────┼─────┼
//! job      ██████████████
//! skip                       █ 3        releases 1 and 2 are skipped, and counted
//! catch-up               █ 1 █ 2 █ 3    all are run, one after the other
//! stop                       █ 3        as with skip, and the partition is in fault
//! ```

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// What happens to releases that passed while a job was still running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overrun {
    /// They are left out, and counted as missed cycles.
    #[default]
    Skip,
    /// They are run late, without a pause, until the task is on time again.
    CatchUp,
    /// The partition is in fault. They are left out as with [`Overrun::Skip`], so that the task
    /// goes on where the fault ends.
    Stop,
}

/// The release after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// When it is due.
    pub due: Nanos,
    /// Releases between the job's own and this one, which are not run.
    pub skipped: u64,
}

impl Overrun {
    /// The release after the one that was due at `due` and whose job finished at `finished`.
    /// `period` is more than zero.
    pub fn next(self, due: Nanos, period: Nanos, finished: Nanos) -> Next {
        let following = due + period;
        if finished <= following {
            return Next { due: following, skipped: 0 };
        }
        match self {
            Self::CatchUp => Next { due: following, skipped: 0 },
            Self::Skip | Self::Stop => {
                let late = finished.saturating_sub(following);
                let whole = late.whole_times(period);
                let skipped = if period * whole == late { whole } else { whole + 1 };
                Next { due: following + period * skipped, skipped }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Nanos = Nanos::from_millis(1);

    fn next(policy: Overrun, finished_micros: u64) -> Next {
        policy.next(Nanos::from_millis(10), PERIOD, Nanos::from_micros(finished_micros))
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

    proptest! {
        #[test]
        fn a_skipping_task_is_released_on_its_grid_and_never_in_the_past(
            due in 0_u64..1 << 50, took in 0_u64..1 << 40, period in 1_u64..1 << 34,
        ) {
            let (due, period) = (Nanos::new(due), Nanos::new(period));
            let finished = due + Nanos::new(took);
            let next = Overrun::Skip.next(due, period, finished);
            prop_assert!(next.due >= finished);
            prop_assert_eq!(next.due, due + period * (next.skipped + 1));
            prop_assert!(next.skipped == 0 || next.due.saturating_sub(finished) < period);
        }
    }
}
