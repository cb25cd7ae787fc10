//! Memory to be measured: private, present and locked, in pages of a kind that is read back.
//!
//! The kind of page decides how long an access takes, so it is asked for before the memory is first
//! written, and what the kernel made of it is read from `/proc/self/smaps`. Its words are atomics,
//! which compile to plain loads and stores and are neither left out nor drawn together by the
//! compiler.
//!
// UNSAFETY: mapped memory becomes a slice of atomics in one place.
#![expect(unsafe_code, reason = "mapped memory becomes a slice of atomics")]

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memmap2::{Advice, MmapOptions, MmapRaw};
use quietcore_units::ByteSize;
use serde::{Deserialize, Serialize};

/// Bytes of a large page, to which every field is aligned whatever its kind.
pub const LARGE_PAGE: u64 = 2 << 20;
/// Bytes of a small page: one word of each is written so that it is present.
const SMALL_PAGE: usize = 4096;
/// Words of a small page.
const PAGE_WORDS: usize = SMALL_PAGE / size_of::<u64>();
/// Lines of `/proc/self/smaps` that are read; a process has some hundred mappings of 25 lines.
const LINES_MAX: usize = 1_000_000;

/// A kind of page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageKind {
    /// 4 KiB and no others: what a partition's program has by default.
    Small,
    /// 2 MiB, where the kernel can give them (transparent huge pages).
    Large,
}

/// Why there is no such memory.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// The kernel refused it.
    #[error("{bytes} of memory could not be had; use a smaller working set, or free memory")]
    Refused {
        /// The size that was asked for.
        bytes: ByteSize,
        /// The error of the kernel.
        #[source]
        source: io::Error,
    },
    /// The kernel has no pages of this kind.
    #[error("the kernel gives no pages of this kind; see /sys/kernel/mm/transparent_hugepage")]
    Pages(#[source] io::Error),
}

/// The pages that the kernel gave a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldState {
    /// Bytes of it in large pages.
    pub large_bytes: u64,
    /// Bytes of it that are locked.
    pub locked_bytes: u64,
}

/// Memory of a process alone, written throughout and locked where that is allowed.
#[derive(Debug)]
pub struct Field {
    map: MmapRaw,
    /// Offset of the first large page.
    offset: usize,
    bytes: usize,
    lock_refused: Option<io::Error>,
}

impl Field {
    /// Memory of this size, which is rounded up to whole pages. On a machine with several memory
    /// nodes it lies at that of the calling thread.
    ///
    /// # Errors
    /// [`FieldError`]. That it could not be locked is none, but told by
    /// [`lock_refused`](Self::lock_refused).
    pub fn new(bytes: u64, pages: PageKind) -> Result<Self, FieldError> {
        let refused = |source| FieldError::Refused { bytes: ByteSize::new(bytes), source };
        let too_large = || refused(io::ErrorKind::OutOfMemory.into());
        let whole = bytes.checked_next_multiple_of(SMALL_PAGE as u64).ok_or_else(too_large)?;
        let mapped = whole.checked_add(LARGE_PAGE).ok_or_else(too_large)?;
        let length = usize::try_from(mapped).map_err(|_| too_large())?;
        // Not populated: the kind of page is asked for first.
        let map = MmapOptions::new().len(length).map_anon().map_err(refused)?;
        let map = MmapRaw::from(map);
        let advice = match pages {
            PageKind::Small => Advice::NoHugePage,
            PageKind::Large => Advice::HugePage,
        };
        match map.advise(advice) {
            Ok(()) => {}
            // A kernel without large pages has small ones only.
            Err(_) if pages == PageKind::Small => {}
            Err(error) => return Err(FieldError::Pages(error)),
        }
        let offset = map.as_ptr().align_offset(LARGE_PAGE as usize);
        let mut field =
            Self { map, offset, bytes: (mapped - LARGE_PAGE) as usize, lock_refused: None };
        for page in field.words().chunks(PAGE_WORDS) {
            page[0].store(1, Relaxed);
        }
        field.lock_refused = field.map.lock().err();
        Ok(field)
    }

