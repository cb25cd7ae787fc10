//! The SII interface of a controller: its EEPROM behind 0x0500 to 0x050F (ETG.1000.4, 6.4).
//!
//! ```text
//! write 0x0502: command, 0x0504: word address ─► busy (bit 15) ─► data at 0x0508, 4 or 8 bytes
//! ```
//!
//! | status bit | meaning | | command | |
//! |---|---|---|---|---|
//! | 0 | writing is enabled, for one command | | 1 | read |
//! | 6 | 8 bytes a read instead of 4 | | 2 | write one word |
//! | 8–10 | the command in progress | | 4 | load the configuration again |
//! | 11 | checksum of the configuration is wrong | | 0 | clear the error bits |
//! | 13 | command not accepted | | | |
//! | 14 | writing was not enabled | | | |
//! | 15 | busy | | | |
//!
//! After a write the memory itself is busy for some milliseconds, in which commands are answered
//! with bit 13, as observed on a real EK1100.

use crate::blueprint::Timing;
use crate::esc::registers::{
    SII, SII_ADDRESS, SII_CONTROL, SII_DATA, SII_END, Span, get_u16, get_u32, put,
};

const COMMAND_MASK: u16 = 0x0700;
const COMMAND_READ: u16 = 0x0100;
const COMMAND_WRITE: u16 = 0x0200;
const COMMAND_RELOAD: u16 = 0x0400;
const WRITE_ENABLE: u16 = 0x0001;
const ERROR_CHECKSUM: u16 = 0x0800;
const ERROR_COMMAND: u16 = 0x2000;
const ERROR_WRITE_ENABLE: u16 = 0x4000;
const BUSY: u16 = 0x8000;
const UNREAD: u16 = 0x0010;
/// Words that the controller loads at power-up and guards by a checksum.
const CONFIGURATION_BYTES: usize = 14;

/// The EEPROM and its interface.
#[derive(Clone, Debug)]
pub(crate) struct Eeprom {
    content: Vec<u8>,
    /// Bits of the status that never change: read size and the like.
    fixed: u16,
    errors: u16,
    command: u16,
    busy_until_ns: u64,
    memory_busy_until_ns: u64,
    read_ns: u64,
    write_ns: u64,
    /// A fault: the busy bit never clears.
    pub(crate) stuck: bool,
}

impl Eeprom {
    /// An EEPROM with this content; `fixed` are the constant bits of its status.
    pub(crate) fn new(content: Vec<u8>, fixed: u8, timing: &Timing) -> Self {
        let mut eeprom = Self {
            content,
            fixed: u16::from(fixed),
            errors: 0,
            command: 0,
            busy_until_ns: 0,
            memory_busy_until_ns: 0,
            read_ns: timing.eeprom_read.get(),
            write_ns: timing.eeprom_write.get(),
            stuck: false,
        };
        eeprom.load();
        eeprom
    }

    /// Returns the bytes of the EEPROM.
    pub(crate) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Replaces the content, as if another EEPROM were fitted; read at the next power-up.
    pub(crate) fn fit(&mut self, content: Vec<u8>) {
        self.content = content;
    }

    /// The 16-bit word at a word address; what lies beyond the memory reads as ones.
    pub(crate) fn word(&self, address: u32) -> u16 {
        u16::from_le_bytes([self.byte(address, 0), self.byte(address, 1)])
    }

    /// Inverts bits of a word, as a damage would.
    pub(crate) fn invert(&mut self, word: u16, mask: u16) {
        let place = usize::from(word) * 2;
        if let Some(bytes) = self.content.get_mut(place..place + 2) {
            let damaged = u16::from_le_bytes([bytes[0], bytes[1]]) ^ mask;
            bytes.copy_from_slice(&damaged.to_le_bytes());
        }
    }

    fn byte(&self, word: u32, offset: usize) -> u8 {
        self.content.get(word as usize * 2 + offset).copied().unwrap_or(0xFF)
    }

