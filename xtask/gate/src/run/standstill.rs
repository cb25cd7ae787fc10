//! The times in which the machine stood still while tests ran.
//!
//! A thread sleeps for a short time, again and again. Where it wakes up far too late, nothing of an
//! ordinary priority ran on any processor that was free for it: the machine's owner has taken them
//! away, or they were all busy. A test that looks at a clock fails by that without a fault.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which the thread sleeps.
const SLEEP: Duration = Duration::from_millis(20);
/// Lateness that is worth a line.
const NOTED_MIN: Duration = Duration::from_millis(200);
/// Standstills that are kept; later ones are not.
const KEPT_MAX: usize = 10_000;

/// A time in which the thread should have run and did not.
#[derive(Clone, Copy, Debug)]
struct Standstill {
    end: Instant,
    length: Duration,
}

/// The standstills that the thread has seen so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standstills(Arc<Mutex<Vec<Standstill>>>);

impl Standstills {
    /// Starts the thread, which runs as long as the gate.
    pub(crate) fn watch() -> Self {
        let seen = Self::default();
        let sees = seen.clone();
        thread::spawn(move || {
            loop {
                let due = Instant::now() + SLEEP;
                thread::sleep(SLEEP);
                let now = Instant::now();
                sees.note(now, now.saturating_duration_since(due));
            }
        });
        seen
    }

    fn note(&self, end: Instant, length: Duration) {
        if length >= NOTED_MIN {
            let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.len() < KEPT_MAX {
                seen.push(Standstill { end, length });
            }
        }
    }

    /// The longest one that ended between two instants.
    pub(crate) fn longest(&self, from: Instant, until: Instant) -> Option<Duration> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let within = seen.iter().filter(|standstill| (from..=until).contains(&standstill.end));
        within.map(|standstill| standstill.length).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_standstill_of_a_time_is_told_and_short_ones_are_not() {
        let seen = Standstills::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        seen.note(at(1), Duration::from_millis(1800));
        seen.note(at(2), Duration::from_millis(300));
        seen.note(at(3), Duration::from_millis(100));
        assert_eq!(seen.longest(at(0), at(9)), Some(Duration::from_millis(1800)));
        assert_eq!(seen.longest(at(2), at(9)), Some(Duration::from_millis(300)));
        assert_eq!(seen.longest(at(3), at(9)), None);
    }
}
