//! A device that was passed through to a guest: what it is, and where its registers are.
//!
//! The guest sees no configuration space: the host has set the device up, and this is all that a
//! driver needs of it.

use crate::host::Place;
use crate::words::{Reader, Writer};

/// How many stretches of registers a PCI device has at most (base address registers).
pub const BARS: usize = 6;

/// The first vector that is no exception, and the one behind the last.
const VECTORS: core::ops::RangeInclusive<u64> = 32..=256;

/// A device that was passed through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassedDevice {
    /// Who made it (PCI vendor); 0 where there is no device.
    pub vendor: u64,
    /// What it is to them (PCI device).
    pub device: u64,
    /// Where its registers are; of no bytes where the device has none of this number. A part of
    /// them that the host keeps for itself (the table of its interrupts) reads as ones.
    pub bars: [Place; BARS],
    /// Its first interrupt comes as this vector, the next one as the next, …
    pub first_vector: u64,
    /// … so many of them.
    pub vectors: u64,
}

impl PassedDevice {
    /// No device.
    pub const NONE: Self = Self {
        vendor: 0,
        device: 0,
        bars: [Place { address: 0, bytes: 0 }; BARS],
        first_vector: 0,
        vectors: 0,
    };

    /// Whether there is one.
    pub const fn is_there(&self) -> bool {
        self.vendor != 0
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.put(self.vendor);
        writer.put(self.device);
        for bar in self.bars {
            writer.put(bar.address);
            writer.put(bar.bytes);
        }
        writer.put(self.first_vector);
        writer.put(self.vectors);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        let mut read = Self { vendor: reader.take(), device: reader.take(), ..Self::NONE };
        for bar in &mut read.bars {
            *bar = Place { address: reader.take(), bytes: reader.take() };
        }
        (read.first_vector, read.vectors) = (reader.take(), reader.take());
        read
    }

    pub(crate) fn is_possible(&self) -> bool {
        let end = self.first_vector.checked_add(self.vectors);
        let are_vectors = self.vectors == 0
            || VECTORS.contains(&self.first_vector) && end.is_some_and(|end| end <= *VECTORS.end());
        are_vectors && self.bars.iter().all(|bar| bar.is_possible())
    }
}
