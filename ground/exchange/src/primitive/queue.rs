//! The queue: one producer, one consumer, bounded, each record once.
//!
//! | word | meaning | written by |
//! |-----:|---------|------------|
//! | 0 | `head`: records published | producer |
//! | 16 … 31 | what the producer counts | producer |
//! | 32 | `tail`: records taken | consumer |
//! | 48 … 63 | what the consumer counts | consumer |
//! | 64 … | records of equal length, record `n` at place `n mod capacity` | producer |
//!
//! ```text
//! producer   tail (acquire): is there room? │ records │ head (release)
//! consumer   head (acquire): is there any?  │ records │ tail (release)
//! ```
//!
//! Records become visible with the one store of `head` that publishes them: several published at
//! once are taken together or not at all. The release store of `tail` pairs with the producer's
//! acquire load, so that no record is overwritten before it was read.
//!
//! Each side keeps its own number and believes the other's only as far as it is possible: a `head`
//! more than `capacity` ahead is another's doing, and the consumer starts anew there.

mod copying;

use crate::sync::{Acquire, AtomicU64, Relaxed, Release};

pub use copying::Copying;

/// Words between two that different sides write, or that one side writes and the other waits for:
/// two cache lines, since processors fetch lines in pairs.
const APART: usize = 16;
const PRODUCER_COUNTS: usize = APART;
const TAIL: usize = 2 * APART;
const CONSUMER_COUNTS: usize = 3 * APART;
/// Words in front of the records.
pub const HEADER_WORDS: usize = 4 * APART;

/// Words of a queue.
pub const fn queue_words(capacity: usize, record_words: usize) -> usize {
    HEADER_WORDS + capacity * record_words
}

#[derive(Clone, Copy, Debug)]
struct Queue<'m> {
    header: &'m [AtomicU64],
    records: &'m [AtomicU64],
    record_words: usize,
    /// A power of two.
    capacity: u64,
}

impl<'m> Queue<'m> {
    fn new(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let (header, records) = words.split_at_checked(HEADER_WORDS)?;
        let capacity = records.len().checked_div(record_words)?.checked_ilog2()?;
        Some(Self { header, records, record_words, capacity: 1 << capacity })
    }

    /// Always inside, whatever `number` is.
    #[inline]
    fn record(&self, number: u64) -> &'m [AtomicU64] {
        let first = (number & (self.capacity - 1)) as usize * self.record_words;
        &self.records[first..first + self.record_words]
    }

    fn head(&self) -> &'m AtomicU64 {
        &self.header[0]
    }

    fn tail(&self) -> &'m AtomicU64 {
        &self.header[TAIL]
    }
}

/// The producing side, of which there is one.
#[derive(Debug)]
pub struct Producer<'m> {
    queue: Queue<'m>,
    next: u64,
    /// The tail as it was seen last; reading it again costs a transfer of its line.
    tail: u64,
}

impl<'m> Producer<'m> {
    /// Takes over a queue and goes on with its numbers; `None` when not one record fits. Of the
    /// records that fit, a power of two is used.
    pub fn resume(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let queue = Queue::new(words, record_words)?;
        let next = queue.head().load(Relaxed);
        Some(Self { queue, next, tail: queue.tail().load(Acquire) })
    }

    /// Records that the queue holds.
    pub fn capacity(&self) -> u64 {
        self.queue.capacity
    }

    /// Words for the producer's counts. The consumer does not wait for them, and so they lie apart
    /// from `head`, which it does wait for.
    pub fn counts(&self) -> &'m [AtomicU64] {
        &self.queue.header[PRODUCER_COUNTS..TAIL]
    }

    /// Returns `true` if `count` more records have room.
    #[inline]
    pub fn has_room(&mut self, count: u64) -> bool {
        self.free() >= count || {
            self.tail = self.queue.tail().load(Acquire);
            self.free() >= count
        }
    }

    #[inline]
    fn free(&self) -> u64 {
        // A tail ahead of the head, or too far behind, is the other side's nonsense: no room.
        self.queue.capacity.saturating_sub(self.next.wrapping_sub(self.tail))
    }

    /// Writes the record that comes `ahead` after the next one, without publishing it. There must
    /// be room for it.
    #[inline]
    pub fn write(&mut self, ahead: u64, words: impl IntoIterator<Item = u64>) {
        let record = self.queue.record(self.next.wrapping_add(ahead));
        for (place, word) in record.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }

    /// The place of the next record, to be written in pieces.
    #[inline]
    pub fn place(&mut self) -> &'m [AtomicU64] {
        self.queue.record(self.next)
    }

    /// Publishes `count` written records at once.
    #[inline]
    pub fn publish(&mut self, count: u64) {
        self.next = self.next.wrapping_add(count);
        self.queue.head().store(self.next, Release);
    }
}

