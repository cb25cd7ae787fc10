//! The latest record: a writer that never waits, and readers that need no more than the newest.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | `writing`: number of the record that was begun last |
//! | 1 | `latest`: number of the newest complete record |
//! | 2 … | [`PLACES`] records, record `n` at place `n mod PLACES` |
//!
//! It is a broadcast ring of three places of which a reader wants the newest record only. Record
//! `n` is overwritten by record `n + 3`, so a reading fails only if the writer completed two more
//! records and began a third within it. A value with its time stamp makes a record of two words,
//! and the whole cell is one cache line: a new value costs its reader one transfer of a line.
//!
//! The writer is wait-free. A reader is too: it tries [`TRIES`] times at most, a few loads each.
//! Beyond that it reports [`TornRead`] and its caller keeps the record it had, which happens only
//! if the writer completes two records a reading, [`TRIES`] times in a row.

use crate::primitive::sequence::TornRead;
use crate::sync::{Acquire, AtomicU64, Relaxed, Release, fence};

/// Records that there is room for.
pub const PLACES: usize = 3;

/// Words in front of the records.
pub const HEADER_WORDS: usize = 2;

/// Most tries of one reading.
pub const TRIES: usize = 8;

/// The number of words of a cell whose records have `record_words` words.
pub const fn cell_words(record_words: usize) -> usize {
    HEADER_WORDS + PLACES * record_words
}

/// The newest record and its place among others.
#[derive(Clone, Copy, Debug)]
pub struct Latest<'m> {
    writing: &'m AtomicU64,
    latest: &'m AtomicU64,
    records: &'m [AtomicU64],
    record_words: usize,
}

impl<'m> Latest<'m> {
    /// A cell in `words`; `None` when they don't hold [`PLACES`] records.
    pub fn new(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let (header, records) = words.split_at_checked(HEADER_WORDS)?;
        let records = records.get(..PLACES.checked_mul(record_words)?)?;
        Some(Self { writing: &header[0], latest: &header[1], records, record_words })
    }

    #[inline]
    fn record(&self, number: u64) -> &'m [AtomicU64] {
        let first = (number % PLACES as u64) as usize * self.record_words;
        &self.records[first..first + self.record_words]
    }

    /// The number of the newest record; zero before the first was written.
    #[inline]
    pub fn number(&self) -> u64 {
        self.latest.load(Acquire)
    }

    /// Writes a record as number `number`, which must be one more than the last.
    #[inline]
    pub fn write(&self, number: u64, words: impl IntoIterator<Item = u64>) {
        self.writing.store(number, Relaxed);
        // Pairs with the acquire fence of a reader that saw a word of this record: it then sees
        // `writing` too.
        fence(Release);
        for (place, word) in self.record(number).iter().zip(words) {
            place.store(word, Relaxed);
        }
        self.latest.store(number, Release);
    }

    /// Reads the newest record into `words` and returns its number.
    ///
    /// # Errors
    /// [`TornRead`] when the writer overtook at all of [`TRIES`] tries.
    #[inline]
    pub fn read(&self, words: &mut [u64]) -> Result<u64, TornRead> {
        for _ in 0..TRIES {
            // Makes the words of that record visible.
            let number = self.latest.load(Acquire);
            for (word, place) in words.iter_mut().zip(self.record(number)) {
                *word = place.load(Relaxed);
            }
            fence(Acquire);
            let begun = self.writing.load(Relaxed).wrapping_sub(number);
            if begun < PLACES as u64 {
                return Ok(number);
            }
        }
        Err(TornRead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_record_is_read_with_its_number() {
        let words: Vec<_> = (0..cell_words(2)).map(|_| AtomicU64::new(0)).collect();
        let cell = Latest::new(&words, 2).unwrap();
        let mut read = [9; 2];
        assert_eq!((cell.read(&mut read), read), (Ok(0), [0, 0]));
        for number in 1..10 {
            cell.write(number, [number, number + 100]);
            assert_eq!((cell.read(&mut read), read), (Ok(number), [number, number + 100]));
        }
    }

    #[test]
    fn a_value_with_its_time_fills_one_cache_line() {
        assert_eq!(cell_words(2) * 8, 64);
    }

    #[test]
    fn a_hostile_cell_is_refused_after_a_bounded_number_of_tries() {
        let words: Vec<_> = (0..cell_words(2)).map(|_| AtomicU64::new(u64::MAX)).collect();
        let cell = Latest::new(&words, 2).unwrap();
        assert_eq!(cell.read(&mut [0; 2]), Ok(u64::MAX));
        words[0].store(5, Relaxed);
        assert_eq!(cell.read(&mut [0; 2]), Err(TornRead));
        assert!(Latest::new(&words[..7], 2).is_none());
        assert!(Latest::new(&words, usize::MAX).is_none());
    }
}