    /// Its words. They begin at a large page.
    pub fn words(&self) -> &[AtomicU64] {
        let begin = self.map.as_mut_ptr().wrapping_add(self.offset).cast::<AtomicU64>();
        // SAFETY: the map is one large page longer than `bytes`, and the offset of the first such
        // page in it is below that, so all is inside of the map and aligned; it is mapped readable
        // and writable as long as `self` lives; nobody else maps it, every bit pattern is an
        // atomic, and no reference to it is made anywhere else.
        unsafe { std::slice::from_raw_parts(begin, self.bytes / size_of::<u64>()) }
    }

    /// Why it is not locked; `None` where it is.
    pub fn lock_refused(&self) -> Option<&io::Error> {
        self.lock_refused.as_ref()
    }

    /// Returns the pages that the kernel gave it.
    ///
    /// # Errors
    /// Those of `/proc/self/smaps`.
    pub fn read_back(&self) -> io::Result<FieldState> {
        let begin = (self.map.as_ptr() as usize).wrapping_add(self.offset) as u64;
        let smaps = BufReader::new(File::open("/proc/self/smaps")?);
        let lines = smaps.lines().take(LINES_MAX).map_while(Result::ok);
        Ok(state_of(lines, begin, begin + self.bytes as u64))
    }
}

/// Sums up what `smaps` says of the mappings that meet this range of addresses.
fn state_of(lines: impl Iterator<Item = String>, begin: u64, end: u64) -> FieldState {
    let mut state = FieldState::default();
    let mut meets = false;
    for line in lines {
        if let Some((from, to)) = range(&line) {
            meets = from < end && begin < to;
        } else if meets && let Some((name, value)) = line.split_once(':') {
            let kibibytes = value.trim().strip_suffix("kB").map(str::trim);
            let bytes = kibibytes.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) << 10;
            match name {
                "AnonHugePages" | "Private_Hugetlb" => state.large_bytes += bytes,
                "Locked" => state.locked_bytes += bytes,
                _ => {}
            }
        }
    }
    // A mapping may be larger than the field.
    let most = end.saturating_sub(begin);
    FieldState {
        large_bytes: state.large_bytes.min(most),
        locked_bytes: state.locked_bytes.min(most),
    }
}

/// The addresses at the head of a mapping: `7f00-7f10 rw-p …`.
fn range(line: &str) -> Option<(u64, u64)> {
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_there_aligned_and_of_small_pages_where_these_were_asked_for() {
        let field = Field::new((5 << 20) + 1, PageKind::Small).unwrap();
        let words = field.words();
        assert_eq!(words.len() * 8, (5 << 20) + SMALL_PAGE);
        assert_eq!(words.as_ptr() as usize % LARGE_PAGE as usize, 0);
        words[words.len() - 1].store(7, Relaxed);
        assert_eq!(words[words.len() - 1].load(Relaxed), 7);
        let state = field.read_back().unwrap();
        assert_eq!(state.large_bytes, 0);
        match field.lock_refused() {
            None => assert!(state.locked_bytes > 0, "{state:?}"),
            Some(error) => quietcore_skip::skip!("memory can't be locked here: {error}"),
        }
    }

    #[test]
    fn more_than_the_machine_can_address_is_refused() {
        for bytes in [u64::MAX, 1 << 60] {
            assert!(matches!(Field::new(bytes, PageKind::Small), Err(FieldError::Refused { .. })));
        }
    }

    #[test]
    fn only_mappings_that_meet_the_field_count() {
        let text = "1000-3000 rw-p 0 00:00 0\nAnonHugePages:      2 kB\nLocked:   4 kB\n\
                    3000-9000 rw-p 0 00:00 0 \nAnonHugePages: 6 kB\nLocked: 64 kB\nVmFlags: rd\n";
        let state = |begin, end| state_of(text.lines().map(str::to_owned), begin, end);
        assert_eq!(state(0x3000, 0x9000), FieldState { large_bytes: 6144, locked_bytes: 0x6000 });
        assert_eq!(state(0x2000, 0x4000), FieldState { large_bytes: 0x2000, locked_bytes: 0x2000 });
        assert_eq!(state(0x9000, 0xa000), FieldState::default());
    }
}
