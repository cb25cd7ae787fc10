//! Something that one task at a time may use, and nobody waits for.
//!
// UNSAFETY: gives out an exclusive reference through a shared one, to whoever holds the claim.
#![expect(unsafe_code, reason = "an exclusive reference is guarded by a flag")]

use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

/// Something that one task at a time may use.
#[derive(Debug)]
pub struct Claim<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `T` is reached by one thread at a time, the holder of the flag, so it only needs to be
// `Send`.
unsafe impl<T: Send> Sync for Claim<T> {}

impl<T> Claim<T> {
    /// A value that nobody uses.
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Uses the value; `None` when another task does so now.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.taken.swap(true, Acquire) {
            return None;
        }
        let held = Held { taken: &self.taken };
        // SAFETY: the flag was free and is ours until `held` is dropped, so no other reference to
        // the value exists.
        let result = work(unsafe { &mut *self.value.get() });
        drop(held);
        Some(result)
    }
}

/// Gives the flag back, also when the work panics.
struct Held<'a> {
    taken: &'a AtomicBool,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.taken.store(false, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_has_one_holder() {
        let claim = Claim::new(1);
        let inner = claim.with(|value| {
            *value += 1;
            claim.with(|_| ())
        });
        assert_eq!(inner, Some(None));
        assert_eq!(claim.with(|value| *value), Some(2));
    }
}
