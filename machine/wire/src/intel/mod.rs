//! A driver of Intel's gigabit network cards, polled: no interrupt, no allocation, one copy a
//! frame.
//!
//! ```text
//! send    ─► buffer ─► descriptor ─► tail register          one register is written
//! receive ─► "done" in a descriptor, looked at in memory ─► copy ─► descriptor ─► tail register
//! ```
//!
//! Waiting for a frame reads memory only, so that a guest that was given such a card does not leave
//! its processor, neither to send nor to receive.
//!
//! | [`CardFamily`] | cards | seen working |
//! |---|---|---|
//! | `E82574` | 82574L (Linux calls the family `e1000e`) | QEMU's emulation of it |
//! | `I210` | I210 and I211 for copper (`igb`) | against the fake of this crate only |
//!
//! The order of its set-up follows the datasheets: 82574 GbE Controller Family, 4.6 and 7; Ethernet
//! Controller I210, 4.5 and 7. The card is one that somebody else may have had: it is
//! reset, and nothing is taken from its state before.
//!
//! A card that tells nonsense costs frames and nothing else: no number of it is an index, lengths
//! are checked, and each call looks at each descriptor once at most.

mod registers;
mod rings;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

use core::fmt;

use quietcore_boot::CardFamily;
use quietcore_units::Nanos;

use crate::wire::{FRAME_BYTES_MAX, Wire, WireError};

pub use registers::{CardAccess, REGISTER_BYTES, Register, RingRegister};
use registers::{MULTICAST_WORDS, control, eeprom, receive, ring, status, transmit};
pub use rings::Rings;
use rings::{BUFFER_BYTES, DESCRIPTORS, ERRORS, LAST, RING_BYTES, SEND};

/// After a reset the registers are left alone for so long.
const RESET_PAUSE: Nanos = Nanos::from_millis(10);
/// The longest that a card takes to come back from a reset, and to switch a ring on.
const RESET_LIMIT: Nanos = Nanos::from_millis(500);
/// The longest that a link is waited for: both ends find out their speed, which takes 3 s at most.
const LINK_LIMIT: Nanos = Nanos::from_secs(6);

const _: () = assert!(FRAME_BYTES_MAX <= BUFFER_BYTES);

/// Why a card is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardError {
    /// It does not come back from its reset.
    Reset,
    /// It does not switch a ring on.
    Ring,
    /// There is no link.
    Link,
}

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reset => f.write_str("the network card does not come back from its reset"),
            Self::Ring => f.write_str("the network card does not switch its rings on"),
            Self::Link => write!(
                f,
                "the network card had no link for {} s; plug the cable in",
                LINK_LIMIT.get() / 1_000_000_000
            ),
        }
    }
}

impl core::error::Error for CardError {}

/// Counts of frames, by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardCounts {
    /// Frames handed to the card.
    pub sent: u64,
    /// Frames taken from it.
    pub received: u64,
    /// Frames taken and dropped: with an error, in parts, of no bytes, or longer than the buffer
    /// that they were to go to.
    pub dropped: u64,
    /// Registers written since the card was opened.
    pub written: u64,
}

/// A network card that is up.
#[derive(Debug)]
pub struct Card<A> {
    access: A,
    rings: &'static Rings,
    /// Address of the rings, as the card has it.
    base: u64,
    /// The descriptor that the next frame is received in.
    next_received: usize,
    /// The descriptor that the next frame is sent by, and the first one that is not done.
    next_sent: usize,
    first_sending: usize,
    /// The parts of a frame are dropped until its end.
    is_within_dropped: bool,
    counts: CardCounts,
}

impl<A: CardAccess> Card<A> {
    /// Opens a card: resets it, gives it the rings, and waits for its link. `base` is the address
    /// of `rings` as the card has it; nobody else uses them.
    ///
    /// # Errors
    /// [`CardError`]. The card is reset then, and reaches no memory.
    pub fn open(
        access: A,
        family: CardFamily,
        rings: &'static Rings,
        base: u64,
    ) -> Result<Self, CardError> {
        let mut card = Self {
            access,
            rings,
            base,
            next_received: 0,
            next_sent: 0,
            first_sending: 0,
            is_within_dropped: false,
            counts: CardCounts::default(),
        };
        card.reset()?;
        let opened = card.set_up(family);
        if opened.is_err() {
            // What it answers to the last reset changes nothing.
            let _ = card.reset();
        }
        opened.map(|()| card)
    }

