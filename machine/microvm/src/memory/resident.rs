//! The memory of this process that is present, by the size of its pages: the kernel's own account,
//! `/proc/self/smaps`.
//!
//! Read it before the sandbox: afterwards there is no `/proc`. A file that was opened before stays
//! readable.

use std::fs;
use std::io;

/// Names of memory files that are the guest's, or shared with it, and not the monitor's own.
const OF_GUESTS: [&str; 6] = [
    "/memfd:quietcore-guest",
    "/memfd:quietcore-board",
    "/memfd:quietcore-exchange",
    "/memfd:quietcore-channel",
    "/memfd:quietcore-program",
    "/memfd:quietcore-post",
];

/// A mapping of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Address of its first byte.
    pub start: u64,
    /// Path of the mapped file, or a name in brackets; empty for memory without one.
    pub name: String,
    /// Bytes that are present.
    pub resident_bytes: u64,
    /// Bytes of them in large pages that the kernel put together.
    pub transparent_bytes: u64,
    /// The size of its pages, in bytes.
    pub page_bytes: u64,
}

impl Mapping {
    /// Returns `true` if it is the guest's, or shared with it.
    pub fn is_of_guest(&self) -> bool {
        OF_GUESTS.iter().any(|name| self.name.starts_with(name))
    }
}

/// All mappings of this process.
///
/// # Errors
/// Where `/proc` is not there.
pub fn mappings() -> io::Result<Vec<Mapping>> {
    Ok(parse(&fs::read_to_string("/proc/self/smaps")?))
}

/// All mappings of another process.
///
/// # Errors
/// Where there is no such process, or it is another user's.
pub fn mappings_of(process: u32) -> io::Result<Vec<Mapping>> {
    Ok(parse(&fs::read_to_string(format!("/proc/{process}/smaps"))?))
}

/// Bytes of this process that are present and are no guest's memory.
///
/// # Errors
/// Where `/proc` is not there.
pub fn own_bytes() -> io::Result<u64> {
    let own = mappings()?.into_iter().filter(|mapping| !mapping.is_of_guest());
    Ok(own.map(|mapping| mapping.resident_bytes).sum())
}

/// Reads `/proc/PID/smaps`. What it does not know is passed over.
pub(crate) fn parse(text: &str) -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = Vec::new();
    for line in text.lines() {
        if let Some(mapping) = head(line) {
            mappings.push(mapping);
        } else if let (Some(mapping), Some((key, value))) =
            (mappings.last_mut(), line.split_once(':'))
        {
            let kib = value.trim().strip_suffix(" kB").and_then(|number| number.parse().ok());
            let bytes = kib.map_or(0, |kib: u64| kib.saturating_mul(1024));
            match key {
                "Rss" => mapping.resident_bytes = mapping.resident_bytes.saturating_add(bytes),
                // Large pages that were reserved are not in the sum.
                "Shared_Hugetlb" | "Private_Hugetlb" => {
                    mapping.resident_bytes = mapping.resident_bytes.saturating_add(bytes);
                }
                "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => {
                    mapping.transparent_bytes = mapping.transparent_bytes.saturating_add(bytes);
                }
                "KernelPageSize" => mapping.page_bytes = bytes,
                _ => {}
            }
        }
    }
    mappings
}

/// `7f00-7f01 rw-s 00000000 00:01 12 /memfd:name (deleted)`.
fn head(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, _) = words.next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let name = words.nth(4).unwrap_or_default().trim().to_owned();
    Some(Mapping { start, name, ..Mapping::default() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\
7f0000000000-7f0001000000 rw-s 00000000 00:01 12   /memfd:quietcore-guest (deleted)
Size:              16384 kB
KernelPageSize:        4 kB
Rss:               16384 kB
ShmemPmdMapped:    14336 kB
VmFlags: rd wr sh mr mw me ms lo
7f0002000000-7f0002001000 rw-p 00000000 00:00 0
Rss:                   4 kB
7f0003000000-7f0003400000 rw-s 00000000 00:0f 13    /memfd:quietcore-guest (deleted)
KernelPageSize:     2048 kB
Rss:                   0 kB
Shared_Hugetlb:     4096 kB
";

    #[test]
    fn mappings_are_read_with_their_sizes() {
        let mappings = parse(TEXT);
        assert_eq!(mappings.len(), 3);
        assert_eq!(mappings[0].name, "/memfd:quietcore-guest (deleted)");
        assert_eq!(mappings[0].resident_bytes, 16 << 20);
        assert_eq!(mappings[0].transparent_bytes, 14 << 20);
        assert!(mappings[0].is_of_guest() && !mappings[1].is_of_guest());
        assert_eq!((&*mappings[1].name, mappings[1].resident_bytes), ("", 4096));
        assert_eq!((mappings[2].page_bytes, mappings[2].resident_bytes), (2 << 20, 4 << 20));
    }

    #[test]
    fn this_process_has_some_memory_of_its_own() {
        assert!(own_bytes().unwrap() > 100_000);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[0-9a-f: -]{0,20}(Rss|Size)?:? *[0-9]{0,25} kB\n{0,3}.*") {
            parse(&text);
        }
    }
}
