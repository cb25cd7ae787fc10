//! The machine's clocks: reading them, sleeping on them, and finding out whether their time is
//! real.
//!
//! All time is `CLOCK_MONOTONIC`: it never jumps, NTP only slews it, and reading it takes some 20
//! ns in user space (vDSO) where the clock source is the time stamp counter. What runs against a
//! deadline takes a [`Clock`], so that tests can give it a [`FakeClock`]. Spans too short for that
//! clock are measured with the processor's [`Counter`]. Emulated time is not time:
//! [`TimeCalibration`] tells the two apart by what instructions cost.

#![cfg_attr(not(any(test, feature = "std")), no_std)]

#[cfg(feature = "std")]
mod calibration;
mod clock;
#[cfg(feature = "std")]
mod counter;
#[cfg(feature = "std")]
mod fake;
#[cfg(feature = "std")]
mod monotonic;

#[cfg(feature = "std")]
pub use calibration::{
    BUDGET, COUNTED_BELOW, INTERPRETED_BELOW, SUSPICIONS_NEEDED, Sequence, TimeCalibration,
};
pub use clock::Clock;
#[cfg(feature = "std")]
pub use counter::{Counter, CounterError};
#[cfg(feature = "std")]
pub use fake::FakeClock;
#[cfg(feature = "std")]
pub use monotonic::Monotonic;