    /// Checks the configuration, as at power-up.
    fn load(&mut self) {
        let sound = self.content.len() > CONFIGURATION_BYTES
            && checksum(&self.content[..CONFIGURATION_BYTES]) == self.content[CONFIGURATION_BYTES];
        self.errors = if sound { 0 } else { ERROR_CHECKSUM };
    }

    /// Returns `true` if the checksum of the configuration is valid.
    pub(crate) fn is_sound(&self) -> bool {
        self.errors & ERROR_CHECKSUM == 0
    }

    /// Brings the status register up to date before it is read.
    pub(crate) fn show(&self, memory: &mut [u8], now_ns: u64) {
        let busy = self.stuck || now_ns < self.busy_until_ns;
        let working = if busy { BUSY | self.command } else { 0 };
        put(memory, SII_CONTROL, &(self.fixed | self.errors | working).to_le_bytes());
    }

    /// Acts on a write to its registers. True when the alias must be taken over anew.
    pub(crate) fn written(&mut self, span: Span, memory: &mut [u8], now_ns: u64) -> bool {
        if !span.touches(SII_CONTROL, 2) || self.stuck || now_ns < self.busy_until_ns {
            return false;
        }
        let control = get_u16(memory, SII_CONTROL);
        self.errors &= ERROR_CHECKSUM;
        self.command = control & COMMAND_MASK;
        // While the processor of the device owns it, the MainDevice commands nothing.
        let owned_by_device = memory[usize::from(SII)] & 1 != 0;
        if self.command == 0 {
            return false;
        }
        if owned_by_device || now_ns < self.memory_busy_until_ns {
            self.errors |= ERROR_COMMAND;
            return false;
        }
        let address = get_u32(memory, SII_ADDRESS);
        match self.command {
            COMMAND_READ => self.read(address, memory, now_ns),
            COMMAND_WRITE if control & WRITE_ENABLE == 0 => self.errors |= ERROR_WRITE_ENABLE,
            COMMAND_WRITE => self.write(address, memory, now_ns),
            COMMAND_RELOAD => {
                self.load();
                self.busy_until_ns = now_ns.saturating_add(self.read_ns);
                return self.is_sound();
            }
            _ => self.errors |= ERROR_COMMAND,
        }
        false
    }

    fn read(&mut self, address: u32, memory: &mut [u8], now_ns: u64) {
        let size = if self.fixed & 0x40 == 0 { 4 } else { 8 };
        let data = usize::from(SII_DATA);
        for offset in 0..size {
            memory[data + offset] = self.byte(address, offset);
        }
        self.busy_until_ns = now_ns.saturating_add(self.read_ns);
    }

    fn write(&mut self, address: u32, memory: &[u8], now_ns: u64) {
        let place = address as usize * 2;
        if let Some(word) = self.content.get_mut(place..place + 2) {
            word.copy_from_slice(&get_u16(memory, SII_DATA).to_le_bytes());
        }
        // The controller is done after the transfer, the memory after its own write cycle.
        self.busy_until_ns = now_ns.saturating_add(self.read_ns / 4);
        self.memory_busy_until_ns = now_ns.saturating_add(self.write_ns);
    }

    /// The processor of the device reads it, as on the way to PRE-OP. Some controllers show in bit
    /// 4 that this has not happened yet (seen on an EL3004; no document names the bit).
    pub(crate) fn read_by_processor(&mut self) {
        self.fixed &= !UNREAD;
    }

    /// Returns `true` if a span covers a register of the interface.
    pub(crate) fn owns(span: Span) -> bool {
        span.touches(SII, usize::from(SII_END - SII))
    }
}

/// The checksum of the configuration: CRC-8 with polynomial x⁸ + x² + x + 1, started with ones
/// (ETG.1000.4, 5.4).
pub(crate) fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xFF, |crc: u8, byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 == 0 { crc << 1 } else { (crc << 1) ^ 0x07 })
    })
}
