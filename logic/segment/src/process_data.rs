//! The process data of a device: its application's fixed layout, and what is mapped at present.
//!
//! ```text
//! SyncManager RAM ◄── copies, by assigned PDOs and their mappings ──► the application's own layout
//! ```
//!
//! The own layout is what [`describe`](crate::describe) tells: all PDOs assigned at power-up, one
//! after the other. A MainDevice may assign others and change flexible mappings; then bits are
//! copied entry by entry. As long as it does not, both are the same and are copied as a whole.

use crate::blueprint::Blueprint;
use crate::coe::dictionary::Dictionary;

/// The object with the PDOs assigned to the SyncManager of the outputs.
pub(crate) const ASSIGN_OUTPUTS: u16 = 0x1C12;
/// The object with the PDOs assigned to the SyncManager of the inputs.
pub(crate) const ASSIGN_INPUTS: u16 = 0x1C13;
/// The most mapped entries of one direction.
const COPIES_MAX: usize = 256;

/// One entry in the application's own layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EntryLocation {
    index: u16,
    subindex: u8,
    bit: u16,
    bits: u16,
}

/// Some bits that are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BitCopy {
    own: u16,
    mapped: u16,
    bits: u16,
}

/// The process image of one direction.
#[derive(Clone, Debug)]
pub(crate) struct ProcessImage {
    /// The values in the application's own layout.
    pub(crate) own: Vec<u8>,
    places: Vec<EntryLocation>,
    copies: Vec<BitCopy>,
    /// Bytes of what is mapped at present.
    mapped_bytes: u16,
    is_own_layout: bool,
}

impl ProcessImage {
    /// One direction of a device.
    pub(crate) fn new(blueprint: &Blueprint, received: bool) -> Self {
        let mut places = Vec::new();
        let mut bit = 0;
        for pdo in &blueprint.pdos {
            if pdo.is_received() != received || pdo.sync_manager.is_none() {
                continue;
            }
            for entry in &pdo.entries {
                let bits = u16::from(entry.bits);
                if entry.index != 0 {
                    places.push(EntryLocation {
                        index: entry.index,
                        subindex: entry.subindex,
                        bit,
                        bits,
                    });
                }
                bit += bits;
            }
        }
        Self {
            own: vec![0; usize::from(bit.div_ceil(8))],
            places,
            copies: Vec::with_capacity(COPIES_MAX),
            mapped_bytes: bit.div_ceil(8),
            is_own_layout: true,
        }
    }

    /// Bytes of what is mapped at present.
    pub(crate) fn mapped_bytes(&self) -> u16 {
        self.mapped_bytes
    }

    /// Returns the position of an object in the own layout: first bit, and number of bits.
    pub(crate) fn place(&self, index: u16, subindex: u8) -> Option<(u16, u16)> {
        self.places
            .iter()
            .find(|place| (place.index, place.subindex) == (index, subindex))
            .map(|place| (place.bit, place.bits))
    }

    /// The value of an object in the own layout.
    pub(crate) fn value(&self, index: u16, subindex: u8) -> Option<u64> {
        let (bit, bits) = self.place(index, subindex)?;
        Some(bits_at(&self.own, bit, bits))
    }

    /// Sets the value of an object in the own layout; false when it is not there.
    pub(crate) fn set(&mut self, index: u16, subindex: u8, value: u64) -> bool {
        let Some((bit, bits)) = self.place(index, subindex) else {
            return false;
        };
        set_bits_at(&mut self.own, bit, bits, value);
        true
    }

    /// Returns `true` if a mapping to this object with this size is possible.
    pub(crate) fn can_map(&self, index: u16, subindex: u8, bits: u16) -> bool {
        index == 0 || self.place(index, subindex).is_some_and(|(_, own)| own == bits)
    }

    /// Takes over what the dictionary assigns and maps, from `assignment`.
    pub(crate) fn remap(&mut self, dictionary: &Dictionary, assignment: u16) {
        self.copies.clear();
        let mut mapped: u32 = 0;
        for number in 1..=dictionary.number(assignment, 0) as u8 {
            let pdo = dictionary.number(assignment, number) as u16;
            for entry in 1..=dictionary.number(pdo, 0) as u8 {
                let mapping = dictionary.number(pdo, entry) as u32;
                let bits = mapping & 0xFF;
                let place = self.place((mapping >> 16) as u16, (mapping >> 8) as u8);
                if let Some((own, _)) = place
                    && self.copies.len() < COPIES_MAX
                    && mapped + bits <= 0xFFFF
                {
                    let copy = BitCopy { own, mapped: mapped as u16, bits: bits as u16 };
                    self.copies.push(copy);
                }
                mapped += bits;
            }
        }
        self.mapped_bytes = mapped.div_ceil(8).min(0xFFFF) as u16;
        self.is_own_layout = usize::from(self.mapped_bytes) == self.own.len()
            && self.copies.len() == self.places.len()
            && self.copies.iter().all(|copy| copy.own == copy.mapped);
    }

    /// Takes the outputs from the RAM.
    pub(crate) fn take(&mut self, ram: &[u8]) {
        if self.is_own_layout {
            self.own.copy_from_slice(ram);
            return;
        }
        for copy in &self.copies {
            set_bits_at(&mut self.own, copy.own, copy.bits, bits_at(ram, copy.mapped, copy.bits));
        }
    }

    /// Puts the inputs into the RAM.
    pub(crate) fn put(&self, ram: &mut [u8]) {
        if self.is_own_layout {
            ram.copy_from_slice(&self.own);
            return;
        }
        for copy in &self.copies {
            set_bits_at(ram, copy.mapped, copy.bits, bits_at(&self.own, copy.own, copy.bits));
        }
    }
}

/// Up to 64 bits from a bit position on, little-endian; what lies outside reads as zero.
fn bits_at(bytes: &[u8], bit: u16, bits: u16) -> u64 {
    let mut value: u128 = 0;
    let first = usize::from(bit / 8);
    for (place, byte) in bytes.iter().skip(first).take(9).enumerate() {
        value |= u128::from(*byte) << (8 * place);
    }
    let mask = (1_u128 << bits.min(64)) - 1;
    ((value >> (bit % 8)) & mask) as u64
}

/// Sets up to 64 bits from a bit position on; what lies outside is left out.
fn set_bits_at(bytes: &mut [u8], bit: u16, bits: u16, value: u64) {
    let mask = ((1_u128 << bits.min(64)) - 1) << (bit % 8);
    let value = (u128::from(value) << (bit % 8)) & mask;
    let first = usize::from(bit / 8);
    for (place, byte) in bytes.iter_mut().skip(first).take(9).enumerate() {
        let (mask, value) = ((mask >> (8 * place)) as u8, (value >> (8 * place)) as u8);
        *byte = (*byte & !mask) | value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_set_and_read_back_and_others_stay(
            bit in 0_u16..64,
            bits in 1_u16..65,
            value: u64,
            old: [u8; 17],
        ) {
            let mut bytes = old;
            set_bits_at(&mut bytes, bit, bits, value);
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            prop_assert_eq!(bits_at(&bytes, bit, bits), value & mask);
            for other in (0..bit).chain(bit + bits..136) {
                prop_assert_eq!(bits_at(&bytes, other, 1), bits_at(&old, other, 1));
            }
        }
    }
}
