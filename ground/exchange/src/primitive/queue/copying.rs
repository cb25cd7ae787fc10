//! A queue kept alike in two memories, where producer and consumer have none in common.
//!
//! ```text
//! producer ─► from: head, counts, records ──► to: head, counts, records ─► consumer
//!             from: tail ◄───────────────────────────────── to: tail
//! ```
//!
//! Each word has one writer in each memory, as in one: the producer or whoever copies in the first,
//! the consumer or whoever copies in the second. A record's place in the first is given back only
//! when the consumer gave back the one in the second, so that the queue holds as many as one does.

use crate::primitive::queue::{PRODUCER_COUNTS, Queue};
use crate::sync::{Acquire, AtomicU64, Relaxed, Release};

/// Copies a queue from the producer's memory to the consumer's.
#[derive(Debug)]
pub struct Copying<'m> {
    from: Queue<'m>,
    to: Queue<'m>,
    /// The number of the next record to be copied.
    next: u64,
}

impl<'m> Copying<'m> {
    /// Begins to copy between cells of one size; `None` when not one record fits.
    pub fn new(from: &'m [AtomicU64], to: &'m [AtomicU64], record_words: usize) -> Option<Self> {
        let (from, to) = (Queue::new(from, record_words)?, Queue::new(to, record_words)?);
        (from.capacity == to.capacity).then_some(Self { from, to, next: 0 })
    }

    /// Makes the producer's memory, which nobody uses yet, go on where the consumer's stands.
    pub fn begin_producer(&mut self) {
        self.next = self.to.head().load(Acquire);
        self.from.counts().store(self.to.counts().load(Relaxed), Relaxed);
        self.from.tail().store(self.to.tail().load(Acquire), Relaxed);
        self.from.head().store(self.next, Release);
    }

    /// Makes the consumer's memory, which nobody uses yet, go on where the producer's stands.
    pub fn begin_consumer(&mut self) {
        self.next = self.from.tail().load(Acquire);
        self.to.tail().store(self.next, Relaxed);
        self.to.head().store(self.next, Release);
    }

    /// Copies what was published or given back since the last call. Returns whether anything was.
    ///
    /// Bounded by the queue's capacity, whatever either side wrote: a head that is impossible is
    /// passed on as it is, and no record with it.
    pub fn copy(&mut self) -> bool {
        let head = self.from.head().load(Acquire);
        let published = head.wrapping_sub(self.next);
        if published <= self.to.capacity {
            for ahead in 0..published {
                let number = self.next.wrapping_add(ahead);
                for (to, from) in self.to.record(number).iter().zip(self.from.record(number)) {
                    to.store(from.load(Relaxed), Relaxed);
                }
            }
        }
        self.next = head;
        // Nothing is stored that is there already: each side would fetch its lines anew.
        renew(self.to.counts(), self.from.counts().load(Relaxed));
        renew(self.to.head(), head);
        let given_back = renew(self.from.tail(), self.to.tail().load(Acquire));
        published > 0 || given_back
    }
}

/// Stores a number, if another one is there; returns whether it was.
fn renew(word: &AtomicU64, number: u64) -> bool {
    let differs = word.load(Relaxed) != number;
    if differs {
        word.store(number, Release);
    }
    differs
}

impl<'m> Queue<'m> {
    /// The one count of the producer that its side has a use for.
    fn counts(&self) -> &'m AtomicU64 {
        &self.header[PRODUCER_COUNTS]
    }
}

#[cfg(test)]
mod tests;
