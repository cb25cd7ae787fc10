//! The two places that a program may be linked for, as guest-physical addresses.
//!
//! ```text
//! 0x2000_0000  writable data of slot A        256 MiB at most
//! 0x3000_0000  writable data of slot B        256 MiB at most
//! 0x7800_0000  code and constants of slot A    32 MiB at most
//! 0x7A00_0000  code and constants of slot B    32 MiB at most
//! ```
//!
//! All of them are below 2 GiB, so that code refers to them by 32 bits.

use std::fmt;
use std::ops::Range;

use quietcore_boot::places::{
    PROGRAM_CODE, PROGRAM_CODE_BYTES_MAX, PROGRAM_DATA, PROGRAM_DATA_BYTES_MAX,
};

/// One of the two places: a new build is put into the one that does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The first of the two.
    A,
    /// The second of the two.
    B,
}

impl Slot {
    /// Both slots, in order.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// Addresses of code and constants.
    pub fn code(self) -> Range<u64> {
        let start = PROGRAM_CODE[self.index()];
        start..start + PROGRAM_CODE_BYTES_MAX
    }

    /// Addresses of writable data.
    pub fn data(self) -> Range<u64> {
        let start = PROGRAM_DATA[self.index()];
        start..start + PROGRAM_DATA_BYTES_MAX
    }

    /// 0 for the first one, 1 for the second.
    pub fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }

    /// The slot that an address of code or constants belongs to.
    pub fn of_code(address: u64) -> Option<Self> {
        Self::BOTH.into_iter().find(|slot| slot.code().contains(&address))
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: no two places overlap, and code reaches all of them by signed numbers of 32 bits.
    #[test]
    fn places_are_apart_and_within_reach() {
        let mut places: Vec<Range<u64>> =
            Slot::BOTH.into_iter().flat_map(|slot| [slot.code(), slot.data()]).collect();
        places.sort_by_key(|place| place.start);
        assert!(places.windows(2).all(|pair| pair[0].end <= pair[1].start), "{places:x?}");
        assert!(places.iter().all(|place| place.end <= 1 << 31 && place.start % (2 << 20) == 0));
        assert_eq!(Slot::of_code(0x7800_0000), Some(Slot::A));
        assert_eq!(Slot::of_code(0x7A00_0000), Some(Slot::B));
        assert_eq!(Slot::of_code(0x7C00_0000), None);
        assert_eq!(Slot::of_code(0x2000_0000), None);
    }
}
