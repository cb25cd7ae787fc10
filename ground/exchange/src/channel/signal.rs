//! A signal: its last value, when it was sent, and how often, in one consistent reading.
//!
//! Writer and readers are wait-free; see [`latest`](crate::primitive::latest) for how. A cell is
//! one cache line.

use quietcore_units::Nanos;

use crate::channel::deadline::{Freshness, Timeouts, freshness};
use crate::primitive::latest::Latest;
use crate::primitive::sequence::TornRead;
use crate::primitive::words::mask_of;
use crate::sync::AtomicU64;

/// Words of a record: value and instant.
pub(crate) const SIGNAL_WORDS: usize = 2;

/// A value as a receiver got it, with its age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The value in its low bytes.
    pub value: u64,
    /// Values sent so far, this one included; zero for the initial value.
    pub count: u64,
    /// When it was sent, on the monotonic clock; zero for the initial value.
    pub sent: Nanos,
    /// The update bit: `true` if the receiver has not got this value before.
    pub updated: bool,
}

impl Received {
    /// Classifies the value at `now`, for a receiver that started at `started`.
    #[inline]
    pub fn freshness(&self, now: Nanos, started: Nanos, timeouts: &Timeouts) -> Freshness {
        freshness(now, started, (self.count > 0).then_some(self.sent), timeouts)
    }
}

/// Sends a signal. There must be one, not more.
#[derive(Debug)]
pub struct SignalWriter<'map> {
    cell: Latest<'map>,
    count: u64,
    mask: u64,
}

impl<'map> SignalWriter<'map> {
    /// Takes over a cell and goes on with its count; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64], bytes: u8) -> Option<Self> {
        let cell = Latest::new(words, SIGNAL_WORDS)?;
        Some(Self { cell, count: cell.number(), mask: mask_of(usize::from(bytes)) })
    }

    /// Sends a value, given in the low bytes. Never waits: four stores.
    #[inline]
    pub fn send(&mut self, now: Nanos, value: u64) {
        self.count = self.count.wrapping_add(1);
        self.cell.write(self.count, [value & self.mask, now.get()]);
    }

    /// Gives the signal its value before the first was sent. For the host, when the channel is
    /// made.
    pub(super) fn set_initial(&mut self, value: u64) {
        self.cell.write(0, [value & self.mask, 0]);
    }
}

/// Receives a signal, with an update bit of its own.
#[derive(Clone, Debug)]
pub struct SignalReader<'map> {
    cell: Latest<'map>,
    seen: u64,
}

impl<'map> SignalReader<'map> {
    /// A receiver of a cell; `None` when `words` don't hold one.
    pub fn new(words: &'map [AtomicU64]) -> Option<Self> {
        Some(Self { cell: Latest::new(words, SIGNAL_WORDS)?, seen: 0 })
    }

    /// The last value, and clears the update bit.
    ///
    /// # Errors
    /// [`TornRead`] when the sender overtook at every try; the receiver keeps what it had.
    #[inline]
    pub fn receive(&mut self) -> Result<Received, TornRead> {
        let received = self.peek()?;
        self.seen = received.count;
        Ok(received)
    }

    /// The last value; the update bit stays.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    #[inline]
    pub fn peek(&self) -> Result<Received, TornRead> {
        let mut words = [0; SIGNAL_WORDS];
        let count = self.cell.read(&mut words)?;
        let [value, sent] = words;
        Ok(Received { value, count, sent: Nanos::new(sent), updated: count != self.seen })
    }
}
