//! The clock as code that runs against a deadline needs it.

use quietcore_units::Nanos;

/// A clock on which one can wait.
pub trait Clock {
    /// Returns the current instant of a clock that never goes back.
    fn now(&self) -> Nanos;

    /// Sleeps until `due`; returns at once when that has passed. It may return late, never early.
    fn sleep_until(&self, due: Nanos);

    /// The CPU that the caller runs on.
    fn cpu(&self) -> u32;
}
