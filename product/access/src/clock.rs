//! Time that does not go back while a daemon lives.
//!
//! A wall clock may be set back, and a credential that has expired would hold again. So time here
//! is the latest of all that were seen and of what must have passed since the begin. A wall clock
//! that was wrongly ahead lets credentials expire early, until the daemon is started again: the
//! safe side.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

/// The time of one daemon's life.
#[derive(Debug)]
pub(crate) struct ForwardClock {
    begun: Instant,
    latest: Mutex<Latest>,
}

#[derive(Debug)]
struct Latest {
    begun_at: Timestamp,
    seen: Timestamp,
}

impl Latest {
    /// Takes note of the wall clock, `elapsed` after the begin, and returns the time.
    fn look(&mut self, wall: Timestamp, elapsed: SignedDuration) -> Timestamp {
        let passed = self.begun_at.checked_add(elapsed).unwrap_or(Timestamp::MAX);
        self.seen = self.seen.max(wall).max(passed);
        self.seen
    }
}

impl ForwardClock {
    /// Begins with the wall clock as it is.
    pub(crate) fn begin() -> Self {
        let now = Timestamp::now();
        Self { begun: Instant::now(), latest: Mutex::new(Latest { begun_at: now, seen: now }) }
    }

    /// Returns the time, which is never before one that was returned.
    pub(crate) fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.begun.elapsed()).unwrap_or(SignedDuration::MAX);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.look(Timestamp::now(), elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_that_jumps_back_takes_no_time_with_it() {
        let at = |second| Timestamp::from_second(second).expect("a time of this century");
        let mut latest = Latest { begun_at: at(1000), seen: at(1000) };
        assert_eq!(latest.look(at(1010), SignedDuration::from_secs(10)), at(1010));
        assert_eq!(latest.look(at(2000), SignedDuration::from_secs(11)), at(2000));
        assert_eq!(latest.look(at(500), SignedDuration::from_secs(12)), at(2000));
        assert_eq!(latest.look(at(500), SignedDuration::from_secs(1500)), at(2500));
    }
}
