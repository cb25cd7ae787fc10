//! Functions of devices on the first PCI bus, by the ports of old PCs (PCI Local Bus Specification
//! 3.0, sections 3.2.2.3 and 6).
// UNSAFETY: writes to ports and to registers of a device.
#![expect(unsafe_code, reason = "configuration space is reached through ports")]

use core::arch::asm;
use core::ptr;

/// The ports: which word, and the word.
const ADDRESS: u16 = 0xCF8;
const DATA: u16 = 0xCFC;
const ENABLED: u32 = 1 << 31;

/// Bytes of configuration space, and what is in them.
const COMMAND: u8 = 0x04;
const BASES: u8 = 0x10;
const CAPABILITIES: u8 = 0x34;

/// It answers at its addresses, and may write to memory itself, as an interrupt is written.
const ANSWERS_AND_WRITES: u32 = 0b110;
/// Status: it has a list of capabilities.
const HAS_CAPABILITIES: u32 = 1 << 20;
/// The most entries of that list that fit in configuration space.
const CAPABILITIES_MAX: usize = 48;

/// Interrupts as messages (MSI-X): its capability, and bits of the first word.
const VECTORS: u32 = 0x11;
const VECTORS_ON: u32 = 1 << 31;
const ALL_MASKED: u32 = 1 << 30;
/// The last word of an entry of its table: the interrupt is held back.
const HELD_BACK: u32 = 1;
/// Address to which a message to the first processor is written.
const FIRST_PROCESSOR: u32 = 0xFEE0_0000;

/// A function of a device that is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// The bits of an address by which it is chosen.
    place: u32,
}

impl Function {
    /// Returns the function at this place of the bus if it is of this vendor and kind.
    pub(crate) fn find(device: u8, function: u8, kind: u32) -> Option<Self> {
        Some(Self::at(device, function)).filter(|found| found.read(0) == kind)
    }

    /// Returns the function at this place of the bus. Where there is none, its first word is that
    /// of no device.
    pub(crate) fn at(device: u8, function: u8) -> Self {
        Self { place: ENABLED | u32::from(device & 31) << 11 | u32::from(function & 7) << 8 }
    }

    /// Returns the address of the memory behind a base register, and has the device answer there;
    /// `None` if it is none, or firmware gave it no address.
    pub(crate) fn memory(self, register: u8) -> Option<u64> {
        const IS_PORT: u32 = 1;
        const KIND: u32 = 0b110;
        const IS_LONG: u32 = 0b100;
        let at = BASES + 4 * register;
        let low = self.read(at);
        let high = if low & KIND == IS_LONG { self.read(at + 4) } else { 0 };
        let address = u64::from(high) << 32 | u64::from(low & !0xF);
        if low & IS_PORT != 0 || address == 0 {
            return None;
        }
        self.write(COMMAND, self.read(COMMAND) | ANSWERS_AND_WRITES);
        Some(address)
    }

    /// Returns the address of the table of its interrupts; `None` if it has none.
    pub(super) fn vectors(self) -> Option<u64> {
        let table = self.read(self.vectors_at()? + 4);
        Some(self.memory((table & 0b111) as u8)? + u64::from(table & !0b111))
    }

    /// Has its first interrupt come as a vector, and all interrupts of it come.
    ///
    /// # Safety
    /// `table` is the address at which the first words of its table are mapped.
    pub(super) unsafe fn direct_first_vector(self, table: u64, vector: u8) {
        let words: *mut u32 = ptr::with_exposed_provenance_mut(table as usize);
        // Held back while it changes: a hypervisor looks at an entry when it is let in again.
        // SAFETY: the last of the four words, as our caller promises.
        unsafe { words.add(3).write_volatile(HELD_BACK) };
        for (index, word) in [FIRST_PROCESSOR, 0, u32::from(vector), 0].into_iter().enumerate() {
            // SAFETY: the four words of the first entry, as our caller promises.
            unsafe { words.add(index).write_volatile(word) };
        }
        if let Some(at) = self.vectors_at() {
            self.write(at, (self.read(at) | VECTORS_ON) & !ALL_MASKED);
        }
    }

    /// Returns the place of the capability of interrupts as messages.
    fn vectors_at(self) -> Option<u8> {
        self.capabilities().find(|(_, word)| word & 0xFF == VECTORS).map(|(at, _)| at)
    }

    /// Returns the places of its capabilities with the first word of each, as many as there can be.
    pub(crate) fn capabilities(self) -> impl Iterator<Item = (u8, u32)> {
        let has_some = self.read(COMMAND) & HAS_CAPABILITIES != 0;
        let first = if has_some { self.read(CAPABILITIES) } else { 0 };
        let mut at = (first & 0xFC) as u8;
        let next = move || {
            let found = (at != 0).then(|| (at, self.read(at)))?;
            at = (found.1 >> 8 & 0xFC) as u8;
            Some(found)
        };
        core::iter::from_fn(next).take(CAPABILITIES_MAX)
    }

    /// Reads a word of its configuration space.
    pub(crate) fn read(self, at: u8) -> u32 {
        self.choose(at);
        let word: u32;
        // SAFETY: the port of the bus, if there is one; reading has no effect.
        unsafe {
            asm!(
                "in eax, dx",
                in("dx") DATA, out("eax") word,
                options(nomem, nostack, preserves_flags),
            );
        }
        word
    }

    /// Writes a word of its configuration space.
    pub(crate) fn write(self, at: u8, word: u32) {
        self.choose(at);
        // SAFETY: as above; the words that are written decide about this device alone.
        unsafe {
            asm!(
                "out dx, eax",
                in("dx") DATA, in("eax") word,
                options(nomem, nostack, preserves_flags),
            );
        }
    }

    /// Has the bus put a word of configuration space behind its data port.
    fn choose(self, at: u8) {
        // SAFETY: as above.
        unsafe {
            asm!(
                "out dx, eax",
                in("dx") ADDRESS, in("eax") self.place | u32::from(at & 0xFC),
                options(nomem, nostack, preserves_flags),
            );
        }
    }
}
