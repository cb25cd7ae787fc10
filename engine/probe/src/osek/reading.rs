//! The clocks that a routine can be measured with.
//!
//! A task has no parameter and the first thing it does is to read the clock, so which clock that is
//! has to be known when the program is compiled: tasks are generic over [`Reading`].

use quietcore_clock::{Clock as _, Counter, Monotonic};

/// A clock, or what stands in for one.
pub trait Reading: 'static {
    /// The count now, before what is measured.
    fn begin() -> u64;

    /// The count now, after what is measured.
    fn end() -> u64;
}

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
