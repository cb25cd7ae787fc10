//! The time that `ethercrab` sees.
//!
//! Without its feature `std`, `ethercrab` waits with the timers of `embassy-time`, which ask a
//! driver for the time and want to be woken by it. Here nobody is woken: who polls the futures sets
//! the time before, from the wire's own clock, so a wire with a fake clock makes `ethercrab` live
//! in the same time. No thread, no timer, no system call.
//!
//! With the feature (another crate of the same build may switch it on) `ethercrab` takes timers of
//! `async-io`, which start a thread when one is armed. That works here as well, since a timer is
//! asked at each poll; only the bring-up arms any.

#[cfg(feature = "std")]
use std::cell::Cell;

#[cfg(not(feature = "std"))]
use core::sync::atomic::{AtomicU64, Ordering};

use core::task::Waker;

use embassy_time_driver::Driver;
use quietcore_units::Nanos;

#[cfg(feature = "std")]
std::thread_local! {
    /// One time a thread: two MainDevices in one process may be on different clocks.
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
}

#[cfg(not(feature = "std"))]
static NOW_NS: AtomicU64 = AtomicU64::new(0);

/// Sets the time of the calling thread.
pub(super) fn set(now: Nanos) {
    #[cfg(feature = "std")]
    NOW_NS.set(now.get());
    #[cfg(not(feature = "std"))]
    NOW_NS.store(now.get(), Ordering::Relaxed);
}

/// The time that was set last, in nanoseconds.
pub(super) fn now_ns() -> u64 {
    #[cfg(feature = "std")]
    {
        NOW_NS.get()
    }
    #[cfg(not(feature = "std"))]
    {
        NOW_NS.load(Ordering::Relaxed)
    }
}

/// The driver for `embassy-time`.
struct Polled;

impl Driver for Polled {
    fn now(&self) -> u64 {
        // Ticks are microseconds, the default of `embassy-time`.
        now_ns() / (1_000_000_000 / embassy_time_driver::TICK_HZ)
    }

    fn schedule_wake(&self, _at: u64, _waker: &Waker) {}
}

embassy_time_driver::time_driver_impl!(static POLLED: Polled = Polled);
