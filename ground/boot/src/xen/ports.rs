//! The ports of a Linux guest that is a domain: rings in an area of their own, where there is no
//! bus for devices with ports.
//!
//! ```text
//! area PORTS:  page of indices ─ orders ─ printed ─ remarks
//!                                  │         └─────────┴──► the host, which looks again and again
//!                                  └──► the guest, which the host calls by the doorbell
//! ```

use core::sync::atomic::{AtomicU8, AtomicU32};

use super::Ring;
use crate::devices::DEVICES_MAX;
use crate::places::PAGE_BYTES;

/// The number of the area: behind all that are devices elsewhere.
pub const PORTS: usize = DEVICES_MAX;

/// Bytes of the indices, before the rings.
pub const INDICES_BYTES: usize = PAGE_BYTES as usize;

/// Bytes of each ring.
pub const PORT_BYTES: usize = 64 << 10;

/// Bytes of the area.
pub const PORTS_BYTES: u64 = (INDICES_BYTES + Port::ALL.len() * PORT_BYTES) as u64;

/// Words between two indices: those that both sides write lie on cache lines of their own.
const STRIDE: usize = 16;

/// A port, by its place in the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The port of what the host sends: files, the job, orders.
    Orders,
    /// The port of what the program prints.
    Printed,
    /// The port of the remarks of its process.
    Remarks,
}

impl Port {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::Orders, Self::Printed, Self::Remarks];

    /// Returns the ring of the port in an area: its words of indices, and the bytes behind them;
    /// `None` where the area is too small.
    pub fn ring<'a>(self, indices: &'a [AtomicU32], bytes: &'a [AtomicU8]) -> Option<Ring<'a>> {
        let number = self as usize;
        let index = |which: usize| indices.get((2 * number + which) * STRIDE);
        let bytes = bytes.get(number * PORT_BYTES..)?.get(..PORT_BYTES)?;
        Some(Ring::new(bytes, index(0)?, index(1)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_has_a_ring_of_its_own() {
        let indices: Vec<AtomicU32> = (0..INDICES_BYTES / 4).map(|_| AtomicU32::new(0)).collect();
        let length = PORTS_BYTES as usize - INDICES_BYTES;
        let bytes: Vec<AtomicU8> = (0..length).map(|_| AtomicU8::new(0)).collect();
        let rings = Port::ALL.map(|port| port.ring(&indices, &bytes).unwrap());
        for (ring, letter) in rings.iter().zip(b"abc") {
            assert_eq!(ring.write(&vec![*letter; PORT_BYTES + 1]), PORT_BYTES);
        }
        for (ring, letter) in rings.iter().zip(b"abc") {
            let mut got = vec![0; PORT_BYTES];
            assert_eq!(ring.read(&mut got), PORT_BYTES);
            assert!(got.iter().all(|byte| byte == letter));
        }
        assert!(Port::Remarks.ring(&indices, &bytes[1..]).is_none());
        assert!(Port::Remarks.ring(&indices[..64], &bytes).is_none());
    }
}
