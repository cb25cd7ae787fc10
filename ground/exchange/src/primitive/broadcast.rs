//! The broadcast ring: one writer that overwrites the oldest record, readers with positions of
//! their own who notice what they lost.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | `head`: records that are complete |
//! | 1 | `writing`: records that were begun |
//! | 8 … | records of equal length, record `n` at place `n mod capacity` |
//!
//! ```text
//! writer   writing = n + 1 (relaxed) │ release fence │ record n │ head = n + 1 (release)
//! reader   head (acquire) > n ? │ record n │ acquire fence │ writing (relaxed) ≤ n + capacity ?
//! ```
//!
//! The acquire load of `head` makes record `n` visible. If a word of record `n + capacity` was seen
//! instead, which overwrites it, the fences pair, and `writing` is at least `n + capacity + 1`: the
//! record is counted as lost. So no record needs a stamp of its own, and old contents of the ring
//! can't be taken for a record.

use crate::primitive::sequence::TornRead;
use crate::sync::{Acquire, AtomicU64, Relaxed, Release, fence};

/// Words in front of the records: one cache line.
pub const HEADER_WORDS: usize = 8;

/// Numbers from here on are not believed: at a record a nanosecond they would take 146 years.
const NUMBER_MAX: u64 = 1 << 62;

#[derive(Clone, Copy, Debug)]
struct Ring<'m> {
    head: &'m AtomicU64,
    writing: &'m AtomicU64,
    records: &'m [AtomicU64],
    record_words: usize,
    capacity: u64,
}

impl<'m> Ring<'m> {
    fn new(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let (header, records) = words.split_at_checked(HEADER_WORDS)?;
        let capacity = records.len().checked_div(record_words)? as u64;
        (capacity > 0).then_some(Self {
            head: &header[0],
            writing: &header[1],
            records,
            record_words,
            capacity,
        })
    }

    /// Always inside, whatever `number` is.
    #[inline]
    fn record(&self, number: u64) -> &'m [AtomicU64] {
        self.record_at(number % self.capacity)
    }

    #[inline]
    fn record_at(&self, place: u64) -> &'m [AtomicU64] {
        let first = place as usize * self.record_words;
        &self.records[first..first + self.record_words]
    }
}

/// The writing side; it never waits for readers.
#[derive(Debug)]
pub struct BroadcastWriter<'m> {
    ring: Ring<'m>,
    /// The number of the next record.
    next: u64,
    /// Its place in the ring, in records. It is counted along, since a division takes long.
    place: u64,
}

impl<'m> BroadcastWriter<'m> {
    /// Takes over a ring and goes on with its numbers; `None` when not one record fits.
    pub fn resume(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let ring = Ring::new(words, record_words)?;
        // What was begun and not completed is written again.
        let found = ring.head.load(Relaxed);
        let next = if found < NUMBER_MAX { found } else { 0 };
        Some(Self { ring, next, place: next % ring.capacity })
    }

    /// The number that the next record will have.
    #[inline]
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Records that the ring keeps.
    pub fn capacity(&self) -> u64 {
        self.ring.capacity
    }

    /// Writes a record, over the oldest; words beyond the length of a record are left out.
    #[inline]
    pub fn write(&mut self, words: impl IntoIterator<Item = u64>) {
        self.ring.writing.store(self.next + 1, Relaxed);
        fence(Release);
        for (place, word) in self.ring.record_at(self.place).iter().zip(words) {
            place.store(word, Relaxed);
        }
        self.next += 1;
        self.place = if self.place + 1 == self.ring.capacity { 0 } else { self.place + 1 };
        self.ring.head.store(self.next, Release);
    }
}

/// A reading side, which may fall behind and lose records.
#[derive(Clone, Debug)]
pub struct BroadcastReader<'m> {
    ring: Ring<'m>,
    position: u64,
    lost: u64,
}

impl<'m> BroadcastReader<'m> {
    /// Starts with the oldest record that is still there; `None` when not one record fits.
    pub fn oldest(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let ring = Ring::new(words, record_words)?;
        let head = ring.head.load(Acquire);
        Some(Self { ring, position: head.saturating_sub(ring.capacity), lost: 0 })
    }

    /// Starts with the next record that will be written; `None` when not one record fits.
    pub fn newest(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let ring = Ring::new(words, record_words)?;
        Some(Self { ring, position: ring.head.load(Acquire), lost: 0 })
    }

    /// Records that the ring keeps.
    pub fn capacity(&self) -> u64 {
        self.ring.capacity
    }

    /// Records that were overwritten before they were read.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of the next record to be read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes on with record `number`; those in between are not counted as lost.
    pub fn skip_to(&mut self, number: u64) {
        self.position = number;
    }