    /// Returns the counts of frames so far.
    pub fn counts(&self) -> CardCounts {
        self.counts
    }

    /// Returns its Ethernet address.
    pub fn address(&mut self) -> [u8; 6] {
        let low = self.access.read(Register::AddressLow).to_le_bytes();
        let high = self.access.read(Register::AddressHigh).to_le_bytes();
        [low[0], low[1], low[2], low[3], high[0], high[1]]
    }

    /// Returns `true` if the link is up.
    pub fn has_link(&mut self) -> bool {
        self.access.read(Register::Status) & status::LINK_UP != 0
    }

    /// Resets the card and waits until it has its configuration again.
    fn reset(&mut self) -> Result<(), CardError> {
        self.access.write(Register::InterruptMaskClear, u32::MAX);
        self.access.write(Register::ReceiveControl, 0);
        self.access.write(Register::TransmitControl, transmit::PAD);
        let before = self.access.read(Register::Control);
        self.access.write(Register::Control, before | control::RESET);
        let pause = self.access.now() + RESET_PAUSE;
        while self.access.now() < pause {}
        self.wait(RESET_LIMIT, CardError::Reset, |access| {
            access.read(Register::Control) & control::RESET == 0
                && access.read(Register::Eeprom) & eeprom::LOADED != 0
        })?;
        // The reset has unmasked nothing, but who had the card before may have been in the middle
        // of it.
        self.access.write(Register::InterruptMaskClear, u32::MAX);
        Ok(())
    }

    fn set_up(&mut self, family: CardFamily) -> Result<(), CardError> {
        let before = self.access.read(Register::Control);
        let up = before | control::LINK_UP | control::FIND_SPEED;
        self.access.write(Register::Control, up);
        for word in 0..MULTICAST_WORDS {
            self.access.write(Register::Multicast(word), 0);
        }
        for index in 0..DESCRIPTORS {
            self.give_back(index);
            self.rings.transmit[index].give(0, 0);
        }
        if family == CardFamily::I210 {
            // Legacy descriptors, and buffers of 2 KiB.
            self.access.write(Register::ReceiveForm, (BUFFER_BYTES >> 10) as u32);
        }
        let rings = [
            (Register::Receive as fn(RingRegister) -> Register, self.base),
            (Register::Transmit, self.base + Rings::transmit_offset()),
        ];
        for (of_ring, base) in rings {
            self.access.write(of_ring(RingRegister::BaseLow), base as u32);
            self.access.write(of_ring(RingRegister::BaseHigh), (base >> 32) as u32);
            self.access.write(of_ring(RingRegister::Bytes), RING_BYTES);
            self.access.write(of_ring(RingRegister::Head), 0);
            self.access.write(of_ring(RingRegister::Tail), 0);
            self.switch_on(family, of_ring(RingRegister::Control))?;
        }
        self.access.write(Register::TransmitGap, registers::GAP);
        let sending = transmit::ON | transmit::PAD | transmit::COLLISIONS;
        self.access.write(Register::TransmitControl, sending);
        let receiving = receive::ON | receive::BROADCASTS | receive::STRIP_CHECK;
        self.access.write(Register::ReceiveControl, receiving);
        // One less than there are: a full ring would look like an empty one.
        let tail = Register::Receive(RingRegister::Tail);
        self.access.write(tail, (DESCRIPTORS - 1) as u32);
        let up = |access: &mut A| access.read(Register::Status) & status::LINK_UP != 0;
        self.wait(LINK_LIMIT, CardError::Link, up)
    }

