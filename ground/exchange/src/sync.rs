//! The atomics that everything shared is made of.
//!
//! Under `cfg(loom)` they are loom's, so that the tests in `tests/loom.rs` run the very code that
//! runs on the machine and see every order in which memory may show its words. The region itself is
//! left out then: loom's atomics are larger than the words they stand for.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, fence};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, fence};

pub(crate) use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Tells the processor that a loop waits for another one.
#[inline]
pub(crate) fn spin_hint() {
    #[cfg(not(loom))]
    core::hint::spin_loop();
    // Without a word to the scheduler, loom would try a reader that spins for ever.
    #[cfg(loom)]
    loom::thread::yield_now();
}

// Values lie in the region as the program's C code stores them, and are taken apart here from their
// lowest byte on.
const _: () = assert!(cfg!(target_endian = "little"), "the exchange is little-endian");
