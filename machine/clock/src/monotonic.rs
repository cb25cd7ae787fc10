//! The kernel's monotonic clock.

use quietcore_units::Nanos;
use rustix::io::Errno;
use rustix::thread::{clock_nanosleep_absolute, sched_getcpu};
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::Clock;

/// `CLOCK_MONOTONIC`, read through the vDSO, slept on with `clock_nanosleep(TIMER_ABSTIME)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> Nanos {
        let time = clock_gettime(ClockId::Monotonic);
        // The monotonic clock starts near zero at boot, so neither part is negative.
        Nanos::new(time.tv_sec as u64 * NANOS_PER_SECOND + time.tv_nsec as u64)
    }

    #[inline]
    fn sleep_until(&self, due: Nanos) {
        let request = Timespec {
            tv_sec: (due.get() / NANOS_PER_SECOND) as i64,
            tv_nsec: (due.get() % NANOS_PER_SECOND) as i64,
        };
        // A signal ends the sleep early; the time is absolute, so it is simply begun again. Every
        // other error would be one of the arguments, and they are right.
        while clock_nanosleep_absolute(ClockId::Monotonic, &request) == Err(Errno::INTR) {}
    }

    #[inline]
    fn cpu(&self) -> u32 {
        sched_getcpu() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_never_ends_early() {
        let clock = Monotonic;
        let due = clock.now() + Nanos::from_micros(200);
        clock.sleep_until(due);
        assert!(clock.now() >= due);
        clock.sleep_until(Nanos::ZERO);
    }
}
