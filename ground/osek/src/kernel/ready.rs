//! The ready queue: activations by level, first in first out within one.
//!
//! Adding, taking and finding the highest level take constant time, whatever the number of tasks. A
//! preempted task is not here but on the stack of preempted tasks: it is the oldest of its level,
//! and above every other ready task by then.

use crate::configuration::{ACTIVATIONS_MAX, Task};

const LEVELS: usize = 256;
const WORD_BITS: usize = 64;

/// The places of one level, as a ring in the common pool.
#[derive(Clone, Copy, Debug)]
struct Ring {
    first: u16,
    places: u16,
    head: u16,
    length: u16,
}

impl Ring {
    const EMPTY: Self = Self { first: 0, places: 0, head: 0, length: 0 };
}

/// An activation, or an extended task whose event came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) task: u8,
    /// When it was released, in ns; zero without accounting.
    pub(super) released_ns: u64,
}

impl Entry {
    const NONE: Self = Self { task: 0, released_ns: 0 };
}

/// The ready queue, in order of priority and then of activation.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Ready {
    /// The highest level that is occupied; zero where none is.
    top: u8,
    /// A bit for each word of `occupied` that is not zero.
    summary: u8,
    occupied: [u64; LEVELS / WORD_BITS],
    rings: [Ring; LEVELS],
    pool: [Entry; ACTIVATIONS_MAX],
}

impl Ready {
    pub(super) const fn new() -> Self {
        Self {
            top: 0,
            summary: 0,
            occupied: [0; LEVELS / WORD_BITS],
            rings: [Ring::EMPTY; LEVELS],
            pool: [Entry::NONE; ACTIVATIONS_MAX],
        }
    }

    /// Empties it and gives each level as many places as its tasks may have activations.
    pub(super) fn reset(&mut self, tasks: &[Task]) {
        self.top = 0;
        self.summary = 0;
        self.occupied.fill(0);
        self.rings.fill(Ring::EMPTY);
        for task in tasks {
            self.rings[usize::from(task.priority)].places += u16::from(task.activations);
        }
        let mut first = 0;
        for ring in &mut self.rings {
            ring.first = first;
            first += ring.places;
        }
    }

    /// The highest level at which something is ready; zero where nothing is.
    #[inline]
    pub(super) fn top(&self) -> u8 {
        self.top
    }

    /// Adds the newest of a level. There is a place for it, because the activations of a task are
    /// limited before they come here.
    #[inline]
    pub(super) fn push(&mut self, level: u8, entry: Entry) {
        let ring = &mut self.rings[usize::from(level)];
        assert!(ring.length < ring.places, "more activations than the configuration allows");
        let mut place = ring.head + ring.length;
        if place >= ring.places {
            place -= ring.places;
        }
        self.pool[usize::from(ring.first + place)] = entry;
        ring.length += 1;
        let word = usize::from(level) / WORD_BITS;
        self.occupied[word] |= 1 << (usize::from(level) % WORD_BITS);
        self.summary |= 1 << word;
        self.top = self.top.max(level);
    }

    /// Takes the oldest of the highest level.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry> {
        let level = usize::from(self.top);
        let ring = &mut self.rings[level];
        if ring.length == 0 {
            return None;
        }
        let entry = self.pool[usize::from(ring.first + ring.head)];
        ring.head += 1;
        if ring.head == ring.places {
            ring.head = 0;
        }
        ring.length -= 1;
        if ring.length == 0 {
            self.vacate(level);
        }
        Some(entry)
    }

    #[inline]
    fn vacate(&mut self, level: usize) {
        let word = level / WORD_BITS;
        self.occupied[word] &= !(1 << (level % WORD_BITS));
        if self.occupied[word] == 0 {
            self.summary &= !(1 << word);
        }
        self.top = self.summary.checked_ilog2().map_or(0, |word| {
            let word = word as usize;
            let bit = self.occupied[word].checked_ilog2().unwrap_or(0) as usize;
            (word * WORD_BITS + bit) as u8
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::tests::basic;

    fn entry(task: u8) -> Entry {
        Entry { task, released_ns: 0 }
    }

    fn queue(tasks: &[Task]) -> Ready {
        let mut ready = Ready::new();
        ready.reset(tasks);
        ready
    }

    /// Levels on both sides of each word of the bit map, taken from the highest to the lowest.
    #[test]
    fn the_highest_level_comes_first() {
        let levels = [1, 62, 63, 64, 127, 128, 191, 192, 254];
        let mut ready = queue(&levels.map(basic));
        for (task, level) in levels.iter().enumerate() {
            ready.push(*level, entry(task as u8));
            assert_eq!(ready.top(), *level);
        }
        for (task, level) in levels.iter().enumerate().rev() {
            assert_eq!(ready.top(), *level);
            assert_eq!(ready.pop(), Some(entry(task as u8)));
        }
        assert_eq!((ready.top(), ready.pop()), (0, None));
    }

    /// The ring of a level goes around its end many times, and around none of its neighbours'.
    #[test]
    fn within_a_level_the_oldest_comes_first() {
        let mut ready = queue(&[basic(3), Task { activations: 3, ..basic(4) }, basic(5)]);
        ready.push(3, entry(77));
        ready.push(4, entry(0));
        for turn in 0..20 {
            ready.push(4, entry(turn + 1));
            ready.push(5, entry(99));
            assert_eq!(ready.pop(), Some(entry(99)));
            assert_eq!(ready.pop(), Some(entry(turn)));
        }
        assert_eq!(ready.pop(), Some(entry(20)));
        assert_eq!(ready.pop(), Some(entry(77)));
        assert_eq!(ready.pop(), None);
    }

    #[test]
    fn all_places_can_be_taken() {
        let tasks = [Task { activations: 255, ..basic(9) }; 4];
        let mut ready = queue(&tasks);
        for turn in 0..1020_u16 {
            ready.push(9, Entry { task: 0, released_ns: u64::from(turn) });
        }
        let released = core::iter::from_fn(|| ready.pop()).map(|entry| entry.released_ns);
        assert!(released.eq(0..1020));
    }

    #[test]
    #[should_panic(expected = "more activations than the configuration allows")]
    fn a_place_too_many_is_a_broken_invariant() {
        let mut ready = queue(&[basic(1)]);
        ready.push(1, entry(0));
        ready.push(1, entry(0));
    }
}
