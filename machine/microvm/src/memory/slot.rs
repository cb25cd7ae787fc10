//! Memory that a guest shares with others, and where it has it.
//!
//! A [`Shared`] is a memory file, or a stretch of one, mapped by this process: the exchange, its
//! data slots a second time, channels, the code of programs. A machine gives it to its guest at an
//! address, to be read and written or to be read only. Which addresses are taken is decided here,
//! purely.
//!
//! ```text
//! memory file ── Shared (mapped here) ── Machine::give(place, …) ── the guest's addresses
//! ```
// UNSAFETY: words of the mapping are looked at as atomics.
#![expect(unsafe_code, reason = "memory that a guest changes is reached through atomics only")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use quietcore_units::ByteSize;
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create,
};
use vm_memory::mmap::{MmapRegionBuilder, MmapRegionError};
use vm_memory::{Bytes as _, FileOffset, MmapRegion, VolatileMemory as _};

use crate::memory::PAGE_BYTES;
use crate::memory::row::Row;

/// First address of the interrupt controllers and of the processor itself; no memory of a guest
/// reaches it.
pub const SLOTS_END: u64 = 0xFEC0_0000;

/// The most slots that a guest has, its own memory included.
pub const SLOT_LIMIT: usize = 32;

/// Why memory can't be shared.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// Places in memory files are whole pages.
    #[error(
        "{bytes} bytes from {offset} on are no whole pages of 4 KiB, of which shared memory is made"
    )]
    Pages {
        /// The first byte in the file.
        offset: u64,
        /// Size that was asked for, in bytes.
        bytes: u64,
    },
    /// The file is shorter.
    #[error("the file has {has} bytes, and {end} are needed of it")]
    Short {
        /// Size of the file in bytes.
        has: u64,
        /// The end of the stretch in the file.
        end: u64,
    },
    /// The file could be shortened by its other owner, which would end whoever touches it.
    #[error("the file is not sealed against shrinking; only quietcore makes shared memory")]
    NotSealed,
    /// A device's memory was asked for, and the file is none.
    #[error("the file is no device, whose memory is to be shared")]
    NoDevice,
    /// The operating system refused a step.
    #[error("shared memory can't be had ({what})")]
    System {
        /// The step that failed.
        what: &'static str,
        /// The error of the system.
        #[source]
        because: io::Error,
    },
    /// It can't be mapped.
    #[error("shared memory can't be mapped")]
    Map(#[from] MmapRegionError),
    /// Its addresses are not all among those of its row.
    #[error("`{name}` at {place:#x} with {bytes:#x} bytes is not within the addresses kept for it")]
    OutOfRow {
        /// The slot that was to be there.
        name: &'static str,
        /// Its first address in the guest.
        place: u64,
        /// Its size in bytes.
        bytes: u64,
    },
    /// Its addresses are taken.
    #[error(transparent)]
    Slot(#[from] SlotError),
}

/// A place outside of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes from {offset} on are not within shared memory of {has} bytes")]
pub struct OutOfShared {
    offset: u64,
    bytes: usize,
    has: u64,
}

/// A memory file, or a stretch of one, mapped to be read and written by this process.
///
/// A guest or another process may change it at any time, so nothing here gives out a reference to
/// its bytes: they are copied, or reached as atomics.
#[derive(Debug)]
pub struct Shared {
    mapping: MmapRegion,
    file: File,
    /// Its first byte in the file.
    start: u64,
    /// Whose addresses it has, where they are not its own.
    _row: Option<Arc<Row>>,
}

impl Shared {
    /// Makes memory of this size, zero, in a sealed file of its own. Its pages come when they are
    /// written first, unless the process locks what it maps.
    ///
    /// # Errors
    /// [`SharedError`]; then nothing is left.
    pub fn create(name: &str, size: ByteSize) -> Result<Self, SharedError> {
        Self::map(sealed(name, size)?, 0, size.get(), 0)
    }

    /// As [`create`](Self::create), where the guest has `place` in a row, present and locked.
    ///
    /// # Errors
    /// [`SharedError`].
    pub fn create_in(
        row: &Arc<Row>,
        name: &'static str,
        place: u64,
        size: ByteSize,
    ) -> Result<Self, SharedError> {
        let file = sealed(name, size)?;
        let mapping = row.map(name, place, (&file, 0, size.get()))?;
        Ok(Self { mapping, file, start: 0, _row: Some(Arc::clone(row)) })
    }

    /// Maps `bytes` of a memory file from `offset` on, all of them present: what the guest touches
    /// is there. The file is sealed against shrinking.
    ///
    /// # Errors
    /// [`SharedError`].
    pub fn of_file(file: &File, offset: u64, bytes: u64) -> Result<Self, SharedError> {
        let file = checked(file, offset, bytes)?;
        Self::map(file, offset, bytes, libc::MAP_POPULATE)
    }

    /// As [`of_file`](Self::of_file), where the guest has `place` in a row, and locked.
    ///
    /// # Errors
    /// [`SharedError`].
    pub fn of_file_in(
        row: &Arc<Row>,
        name: &'static str,
        place: u64,
        (file, offset, bytes): (&File, u64, u64),
    ) -> Result<Self, SharedError> {
        let file = checked(file, offset, bytes)?;
        let mapping = row.map(name, place, (&file, offset, bytes))?;
        Ok(Self { mapping, file, start: offset, _row: Some(Arc::clone(row)) })
    }

    /// Maps `bytes` of a device's memory from `offset` on, which is there and can't shrink.
    ///
    /// # Errors
    /// [`SharedError`].
    pub fn of_device(file: &File, offset: u64, bytes: u64) -> Result<Self, SharedError> {
        check_pages(offset, bytes)?;
        let told = |what| move |because| SharedError::System { what, because };
        let metadata = file.metadata().map_err(told("looking at its kind"))?;
        if !metadata.file_type().is_char_device() {
            return Err(SharedError::NoDevice);
        }
        Self::map(file.try_clone().map_err(told("opening it again"))?, offset, bytes, 0)
    }

    /// Maps a region of a device that the kernel has given to this process (VFIO), as far as the
    /// region was looked at before.
    ///
    /// # Errors
    /// [`SharedError`].
    pub(crate) fn of_region(file: &File, offset: u64, bytes: u64) -> Result<Self, SharedError> {
        check_pages(offset, bytes)?;
        let told = |because| SharedError::System { what: "opening it again", because };
        Self::map(file.try_clone().map_err(told)?, offset, bytes, 0)
    }

    /// Maps a part of it once more, all of it present.
    ///
    /// # Errors
    /// [`SharedError`], also when it has no such part.
    pub fn part(&self, offset: u64, bytes: u64) -> Result<Self, SharedError> {
        let (has, end) = (self.bytes(), offset.saturating_add(bytes));
        if end > has {
            return Err(SharedError::Short { has, end });
        }
        let offset = self.start + offset;
        match Self::of_device(&self.file, offset, bytes) {
            Err(SharedError::NoDevice) => Self::of_file(&self.file, offset, bytes),
            mapped => mapped,
        }
    }

    fn map(file: File, offset: u64, bytes: u64, presence: i32) -> Result<Self, SharedError> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let mapping = mapped(&file, offset, bytes, rights, libc::MAP_SHARED | presence)?;
        Ok(Self { mapping, file, start: offset, _row: None })
    }

    /// Returns its size in bytes: whole pages.
    pub fn bytes(&self) -> u64 {
        self.mapping.size() as u64
    }

    /// The file that it is, or is a stretch of.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Copies bytes into it. Who reads them meanwhile may see some of them and not yet others.
    ///
    /// # Errors
    /// [`OutOfShared`]; then nothing was written.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), OutOfShared> {
        self.check(offset, bytes.len())?;
        let slice = self.mapping.as_volatile_slice();
        slice.write_slice(bytes, usize_of(offset)).expect("it was checked to be within");
        Ok(())
    }

    /// Copies bytes out of it.
    ///
    /// # Errors
    /// [`OutOfShared`]; then nothing was read.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), OutOfShared> {
        self.check(offset, bytes.len())?;
        let slice = self.mapping.as_volatile_slice();
        slice.read_slice(bytes, usize_of(offset)).expect("it was checked to be within");
        Ok(())
    }

    /// It all as words of 64 bits, which the other side may change at any time.
    pub fn words(&self) -> &[AtomicU64] {
        words_of(&self.mapping)
    }

    /// Returns its address in this process, for KVM.
    pub(crate) fn base(&self) -> *mut u8 {
        self.mapping.as_ptr()
    }

    fn check(&self, offset: u64, bytes: usize) -> Result<(), OutOfShared> {
        let end = offset.checked_add(bytes as u64);
        if end.is_some_and(|end| end <= self.bytes()) {
            return Ok(());
        }
        Err(OutOfShared { offset, bytes, has: self.bytes() })
    }
}

