//! The network cards that a guest can drive itself, if its host gives it one.

/// A family of Intel's gigabit network cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardFamily {
    /// The 82574.
    E82574,
    /// The I210 and the I211, for copper.
    I210,
}

impl CardFamily {
    /// Returns the family of a device by its vendor and number, as the first word of the
    /// configuration space has them; `None` if a guest can't drive it.
    pub const fn of(vendor_and_device: u32) -> Option<Self> {
        const INTEL: u32 = 0x8086;
        if vendor_and_device & 0xFFFF != INTEL {
            return None;
        }
        match vendor_and_device >> 16 {
            0x10D3 => Some(Self::E82574),
            // The I210 with flash and without; the I211.
            0x1533 | 0x157B | 0x1539 => Some(Self::I210),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_known_by_vendor_and_device() {
        let cards = [0x10D3_8086, 0x1533_8086, 0x1539_8086, 0x10D3_1AF4, 0x100E_8086, u32::MAX];
        let (e, i) = (Some(CardFamily::E82574), Some(CardFamily::I210));
        assert_eq!(cards.map(CardFamily::of), [e, i, i, None, None, None]);
    }
}
