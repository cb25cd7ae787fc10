//! Fieldbus memory management units: which bits of the logical address space are which bits here.
//!
//! ```text
//! logical   start address · start bit ───────────────► start + length − 1 · end bit
//!              │ consecutive bits, in the same order │
//! physical  address · bit ────────────────────────────►
//! ```
//!
//! Registers of one unit (ETG.1000.4, 6.6): logical start u32, length u16, start bit, end bit,
//! physical start u16, physical bit, type (1 read, 2 write), activate (bit 0), 3 reserved.

/// The most units that a controller may have (ETG.1000.4, 6.6.1).
pub(crate) const FMMUS_MAX: usize = 16;

/// One unit, decoded from its registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fmmu {
    /// First logical address, in bytes.
    pub(crate) logical: u32,
    /// Logical bytes touched, the first and the last perhaps in part.
    pub(crate) length: u16,
    /// First mapped bit of the first byte.
    pub(crate) start_bit: u8,
    /// Last mapped bit of the last byte.
    pub(crate) end_bit: u8,
    /// First physical address, in bytes.
    pub(crate) physical: u16,
    /// First bit of the first physical byte.
    pub(crate) physical_bit: u8,
    /// A MainDevice reads through it.
    pub(crate) readable: bool,
    /// A MainDevice writes through it.
    pub(crate) writable: bool,
    /// `true` if it takes part in logical accesses.
    pub(crate) active: bool,
}

/// The part of a datagram that a unit maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overlap {
    /// First byte in the datagram's data.
    pub(crate) data: usize,
    /// First byte in the unit's logical range.
    pub(crate) offset: usize,
    /// Size of the overlap in bytes.
    pub(crate) length: usize,
}

/// The mapped bits of one logical byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitRun {
    /// The lowest mapped bit of the logical byte.
    pub(crate) low: u32,
    /// Bits of the run, which may lie in two bytes.
    pub(crate) count: u32,
    /// The physical bit of the lowest one, counted from bit 0 of the physical start address.
    pub(crate) physical_bit: usize,
}

impl BitRun {
    /// The mapped bits, as a mask of the logical byte.
    pub(crate) fn mask(self) -> u8 {
        (((1_u16 << self.count) - 1) << self.low) as u8
    }

    /// Takes the bits out of the two physical bytes that hold them, to their places in the logical
    /// byte.
    pub(crate) fn gather(self, physical: [u8; 2]) -> u8 {
        let word = u16::from_le_bytes(physical) >> (self.physical_bit % 8);
        ((word << self.low) as u8) & self.mask()
    }

    /// Puts the bits of a logical byte into the two physical bytes.
    pub(crate) fn scatter(self, logical: u8, physical: [u8; 2]) -> [u8; 2] {
        let shift = self.physical_bit % 8;
        let mask = (u16::from(self.mask()) >> self.low) << shift;
        let bits = (u16::from(logical & self.mask()) >> self.low) << shift;
        ((u16::from_le_bytes(physical) & !mask) | bits).to_le_bytes()
    }
}

impl Fmmu {
    /// Decodes the registers of one unit.
    pub(crate) fn decode(registers: &[u8; 16]) -> Self {
        let r = registers;
        Self {
            logical: u32::from_le_bytes([r[0], r[1], r[2], r[3]]),
            length: u16::from_le_bytes([r[4], r[5]]),
            start_bit: r[6] & 7,
            end_bit: r[7] & 7,
            physical: u16::from_le_bytes([r[8], r[9]]),
            physical_bit: r[10] & 7,
            readable: r[11] & 1 != 0,
            writable: r[11] & 2 != 0,
            active: r[12] & 1 != 0,
        }
    }

    /// Returns `true` if whole bytes map to whole bytes.
    pub(crate) fn is_bytewise(&self) -> bool {
        self.start_bit == 0 && self.end_bit == 7 && self.physical_bit == 0
    }

    /// The part of `length` bytes at the logical address `address` that this unit maps.
    #[inline]
    pub(crate) fn overlap(&self, address: u32, length: usize) -> Option<Overlap> {
        let start = u64::from(address).max(u64::from(self.logical));
        let end = (u64::from(address) + length as u64)
            .min(u64::from(self.logical) + u64::from(self.length));
        if start >= end || (self.length == 1 && self.end_bit < self.start_bit) {
            return None;
        }
        Some(Overlap {
            data: (start - u64::from(address)) as usize,
            offset: (start - u64::from(self.logical)) as usize,
            length: (end - start) as usize,
        })
    }