/// A stretch of a memory file, mapped to be read only, as monitors do.
#[derive(Debug)]
pub(crate) struct SharedView {
    mapping: MmapRegion,
}

impl SharedView {
    /// Maps `bytes` of a memory file from `offset` on.
    ///
    /// # Errors
    /// [`SharedError`].
    pub(crate) fn of_file(file: &File, offset: u64, bytes: u64) -> Result<Self, SharedError> {
        let file = checked(file, offset, bytes)?;
        let mapping = mapped(&file, offset, bytes, libc::PROT_READ, libc::MAP_SHARED)?;
        Ok(Self { mapping })
    }

    /// It all as words of 64 bits, which the other side may change at any time. Only to be loaded:
    /// a store would end this process.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        words_of(&self.mapping)
    }
}

fn words_of(mapping: &MmapRegion) -> &[AtomicU64] {
    let first = mapping.as_ptr().cast::<AtomicU64>();
    let count = mapping.size() / size_of::<AtomicU64>();
    // SAFETY: the mapping begins with a page, is that long, may be read, and stays as long as the
    // reference to it; all others reach it through atomics or copies.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// A sealed memory file of this size.
fn sealed(name: &str, size: ByteSize) -> Result<File, SharedError> {
    check_pages(0, size.get())?;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(name, flags).map_err(system("making a file"))?);
    ftruncate(&file, size.get()).map_err(system("sizing it"))?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
        .map_err(system("sealing it"))?;
    Ok(file)
}

