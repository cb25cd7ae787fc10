//! Messages through a queue: each arrives once, or is refused and counted.
//!
//! | word of a message | meaning |
//! |------------------:|---------|
//! | 0 | its bytes |
//! | 1 | when it was sent, on the monotonic clock, in ns |
//! | 2 … | the bytes, and what fills the message up to an even part of a cache line, or to whole ones |

use core::fmt;

use quietcore_units::Nanos;

use crate::channel::shape::message_words;
use crate::primitive::queue::{Consumer, Producer};
use crate::primitive::words::{load_bytes, store_bytes, words_for};
use crate::sync::{AtomicU64, Relaxed};

/// The most bytes of a message.
pub const QUEUE_MESSAGE_BYTES_MAX: u16 = 4096;
/// The most places of a queue.
pub const QUEUE_SLOTS_MAX: u32 = 1 << 16;

pub(super) const MESSAGE_HEADER_WORDS: usize = 2;

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The queue has no room. The loss is counted.
    Full,
    /// The message has more bytes than the queue carries.
    TooLong {
        /// Size of the message, in bytes.
        is: usize,
        /// The queue's largest message, in bytes.
        most: usize,
    },
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the queue is full; its receiver is too slow"),
            Self::TooLong { is, most } => {
                write!(f, "the message has {is} bytes and the queue carries {most}")
            }
        }
    }
}

impl core::error::Error for SendError {}

/// A message does not fit into the receiver's buffer; it stays in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveError {
    /// The bytes of the message.
    pub needed: usize,
    /// The bytes of the buffer.
    pub room: usize,
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, room } = self;
        write!(f, "the message has {needed} bytes and the buffer {room}; use a larger one")
    }
}

impl core::error::Error for ReceiveError {}

/// A message taken from the queue; its bytes are in the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its bytes, at the start of the buffer.
    pub bytes: usize,
    /// When it was sent, on the monotonic clock.
    pub sent: Nanos,
}

/// Sends messages. There must be one, not more.
#[derive(Debug)]
pub struct Sender<'map> {
    queue: Producer<'map>,
    message_bytes: usize,
    refused: u64,
}

impl<'map> Sender<'map> {
    /// Takes over a queue; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64], message_bytes: u16) -> Option<Self> {
        let queue = Producer::resume(words, message_words(message_bytes))?;
        let refused = queue.counts().first()?.load(Relaxed);
        Some(Self { queue, message_bytes: usize::from(message_bytes), refused })
    }

    /// Sends a message. Never waits.
    ///
    /// # Errors
    /// [`SendError`]; then nothing was sent.
    #[inline]
    pub fn send(&mut self, now: Nanos, message: &[u8]) -> Result<(), SendError> {
        if message.len() > self.message_bytes {
            return Err(SendError::TooLong { is: message.len(), most: self.message_bytes });
        }
        if !self.queue.has_room(1) {
            self.count_refused();
            return Err(SendError::Full);
        }
        let place = self.queue.place();
        place[0].store(message.len() as u64, Relaxed);
        place[1].store(now.get(), Relaxed);
        store_bytes(&place[MESSAGE_HEADER_WORDS..], message);
        self.queue.publish(1);
        Ok(())
    }

    #[cold]
    fn count_refused(&mut self) {
        self.refused = self.refused.wrapping_add(1);
        if let Some(count) = self.queue.counts().first() {
            count.store(self.refused, Relaxed);
        }
    }

    /// Messages that found no room so far, those of earlier senders included.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

/// Receives messages. There must be one, not more.
#[derive(Debug)]
pub struct Receiver<'map> {
    queue: Consumer<'map>,
    message_bytes: usize,
}

impl<'map> Receiver<'map> {
    /// Takes over a queue; `None` when `words` don't hold one.
    pub fn resume(words: &'map [AtomicU64], message_bytes: u16) -> Option<Self> {
        let queue = Consumer::resume(words, message_words(message_bytes))?;
        Some(Self { queue, message_bytes: usize::from(message_bytes) })
    }

    /// Takes the oldest message; `None` when there is none.
    ///
    /// # Errors
    /// [`ReceiveError`] when the buffer is too small; the message stays.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Message>, ReceiveError> {
        if self.queue.available() == 0 {
            return Ok(None);
        }
        let place = self.queue.place();
        // Cut to what the queue carries: another side wrote it.
        let said = usize::try_from(place[0].load(Relaxed)).unwrap_or(usize::MAX);
        let bytes = said.min(self.message_bytes);
        let room = buffer.len();
        let Some(target) = buffer.get_mut(..bytes) else {
            return Err(ReceiveError { needed: bytes, room });
        };
        let payload = &place[MESSAGE_HEADER_WORDS..][..words_for(bytes)];
        load_bytes(payload, target);
        let sent = Nanos::new(place[1].load(Relaxed));
        self.queue.release(1);
        Ok(Some(Message { bytes, sent }))
    }

    /// The word in which the sender counts the messages sent so far, those of earlier senders
    /// included. It may be read while another task receives.
    pub fn sent(&self) -> &'map AtomicU64 {
        self.queue.published()
    }

    /// Returns how often the queue had to be emptied because its head was impossible: the sender is
    /// broken or hostile.
    pub fn resets(&self) -> u64 {
        self.queue.resets()
    }
}
