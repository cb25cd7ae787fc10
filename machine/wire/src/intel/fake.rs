//! A fake of these cards: registers, and rings that it reaches by their addresses.
//!
//! It does what the datasheets say as far as this driver can notice, asserts what they ask of a
//! driver, and fails where told to.

use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::vec::Vec;

use quietcore_units::Nanos;

use super::registers::{CardAccess, MULTICAST_WORDS, Register, RingRegister, control, eeprom};
use super::registers::{receive, ring, status, transmit};
use super::rings::{BUFFER_BYTES, Buffer, DESCRIPTORS, DONE, LAST, RING_BYTES, Rings, SEND};
use super::{Card, CardError, CardFamily};

/// Address of the rings, as the card has it; beyond what fits into 32 bits.
pub(super) const BASE: u64 = 0x12_3456_7000;
/// Reads of a register until a card is there again, or a ring is on.
const READS: u32 = 3;
/// Ethernet address of the card, as its EEPROM has it.
pub(super) const ADDRESS: [u8; 6] = [0x52, 0x54, 0, 1, 2, 3];

/// The state of a card.
pub(super) struct State {
    family: CardFamily,
    pub(super) rings: &'static Rings,
    registers: BTreeMap<Register, u32>,
    /// Time in milliseconds, which goes on with each look.
    now: Cell<u64>,
    /// Reads that are left until the reset is over.
    resetting: u32,
    /// Counts the resets since it was made.
    pub(super) resets: u32,
    pub(super) has_link: bool,
    /// It never comes back from a reset.
    pub(super) is_dead: bool,
    /// Its rings stay off.
    pub(super) keeps_rings_off: bool,
    /// Frames that were sent.
    pub(super) sent: Vec<Vec<u8>>,
    /// Frames for which there was no descriptor.
    pub(super) missed: u32,
}

/// A card, which whoever tests it shares with its driver.
#[derive(Clone)]
pub(super) struct Fake(pub(super) Rc<RefCell<State>>);

impl Fake {
    /// Makes a card that somebody had before: its rings are on and point to nowhere.
    pub(super) fn new(family: CardFamily) -> Self {
        let rings = Box::leak(Box::new(Rings::new()));
        let mut registers = BTreeMap::new();
        registers.insert(Register::ReceiveControl, receive::ON);
        registers.insert(Register::Receive(RingRegister::Head), 77);
        registers.extend((0..MULTICAST_WORDS).map(|word| (Register::Multicast(word), u32::MAX)));
        Self(Rc::new(RefCell::new(State {
            family,
            rings,
            registers,
            now: Cell::new(0),
            resetting: 0,
            resets: 0,
            has_link: true,
            is_dead: false,
            keeps_rings_off: false,
            sent: Vec::new(),
            missed: 0,
        })))
    }

    /// Has the driver open the card, on the clock of the fake.
    pub(super) fn open(&self) -> Result<Card<Self>, CardError> {
        let (family, rings) = (self.0.borrow().family, self.0.borrow().rings);
        Card::open(self.clone(), family, rings, BASE)
    }

    /// Sends what is in the ring, once there is a link.
    pub(super) fn plug(&self) {
        let mut state = self.0.borrow_mut();
        state.has_link = true;
        state.transmit();
    }

    /// Has a frame arrive.
    pub(super) fn arrive(&self, frame: &[u8]) {
        self.arrive_as(frame, frame.len() as u64 | LAST);
    }

    /// Has bytes arrive, with this word in the descriptor.
    pub(super) fn arrive_as(&self, bytes: &[u8], word: u64) {
        self.0.borrow_mut().receive(bytes, word);
    }
}

impl State {
    fn get(&self, register: Register) -> u32 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    /// Checks a ring as the card needs it, and returns head and tail; `None` if it is off.
    fn ends(&self, of_ring: fn(RingRegister) -> Register, offset: u64) -> Option<(usize, usize)> {
        let low = u64::from(self.get(of_ring(RingRegister::BaseLow)));
        let base = u64::from(self.get(of_ring(RingRegister::BaseHigh))) << 32 | low;
        let is_on = self.family == CardFamily::E82574
            || self.get(of_ring(RingRegister::Control)) & ring::ON != 0;
        if !is_on || !self.has_link {
            return None;
        }
        assert_eq!(base, BASE + offset);
        assert_eq!(self.get(of_ring(RingRegister::Bytes)), RING_BYTES);
        let end = |register| self.get(of_ring(register)) as usize;
        let (head, tail) = (end(RingRegister::Head), end(RingRegister::Tail));
        assert!(head < DESCRIPTORS && tail < DESCRIPTORS);
        Some((head, tail))
    }

