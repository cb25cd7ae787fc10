//! Detects a partition that stands still: its process is there, but no cycle begins any more.
//!
//! A program that blocks, or a process that was halted, says nothing of itself. It can't hide,
//! though, that the number of its last cycle stays as it is.
//!
//! Releases that pass meanwhile are missed cycles, which nobody in the process counts.
//!
//! Killing the process is the last resort. A step that does not return is ended within its
//! partition, after its watchdog time × sensitivity; a standstill seen here could not be ended so,
//! or comes from outside. The thread that looks has no real-time priority and may be kept from
//! looking for longer than a cycle, and the process is killed for it: so the limit is far above
//! most periods, and many periods long.

use std::time::{Duration, Instant};

/// Shortest time without a cycle that is a standstill.
const STANDSTILL_MIN: Duration = Duration::from_secs(2);
/// Fewest periods without a cycle that are one.
const PERIODS_MIN: u32 = 20;
/// Longest time between two looks that is counted: whatever kept this thread from looking, such as
/// a halted machine, may have kept the partition from running.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// The time for which a partition has begun no cycle.
#[derive(Debug)]
pub(super) struct Standstill {
    cycle: Option<u64>,
    looked: Instant,
    standing: Duration,
}

impl Standstill {
    pub(super) fn new(now: Instant) -> Self {
        Self { cycle: None, looked: now, standing: Duration::ZERO }
    }

    /// Takes the number of the cycle that was begun last, `None` while none is due. Returns the
    /// time for which no other one was begun, if that is too long.
    pub(super) fn look(
        &mut self,
        cycle: Option<u64>,
        period: Duration,
        now: Instant,
    ) -> Option<Duration> {
        let since = now.saturating_duration_since(self.looked).min(LOOK_MAX);
        self.looked = now;
        if cycle.is_none() || cycle != self.cycle {
            self.cycle = cycle;
            self.standing = Duration::ZERO;
            return None;
        }
        self.standing += since;
        let limit = STANDSTILL_MIN.max(period.saturating_mul(PERIODS_MIN));
        (self.standing >= limit).then_some(self.standing)
    }
}

/// Releases that never came because a process stood still, was stopped, or was gone. Those that a
/// late task leaves out, it counts itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absence {
    period: Duration,
    /// Instant at which a cycle was last seen to begin; `None` while none is due.
    since: Option<Instant>,
    /// Releases missed in the gaps between two processes.
    counted: u64,
}

/// Shortest time without a cycle that counts as an absence: the thread that looks has no real-time
/// priority.
const ABSENCE_MIN: Duration = Duration::from_millis(100);

impl Absence {
    /// Begins with no absence, for cycles with this period.
    pub(super) fn new(period: Duration) -> Self {
        Self { period: period.max(Duration::from_nanos(1)), since: None, counted: 0 }
    }

    /// Takes note that another cycle has begun. `is_first` says that it is the first of its
    /// process.
    pub(super) fn cycle(&mut self, is_first: bool, now: Instant) {
        if is_first {
            self.counted += self.now(now);
        }
        self.since = Some(now);
    }

    /// Takes note that no cycle is due from now on: the partition is held, or comes down.
    pub(super) fn rest(&mut self) {
        self.since = None;
    }

    /// Returns the number of releases that never came until `now`.
    pub(crate) fn count(&self, now: Instant) -> u64 {
        self.counted + self.now(now)
    }

    fn now(&self, now: Instant) -> u64 {
        let gone = self.since.map(|since| now.saturating_duration_since(since));
        let gone = gone.filter(|gone| *gone >= ABSENCE_MIN.max(self.period.saturating_mul(3)));
        let periods = gone.map_or(0, |gone| gone.as_nanos() / self.period.as_nanos());
        // One of these periods had its cycle.
        u64::try_from(periods).unwrap_or(u64::MAX).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_that_never_came_are_counted_also_between_two_processes() {
        let millis = Duration::from_millis;
        let start = Instant::now();
        let mut absence = Absence::new(millis(5));
        assert_eq!(absence.count(start + millis(9_000)), 0, "nothing has begun");
        absence.cycle(true, start);
        assert_eq!(absence.count(start + millis(50)), 0, "perhaps nobody looked");
        assert_eq!(absence.count(start + millis(1_000)), 199);
        absence.cycle(false, start + millis(1_000));
        assert_eq!(absence.count(start + millis(1_000)), 0, "the task counts them itself");
        absence.cycle(true, start + millis(2_000));
        assert_eq!(absence.count(start + millis(2_000)), 199, "another process does not");
        absence.rest();
        assert_eq!(absence.count(start + millis(9_000)), 199, "it is held");
        absence.cycle(false, start + millis(9_000));
        assert_eq!(absence.count(start + millis(9_010)), 199);
    }

    /// Returns the time of standing still at which that was first seen.
    fn seen(period: Duration, looks: impl Iterator<Item = (u64, Option<u64>)>) -> Option<Duration> {
        let start = Instant::now();
        let mut standstill = Standstill::new(start);
        let look = |(at, cycle)| standstill.look(cycle, period, start + Duration::from_millis(at));
        looks.into_iter().find_map(look)
    }

    #[test]
    fn no_cycle_for_two_seconds_and_twenty_periods_is_a_standstill() {
        let looks = || (0..400).map(|look| look * 10);
        let millis = Duration::from_millis;
        assert_eq!(seen(millis(1), looks().map(|at| (at, Some(7)))), Some(millis(2000)));
        assert_eq!(seen(millis(150), looks().map(|at| (at, Some(7)))), Some(millis(3000)));
        assert_eq!(seen(millis(1), looks().map(|at| (at, Some(at / 1900)))), None, "it moves");
        assert_eq!(seen(millis(1), looks().map(|at| (at, None))), None, "none is due yet");
        let rarely = (0..4).map(|look| (look * 60_000, Some(7)));
        assert_eq!(seen(millis(1), rarely), None, "nobody looked meanwhile");
    }
}
