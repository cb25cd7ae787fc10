//! The configuration space of a PCI device (PCI Local Bus Specification 3.0, 6.1 and 6.8.2), as far
//! as passing it through needs it.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0x00 | 2 | vendor |
//! | 0x02 | 2 | device |
//! | 0x04 | 2 | command: bit 0 ports, 1 memory, 2 whether it may begin transfers |
//! | 0x06 | 2 | status: bit 4, there are capabilities |
//! | 0x0E | 1 | layout of the header: bits 0 to 6 are 0 for a device |
//! | 0x10 | 6 × 4 | base address registers: bit 0 ports |
//! | 0x34 | 1 | the first capability: identity, next one, … |
//!
//! MSI-X (identity 0x11): at 2 the number of messages, at 4 where their table is and at 8 where
//! their pending bits are, as register number (bits 0 to 2) and offset.

use quietcore_boot::BARS;

/// Bytes of it that are looked at.
pub const BYTES: usize = 256;
/// Where the command is.
pub const COMMAND: u64 = 4;
/// The device answers to its memory registers, and does DMA.
pub const MEMORY_AND_TRANSFERS: u16 = 6;

const STATUS: usize = 6;
const HAS_CAPABILITIES: u16 = 1 << 4;
const HEADER: usize = 0x0E;
const FIRST_BAR: usize = 0x10;
const FIRST_CAPABILITY: usize = 0x34;
const MSI_X: u8 = 0x11;
/// The most capabilities that there is room for.
const CAPABILITIES_MAX: usize = (BYTES - 0x40) / 4;
/// Bytes of an entry in the table of MSI-X.
const MESSAGE_BYTES: u64 = 16;

/// A stretch of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of the base address register.
    pub bar: usize,
    /// Its first byte there.
    pub offset: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

/// What it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Who made the device.
    pub vendor: u16,
    /// What it is to them.
    pub device: u16,
    /// Which base address registers are ports.
    pub are_ports: [bool; BARS],
    /// The table of MSI-X and its pending bits: not to be given to a guest.
    pub kept: Vec<Stretch>,
}

impl Configuration {
    /// Reads it; `None` where it is not that of a device.
    pub fn parse(bytes: &[u8; BYTES]) -> Option<Self> {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let vendor = half(0);
        if bytes[HEADER] & 0x7F != 0 || vendor == 0 || vendor == u16::MAX {
            return None;
        }
        let mut are_ports = [false; BARS];
        for (bar, is_port) in are_ports.iter_mut().enumerate() {
            *is_port = bytes[FIRST_BAR + bar * 4] & 1 != 0;
        }
        let kept = if half(STATUS) & HAS_CAPABILITIES == 0 {
            Vec::new()
        } else {
            capability(bytes, MSI_X).map(|at| msi_x(bytes, at)).unwrap_or_default()
        };
        Some(Self { vendor, device: half(2), are_ports, kept })
    }
}

/// Where the first capability of this kind begins.
fn capability(bytes: &[u8; BYTES], identity: u8) -> Option<usize> {
    let mut at = usize::from(bytes[FIRST_CAPABILITY] & !3);
    // The device writes this list: it may be a circle.
    for _ in 0..CAPABILITIES_MAX {
        if at < 0x40 {
            return None;
        }
        if bytes[at] == identity {
            return Some(at);
        }
        at = usize::from(bytes[at + 1] & !3);
    }
    None
}

fn msi_x(bytes: &[u8; BYTES], at: usize) -> Vec<Stretch> {
    let Some(words) = bytes.get(at..at + 12) else { return Vec::new() };
    let word = |at: usize| {
        let word = words[at..at + 4].try_into().expect("four bytes are four bytes");
        u32::from_le_bytes(word)
    };
    let messages = u64::from(word(0) >> 16 & 0x7FF) + 1;
    let stretch = |word: u32, bytes: u64| Stretch {
        bar: (word & 7) as usize,
        offset: u64::from(word & !7),
        bytes,
    };
    vec![stretch(word(4), messages * MESSAGE_BYTES), stretch(word(8), messages.div_ceil(64) * 8)]
}

#[cfg(test)]
mod tests {
    use proptest::array::uniform32;
    use proptest::prelude::*;

    use super::*;

    fn edu() -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&[0x34, 0x12, 0xE8, 0x11, 3, 1, 0x10, 0]);
        bytes[FIRST_CAPABILITY] = 0x40;
        bytes[0x40] = 5;
        bytes
    }

    #[test]
    fn what_a_device_is_is_read() {
        let read = Configuration::parse(&edu()).unwrap();
        assert_eq!((read.vendor, read.device), (0x1234, 0x11E8));
        assert_eq!((read.are_ports, read.kept), ([false; BARS], Vec::new()));
    }

    #[test]
    fn the_table_of_its_interrupts_is_found() {
        let mut bytes = edu();
        bytes[0x41] = 0x70;
        bytes[0x70..0x7C].copy_from_slice(&[0x11, 0, 64, 0, 0x03, 0x20, 0, 0, 0x04, 0x30, 0, 0]);
        bytes[FIRST_BAR + 8] = 1;
        let read = Configuration::parse(&bytes).unwrap();
        assert_eq!(
            read.kept,
            [
                Stretch { bar: 3, offset: 0x2000, bytes: 65 * 16 },
                Stretch { bar: 4, offset: 0x3000, bytes: 16 }
            ]
        );
        assert_eq!(read.are_ports, [false, false, true, false, false, false]);
    }

    #[test]
    fn what_is_no_device_is_none() {
        let mut bridge = edu();
        bridge[HEADER] = 0x81;
        let gone = [0xFF; BYTES];
        for bytes in [bridge, gone, [0; BYTES]] {
            assert_eq!(Configuration::parse(&bytes), None);
        }
    }

    proptest! {
        #[test]
        fn whatever_a_device_says_is_read(
            head in uniform32(any::<u8>()), rest in uniform32(any::<u8>()),
        ) {
            let mut bytes = [0; BYTES];
            for (index, byte) in bytes.iter_mut().enumerate() {
                *byte = if index < 32 { head[index] } else { rest[index % 32] };
            }
            bytes[HEADER] = 0;
            bytes[STATUS] = 0x10;
            let _ = Configuration::parse(&bytes);
        }

        #[test]
        fn lists_that_are_circles_come_to_an_end(next in any::<u8>(), at in 0x40_u8..0xFC) {
            let mut bytes = edu();
            bytes[FIRST_CAPABILITY] = at;
            bytes[usize::from(at & !3) + 1] = next;
            bytes[usize::from(at & !3)] = 5;
            prop_assert!(Configuration::parse(&bytes).is_some());
        }
    }
}