/// The consuming side, of which there is one.
#[derive(Debug)]
pub struct Consumer<'m> {
    queue: Queue<'m>,
    next: u64,
    /// The head as it was seen last.
    head: u64,
    resets: u64,
}

impl<'m> Consumer<'m> {
    /// Takes over a queue and goes on where the last consumer ended; `None` when not one record
    /// fits.
    pub fn resume(words: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let queue = Queue::new(words, record_words)?;
        let next = queue.tail().load(Relaxed);
        Some(Self { queue, next, head: next, resets: 0 })
    }

    /// Words for the consumer's counts.
    pub fn counts(&self) -> &'m [AtomicU64] {
        &self.queue.header[CONSUMER_COUNTS..]
    }

    /// The word in which the producer counts the records published so far.
    pub fn published(&self) -> &'m AtomicU64 {
        self.queue.head()
    }

    /// Returns how often the queue had to be emptied because its head was impossible.
    pub fn resets(&self) -> u64 {
        self.resets
    }

    /// The number of records that wait: at most the capacity, whatever the other side wrote.
    #[inline]
    pub fn available(&mut self) -> u64 {
        if self.head == self.next {
            self.head = self.queue.head().load(Acquire);
        }
        let available = self.head.wrapping_sub(self.next);
        if available <= self.queue.capacity {
            return available;
        }
        self.resets = self.resets.saturating_add(1);
        self.next = self.head;
        self.queue.tail().store(self.next, Release);
        0
    }

    /// Looks for records published since the last look, even though some still wait.
    #[inline]
    pub fn look(&mut self) -> u64 {
        self.head = self.queue.head().load(Acquire);
        self.available()
    }

    /// Copies the record that comes `ahead` after the next one.
    #[inline]
    pub fn read(&self, ahead: u64, words: &mut [u64]) {
        let record = self.queue.record(self.next.wrapping_add(ahead));
        for (word, place) in words.iter_mut().zip(record) {
            *word = place.load(Relaxed);
        }
    }

    /// The next record, to be read in pieces.
    #[inline]
    pub fn place(&self) -> &'m [AtomicU64] {
        self.queue.record(self.next)
    }

    /// Gives the places of `count` records back.
    #[inline]
    pub fn release(&mut self, count: u64) {
        self.next = self.next.wrapping_add(count);
        self.queue.tail().store(self.next, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn words(capacity: usize) -> Vec<AtomicU64> {
        (0..queue_words(capacity, 1)).map(|_| AtomicU64::new(0)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        /// Goal: the queue behaves as a bounded queue, also over the wrap of its numbers.
        /// Method: play pushes and pops on it and on the standard library's.
        #[test]
        fn it_is_a_bounded_queue(
            steps in proptest::collection::vec(any::<bool>(), 0..200),
            start in prop_oneof![Just(0), Just(u64::MAX - 3)],
        ) {
            let words = words(4);
            words[0].store(start, Relaxed);
            words[TAIL].store(start, Relaxed);
            let mut producer = Producer::resume(&words, 1).unwrap();
            let mut consumer = Consumer::resume(&words, 1).unwrap();
            let mut model = VecDeque::new();
            for (value, push) in (0..).zip(steps) {
                if push {
                    prop_assert_eq!(producer.has_room(1), model.len() < 4);
                    if model.len() < 4 {
                        producer.write(0, [value]);
                        producer.publish(1);
                        model.push_back(value);
                    }
                } else {
                    let mut word = [0];
                    let found = (consumer.available() > 0).then(|| {
                        consumer.read(0, &mut word);
                        consumer.release(1);
                        word[0]
                    });
                    prop_assert_eq!(found, model.pop_front());
                }
            }
        }
    }

    #[test]
    fn an_impossible_head_empties_the_queue_and_is_counted() {
        let words = words(4);
        let mut consumer = Consumer::resume(&words, 1).unwrap();
        words[0].store(99, Relaxed);
        assert_eq!((consumer.available(), consumer.resets()), (0, 1));
        assert_eq!(words[TAIL].load(Relaxed), 99);
    }

    #[test]
    fn an_impossible_tail_leaves_no_room() {
        let words = words(4);
        words[TAIL].store(99, Relaxed);
        let mut producer = Producer::resume(&words, 1).unwrap();
        assert!(!producer.has_room(1));
    }
}
