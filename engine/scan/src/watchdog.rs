//! The watchdog of a task, which makes long cycles a fault.
//!
//! The rule is the one that users of virtual PLCs know from CODESYS: with watchdog time *w* and
//! sensitivity *s* a task is in fault when *s* cycles in a row take longer than *w*, or when one
//! cycle takes longer than *s × w*. A cycle that never ends is found from outside (by the thread
//! that watches), which uses [`Watchdog::limit`].

use quietcore_units::Nanos;

/// The watchdog of one task.
#[derive(Clone, Copy, Debug)]
pub struct Watchdog {
    time: Nanos,
    sensitivity: u32,
    run: u32,
}

/// The watchdog's judgement of one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// `true` if the cycle took longer than the watchdog time.
    pub hit: bool,
    /// Count of such cycles in a row, if they are a fault.
    pub expired: Option<u32>,
}

impl Watchdog {
    /// Makes a watchdog of this time and sensitivity; a sensitivity of 0 counts as 1.
    pub const fn new(time: Nanos, sensitivity: u32) -> Self {
        Self { time, sensitivity: if sensitivity == 0 { 1 } else { sensitivity }, run: 0 }
    }

    /// Returns the longest that one cycle may take: sensitivity × watchdog time.
    pub fn limit(&self) -> Nanos {
        self.time * u64::from(self.sensitivity)
    }

    /// Notes a cycle that took `execution`.
    #[inline]
    pub fn observe(&mut self, execution: Nanos) -> Observation {
        if execution <= self.time {
            self.run = 0;
            return Observation::default();
        }
        self.run += 1;
        let expired = execution > self.limit() || self.run >= self.sensitivity;
        Observation { hit: true, expired: expired.then_some(self.run) }
    }

    /// Forgets the cycles so far, as after a restart.
    pub fn reset(&mut self) {
        self.run = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATCHDOG: Watchdog = Watchdog::new(Nanos::from_micros(500), 3);

    fn micros(executions: &[u64]) -> Vec<Observation> {
        let mut watchdog = WATCHDOG;
        executions.iter().map(|micros| watchdog.observe(Nanos::from_micros(*micros))).collect()
    }

    #[test]
    fn as_many_long_cycles_in_a_row_as_the_sensitivity_are_a_fault() {
        let seen = micros(&[501, 500, 501, 600, 700]);
        let hits: Vec<_> = seen.iter().map(|observation| observation.hit).collect();
        assert_eq!(hits, [true, false, true, true, true]);
        assert!(seen[..4].iter().all(|observation| observation.expired.is_none()));
        assert_eq!(seen[4].expired, Some(3));
    }

    #[test]
    fn one_cycle_beyond_sensitivity_times_time_is_a_fault() {
        assert_eq!(micros(&[1500])[0].expired, None);
        assert_eq!(micros(&[1501])[0].expired, Some(1));
    }

    #[test]
    fn at_a_sensitivity_of_one_each_long_cycle_is_a_fault() {
        let mut watchdog = Watchdog::new(Nanos::from_micros(500), 0);
        assert_eq!(watchdog.observe(Nanos::from_micros(500)), Observation::default());
        assert!(watchdog.observe(Nanos::from_micros(501)).expired.is_some());
    }
}