    /// The mapped bits of the logical byte at `offset` from the unit's start.
    pub(crate) fn bits(&self, offset: usize) -> BitRun {
        let low = if offset == 0 { u32::from(self.start_bit) } else { 0 };
        let last = offset + 1 == usize::from(self.length);
        let high = if last { u32::from(self.end_bit) } else { 7 };
        BitRun {
            low,
            count: high + 1 - low,
            physical_bit: offset * 8 + low as usize + usize::from(self.physical_bit)
                - usize::from(self.start_bit),
        }
    }

    /// The physical span that `overlap` of this unit needs: first byte from the physical start,
    /// bytes.
    pub(crate) fn physical_span(&self, overlap: Overlap) -> (usize, usize) {
        if self.is_bytewise() {
            return (overlap.offset, overlap.length);
        }
        let first = self.bits(overlap.offset);
        let last = self.bits(overlap.offset + overlap.length - 1);
        let start = first.physical_bit / 8;
        let end = (last.physical_bit + last.count as usize).div_ceil(8);
        (start, end - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The mapping as the standard words it: one bit after the other.
    fn naive(fmmu: &Fmmu, logical_bit: u64) -> Option<u64> {
        let first = u64::from(fmmu.logical) * 8 + u64::from(fmmu.start_bit);
        let last =
            (u64::from(fmmu.logical) + u64::from(fmmu.length) - 1) * 8 + u64::from(fmmu.end_bit);
        (first..=last).contains(&logical_bit).then(|| {
            u64::from(fmmu.physical) * 8 + u64::from(fmmu.physical_bit) + logical_bit - first
        })
    }

    fn units() -> impl Strategy<Value = Fmmu> {
        (0_u32..40, 1_u16..12, 0_u8..8, 0_u8..8, 0x1000_u16..0x1010, 0_u8..8).prop_map(
            |(logical, length, start_bit, end_bit, physical, physical_bit)| Fmmu {
                logical,
                length,
                start_bit,
                end_bit,
                physical,
                physical_bit,
                readable: true,
                writable: true,
                active: true,
            },
        )
    }

    proptest! {
        #[test]
        fn each_bit_goes_where_the_standard_says(
            fmmu in units(),
            address in 0_u32..60,
            length in 1_usize..30,
        ) {
            let mut mapped = std::collections::BTreeMap::new();
            if let Some(overlap) = fmmu.overlap(address, length) {
                let (start, bytes) = fmmu.physical_span(overlap);
                for byte in 0..overlap.length {
                    let run = fmmu.bits(overlap.offset + byte);
                    for bit in 0..run.count {
                        let logical = (u64::from(address) + (overlap.data + byte) as u64) * 8
                            + u64::from(run.low + bit);
                        let physical = run.physical_bit + bit as usize;
                        prop_assert!((start..start + bytes).contains(&(physical / 8)));
                        mapped.insert(logical, u64::from(fmmu.physical) * 8 + physical as u64);
                    }
                }
            }
            for bit in u64::from(address) * 8..(u64::from(address) + length as u64) * 8 {
                prop_assert_eq!(mapped.get(&bit).copied(), naive(&fmmu, bit), "bit {}", bit);
            }
        }

        #[test]
        fn what_is_scattered_is_gathered(
            (low, count) in (0_u32..8).prop_flat_map(|low| (Just(low), 1..=(8 - low).min(7))),
            bit in 0_usize..8,
            value: u8,
            old: [u8; 2],
        ) {
            let run = BitRun { low, count, physical_bit: bit };
            let physical = run.scatter(value, old);
            prop_assert_eq!(run.gather(physical), value & run.mask());
            // The other bits stay.
            let mask = (((1_u32 << count) - 1) << bit) as u16;
            prop_assert_eq!(u16::from_le_bytes(physical) & !mask, u16::from_le_bytes(old) & !mask);
        }
    }

    #[test]
    fn a_unit_whose_end_lies_before_its_start_maps_nothing() {
        let fmmu = Fmmu { length: 1, start_bit: 5, end_bit: 2, ..Fmmu::default() };
        assert_eq!(fmmu.overlap(0, 1), None);
    }

    #[test]
    fn a_unit_at_the_end_of_the_address_space_does_not_wrap() {
        let fmmu = Fmmu { logical: u32::MAX, length: 4, end_bit: 7, ..Fmmu::default() };
        assert_eq!(fmmu.overlap(0, 8), None);
        assert_eq!(fmmu.overlap(u32::MAX, 8).map(|overlap| overlap.length), Some(4));
    }
}
