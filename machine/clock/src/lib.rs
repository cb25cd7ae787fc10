//! The machine's clocks: reading them and sleeping on them.
//!
//! All time is `CLOCK_MONOTONIC`: it never jumps, NTP only slews it, and reading it takes some 20 ns
//! in user space (vDSO) where the clock source is the time stamp counter. What runs against a
//! deadline takes a [`Clock`], so that tests can give it a [`FakeClock`].

#![forbid(unsafe_code)]

mod fake;
mod monotonic;

pub use fake::FakeClock;
pub use monotonic::Monotonic;

use quietcore_units::Nanos;

/// A clock on which one can wait.
pub trait Clock {
    /// The current instant.
    fn now(&self) -> Nanos;

    /// Sleeps until `due`; returns at once when that has passed. It may return late, never early.
    fn sleep_until(&self, due: Nanos);

    /// The CPU that the caller runs on.
    fn cpu(&self) -> u32;
}