    /// Switches a ring on, where it has a switch.
    fn switch_on(&mut self, family: CardFamily, register: Register) -> Result<(), CardError> {
        match family {
            CardFamily::E82574 => {
                let is_transmit = matches!(register, Register::Transmit(_));
                let more = if is_transmit { ring::RESERVED_ONE } else { 0 };
                self.access.write(register, ring::EACH | more);
                Ok(())
            }
            CardFamily::I210 => {
                self.access.write(register, ring::ON);
                let is_on = |access: &mut A| access.read(register) & ring::ON != 0;
                self.wait(RESET_LIMIT, CardError::Ring, is_on)
            }
        }
    }

    /// Waits until something is so.
    fn wait(
        &mut self,
        limit: Nanos,
        error: CardError,
        mut is_so: impl FnMut(&mut A) -> bool,
    ) -> Result<(), CardError> {
        let end = self.access.now() + limit;
        loop {
            // Before the look: who is interrupted for long looks once more.
            let is_over = self.access.now() >= end;
            if is_so(&mut self.access) {
                return Ok(());
            }
            if is_over {
                return Err(error);
            }
        }
    }

    /// Gives a descriptor to receive by back, without its being the card's so far.
    fn give_back(&self, index: usize) {
        self.rings.receive[index].give(self.base + Rings::received_offset(index), 0);
    }

    fn write_tail(&mut self, register: Register, index: usize) {
        self.access.write(register, index as u32);
        self.counts.written += 1;
    }

    /// Takes the next frame that is there; drops those that are none, as many as there are
    /// descriptors at most.
    #[inline]
    fn take(&mut self, into: &mut [u8]) -> Option<usize> {
        for _ in 0..DESCRIPTORS {
            let index = self.next_received;
            let word = self.rings.receive[index].done()?;
            let taken = self.copy(index, word, into);
            self.give_back(index);
            // The tail is at the descriptor that was given back last, which is the card's with the
            // next one.
            self.write_tail(Register::Receive(RingRegister::Tail), index);
            self.next_received = (index + 1) % DESCRIPTORS;
            match taken {
                Some(bytes) => {
                    self.counts.received += 1;
                    return Some(bytes);
                }
                None => self.counts.dropped += 1,
            }
        }
        None
    }

    /// Copies the frame of a descriptor; `None` if it has none.
    #[inline]
    fn copy(&mut self, index: usize, word: u64, into: &mut [u8]) -> Option<usize> {
        let is_last = word & LAST != 0;
        let is_part = core::mem::replace(&mut self.is_within_dropped, !is_last);
        let bytes = usize::from(word as u16);
        let is_frame =
            is_last && !is_part && word & ERRORS == 0 && (1..=BUFFER_BYTES).contains(&bytes);
        let place = into.get_mut(..bytes).filter(|_| is_frame)?;
        self.rings.received[index].copy_to(place);
        Some(bytes)
    }

    /// Takes the descriptors of frames that are sent back.
    fn reclaim(&mut self) {
        while self.first_sending != self.next_sent
            && self.rings.transmit[self.first_sending].done().is_some()
        {
            self.first_sending = (self.first_sending + 1) % DESCRIPTORS;
        }
    }
}

impl<A: CardAccess> Wire for Card<A> {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        if frame.len() > FRAME_BYTES_MAX {
            return Err(WireError::TooLong { bytes: frame.len(), limit: FRAME_BYTES_MAX });
        }
        if frame.is_empty() {
            return Ok(());
        }
        self.reclaim();
        let index = self.next_sent;
        let next = (index + 1) % DESCRIPTORS;
        if next == self.first_sending {
            return Err(if self.has_link() { WireError::Full } else { WireError::Down });
        }
        self.rings.sent[index].copy_from(frame);
        let word = frame.len() as u64 | SEND;
        self.rings.transmit[index].give(self.base + Rings::sent_offset(index), word);
        self.next_sent = next;
        self.write_tail(Register::Transmit(RingRegister::Tail), next);
        self.counts.sent += 1;
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        loop {
            let is_over = self.access.now() >= until;
            if let Some(bytes) = self.take(buffer) {
                return Ok(Some(bytes));
            }
            if is_over {
                return Ok(None);
            }
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.access.now()
    }
}
