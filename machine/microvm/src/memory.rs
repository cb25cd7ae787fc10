//! The memory of a guest: one region from address zero, a file in memory, locked and present.
//!
//! Its pages are the largest that can be had: pages of 2 MiB that were set aside for such use
//! (hugetlb), else what the kernel puts together when it is advised to (transparent), else 4 KiB.
//! The larger they are, the fewer tables the processor walks for each access of the guest.
// UNSAFETY: advises and locks a mapping by its address.
#![expect(unsafe_code, reason = "a mapping is named by its address")]

pub(crate) mod read_only;
pub mod resident;
pub mod row;
pub mod slot;

use std::fmt;
use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::memory::row::Row;
use crate::slot::SharedError;
use quietcore_units::ByteSize;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{Advice, madvise, mlock};
use vm_memory::mmap::{MmapRegionBuilder, MmapRegionError};
use vm_memory::{
    FileOffset, GuestAddress, GuestMemoryBackend as _, GuestMemoryMmap, GuestRegionCollectionError,
    GuestRegionMmap, MmapRegion,
};

/// The first address that is no memory: the addresses of devices are below 4 GiB.
pub const MEMORY_END: u64 = 2 << 30;

/// The size of a page of the guest, in bytes.
pub const PAGE_BYTES: u64 = 4096;

/// The size of a large one.
const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// Why there is no memory.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The size is not possible.
    #[error("a guest has 2 MiB to 2 GiB of memory, in whole pages; {0} is not possible")]
    Size(ByteSize),
    /// The operating system has none.
    #[error("no memory of {size} for the guest ({what})")]
    System {
        /// The size that was asked for.
        size: ByteSize,
        /// The step that failed.
        what: &'static str,
        /// The error of the operating system.
        #[source]
        because: io::Error,
    },
    /// It can't be mapped.
    #[error("the guest's memory can't be mapped")]
    Map(#[from] MmapRegionError),
    /// It can't be mapped to its place in a row.
    #[error("the guest's memory can't be mapped to its place")]
    Row(#[from] SharedError),
    /// It can't be used as a guest's.
    #[error("the guest's memory can't be used")]
    Use(#[from] GuestRegionCollectionError),
}

/// In which pages the memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pages of 2 MiB that were set aside.
    Huge,
    /// Pages of 4 KiB, of which the kernel has made so much large ones. It may take them apart
    /// later.
    Small {
        /// Bytes in large pages.
        transparent: ByteSize,
    },
    /// The kernel does not tell.
    Unknown,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Huge => f.write_str("pages of 2 MiB"),
            Self::Small { transparent } if transparent.get() == 0 => f.write_str("pages of 4 KiB"),
            Self::Small { transparent } => write!(f, "pages of 4 KiB, {transparent} in large ones"),
            Self::Unknown => f.write_str("pages of unknown size"),
        }
    }
}

/// The memory of a guest.
#[derive(Debug)]
pub struct Memory {
    mapping: GuestMemoryMmap,
    file: File,
    size: ByteSize,
    is_huge: bool,
    /// Whose addresses it has, where they are not its own.
    row: Option<Arc<Row>>,
}

impl Memory {
    /// Makes memory of this size, all zero. With `is_present`, every page of it is there from now
    /// on and stays, in large pages where there are some: an access never waits for one.
    ///
    /// # Errors
    /// [`MemoryError`]; then nothing is left.
    pub fn new(size: ByteSize, is_present: bool) -> Result<Self, MemoryError> {
        if !is_present {
            return Self::small(None, size);
        }
        let memory = Self::reserve(size)?;
        memory.make_present()?;
        Ok(memory)
    }

    /// Makes memory of this size, all zero, whose pages are yet to be [made
    /// present](Self::make_present).
    ///
    /// # Errors
    /// [`MemoryError`]; then nothing is left.
    pub fn reserve(size: ByteSize) -> Result<Self, MemoryError> {
        Self::reserve_in(None, size)
    }

    /// As [`reserve`](Self::reserve), at the begin of a row, which has the guest's address 0.
    ///
    /// # Errors
    /// [`MemoryError`]; then nothing is left.
    pub fn reserve_in(row: Option<&Arc<Row>>, size: ByteSize) -> Result<Self, MemoryError> {
        Self::check(size)?;
        if size.get().is_multiple_of(HUGE_PAGE_BYTES)
            && let Ok(memory) = Self::huge(row, size)
        {
            return Ok(memory);
        }
        let memory = Self::small(row, size)?;
        for region in memory.mapping.iter() {
            // A kernel without large pages refuses the advice, and nothing is lost.
            // SAFETY: the mapping lives, and the advice changes nothing of what is in it.
            let _ =
                unsafe { madvise(region.as_ptr().cast(), region.size(), Advice::LinuxHugepage) };
        }
        Ok(memory)
    }

