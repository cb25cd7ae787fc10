//! The forced variables: what the partition holds them at, and what others can see of that.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | sequence: odd while the list is being written |
//! | 1 | number of forces, at most [`FORCE_LIMIT`] |
//! | 2 … 7 | zero |
//! | 8 … | four words a force: offset and bytes, mask, value, value before |
//!
//! A force holds until it is released, whoever asked for it is long gone. Then the variable gets
//! back the value that it had before. The partition keeps the list itself and publishes it; what
//! stands in the region is never read back. A process that starts gets the forces of the one before
//! it from the host.

use core::fmt;

use crate::commands::{Assignment, Target};
use crate::data::WritableData;
use crate::primitive::sequence::{self, READ_TRIES, SequenceWriter, TornRead};
use crate::primitive::words::mask_of;
use crate::sync::{AtomicU64, Relaxed};

/// The most variables that can be forced at once.
pub const FORCE_LIMIT: usize = 256;

const HEADER_WORDS: usize = 8;
const ENTRY_WORDS: usize = 4;
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

/// A variable that is held, and the value that it goes back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The variable, and the value that it is held at.
    pub force: Assignment,
    /// Value of its bits when it was forced.
    pub before: u64,
}

/// The forces of a partition, and their writing side. There must be one, not more.
#[derive(Debug)]
pub struct ForceTable<'map> {
    sequence: SequenceWriter<'map>,
    words: &'map [AtomicU64],
    forces: [Assignment; FORCE_LIMIT],
    /// Value of the bits of each when it was forced.
    before: [u64; FORCE_LIMIT],
    count: usize,
}

impl<'map> ForceTable<'map> {
    /// An empty list; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64]) -> Option<Self> {
        let words = words.get(..FORCES_WORDS)?;
        let sequence = SequenceWriter::resume(&words[0]);
        let forces = [Assignment::default(); FORCE_LIMIT];
        let before = [0; FORCE_LIMIT];
        let mut table = Self { sequence, words, forces, before, count: 0 };
        table.publish();
        Some(table)
    }

    /// The forces in the order in which they came.
    pub fn forces(&self) -> &[Assignment] {
        &self.forces[..self.count]
    }

    /// Returns `true` if nothing is forced.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns `true` if [`force`](Self::force) has room for `assignments`, one after the other.
    /// May return `false` although there is room if several of them concern the same variable.
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

    /// Holds a variable of `data`, or some of its bits, from now on. Publishes the list.
    ///
    /// # Errors
    /// [`ForcesFull`] when there are [`FORCE_LIMIT`] already; then nothing changed.
    pub fn force(&mut self, wanted: Assignment, data: &WritableData<'_>) -> Result<(), ForcesFull> {
        let Target { offset, bytes, mask } = wanted.target;
        // One outside of the data is never written either.
        let now = data.read_value(offset, bytes).unwrap_or(0);
        match self.position(&wanted.target) {
            Some(index) => {
                let held = &mut self.forces[index];
                let new = mask & !held.target.mask;
                self.before[index] = (self.before[index] & !new) | (now & new);
                held.value = (held.value & !mask) | (wanted.value & mask);
                held.target.mask |= mask;
            }
            None if self.count == FORCE_LIMIT => return Err(ForcesFull),
            None => {
                self.forces[self.count] = wanted;
                self.before[self.count] = now;
                self.count += 1;
            }
        }
        self.publish();
        Ok(())
    }

    /// Takes note that a variable was given a value: one that is forced has it when it is released.
    pub fn note_set(&mut self, set: &Assignment) {
        if let Some(index) = self.position(&set.target) {
            let mask = set.target.mask;
            self.before[index] = (self.before[index] & !mask) | (set.value & mask);
            self.publish();
        }
    }

    /// Releases a variable of `data`, or some of its bits, gives them back what they were before,
    /// and tells whether it was forced. Publishes the list.
    pub fn release(&mut self, target: &Target, data: &WritableData<'_>) -> bool {
        let Some(index) = self.position(target) else {
            return false;
        };
        let released = self.forces[index].target.mask & target.mask;
        self.give_back(index, released, data);
        let held = &mut self.forces[index].target;
        held.mask &= !target.mask;
        if held.mask & mask_of(usize::from(held.bytes)) == 0 {
            self.forces.copy_within(index + 1..self.count, index);
            self.before.copy_within(index + 1..self.count, index);
            self.count -= 1;
        }
        self.publish();
        released != 0
    }

    /// Releases all, gives them back what they were before, and tells how many there were.
    /// Publishes the list.
    pub fn release_all(&mut self, data: &WritableData<'_>) -> usize {
        let count = self.count;
        for index in 0..count {
            self.give_back(index, self.forces[index].target.mask, data);
        }
        self.count = 0;
        self.publish();
        count
    }

    fn give_back(&self, index: usize, mask: u64, data: &WritableData<'_>) {
        let Target { offset, bytes, .. } = self.forces[index].target;
        let _ = data.write_value(offset, bytes, mask, self.before[index]);
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
        let held = self.forces[..self.count].iter().zip(&self.before);
        for (place, (force, before)) in places.zip(held) {
            let Target { offset, bytes, mask } = force.target;
            place[0].store(u64::from(offset) | u64::from(bytes) << 32, Relaxed);
            place[1].store(mask, Relaxed);
            place[2].store(force.value, Relaxed);
            place[3].store(*before, Relaxed);
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
        self.copy(forces, force_at)
    }

    /// Copies the list as [`read`](Self::read) does, with the value that each variable goes back
    /// to.
    ///
    /// # Errors
    /// [`TornRead`] when the writer was at it at every try.
    pub fn read_held(&self, held: &mut [Held]) -> Result<usize, TornRead> {
        self.copy(held, |place| Held { force: force_at(place), before: place[3].load(Relaxed) })
    }

    fn copy<T>(&self, to: &mut [T], of: impl Fn(&[AtomicU64]) -> T) -> Result<usize, TornRead> {
        sequence::read(&self.words[0], READ_TRIES, || {
            let said = usize::try_from(self.words[1].load(Relaxed)).unwrap_or(FORCE_LIMIT);
            let count = said.min(FORCE_LIMIT).min(to.len());
            let places = self.words[HEADER_WORDS..].chunks_exact(ENTRY_WORDS);
            for (slot, place) in to[..count].iter_mut().zip(places) {
                *slot = of(place);
            }
            count
        })
    }
}

fn force_at(place: &[AtomicU64]) -> Assignment {
    let target = place[0].load(Relaxed);
    Assignment {
        target: Target {
            offset: target as u32,
            bytes: (target >> 32) as u8,
            mask: place[1].load(Relaxed),
        },
        value: place[2].load(Relaxed),
    }
}
