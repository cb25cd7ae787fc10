//! A wait for what a channel brings next, with a bound, by looking at it again and again.
//!
//! ```text
//! look ─ sleep 50 µs ─ look ─ sleep 50 µs ─ look: it is there    or: the limit has passed
//! ```
//!
//! The sender never learns that somebody waits. To wake a waiter it would have to look for one
//! after each value, behind a full fence, and to call its kernel when there is one: a receiver,
//! which may be any ordinary program, would then lengthen the cycle of a real-time sender. It would
//! also need memory that receivers may write, while those that only read map the channel read-only,
//! and a sender in a guest could not wake a process of the host at all. So the waiter bears the
//! cost: a system call and a transfer of one cache line per look, and a value that is seen up to
//! [`LOOK_EVERY`] late, and as much later as the kernel wakes the waiter late.

use quietcore_units::Nanos;

/// The time between two looks.
pub const LOOK_EVERY: Nanos = Nanos::from_micros(50);
/// The longest wait; a longer limit is cut to it.
pub const WAIT_MAX: Nanos = Nanos::from_secs(60);

/// The clock and the sleep of whoever may wait. No function may panic.
#[derive(Clone, Copy, Debug)]
pub struct WaitClock {
    /// The instant now, on the monotonic clock.
    pub now: fn() -> Nanos,
    /// Sleeps until an instant; it may return late, never early.
    pub sleep_until: fn(Nanos),
}

impl WaitClock {
    /// Looks until something is found, or `limit` has passed: then once more, and returns `None` if
    /// nothing is found by that either. A limit of zero looks once and never sleeps.
    pub fn look_until<T>(&self, limit: Nanos, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let mut now = (self.now)();
        let end = now + limit.min(WAIT_MAX);
        // Bounded by WAIT_MAX / LOOK_EVERY rounds, as each sleep takes LOOK_EVERY at least.
        loop {
            let found = look();
            if found.is_some() || now >= end {
                return found;
            }
            (self.sleep_until)(end.min(now + LOOK_EVERY));
            now = (self.now)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    std::thread_local! {
        static TIME: Cell<u64> = const { Cell::new(0) };
    }

    const SECOND: u64 = 1_000_000_000;

    const CLOCK: WaitClock = WaitClock {
        now: || Nanos::new(TIME.get()),
        sleep_until: |due| TIME.set(TIME.get().max(due.get())),
    };

    #[test]
    fn what_comes_within_the_limit_is_found_at_the_next_look() {
        TIME.set(1_000);
        let comes = 1_000 + 120_000;
        let look = || (TIME.get() >= comes).then(|| TIME.get());
        assert_eq!(CLOCK.look_until(Nanos::from_millis(1), look), Some(1_000 + 150_000));
    }

    #[test]
    fn a_wait_ends_at_its_limit_after_a_last_look() {
        TIME.set(0);
        let mut looks = 0;
        let nothing = CLOCK.look_until(Nanos::from_micros(120), || -> Option<()> {
            looks += 1;
            None
        });
        assert_eq!((nothing, looks, TIME.get()), (None, 4, 120_000));
        let at_the_end = || (TIME.get() >= 240_000).then_some(());
        assert_eq!(CLOCK.look_until(Nanos::from_micros(120), at_the_end), Some(()));
    }

    #[test]
    fn without_a_limit_nobody_sleeps_and_no_limit_is_endless() {
        TIME.set(7);
        assert_eq!(CLOCK.look_until(Nanos::ZERO, || None::<()>), None);
        assert_eq!(TIME.get(), 7);
        // Each sleep returns late, so that the looks are few enough for an interpreter.
        let late = WaitClock { sleep_until: |due| TIME.set(due.get() + SECOND), ..CLOCK };
        assert_eq!(late.look_until(Nanos::MAX, || None::<()>), None);
        assert!((0..=SECOND).contains(&(TIME.get() - 7 - WAIT_MAX.get())), "{}", TIME.get());
    }
}
