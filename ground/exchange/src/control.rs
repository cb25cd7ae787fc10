//! What the partition says about itself: which data slot its program runs in.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | generation × 2 + slot (A 0, B 1); zero before a program is loaded |
//! | 1 … 7 | zero |
//!
//! Slot and generation share a word, so that no reader ever pairs the one with the other's.

use crate::data::Slot;
use crate::sync::{Acquire, AtomicU64, Release};

pub(crate) const CONTROL_WORDS: usize = 8;

/// The data slot that the program runs in, and the build that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Active {
    /// The slot.
    pub slot: Slot,
    /// The number of the build: 1 for the first that was loaded, one more with each deployment.
    /// Zero before one is loaded. Offsets into the data belong to one generation.
    pub generation: u32,
}

#[inline]
pub(crate) fn read_active(words: &[AtomicU64]) -> Active {
    let word = words.first().map_or(0, |word| word.load(Acquire));
    let slot = if word & 1 == 0 { Slot::A } else { Slot::B };
    // What a hostile partition writes beyond 33 bits is cut off.
    Active { slot, generation: (word >> 1) as u32 }
}

pub(crate) fn write_active(words: &[AtomicU64], active: Active) {
    let slot = u64::from(active.slot == Slot::B);
    if let Some(word) = words.first() {
        // Whoever sees the new slot sees what was written to it before.
        word.store(u64::from(active.generation) << 1 | slot, Release);
    }
}
