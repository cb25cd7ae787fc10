//! Counts the restarts after faults, and says how long to wait for the next one.

use std::time::{Duration, Instant};

use quietcore_site::{RESTART_QUIET, Restart};

/// The restarts of a partition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restarts {
    /// Number of all restarts that were due.
    pub(super) count: u32,
    in_a_row: u32,
    last_fault: Option<Instant>,
}

impl Restarts {
    /// Counts a restart and returns the wait before it.
    ///
    /// # Errors
    /// The number of those in a row, if there are no more.
    pub(super) fn next(&mut self, allowed: &Restart, now: Instant) -> Result<Duration, u32> {
        let quiet = Duration::from_nanos(RESTART_QUIET.get());
        if self.last_fault.is_some_and(|last| now.saturating_duration_since(last) > quiet) {
            self.in_a_row = 0;
        }
        self.last_fault = Some(now);
        let wait = allowed.wait_after(self.in_a_row).ok_or(self.in_a_row)?;
        self.in_a_row += 1;
        self.count += 1;
        Ok(Duration::from_nanos(wait.get()))
    }

    /// Takes back one that was counted and is not needed any more.
    pub(super) fn withdraw(&mut self) {
        self.count = self.count.saturating_sub(1);
        self.in_a_row = self.in_a_row.saturating_sub(1);
    }

    /// Begins to count those in a row anew, as a client has asked for a start.
    pub(super) fn begin_anew(&mut self) {
        self.in_a_row = 0;
    }
}

#[cfg(test)]
mod tests {
    use quietcore_units::Nanos;

    use super::*;

    #[test]
    fn there_are_no_more_than_allowed_in_a_row() {
        let mut allowed = Restart::default();
        (allowed.limit, allowed.wait) = (2, Nanos::from_millis(100));
        let (mut restarts, now) = (Restarts::default(), Instant::now());
        assert_eq!(restarts.next(&allowed, now), Ok(Duration::from_millis(100)));
        assert_eq!(restarts.next(&allowed, now), Ok(Duration::from_millis(200)));
        assert_eq!(restarts.next(&allowed, now), Err(2));
        restarts.withdraw();
        assert!(restarts.next(&allowed, now).is_ok(), "the one before was not needed");
        let later = now + Duration::from_nanos(RESTART_QUIET.get()) + Duration::from_secs(1);
        assert_eq!(restarts.next(&allowed, later), Ok(Duration::from_millis(100)), "all is calm");
        assert_eq!(restarts.count, 3);
    }
}
