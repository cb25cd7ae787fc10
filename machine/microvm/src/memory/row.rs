//! Several memory files in one slot of KVM's.
//!
//! Each time that KVM is given a slot it waits until none of the host's processors uses the list
//! before: some clock ticks of the kernel, 16 ms with 250 of them a second. So what a guest shares
//! is given as one slot. This process keeps addresses for all of it, as far from each other as the
//! guest has them, and maps each file to its place there:
//!
//! ```text
//! guest         place ┬ memory ┬ · · · · ┬ post ┬ · · · · ┬ exchange ┬ end
//! this process   base ┴  file  ┴ nothing ┴ file ┴ nothing ┴   file   ┴
//! ```
//!
//! A guest that goes where there is nothing crashes.
// UNSAFETY: maps files to addresses that this process keeps for them.
#![expect(unsafe_code, reason = "a place among addresses that were kept is named by its address")]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap, mmap_anonymous};
use vm_memory::MmapRegion;
use vm_memory::mmap::MmapRegionBuilder;

use crate::memory::HUGE_PAGE_BYTES;
use crate::slot::{Access, SharedError, Slots, usize_of};

/// Addresses of this process for what a guest has from some address of its own on. They are kept
/// until the process ends, as KVM, other threads and copies of a region may use them for as long.
#[derive(Debug)]
pub struct Row {
    kept: ManuallyDrop<MmapRegion>,
    /// `true` if mappings in it are locked.
    locks: bool,
    /// Bytes before the first address, so that this is where a large page may be.
    ahead: usize,
    place: u64,
    parts: Mutex<Slots>,
}

impl Row {
    /// Keeps addresses for what a guest has from `place` on, `bytes` of them. They are no memory
    /// yet, and take none. What is mapped there is present, and locked where it `locks`.
    ///
    /// # Errors
    /// [`SharedError::Map`].
    pub fn keep(place: u64, bytes: u64, locks: bool) -> Result<Arc<Self>, SharedError> {
        let kept = MmapRegionBuilder::new(usize_of(bytes + HUGE_PAGE_BYTES))
            .with_mmap_prot(libc::PROT_NONE)
            .with_mmap_flags(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE)
            .build()?;
        let (start, huge) = (kept.as_ptr().addr(), usize_of(HUGE_PAGE_BYTES));
        let ahead = (usize_of(place) % huge + huge - start % huge) % huge;
        let kept = ManuallyDrop::new(kept);
        Ok(Arc::new(Self { kept, locks, ahead, place, parts: Mutex::default() }))
    }

    /// The guest's first address of it.
    pub fn place(&self) -> u64 {
        self.place
    }

    /// Returns the size of the row in bytes.
    pub fn bytes(&self) -> u64 {
        self.kept.size() as u64 - HUGE_PAGE_BYTES
    }

    /// Returns its address in this process, for KVM.
    pub(crate) fn base(&self) -> *mut u8 {
        self.kept.as_ptr().wrapping_add(self.ahead)
    }

    /// Maps a stretch of a file where the guest has `place`, all of it present.
    ///
    /// # Errors
    /// [`SharedError`].
    pub(crate) fn map(
        &self,
        name: &'static str,
        place: u64,
        stretch: (&File, u64, u64),
    ) -> Result<MmapRegion, SharedError> {
        let region = self.map_without_pages(name, place, stretch)?;
        let start = region.as_ptr().cast();
        if self.locks {
            // SAFETY: it was just mapped; locking makes its pages present and changes nothing.
            unsafe { mlock(start, region.size()) }.map_err(told("locking it"))?;
        } else {
            // SAFETY: as above. Kernels before 5.14 refuse it, and make pages present when they are
            // touched.
            let _ = unsafe { madvise(start, region.size(), Advice::LinuxPopulateWrite) };
        }
        Ok(region)
    }

