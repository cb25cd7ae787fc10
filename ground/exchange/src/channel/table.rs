//! The encoding of an entry in a channel's table.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | kind: 1 signal, 2 group, 3 member, 4 queue |
//! | 1 | bytes of the value, number of members, or most bytes of a message |
//! | 2 | initial value, or places of the queue |
//! | 3 | first timeout, in ns |
//! | 4 | timeout from then on, in ns |
//! | 5 … 7 | zero |

use quietcore_units::Nanos;

use crate::channel::deadline::Timeouts;
use crate::channel::shape::Entry;
use crate::sync::{AtomicU64, Relaxed};

impl Entry {
    /// Writes the entry into its place in the table.
    pub(super) fn store(&self, place: &[AtomicU64]) {
        let words = match *self {
            Self::Signal { bytes, initial, timeouts } => {
                [1, bytes.into(), initial, timeouts.first.get(), timeouts.next.get()]
            }
            Self::Group { members, timeouts } => {
                [2, members.into(), 0, timeouts.first.get(), timeouts.next.get()]
            }
            Self::Member { bytes, initial } => [3, bytes.into(), initial, 0, 0],
            Self::Queue { message_bytes, slots } => [4, message_bytes.into(), slots.into(), 0, 0],
        };
        for (place, word) in place.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }

    /// Decodes an entry of the table; returns `None` for an unknown kind. Sizes that don't fit
    /// become zero, which is refused later.
    pub(super) fn load(place: &[AtomicU64]) -> Option<Self> {
        let [kind, size, value, first, next] =
            core::array::from_fn(|index| place.get(index).map_or(0, |word| word.load(Relaxed)));
        let timeouts = Timeouts { first: Nanos::new(first), next: Nanos::new(next) };
        let bytes = u8::try_from(size).unwrap_or(0);
        let count = u16::try_from(size).unwrap_or(0);
        Some(match kind {
            1 => Self::Signal { bytes, initial: value, timeouts },
            2 => Self::Group { members: count, timeouts },
            3 => Self::Member { bytes, initial: value },
            4 => Self::Queue { message_bytes: count, slots: u32::try_from(value).unwrap_or(0) },
            _ => return None,
        })
    }
}