    fn buffer_of(buffers: &[Buffer; DESCRIPTORS], offset: u64, address: u64) -> &Buffer {
        let index = address.checked_sub(BASE + offset).expect("an address of a buffer");
        assert!(index.is_multiple_of(BUFFER_BYTES as u64), "the first byte of a buffer");
        &buffers[index as usize / BUFFER_BYTES]
    }

    fn receive(&mut self, bytes: &[u8], word: u64) {
        let is_on = self.get(Register::ReceiveControl) & receive::ON != 0;
        let ends = self.ends(Register::Receive, 0).filter(|_| is_on);
        if self.family == CardFamily::I210 {
            assert_eq!(self.get(Register::ReceiveForm), 2, "legacy descriptors, 2 KiB each");
        }
        let Some((head, _)) = ends.filter(|(head, tail)| head != tail) else {
            self.missed += 1;
            return;
        };
        let descriptor = &self.rings.receive[head];
        let address = descriptor.address.load(Relaxed);
        let offset = Rings::received_offset(0);
        Self::buffer_of(&self.rings.received, offset, address).copy_from(bytes);
        descriptor.give(address, word | DONE);
        let next = (head + 1) % DESCRIPTORS;
        self.registers.insert(Register::Receive(RingRegister::Head), next as u32);
    }

    fn transmit(&mut self) {
        let is_on = self.get(Register::TransmitControl) & transmit::ON != 0;
        let ends = self.ends(Register::Transmit, Rings::transmit_offset()).filter(|_| is_on);
        let Some((mut head, tail)) = ends else { return };
        while head != tail {
            let descriptor = &self.rings.transmit[head];
            let (address, word) = (descriptor.address.load(Relaxed), descriptor.word.load(Relaxed));
            assert_eq!(word & !0xFFFF, SEND, "a command, and not done yet");
            let mut frame = [0; BUFFER_BYTES];
            let offset = Rings::sent_offset(0);
            Self::buffer_of(&self.rings.sent, offset, address).copy_to(&mut frame);
            self.sent.push(frame[..usize::from(word as u16)].to_vec());
            descriptor.give(address, word | DONE);
            head = (head + 1) % DESCRIPTORS;
        }
        self.registers.insert(Register::Transmit(RingRegister::Head), head as u32);
    }
}

impl CardAccess for Fake {
    fn read(&mut self, register: Register) -> u32 {
        let mut state = self.0.borrow_mut();
        state.resetting = state.resetting.saturating_sub(u32::from(!state.is_dead));
        let is_back = state.resetting == 0;
        match register {
            Register::Control => {
                let resets = if is_back { 0 } else { control::RESET };
                state.get(register) & !control::RESET | resets
            }
            Register::Eeprom => {
                if is_back {
                    eeprom::LOADED
                } else {
                    0
                }
            }
            Register::Status => {
                if state.has_link {
                    status::LINK_UP
                } else {
                    0
                }
            }
            Register::AddressLow => u32::from_le_bytes([0, 1, 2, 3].map(|it| ADDRESS[it])),
            Register::AddressHigh => 1 << 31 | u32::from_le_bytes([ADDRESS[4], ADDRESS[5], 0, 0]),
            Register::Receive(RingRegister::Control)
            | Register::Transmit(RingRegister::Control)
                if state.keeps_rings_off =>
            {
                0
            }
            _ => state.get(register),
        }
    }

    fn write(&mut self, register: Register, value: u32) {
        let mut state = self.0.borrow_mut();
        if register == Register::Control && value & control::RESET != 0 {
            // Tables are not reset.
            state.registers.retain(|register, _| matches!(register, Register::Multicast(_)));
            state.resetting = READS;
            state.resets += 1;
            return;
        }
        assert!(state.resetting == 0 || register == Register::InterruptMaskClear, "{register:?}");
        state.registers.insert(register, value);
        if register == Register::Transmit(RingRegister::Tail) {
            state.transmit();
        }
    }

    fn now(&self) -> Nanos {
        let state = self.0.borrow();
        state.now.set(state.now.get() + 1);
        Nanos::from_millis(state.now.get())
    }
}

/// Returns `true` if the card takes multicasts.
pub(super) fn takes_multicasts(fake: &Fake) -> bool {
    let state = fake.0.borrow();
    (0..MULTICAST_WORDS).any(|word| state.get(Register::Multicast(word)) != 0)
}
