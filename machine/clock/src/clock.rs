//! What runs against a deadline needs of a clock.

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