    /// As [`map`](Self::map), without a page yet.
    pub(crate) fn map_without_pages(
        &self,
        name: &'static str,
        place: u64,
        (file, offset, bytes): (&File, u64, u64),
    ) -> Result<MmapRegion, SharedError> {
        let outside = SharedError::OutOfRow { name, place, bytes };
        let Some(from) = place.checked_sub(self.place) else { return Err(outside) };
        if from.checked_add(bytes).is_none_or(|end| end > self.bytes()) {
            return Err(outside);
        }
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.take(name, place, bytes, Access::ReadWrite)?;
        let length = usize_of(bytes);
        let at = self.base().wrapping_add(usize_of(from)).cast::<c_void>();
        let (rights, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: the addresses are within those that were kept for this, and no other part of the
        // row has them; so nothing that anybody uses is replaced.
        let mapped = unsafe { mmap(at, length, rights, flags, file, offset) };
        if let Err(because) = mapped {
            // Some kernels have taken away by then what was there, and nobody else may come there.
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
            // SAFETY: it replaces nothing; where the addresses are still kept, it is refused.
            let _ = unsafe { mmap_anonymous(at, length, ProtFlags::empty(), flags) };
            parts.undo();
            return Err(told("mapping it")(because));
        }
        let region = MmapRegionBuilder::new(length)
            .with_mmap_prot(libc::PROT_READ | libc::PROT_WRITE)
            .with_mmap_flags(libc::MAP_SHARED);
        // SAFETY: all of it was just mapped, and stays mapped until the process ends.
        Ok(unsafe { region.with_raw_mmap_pointer(at.cast()) }.build()?)
    }
}

fn told(what: &'static str) -> impl Fn(rustix::io::Errno) -> SharedError {
    move |because| SharedError::System { what, because: io::Error::from(because) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use quietcore_units::ByteSize;

    use super::*;
    use crate::memory::PAGE_BYTES;
    use crate::slot::Shared;

    const PLACE: u64 = 0x800_0000;

    fn pages(count: u64) -> ByteSize {
        ByteSize::new(count * PAGE_BYTES)
    }

    #[test]
    fn each_part_is_its_file_and_lies_where_the_guest_has_it() {
        let row = Row::keep(PLACE, 64 * PAGE_BYTES, true).unwrap();
        let post = Shared::create_in(&row, "post", PLACE, pages(2)).unwrap();
        let data = Shared::of_file_in(
            &row,
            "data",
            PLACE + 8 * PAGE_BYTES,
            (post.file(), PAGE_BYTES, PAGE_BYTES),
        );
        let data = data.unwrap();
        post.write(PAGE_BYTES, &7_u64.to_le_bytes()).unwrap();
        assert_eq!(data.words()[0].load(Relaxed), 7);
        let apart = data.base().addr() - row.base().addr();
        assert_eq!(apart as u64, 8 * PAGE_BYTES);
        assert_eq!(post.base(), row.base());
        assert_eq!(row.base().addr() as u64 % HUGE_PAGE_BYTES, PLACE % HUGE_PAGE_BYTES);
        // A part outlives the row.
        drop((row, post));
        assert_eq!(data.words()[0].load(Relaxed), 7);
    }

    #[test]
    fn parts_are_within_the_row_and_not_one_over_the_other() {
        let row = Row::keep(PLACE, 4 * PAGE_BYTES, false).unwrap();
        let told = |place, count| match Shared::create_in(&row, "part", place, pages(count)) {
            Ok(_) => "made".to_owned(),
            Err(error) => error.to_string(),
        };
        for (place, count) in
            [(PLACE - PAGE_BYTES, 1), (PLACE + 3 * PAGE_BYTES, 2), (u64::MAX - 4095, 1)]
        {
            assert!(told(place, count).contains("not within the addresses"), "{place:#x}");
        }
        assert_eq!(told(PLACE + PAGE_BYTES, 2), "made");
        assert!(told(PLACE + 2 * PAGE_BYTES, 1).contains("overlaps `part`"));
        assert_eq!(told(PLACE + 3 * PAGE_BYTES, 1), "made");
    }
}
