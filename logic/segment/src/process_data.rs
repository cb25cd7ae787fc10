//! The process data of a device: its application's fixed layout, and what is mapped at present.
//!
//! ```text
//! SyncManager RAM ◄── copies, by assigned PDOs and their mappings ──► the application's own layout
//! ```
//!
//! The own layout is what [`describe`](crate::describe) tells: all PDOs assigned at power-up, one
//! after the other. Entries that are in none of them follow. A MainDevice may assign other PDOs and
//! change flexible mappings; then bits are copied entry by entry. As long as it does not, both are
//! the same and are copied as a whole.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::blueprint::{Blueprint, PdoEntry};
use crate::coe::dictionary::Dictionary;

/// The most copies of one direction, or those of all its entries where they are more.
const COPIES_MAX: usize = 256;

/// Up to 64 bits that are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BitCopy {
    own: u16,
    mapped: u16,
    bits: u16,
}

/// The process image of one direction.
#[derive(Clone, Debug)]
pub(crate) struct ProcessImage {
    /// The values in the application's own layout, and behind them those of entries that are in no
    /// PDO assigned at power-up.
    values: Vec<u8>,
    /// Bytes of the own layout.
    own_bytes: usize,
    /// First bit and size of each entry, by index and subindex.
    places: BTreeMap<(u16, u8), (u16, u16)>,
    /// Number of the copies that move the own layout.
    own_copies: usize,
    copies: Vec<BitCopy>,
    /// The object by which PDOs are assigned.
    assignment: u16,
    /// Bytes of what is mapped at present.
    mapped_bytes: u16,
    is_own_layout: bool,
}

impl ProcessImage {
    /// One direction of a device.
    pub(crate) fn new(blueprint: &Blueprint, received: bool) -> Self {
        let layout = blueprint.layout(received);
        let is_value = |entry: &PdoEntry| entry.index != 0;
        let mut places = BTreeMap::new();
        let mut own_copies = 0;
        for (bit, entry) in layout.entries.iter().filter(|(_, entry)| is_value(entry)) {
            let bits = u16::from(entry.bits);
            places.entry((entry.index, entry.subindex)).or_insert((*bit, bits));
            own_copies += copies_of(bits);
        }
        let mapped_bytes = layout.bits.div_ceil(8);
        let mut bit = mapped_bytes * 8;
        let pdos = blueprint.pdos.iter().filter(|pdo| pdo.is_received == received);
        for entry in pdos.flat_map(|pdo| &pdo.entries).filter(|entry| is_value(entry)) {
            let bits = u16::from(entry.bits);
            let Some(end) = bit.checked_add(bits) else { break };
            if let Entry::Vacant(place) = places.entry((entry.index, entry.subindex)) {
                place.insert((bit, bits));
                bit = end;
            }
        }
        let copies: usize = places.values().map(|(_, bits)| copies_of(*bits)).sum();
        Self {
            values: vec![0; usize::from(bit.div_ceil(8))],
            own_bytes: usize::from(mapped_bytes),
            copies: Vec::with_capacity(copies.max(COPIES_MAX)),
            places,
            own_copies,
            assignment: blueprint.assignment(received),
            mapped_bytes,
            is_own_layout: true,
        }
    }

    /// The values in the application's own layout.
    pub(crate) fn own(&self) -> &[u8] {
        &self.values[..self.own_bytes]
    }

    /// The same, to be changed.
    pub(crate) fn own_mut(&mut self) -> &mut [u8] {
        &mut self.values[..self.own_bytes]
    }

    /// The object by which PDOs are assigned.
    pub(crate) fn assignment(&self) -> u16 {
        self.assignment
    }

    /// Bytes of what is mapped at present.
    pub(crate) fn mapped_bytes(&self) -> u16 {
        self.mapped_bytes
    }

    /// Returns the position of an entry among the values: first bit, and number of bits.
    pub(crate) fn place(&self, index: u16, subindex: u8) -> Option<(u16, u16)> {
        self.places.get(&(index, subindex)).copied()
    }

