//! Words in a device's memory, which host and guest share.
// UNSAFETY: words are seen in a mapping.
#![expect(unsafe_code, reason = "memory shared with the host is mapped here")]

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use crate::memory::{MemoryError, MemorySource, SharedMemory};

/// The memory of a device, as words.
#[derive(Debug)]
pub struct DeviceWords {
    memory: SharedMemory,
}

impl DeviceWords {
    /// Maps the memory, all of it present.
    ///
    /// # Errors
    /// [`MemoryError`].
    pub fn open(source: &MemorySource) -> Result<Self, MemoryError> {
        Ok(Self { memory: SharedMemory::open(source)? })
    }

    /// Returns all its words.
    pub fn all(&self) -> &[AtomicU64] {
        let count = self.memory.bytes() / size_of::<AtomicU64>();
        // SAFETY: the mapping begins at a page, is that long and lives as long as `self`; all
        // access is atomic, on either side.
        unsafe { std::slice::from_raw_parts(self.memory.base().cast().as_ptr(), count) }
    }

    /// Returns its first bytes as words, and the others as bytes, where nobody has it as
    /// [`all`](Self::all).
    pub fn split(&self, words_bytes: usize) -> (&[AtomicU32], &[AtomicU8]) {
        let first = words_bytes.min(self.memory.bytes()) / size_of::<AtomicU32>();
        let begin = self.memory.base();
        let rest = first * size_of::<AtomicU32>();
        // SAFETY: as in `all`; within the mapping.
        let words = unsafe { std::slice::from_raw_parts(begin.cast().as_ptr(), first) };
        let bytes = self.memory.bytes() - rest;
        // SAFETY: as above; behind the words.
        let bytes = unsafe { std::slice::from_raw_parts(begin.add(rest).cast().as_ptr(), bytes) };
        (words, bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn words_of_one_file_are_the_same_in_both_mappings() {
        let memory = SharedMemory::create("quietcore-words", 4096).unwrap();
        let open = || DeviceWords::open(&memory.file().unwrap().into()).unwrap();
        let (here, there) = (open(), open());
        assert_eq!(here.all().len(), 512);
        here.all()[511].store(7, Relaxed);
        assert_eq!(there.all()[511].load(Relaxed), 7);
        let (words, bytes) = there.split(1024);
        assert_eq!((words.len(), bytes.len()), (256, 3072));
        assert_eq!(bytes[3072 - 8].load(Relaxed), 7);
    }

    #[test]
    fn a_device_is_no_plain_file() {
        let file = tempfile::tempfile().unwrap();
        let device = Some(crate::memory::DeviceMemory::first(4096));
        let refused = DeviceWords::open(&MemorySource::new(file, device)).unwrap_err();
        assert!(matches!(refused, MemoryError::NoDevice), "{refused}");
    }
}
