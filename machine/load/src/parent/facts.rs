//! The facts about this machine that the checks need, and how they are read.

use std::fs;
use std::path::{Path, PathBuf};

use quietcore_units::{ByteSize, CpuSet};
use rustix::fs::{statfs, statvfs};

use crate::affinity;
use crate::error::{FolderError, LoadError};

/// The size assumed where the machine doesn't tell that of its last-level cache.
const LAST_LEVEL_CACHE_ASSUMED: ByteSize = ByteSize::new(32 << 20);

/// Magic numbers of file systems that keep their files in memory: tmpfs and ramfs.
const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];

/// The facts that the checks need, as values, so that they can be tested without the machine.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// `MemAvailable`: what can be used without swapping.
    pub(crate) available_memory: ByteSize,
    /// The largest last-level cache of any CPU.
    pub(crate) last_level_cache: ByteSize,
    /// The CPUs that are online.
    pub(crate) online: CpuSet,
}

impl Facts {
    /// Reads them from the kernel.
    pub(crate) fn read() -> Result<Self, LoadError> {
        let available_memory = read_with("/proc/meminfo", parse_available_memory)?;
        let online = read_with("/sys/devices/system/cpu/online", |text| text.parse().ok());
        // A container may not show it; then these are the CPUs that this process has.
        let online = online.or_else(|refused| affinity::read(None).map_err(|_| refused))?;
        Ok(Self {
            available_memory,
            last_level_cache: last_level_cache(Path::new("/sys/devices/system/cpu"), &online)
                .unwrap_or(LAST_LEVEL_CACHE_ASSUMED),
            online,
        })
    }
}

/// The space that a folder offers a disk load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderFacts {
    /// Space that an ordinary user may still fill there.
    pub(crate) free: ByteSize,
}

impl FolderFacts {
    /// Reads the space from the folder's file system.
    ///
    /// # Errors
    /// [`FolderError`]; files in memory would be no load of a disk.
    pub(crate) fn read(folder: &Path) -> Result<Self, FolderError> {
        if !folder.is_dir() {
            return Err(FolderError::Missing);
        }
        let kind = statfs(folder).map_err(FolderError::of)?.f_type as u32;
        if IN_MEMORY.contains(&kind) {
            return Err(FolderError::InMemory);
        }
        let space = statvfs(folder).map_err(FolderError::of)?;
        Ok(Self { free: ByteSize::new(space.f_bavail.saturating_mul(space.f_frsize)) })
    }
}

fn read_with<T>(path: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, LoadError> {
    let failed = |source| LoadError::Facts { path: PathBuf::from(path), source };
    let text = fs::read_to_string(path).map_err(failed)?;
    parse(&text).ok_or_else(|| failed(std::io::Error::other("it does not have the known form")))
}

fn parse_available_memory(meminfo: &str) -> Option<ByteSize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024).map(ByteSize::new)
}

/// The largest cache of the highest level that any CPU below `folder` has.
fn last_level_cache(folder: &Path, cpus: &CpuSet) -> Option<ByteSize> {
    let mut largest = None;
    for cpu in cpus.iter() {
        let Ok(entries) = fs::read_dir(folder.join(format!("cpu{cpu}/cache"))) else {
            continue;
        };
        for entry in entries.flatten() {
            let read = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
            let Some(level) = read("level").and_then(|text| text.trim().parse::<u32>().ok()) else {
                continue;
            };
            if let Some(size) = read("size").and_then(|text| parse_cache_size(text.trim())) {
                largest = largest.max(Some((level, size)));
            }
        }
    }
    largest.map(|(_, size)| size)
}

/// Reads the kernel's form: `32768K`.
fn parse_cache_size(text: &str) -> Option<ByteSize> {
    let kibibytes: u64 = text.strip_suffix('K')?.parse().ok()?;
    let size = kibibytes.checked_mul(1024)?;
    (size > 0).then_some(ByteSize::new(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_available_memory_is_found_among_the_other_lines() {
        let text = "MemTotal:       24684084 kB\nMemFree:  9 kB\nMemAvailable:   24166400 kB\n";
        let expected = ByteSize::new(24_166_400 * 1024);
        assert_eq!(parse_available_memory(text), Some(expected));
        assert_eq!(parse_available_memory("MemFree: 9 kB\n"), None);
        assert_eq!(parse_available_memory("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn the_cache_of_the_highest_level_counts_and_of_those_the_largest() {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, index, level, size) in [
            (0, 0, "1\n", "32K\n"),
            (0, 2, "2\n", "65536K\n"),
            (0, 3, "3\n", "16384K\n"),
            (1, 3, "3\n", "32768K\n"),
            (2, 0, "3\n", "broken\n"),
        ] {
            let cache = folder.path().join(format!("cpu{cpu}/cache/index{index}"));
            fs::create_dir_all(&cache).unwrap();
            fs::write(cache.join("level"), level).unwrap();
            fs::write(cache.join("size"), size).unwrap();
        }
        let cpus = "0-3".parse().unwrap();
        let expected = Some(ByteSize::new(32 << 20));
        assert_eq!(last_level_cache(folder.path(), &cpus), expected);
        assert_eq!(last_level_cache(Path::new("/nowhere"), &cpus), None);
    }

    #[test]
    fn this_machine_tells_its_facts() {
        let facts = Facts::read().unwrap();
        assert!(facts.available_memory.get() > 0);
        assert!(!facts.online.is_empty());
    }

    #[test]
    fn a_folder_that_is_missing_or_in_memory_is_no_disk() {
        let missing = FolderFacts::read(Path::new("/nowhere/at/all"));
        assert_eq!(missing, Err(FolderError::Missing));
        // procfs has a kind of its own; a tmpfs is at hand on nearly every machine.
        let shared = Path::new("/dev/shm");
        if statfs(shared).is_ok_and(|found| found.f_type as u32 == IN_MEMORY[0]) {
            assert!(FolderFacts::read(shared).is_err());
        } else {
            println!("SKIPPED: `/dev/shm` is no tmpfs here");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in ".{0,60}", number in any::<u64>()) {
            let _ = parse_available_memory(&text);
            let _ = parse_available_memory(&format!("MemAvailable: {number} kB"));
            let _ = parse_cache_size(&text);
            let _ = parse_cache_size(&format!("{number}K"));
        }
    }
}