    /// The value of an entry.
    pub(crate) fn value(&self, index: u16, subindex: u8) -> Option<u64> {
        let (bit, bits) = self.place(index, subindex)?;
        Some(bits_at(&self.values, bit, bits))
    }

    /// Sets the value of an entry; false when it is not there.
    pub(crate) fn set(&mut self, index: u16, subindex: u8, value: u64) -> bool {
        let Some((bit, bits)) = self.place(index, subindex) else {
            return false;
        };
        set_bits_at(&mut self.values, bit, bits, value);
        true
    }

    /// Returns `true` if a mapping to this object with this size is possible.
    pub(crate) fn can_map(&self, index: u16, subindex: u8, bits: u16) -> bool {
        index == 0 || self.place(index, subindex).is_some_and(|(_, own)| own == bits)
    }

    /// Takes over what the dictionary assigns and maps.
    pub(crate) fn remap(&mut self, dictionary: &Dictionary) {
        self.copies.clear();
        let mut mapped: u32 = 0;
        for number in 1..=dictionary.number(self.assignment, 0) as u8 {
            let pdo = dictionary.number(self.assignment, number) as u16;
            for entry in 1..=dictionary.number(pdo, 0) as u8 {
                let mapping = dictionary.number(pdo, entry) as u32;
                let bits = mapping & 0xFF;
                let place = self.place((mapping >> 16) as u16, (mapping >> 8) as u8);
                if let Some((own, _)) = place
                    && self.copies.len() + copies_of(bits as u16) <= self.copies.capacity()
                    && mapped + bits <= 0xFFFF
                {
                    let (mapped, bits) = (mapped as u16, bits as u16);
                    self.copies.extend((0..bits).step_by(64).map(|at| BitCopy {
                        own: own + at,
                        mapped: mapped + at,
                        bits: (bits - at).min(64),
                    }));
                }
                mapped += bits;
            }
        }
        self.mapped_bytes = mapped.div_ceil(8).min(0xFFFF) as u16;
        self.is_own_layout = usize::from(self.mapped_bytes) == self.own_bytes
            && self.copies.len() == self.own_copies
            && self.copies.iter().all(|copy| copy.own == copy.mapped);
    }

    /// Takes outputs from the RAM of a SyncManager that carries those from byte `first` on.
    pub(crate) fn take(&mut self, first: usize, ram: &[u8]) {
        if self.is_own_layout {
            self.values[first..first + ram.len()].copy_from_slice(ram);
            return;
        }
        for copy in &self.copies {
            let value = bits_at(ram, copy.mapped, copy.bits);
            set_bits_at(&mut self.values, copy.own, copy.bits, value);
        }
    }

    /// Puts inputs into the RAM of a SyncManager that carries those from byte `first` on.
    pub(crate) fn put(&self, first: usize, ram: &mut [u8]) {
        if self.is_own_layout {
            ram.copy_from_slice(&self.values[first..first + ram.len()]);
            return;
        }
        for copy in &self.copies {
            set_bits_at(ram, copy.mapped, copy.bits, bits_at(&self.values, copy.own, copy.bits));
        }
    }
}

/// Number of the copies that move an entry of this size.
fn copies_of(bits: u16) -> usize {
    usize::from(bits.div_ceil(64))
}

/// Up to 64 bits from a bit position on, little-endian; what lies outside reads as zero.
pub(crate) fn bits_at(bytes: &[u8], bit: u16, bits: u16) -> u64 {
    let mut value: u128 = 0;
    let first = usize::from(bit / 8);
    for (place, byte) in bytes.iter().skip(first).take(9).enumerate() {
        value |= u128::from(*byte) << (8 * place);
    }
    let mask = (1_u128 << bits.min(64)) - 1;
    ((value >> (bit % 8)) & mask) as u64
}

/// Sets up to 64 bits from a bit position on; what lies outside is left out.
pub(crate) fn set_bits_at(bytes: &mut [u8], bit: u16, bits: u16, value: u64) {
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
