//! The memory that card and driver share: two rings of descriptors, and a buffer for each.
//!
//! All of it is atomic words, so that neither side's writes are ever a data race for the other, and
//! nothing that the card writes is taken for more than a number.
//!
//! Descriptors are of the legacy form, which both families have (82574 Datasheet, 7.1.4 and 7.2.9;
//! I210 Datasheet, 7.1.4.1 and 7.2.2.1): an address, and a word.
//!
//! | bits of the word | received | to be sent |
//! |---|---|---|
//! | 0–15 | bytes | bytes |
//! | 24–31 | | command |
//! | 32–39 | status | status, of which bit 32 is "done" |
//! | 40–47 | errors | |

use core::mem::offset_of;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Descriptors of a ring, of which the card has one less at a time. 8 are the fewest.
pub(super) const DESCRIPTORS: usize = 32;
/// Bytes of a buffer.
pub(super) const BUFFER_BYTES: usize = 2048;
/// Bytes of a ring.
pub(super) const RING_BYTES: u32 = (DESCRIPTORS * size_of::<Descriptor>()) as u32;

const WORD_BYTES: usize = size_of::<u64>();

/// The card has finished with the descriptor (DD).
pub(super) const DONE: u64 = 1 << 32;
/// It has the end of the frame (EOP), of a received one.
pub(super) const LAST: u64 = 1 << 33;
/// Any error of a received frame.
pub(super) const ERRORS: u64 = 0xFF << 40;
/// Command of a frame to be sent: it is whole (EOP), gets a check sequence (IFCS), and its being
/// sent is reported (RS).
pub(super) const SEND: u64 = 0b1011 << 24;

/// A descriptor of a ring.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Descriptor {
    pub(super) address: AtomicU64,
    pub(super) word: AtomicU64,
}

impl Descriptor {
    const fn new() -> Self {
        Self { address: AtomicU64::new(0), word: AtomicU64::new(0) }
    }

    /// Gives it to the card; it is the card's once the tail is behind it.
    pub(super) fn give(&self, address: u64, word: u64) {
        self.address.store(address, Relaxed);
        self.word.store(word, Release);
    }

    /// Returns the word if the card has finished with it.
    pub(super) fn done(&self) -> Option<u64> {
        Some(self.word.load(Acquire)).filter(|word| word & DONE != 0)
    }
}

/// Memory of a frame.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Buffer([AtomicU64; BUFFER_BYTES / WORD_BYTES]);

impl Buffer {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; BUFFER_BYTES / WORD_BYTES])
    }

    /// Copies its first bytes out, as many as there is room for and as it has.
    pub(super) fn copy_to(&self, bytes: &mut [u8]) {
        for (piece, word) in bytes.chunks_mut(WORD_BYTES).zip(&self.0) {
            let word = word.load(Relaxed).to_le_bytes();
            piece.copy_from_slice(&word[..piece.len()]);
        }
    }

    /// Copies bytes in, as many as it has room for.
    pub(super) fn copy_from(&self, bytes: &[u8]) {
        for (piece, word) in bytes.chunks(WORD_BYTES).zip(&self.0) {
            let mut value = [0; WORD_BYTES];
            value[..piece.len()].copy_from_slice(piece);
            word.store(u64::from_le_bytes(value), Relaxed);
        }
    }
}

/// Both rings with their buffers, which lie at one address for the card.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Rings {
    pub(super) receive: [Descriptor; DESCRIPTORS],
    pub(super) transmit: [Descriptor; DESCRIPTORS],
    pub(super) received: [Buffer; DESCRIPTORS],
    pub(super) sent: [Buffer; DESCRIPTORS],
}

impl Rings {
    /// Makes rings in which no descriptor is anybody's.
    pub const fn new() -> Self {
        Self {
            receive: [const { Descriptor::new() }; DESCRIPTORS],
            transmit: [const { Descriptor::new() }; DESCRIPTORS],
            received: [const { Buffer::new() }; DESCRIPTORS],
            sent: [const { Buffer::new() }; DESCRIPTORS],
        }
    }

    /// Returns the offset of the ring for frames to be sent; the other one is at the beginning.
    pub(super) const fn transmit_offset() -> u64 {
        offset_of!(Self, transmit) as u64
    }

    /// Returns the offset of a buffer to receive into.
    pub(super) const fn received_offset(index: usize) -> u64 {
        (offset_of!(Self, received) + index * BUFFER_BYTES) as u64
    }

    /// Returns the offset of a buffer for a frame to be sent.
    pub(super) const fn sent_offset(index: usize) -> u64 {
        (offset_of!(Self, sent) + index * BUFFER_BYTES) as u64
    }
}

impl Default for Rings {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = {
    // The cards take a ring at a multiple of 128 bytes, and as long as that (82574 Datasheet,
    // 10.2.5.5 and 10.2.5.7).
    assert!(RING_BYTES.is_multiple_of(128));
    assert!(Rings::transmit_offset().is_multiple_of(128));
    assert!(size_of::<Buffer>() == BUFFER_BYTES);
};
