//! The clocks of a process that routines can be measured with.

use quietcore_clock::{Clock as _, Counter, Monotonic};

pub use crate::routines::Reading;

/// The processor's time stamp counter.
#[derive(Debug)]
pub enum OfCounter {}

impl Reading for OfCounter {
    #[inline(always)]
    fn begin() -> u64 {
        Counter::read()
    }

    #[inline(always)]
    fn end() -> u64 {
        Counter::read()
    }
}

/// The kernel's monotonic clock, in ns.
#[derive(Debug)]
pub enum OfMonotonic {}

impl Reading for OfMonotonic {
    #[inline(always)]
    fn begin() -> u64 {
        Monotonic.now().get()
    }

    #[inline(always)]
    fn end() -> u64 {
        Monotonic.now().get()
    }
}