    /// Makes every page of it present, for good: an access never waits for one.
    ///
    /// # Errors
    /// [`MemoryError::System`]: there are too few, or this user may not lock so many.
    pub fn make_present(&self) -> Result<(), MemoryError> {
        for region in self.mapping.iter() {
            let (start, length) = (region.as_ptr(), region.size());
            // Part by part: while the kernel makes pages of one, nothing else of this process can
            // be mapped. Kernels before 5.14 know no such advice, and do it all below.
            for from in (0..length).step_by(HUGE_PAGE_BYTES as usize) {
                let part = (HUGE_PAGE_BYTES as usize).min(length - from);
                // SAFETY: the mapping lives, and making pages present changes nothing in it.
                let _ = unsafe {
                    madvise(start.wrapping_add(from).cast(), part, Advice::LinuxPopulateWrite)
                };
            }
            // SAFETY: as above, of locking.
            unsafe { mlock(start.cast(), length) }.map_err(failed(self.size, "locking"))?;
        }
        Ok(())
    }

    /// Checks that a guest can have so much memory.
    ///
    /// # Errors
    /// [`MemoryError::Size`].
    pub(crate) fn check(size: ByteSize) -> Result<(), MemoryError> {
        let bytes = size.get();
        let is_possible =
            (HUGE_PAGE_BYTES..=MEMORY_END).contains(&bytes) && bytes.is_multiple_of(PAGE_BYTES);
        if is_possible { Ok(()) } else { Err(MemoryError::Size(size)) }
    }

    /// From the pages that were set aside. They are kept for it when the file is mapped: where
    /// there are too few, that fails, and not an access later.
    fn huge(row: Option<&Arc<Row>>, size: ByteSize) -> Result<Self, MemoryError> {
        let file = file(size, MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB)?;
        let region = map(row, size, &file, 0)?;
        Ok(Self { is_huge: true, row: row.cloned(), ..Self::of(size, file, region)? })
    }

    /// In pages of 4 KiB, of which the kernel may make large ones.
    fn small(row: Option<&Arc<Row>>, size: ByteSize) -> Result<Self, MemoryError> {
        Self::check(size)?;
        let file = file(size, MemfdFlags::empty())?;
        let region = map(row, size, &file, libc::MAP_NORESERVE)?;
        Ok(Self { row: row.cloned(), ..Self::of(size, file, region)? })
    }

    /// Of a mapping that somebody else made, of a file that is at least as large.
    pub(crate) fn of(size: ByteSize, file: File, region: MmapRegion) -> Result<Self, MemoryError> {
        let region =
            GuestRegionMmap::new(region, GuestAddress(0)).ok_or(MemoryError::Size(size))?;
        let mapping = GuestMemoryMmap::from_regions(vec![region])?;
        Ok(Self { mapping, file, size, is_huge: false, row: None })
    }

    /// As the guest addresses it.
    pub fn mapping(&self) -> &GuestMemoryMmap {
        &self.mapping
    }

    /// The file that it is. Where it has colours, its pages are there in another order.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The row that it begins, where it is in one.
    pub(crate) fn row(&self) -> Option<&Arc<Row>> {
        self.row.as_ref()
    }

    /// Returns the size of the memory.
    pub fn size(&self) -> ByteSize {
        self.size
    }

    /// In which pages it is now.
    pub fn pages(&self) -> Pages {
        if self.is_huge {
            return Pages::Huge;
        }
        let Ok(mappings) = resident::mappings() else { return Pages::Unknown };
        let starts: Vec<u64> =
            self.mapping.iter().map(|region| region.as_ptr().addr() as u64).collect();
        let own = mappings.iter().filter(|mapping| starts.contains(&mapping.start));
        let transparent = own.map(|mapping| mapping.transparent_bytes).sum();
        Pages::Small { transparent: ByteSize::new(transparent) }
    }
}

/// A sealed file of this size.
fn file(size: ByteSize, kind: MemfdFlags) -> Result<File, MemoryError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | kind;
    let file = memfd_create("quietcore-guest", flags).map_err(failed(size, "making"))?;
    let file = File::from(file);
    ftruncate(&file, size.get()).map_err(failed(size, "sizing"))?;
    // Others map it, who must not find it shorter one day.
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).map_err(failed(size, "sealing"))?;
    Ok(file)
}

/// The file, mapped to where a row has it, or anywhere.
fn map(
    row: Option<&Arc<Row>>,
    size: ByteSize,
    file: &File,
    flags: i32,
) -> Result<MmapRegion, MemoryError> {
    if let Some(row) = row {
        return Ok(row.map_without_pages("guest memory", 0, (file, 0, size.get()))?);
    }
    let again = file.try_clone();
    let again = again.map_err(|because| MemoryError::System { size, what: "sharing", because })?;
    let length = usize::try_from(size.get()).expect("an address has 64 bits");
    Ok(MmapRegionBuilder::new(length)
        .with_file_offset(FileOffset::new(again, 0))
        .with_mmap_prot(libc::PROT_READ | libc::PROT_WRITE)
        .with_mmap_flags(libc::MAP_SHARED | flags)
        .build()?)
}

fn failed(size: ByteSize, what: &'static str) -> impl Fn(rustix::io::Errno) -> MemoryError {
    move |because| MemoryError::System { size, what, because: because.into() }
}