    /// Records that wait to be read; those already overwritten are counted too.
    pub fn waiting(&self) -> u64 {
        let waiting = self.ring.head.load(Acquire).wrapping_sub(self.position);
        if waiting < NUMBER_MAX { waiting } else { 0 }
    }

    /// Reads the next record into `words` and returns its number, `None` when there is none yet.
    ///
    /// # Errors
    /// [`TornRead`] when the writer overtook at each of a few tries; what it overwrote is counted
    /// as lost, and the next call goes on with what is there then.
    #[inline]
    pub fn read(&mut self, words: &mut [u64]) -> Result<Option<u64>, TornRead> {
        // A writer laps a reader at most as fast as it writes the whole ring, so a second try is
        // rare, and a fourth says that something is wrong.
        const TRIES: usize = 4;
        for _ in 0..TRIES {
            let head = self.ring.head.load(Acquire);
            if head == self.position {
                return Ok(None);
            }
            if head < self.position {
                // Another writer began anew, or this one is hostile.
                self.position = head;
                return Ok(None);
            }
            let oldest = head.saturating_sub(self.ring.capacity);
            self.lose_until(oldest);
            for (word, place) in words.iter_mut().zip(self.ring.record(self.position)) {
                *word = place.load(Relaxed);
            }
            fence(Acquire);
            let begun = self.ring.writing.load(Relaxed);
            if begun <= self.position.saturating_add(self.ring.capacity) {
                let number = self.position;
                self.position += 1;
                return Ok(Some(number));
            }
            self.lose_until(self.position + 1);
        }
        Err(TornRead)
    }

    fn lose_until(&mut self, position: u64) {
        if position > self.position {
            self.lost = self.lost.saturating_add(position - self.position);
            self.position = position;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(records: usize) -> Vec<AtomicU64> {
        (0..HEADER_WORDS + 2 * records).map(|_| AtomicU64::new(0)).collect()
    }

    fn read(reader: &mut BroadcastReader<'_>) -> Option<(u64, [u64; 2])> {
        let mut words = [0; 2];
        let number = reader.read(&mut words).unwrap()?;
        Some((number, words))
    }

    #[test]
    fn a_reader_gets_every_record_once_and_in_order() {
        let words = ring(4);
        let mut writer = BroadcastWriter::resume(&words, 2).unwrap();
        let mut reader = BroadcastReader::oldest(&words, 2).unwrap();
        for number in 0..10 {
            writer.write([number, number * number]);
            assert_eq!(read(&mut reader), Some((number, [number, number * number])));
            assert_eq!(read(&mut reader), None);
        }
        assert_eq!(reader.lost(), 0);
    }

    #[test]
    fn what_was_overwritten_is_counted() {
        let words = ring(4);
        let mut writer = BroadcastWriter::resume(&words, 2).unwrap();
        let mut reader = BroadcastReader::oldest(&words, 2).unwrap();
        (0..11).for_each(|number| writer.write([number, 0]));
        assert_eq!(reader.waiting(), 11);
        assert_eq!(read(&mut reader), Some((7, [7, 0])));
        assert_eq!((reader.lost(), reader.position()), (7, 8));
    }

    #[test]
    fn a_writer_that_takes_over_goes_on_with_the_numbers() {
        let words = ring(4);
        BroadcastWriter::resume(&words, 2).unwrap().write([5, 6]);
        let mut heir = BroadcastWriter::resume(&words, 2).unwrap();
        assert_eq!(heir.next_number(), 1);
        heir.write([7, 8]);
        let mut reader = BroadcastReader::oldest(&words, 2).unwrap();
        assert_eq!(read(&mut reader), Some((0, [5, 6])));
        assert_eq!(read(&mut reader), Some((1, [7, 8])));
    }

    #[test]
    fn a_hostile_ring_neither_traps_a_reader_nor_leads_it_outside() {
        let words = ring(4);
        for (head, writing) in [(u64::MAX, 0), (u64::MAX, u64::MAX), (0, u64::MAX), (9, 1 << 63)] {
            words[0].store(head, Relaxed);
            words[1].store(writing, Relaxed);
            let mut reader = BroadcastReader::oldest(&words, 2).unwrap();
            for _ in 0..20 {
                let _ = reader.read(&mut [0; 2]);
                words[0].store(head ^ 5, Relaxed);
            }
            BroadcastWriter::resume(&words, 2).unwrap().write([1, 2]);
        }
    }

    #[test]
    fn a_ring_without_room_is_none() {
        assert!(BroadcastWriter::resume(&ring(0), 2).is_none());
        assert!(BroadcastReader::oldest(&ring(0)[..3], 2).is_none());
        assert!(BroadcastReader::newest(&ring(1), 0).is_none());
    }
}
