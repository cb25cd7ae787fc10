//! Memory that a host shares as pages that Xen grants, where it can neither put memory at addresses
//! of its choice nor have a bus for it.
//!
//! The host of a guest is dom0. It announces in Xen's store, below the guest's own path, what it
//! grants, before the guest's first instruction:
//!
//! | key | value |
//! |---|---|
//! | [`area_key`] | an area: its [`Announcement`] |
//! | [`DOORBELL`] | the host's port of the event channel by which it calls the guest |
//!
//! Areas have the numbers of [`devices`](crate::devices), and hold the same; one more holds the
//! [`ports`] of a Linux guest. The pages of an area
//! have references in any order, too many for the store: they are listed in directories, pages of
//! [`REFERENCES_PER_DIRECTORY`] little-endian words of 32 bits, which are granted as well.
//!
//! ```text
//! store: quietcore/001 = "1025 77 78"      1025 pages, listed in the pages of references 77 and 78
//! directory 77: 9 10 11 …                the references of pages 0 to 1023
//! directory 78: 1033                     that of page 1024
//! ```

pub mod message;
pub mod ports;
mod ring;

use core::fmt;

use crate::places::PAGE_BYTES;

pub use ring::Ring;

/// Key below the guest's own path, of the port by which the host calls it.
pub const DOORBELL: &str = "quietcore/doorbell";

/// References in a page of the directory.
pub const REFERENCES_PER_DIRECTORY: usize = PAGE_BYTES as usize / size_of::<u32>();

/// The most directories of an area: it has 256 MiB at most.
pub const DIRECTORIES_MAX: usize = 64;

/// The most bytes of a value in the store that are read.
pub const VALUE_BYTES_MAX: usize = 1000;

/// The announcement of an area: its size, and where its pages are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    pages: u32,
    directories: [u32; DIRECTORIES_MAX],
}

impl Announcement {
    /// Announces an area of `pages` pages, listed in these directories; `None` where their number
    /// does not fit.
    pub fn new(pages: u32, directories: &[u32]) -> Option<Self> {
        let mut own = [0; DIRECTORIES_MAX];
        own.get_mut(..directories.len())?.copy_from_slice(directories);
        let made = Self { pages, directories: own };
        (pages > 0 && made.count() == directories.len()).then_some(made)
    }

    /// Reads a value of the store; `None` if it is no announcement.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let mut numbers = value.split(|byte| *byte == b' ').map(number);
        let pages = numbers.next()??;
        let (mut directories, mut count) = ([0; DIRECTORIES_MAX], 0);
        for reference in numbers {
            *directories.get_mut(count)? = reference?;
            count += 1;
        }
        Self::new(pages, &directories[..count])
    }

    /// Returns the number of its pages; not zero.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Returns the references of its directories.
    pub fn directories(&self) -> &[u32] {
        &self.directories[..self.count()]
    }

    /// Returns the number of directories that list its pages.
    fn count(&self) -> usize {
        (self.pages as usize).div_ceil(REFERENCES_PER_DIRECTORY)
    }
}

impl fmt::Display for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pages)?;
        self.directories().iter().try_for_each(|reference| write!(f, " {reference}"))
    }
}

/// Returns the key below the guest's own path of the area of this number; those from 1000 on have
/// none of their own.
pub fn area_key(number: usize) -> [u8; 13] {
    let mut key = *b"quietcore/000";
    let mut rest = number;
    for digit in key.iter_mut().rev().take(3) {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}

/// Reads a number in decimal digits; `None` if it is none, or has more than 32 bits.
pub fn number(text: &[u8]) -> Option<u32> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_announcement_names_as_many_directories_as_its_pages_need() {
        for (pages, directories) in [(1, 1), (1024, 1), (1025, 2), (65_536, 64)] {
            let references: Vec<u32> = (7..).take(directories).collect();
            let made = Announcement::new(pages, &references).unwrap();
            assert_eq!((made.pages(), made.directories()), (pages, &references[..]));
            assert_eq!(Announcement::new(pages, &references[1..]), None);
        }
        assert_eq!(Announcement::new(0, &[]), None);
        assert_eq!(Announcement::new(65_537, &[7; 65]), None);
    }

    #[test]
    fn nonsense_in_the_store_is_no_announcement() {
        for wrong in ["", "0", "1", "1 ", "1 x", "1 7 8", "1 -7", "4294967296 7", "65537 7"] {
            assert_eq!(Announcement::parse(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(Announcement::parse(b"1 \xff"), None);
    }

    #[test]
    fn each_area_has_a_key() {
        assert_eq!(&area_key(0), b"quietcore/000");
        assert_eq!(&area_key(crate::devices::DEVICES_MAX), b"quietcore/216");
    }

    proptest! {
        #[test]
        fn what_was_announced_is_read(pages in 1..65_537_u32, first in 0..1_000_u32) {
            let count = (pages as usize).div_ceil(REFERENCES_PER_DIRECTORY);
            let references: Vec<u32> = (first..).take(count).collect();
            let made = Announcement::new(pages, &references).expect("it fits");
            let text = made.to_string();
            prop_assert!(text.len() <= VALUE_BYTES_MAX);
            prop_assert_eq!(Announcement::parse(text.as_bytes()), Some(made));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..1_000)) {
            if let Some(read) = Announcement::parse(&bytes) {
                prop_assert!(read.directories().len() <= DIRECTORIES_MAX);
            }
        }
    }
}
