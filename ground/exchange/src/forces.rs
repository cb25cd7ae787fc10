//! The forced variables: what the partition holds them at, and what others can see of that.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | sequence: odd while the list is being written |
//! | 1 | number of forces, at most [`FORCE_LIMIT`] |
//! | 2 … 7 | zero |
//! | 8 … | three words a force: offset and bytes, mask, value |
//!
//! A force holds until it is released, whoever asked for it is long gone. The partition keeps the
//! list itself and publishes it; what stands in the region is never read back. A partition that was
//! restarted starts without forces, and the host asks for them again.

use core::fmt;

use crate::commands::{Assignment, Target};
use crate::data::WritableData;
use crate::primitive::sequence::{self, READ_TRIES, SequenceWriter, TornRead};
use crate::primitive::words::mask_of;
use crate::sync::{AtomicU64, Relaxed};

/// The most variables that can be forced at once.
pub const FORCE_LIMIT: usize = 256;

const HEADER_WORDS: usize = 8;
const ENTRY_WORDS: usize = 3;
pub(crate) const FORCES_WORDS: usize = HEADER_WORDS + FORCE_LIMIT * ENTRY_WORDS;

/// As many variables are forced as is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForcesFull;

impl fmt::Display for ForcesFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORCE_LIMIT} variables are forced already; release one first")
    }
}

impl core::error::Error for ForcesFull {}

/// The forces of a partition, and their writing side. There must be one, not more.
#[derive(Debug)]
pub struct ForceTable<'map> {
    sequence: SequenceWriter<'map>,
    words: &'map [AtomicU64],
    forces: [Assignment; FORCE_LIMIT],
    count: usize,
}

impl<'map> ForceTable<'map> {
    /// An empty list; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64]) -> Option<Self> {
        let words = words.get(..FORCES_WORDS)?;
        let sequence = SequenceWriter::resume(&words[0]);
        let forces = [Assignment::default(); FORCE_LIMIT];
        let mut table = Self { sequence, words, forces, count: 0 };
        table.publish();
        Some(table)
    }

    /// The forces in the order in which they came.
    pub fn forces(&self) -> &[Assignment] {
        &self.forces[..self.count]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether [`force`](Self::force) has room for `assignments`, one after the other. It may say
    /// no where some of them concern the same variable.
    pub fn has_room(&self, assignments: impl IntoIterator<Item = Assignment>) -> bool {
        let new = assignments
            .into_iter()
            .filter(|wanted| self.position(&wanted.target).is_none())
            .count();
        self.count + new <= FORCE_LIMIT
    }

    fn position(&self, target: &Target) -> Option<usize> {
        self.forces().iter().position(|held| {
            (held.target.offset, held.target.bytes) == (target.offset, target.bytes)
        })
    }

    /// Holds a variable, or some of its bits, from now on. Publishes the list.
    ///
    /// # Errors
    /// [`ForcesFull`] when there are [`FORCE_LIMIT`] already; then nothing changed.
    pub fn force(&mut self, wanted: Assignment) -> Result<(), ForcesFull> {
        match self.position(&wanted.target) {
            Some(index) => {
                let held = &mut self.forces[index];
                let mask = wanted.target.mask;
                held.value = (held.value & !mask) | (wanted.value & mask);
                held.target.mask |= mask;
            }
            None if self.count == FORCE_LIMIT => return Err(ForcesFull),
            None => {
                self.forces[self.count] = wanted;
                self.count += 1;
            }
        }
        self.publish();
        Ok(())
    }

    /// Releases a variable, or some of its bits, and tells whether it was forced. Publishes the
    /// list.
    pub fn release(&mut self, target: &Target) -> bool {
        let Some(index) = self.position(target) else {
            return false;
        };
        let held = &mut self.forces[index].target;
        let was_forced = held.mask & target.mask != 0;
        held.mask &= !target.mask;
        if held.mask & mask_of(usize::from(held.bytes)) == 0 {
            self.forces.copy_within(index + 1..self.count, index);
            self.count -= 1;
        }
        self.publish();
        was_forced
    }

    /// Releases all and tells how many there were. Publishes the list.
    pub fn release_all(&mut self) -> usize {
        let count = self.count;
        self.count = 0;
        self.publish();
        count
    }

    /// Writes all forced values. Nothing but one comparison where there are none. A force that is
    /// not in the data is left out; commands are checked before they become forces.
    #[inline]
    pub fn apply(&self, data: &WritableData<'_>) {
        for force in self.forces() {
            let Target { offset, bytes, mask } = force.target;
            let _ = data.write_value(offset, bytes, mask, force.value);
        }
    }

    fn publish(&mut self) {
        self.sequence.begin();
        self.words[1].store(self.count as u64, Relaxed);
        let places = self.words[HEADER_WORDS..].chunks_exact(ENTRY_WORDS);
        for (place, force) in places.zip(&self.forces[..self.count]) {
            let Target { offset, bytes, mask } = force.target;
            place[0].store(u64::from(offset) | u64::from(bytes) << 32, Relaxed);
            place[1].store(mask, Relaxed);
            place[2].store(force.value, Relaxed);
        }
        self.sequence.end();
    }
}

/// A reading side of the list.
#[derive(Clone, Copy, Debug)]
pub struct ForceReader<'map> {
    words: &'map [AtomicU64],
}

impl<'map> ForceReader<'map> {
    /// Reads the list in `words`; `None` when they don't hold one.
    pub fn new(words: &'map [AtomicU64]) -> Option<Self> {
        Some(Self { words: words.get(..FORCES_WORDS)? })
    }

    /// Copies the list, or as much of it as `forces` holds, and returns the number copied.
    ///
    /// # Errors
    /// [`TornRead`] when the writer was at it at every try.
    pub fn read(&self, forces: &mut [Assignment]) -> Result<usize, TornRead> {
        sequence::read(&self.words[0], READ_TRIES, || {
            let said = usize::try_from(self.words[1].load(Relaxed)).unwrap_or(FORCE_LIMIT);
            let count = said.min(FORCE_LIMIT).min(forces.len());
            let places = self.words[HEADER_WORDS..].chunks_exact(ENTRY_WORDS);
            for (force, place) in forces[..count].iter_mut().zip(places) {
                let target = place[0].load(Relaxed);
                *force = Assignment {
                    target: Target {
                        offset: target as u32,
                        bytes: (target >> 32) as u8,
                        mask: place[1].load(Relaxed),
                    },
                    value: place[2].load(Relaxed),
                };
            }
            count
        })
    }
}
