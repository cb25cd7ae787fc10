//! Events: what happens in a partition, told to whoever listens.
//!
//! Each task has a ring of its own, and so has the partition itself for what its other threads
//! have to say, so that every ring has one writer. A ring is a
//! [`broadcast`](crate::primitive::broadcast): the writer never waits, and a listener that is too
//! slow learns how many events it missed.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | the cycle |
//! | 1 | the instant, on the monotonic clock, in ns |
//! | 2 | kind in the low half, task in the high half |
//! | 3 | zero |
//! | 4 … 7 | what there is to say about the kind |

mod kind;
mod short_text;
mod text;

use core::fmt;

use quietcore_units::Nanos;

use crate::primitive::broadcast::{BroadcastReader, BroadcastWriter};
use crate::sync::AtomicU64;

pub use kind::{Happening, WORDS as HAPPENING_WORDS};
pub use short_text::ShortText;

/// Words of an event: one cache line.
pub(crate) const EVENT_WORDS: usize = 8;

/// Something that happened in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the event in its ring.
    pub sequence: u64,
    /// The cycle in which it happened.
    pub cycle: u64,
    /// When it happened, on the monotonic clock.
    pub time: Nanos,
    /// The task; the number of tasks stands for the partition itself.
    pub task: u32,
    /// The kind of the event, with its figures.
    pub what: Happening,
}

/// Tells events. There must be one for each ring, not more.
#[derive(Debug)]
pub struct EventWriter<'map> {
    ring: BroadcastWriter<'map>,
}

impl<'map> EventWriter<'map> {
    /// Takes over a ring; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64]) -> Option<Self> {
        Some(Self { ring: BroadcastWriter::resume(words, EVENT_WORDS)? })
    }

    /// Tells an event. Never waits; some ten stores.
    pub fn tell(&mut self, cycle: u64, time: Nanos, task: u32, what: Happening) {
        let (kind, [first, second, third, fourth]) = what.encode();
        let head = u64::from(kind) | u64::from(task) << 32;
        self.ring.write([cycle, time.get(), head, 0, first, second, third, fourth]);
    }
}

/// Reads the events of one writer, from the moment it was made.
#[derive(Clone, Debug)]
pub struct EventReader<'map> {
    ring: BroadcastReader<'map>,
}

impl<'map> EventReader<'map> {
    pub(crate) fn oldest(words: &'map [AtomicU64]) -> Option<Self> {
        Some(Self { ring: BroadcastReader::oldest(words, EVENT_WORDS)? })
    }

    pub(crate) fn newest(words: &'map [AtomicU64]) -> Option<Self> {
        Some(Self { ring: BroadcastReader::newest(words, EVENT_WORDS)? })
    }

    /// The next event; `None` when there is none now.
    pub fn next_event(&mut self) -> Option<Event> {
        let mut words = [0; EVENT_WORDS];
        // Where the writer overtook at every try, the next call goes on with what is there then.
        let sequence = self.ring.read(&mut words).ok()??;
        let [cycle, time, head, _, first, second, third, fourth] = words;
        Some(Event {
            sequence,
            cycle,
            time: Nanos::new(time),
            task: (head >> 32) as u32,
            what: Happening::decode(head as u32, [first, second, third, fourth]),
        })
    }

    /// The events that are there now, and no more: however fast the writer tells, this ends.
    pub fn drain(&mut self) -> impl Iterator<Item = Event> + '_ {
        let waiting = self.ring.waiting().min(self.ring.capacity());
        (0..waiting).map_while(|_| self.next_event())
    }

    /// Events that were overwritten before they were heard.
    pub fn lost(&self) -> u64 {
        self.ring.lost()
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}: {}", self.cycle, self.what)
    }
}
