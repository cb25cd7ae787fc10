//! The physical addresses of this process's pages: `/proc/self/pagemap` (Linux,
//! `Documentation/admin-guide/mm/pagemap.rst`).
//!
//! One word for each page of the address space: bits 0 to 54 are the number of the physical page,
//! bit 63 says that it is there. Without the right `CAP_SYS_ADMIN` the numbers are zero. The right
//! is asked for when the file is opened, so what was opened before a process gave it up tells later
//! too.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::colour::geometry::NoColours;
use crate::memory::PAGE_BYTES;

const PRESENT: u64 = 1 << 63;
const FRAME: u64 = (1 << 55) - 1;
/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Number of words that are read at once.
const WORDS_AT_ONCE: usize = 8192;

/// A source of the physical addresses of pages.
pub trait Frames {
    /// The numbers of the physical pages of so many pages from this address on; `None` for one that
    /// is not there.
    ///
    /// # Errors
    /// [`NoColours::NoAddresses`].
    fn of(&self, address: u64, pages: usize) -> Result<Vec<Option<u64>>, NoColours>;
}

/// The pages of this process, as the kernel says.
#[derive(Debug)]
pub struct PageMap {
    file: File,
}

impl PageMap {
    /// That of this process.
    ///
    /// # Errors
    /// [`NoColours::NoAddresses`].
    pub fn open() -> Result<Self, NoColours> {
        Ok(Self { file: File::open("/proc/self/pagemap").map_err(|error| unseen(&error))? })
    }
}

impl Frames for PageMap {
    fn of(&self, address: u64, pages: usize) -> Result<Vec<Option<u64>>, NoColours> {
        let mut frames = Vec::with_capacity(pages);
        let mut bytes = vec![0; WORDS_AT_ONCE * WORD];
        while frames.len() < pages {
            let count = (pages - frames.len()).min(WORDS_AT_ONCE);
            let place = address / PAGE_BYTES + frames.len() as u64;
            let bytes = &mut bytes[..count * WORD];
            self.file.read_exact_at(bytes, place * WORD as u64).map_err(|error| unseen(&error))?;
            let words = bytes.chunks_exact(WORD).map(|word| {
                u64::from_ne_bytes(word.try_into().expect("a chunk has the length of a word"))
            });
            frames.extend(words.map(frame));
        }
        if frames.contains(&Some(0)) {
            let because = "the kernel shows them as zero".to_owned();
            return Err(NoColours::NoAddresses { because });
        }
        Ok(frames)
    }
}

fn frame(word: u64) -> Option<u64> {
    (word & PRESENT != 0).then_some(word & FRAME)
}

fn unseen(error: &io::Error) -> NoColours {
    NoColours::NoAddresses { because: format!("/proc/self/pagemap: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_tells_whether_and_where_a_page_is() {
        assert_eq!(frame(0xA100_0000_0045_59E1), Some(0x45_59E1));
        assert_eq!(frame(1 << 62 | 7), None);
        assert_eq!(frame(u64::MAX), Some((1 << 55) - 1));
    }

    #[test]
    fn pages_of_this_process_are_somewhere_or_not_to_be_seen() {
        let page = vec![1_u8; 3 * PAGE_BYTES as usize];
        match PageMap::open().and_then(|map| map.of(page.as_ptr().addr() as u64, 2)) {
            Ok(frames) => {
                let frames: Vec<u64> = frames.into_iter().map(|frame| frame.unwrap()).collect();
                assert_ne!(frames[0], frames[1]);
            }
            Err(NoColours::NoAddresses { because }) => {
                quietcore_skip::skip!("physical addresses: {because}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}