/// The file again, if it has this stretch and can't lose it.
fn checked(file: &File, offset: u64, bytes: u64) -> Result<File, SharedError> {
    check_pages(offset, bytes)?;
    let seals = fcntl_get_seals(file).map_err(|_| SharedError::NotSealed)?;
    if !seals.contains(SealFlags::SHRINK) {
        return Err(SharedError::NotSealed);
    }
    let told = |what| move |because| SharedError::System { what, because };
    let has = file.metadata().map_err(told("looking at its size"))?.len();
    let end = offset.saturating_add(bytes);
    // Its last page may be begun only.
    if end > has.next_multiple_of(PAGE_BYTES) {
        return Err(SharedError::Short { has, end });
    }
    file.try_clone().map_err(told("opening it again"))
}

fn mapped(
    file: &File,
    offset: u64,
    bytes: u64,
    rights: i32,
    flags: i32,
) -> Result<MmapRegion, SharedError> {
    let told = |because| SharedError::System { what: "opening it again", because };
    let file = file.try_clone().map_err(told)?;
    Ok(MmapRegionBuilder::new(usize_of(bytes))
        .with_file_offset(FileOffset::new(file, offset))
        .with_mmap_prot(rights)
        .with_mmap_flags(flags)
        .build()?)
}

fn system(what: &'static str) -> impl Fn(rustix::io::Errno) -> SharedError {
    move |because| SharedError::System { what, because: because.into() }
}

fn check_pages(offset: u64, bytes: u64) -> Result<(), SharedError> {
    let are_pages = offset.is_multiple_of(PAGE_BYTES) && bytes.is_multiple_of(PAGE_BYTES);
    if are_pages && bytes > 0 { Ok(()) } else { Err(SharedError::Pages { offset, bytes }) }
}

pub(crate) fn usize_of(bytes: u64) -> usize {
    usize::try_from(bytes).expect("an address has 64 bits")
}

/// The rights of the guest in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read, write and execute it.
    ReadWrite,
    /// Read and execute it. A write to it is a crash of the guest.
    ReadOnly,
}

/// Why an address can't be memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// Places are whole pages.
    #[error("`{name}` at {place:#x} with {bytes:#x} bytes: places are whole pages of 4 KiB")]
    Pages {
        /// The slot that was to be there.
        name: &'static str,
        /// Its first address in the guest.
        place: u64,
        /// Its size in bytes.
        bytes: u64,
    },
    /// There are the addresses of devices, or none at all.
    #[error(
        "`{name}` at {place:#x} with {bytes:#x} bytes ends beyond {SLOTS_END:#x}, where memory ends"
    )]
    Beyond {
        /// The slot that was to be there.
        name: &'static str,
        /// Its first address in the guest.
        place: u64,
        /// Its size in bytes.
        bytes: u64,
    },
    /// Something else is there.
    #[error("`{name}` at {place:#x} overlaps `{other}`, which is at {start:#x} to {end:#x}")]
    Taken {
        /// The slot that was to be there.
        name: &'static str,
        /// Its first address in the guest.
        place: u64,
        /// The slot that is there.
        other: &'static str,
        /// First address of that one.
        start: u64,
        /// The address behind it.
        end: u64,
    },
    /// There are too many.
    #[error("`{name}` would be memory slot {SLOT_LIMIT}; a guest has fewer")]
    TooMany {
        /// The slot that was to be there.
        name: &'static str,
    },
}

/// A stretch of addresses that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name in errors.
    pub name: &'static str,
    /// Its first address in the guest.
    pub start: u64,
    /// The address behind it.
    pub end: u64,
    /// The rights of the guest.
    pub access: Access,
}

/// Which addresses are taken; a slot's number is its place in the list.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    taken: Vec<Slot>,
}

impl Slots {
    /// Takes addresses and returns the slot's number.
    ///
    /// # Errors
    /// [`SlotError`]; then nothing is taken.
    pub(crate) fn take(
        &mut self,
        name: &'static str,
        place: u64,
        bytes: u64,
        access: Access,
    ) -> Result<u32, SlotError> {
        let are_pages = place.is_multiple_of(PAGE_BYTES) && bytes.is_multiple_of(PAGE_BYTES);
        if !are_pages || bytes == 0 {
            return Err(SlotError::Pages { name, place, bytes });
        }
        let end = place.checked_add(bytes).filter(|end| *end <= SLOTS_END);
        let end = end.ok_or(SlotError::Beyond { name, place, bytes })?;
        if let Some(other) = self.taken.iter().find(|it| place < it.end && it.start < end) {
            let &Slot { name: other, start, end, .. } = other;
            return Err(SlotError::Taken { name, place, other, start, end });
        }
        if self.taken.len() >= SLOT_LIMIT {
            return Err(SlotError::TooMany { name });
        }
        self.taken.push(Slot { name, start: place, end, access });
        Ok(self.taken.len() as u32 - 1)
    }

    /// Takes back what was taken last, because KVM refused it.
    pub(crate) fn undo(&mut self) {
        self.taken.pop();
    }

    /// Returns all slots, the first one first.
    pub(crate) fn all(&self) -> &[Slot] {
        &self.taken
    }
}

#[cfg(test)]
mod tests;
