//! The memory of a guest: one region from address zero, a file in memory, locked and present.
//!
//! Its pages are the largest that can be had: pages of 2 MiB that were set aside for such use
//! (hugetlb), else what the kernel puts together when it is advised to (transparent), else 4 KiB.
//! The larger they are, the fewer tables the processor walks for each access of the guest.
// UNSAFETY: advises and locks a mapping by its address.
#![expect(unsafe_code, reason = "a mapping is named by its address")]

pub(crate) mod read_only;
pub mod resident;
pub mod slot;

use std::fmt;
use std::fs::File;
use std::io;

use quietcore_units::ByteSize;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{Advice, madvise, mlock};
use vm_memory::mmap::{MmapRegionBuilder, MmapRegionError};
use vm_memory::{
    FileOffset, GuestAddress, GuestMemoryMmap, GuestRegionCollectionError, GuestRegionMmap,
    MmapRegion,
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
        /// How much was asked for.
        size: ByteSize,
        /// In which step.
        what: &'static str,
        /// What the operating system says.
        #[source]
        because: io::Error,
    },
    /// It can't be mapped.
    #[error("the guest's memory can't be mapped: {0}")]
    Map(#[from] MmapRegionError),
    /// It can't be used as a guest's.
    #[error("the guest's memory can't be used: {0}")]
    Use(#[from] GuestRegionCollectionError),
}

/// In which pages the memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pages of 2 MiB that were set aside.
    Huge,
    /// Pages of 4 KiB, of which the kernel made so much large ones when the memory was made. It may
    /// take them apart later.
    Small {
        /// Bytes in large pages.
        transparent: ByteSize,
    },
    /// Not looked at: the pages come when they are touched, or the kernel does not tell.
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
    pages: Pages,
}

impl Memory {
    /// Makes memory of this size, all zero. With `is_present`, every page of it is there from now
    /// on and stays, in large pages where there are some: an access never waits for one.
    ///
    /// # Errors
    /// [`MemoryError`]; then nothing is left.
    pub fn new(size: ByteSize, is_present: bool) -> Result<Self, MemoryError> {
        Self::check(size)?;
        if is_present
            && size.get().is_multiple_of(HUGE_PAGE_BYTES)
            && let Ok(memory) = Self::huge(size)
        {
            return Ok(memory);
        }
        let (file, region) = map(size, MemfdFlags::empty(), libc::MAP_NORESERVE)?;
        let pages = if is_present { present(size, &region)? } else { Pages::Unknown };
        Self::of(size, file, region, pages)
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

    /// From the pages that were set aside. They are taken when the file is mapped: where there are
    /// too few, that fails, and not an access later.
    fn huge(size: ByteSize) -> Result<Self, MemoryError> {
        let kind = MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
        let (file, region) = map(size, kind, libc::MAP_POPULATE | libc::MAP_LOCKED)?;
        Self::of(size, file, region, Pages::Huge)
    }

    /// Of a mapping that somebody else made, of a file that is at least as large.
    pub(crate) fn of(
        size: ByteSize,
        file: File,
        region: MmapRegion,
        pages: Pages,
    ) -> Result<Self, MemoryError> {
        let region =
            GuestRegionMmap::new(region, GuestAddress(0)).ok_or(MemoryError::Size(size))?;
        Ok(Self { mapping: GuestMemoryMmap::from_regions(vec![region])?, file, size, pages })
    }

    /// As the guest addresses it.
    pub fn mapping(&self) -> &GuestMemoryMmap {
        &self.mapping
    }

    /// The file that it is. Where it has colours, its pages are there in another order.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its size.
    pub fn size(&self) -> ByteSize {
        self.size
    }

    /// In which pages it is.
    pub fn pages(&self) -> Pages {
        self.pages
    }
}

/// A sealed file of this size, mapped.
fn map(size: ByteSize, kind: MemfdFlags, presence: i32) -> Result<(File, MmapRegion), MemoryError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | kind;
    let file = memfd_create("quietcore-guest", flags).map_err(failed(size, "making"))?;
    let file = File::from(file);
    ftruncate(&file, size.get()).map_err(failed(size, "sizing"))?;
    // Others map it, who must not find it shorter one day.
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).map_err(failed(size, "sealing"))?;
    let again = file.try_clone();
    let again = again.map_err(|because| MemoryError::System { size, what: "sharing", because })?;
    let length = usize::try_from(size.get()).expect("an address has 64 bits");
    let region = MmapRegionBuilder::new(length)
        .with_file_offset(FileOffset::new(again, 0))
        .with_mmap_prot(libc::PROT_READ | libc::PROT_WRITE)
        .with_mmap_flags(libc::MAP_SHARED | presence)
        .build()?;
    Ok((file, region))
}

/// Makes every page present, for good, in large pages where the kernel does that.
fn present(size: ByteSize, region: &MmapRegion) -> Result<Pages, MemoryError> {
    let (start, length) = (region.as_ptr(), region.size());
    // A kernel without large pages refuses the advice, and nothing is lost.
    // SAFETY: the mapping lives, and the advice changes nothing of what is in it.
    let _ = unsafe { madvise(start.cast(), length, Advice::LinuxHugepage) };
    // SAFETY: the mapping lives; locking it makes its pages present, and changes nothing else.
    unsafe { mlock(start.cast(), length) }.map_err(failed(size, "locking"))?;
    let place = start.addr() as u64;
    let mapping = resident::mappings().ok();
    let mapping = mapping.and_then(|all| all.into_iter().find(|it| it.start == place));
    Ok(mapping.map_or(Pages::Unknown, |mapping| Pages::Small {
        transparent: ByteSize::new(mapping.transparent_bytes),
    }))
}

fn failed(size: ByteSize, what: &'static str) -> impl Fn(rustix::io::Errno) -> MemoryError {
    move |because| MemoryError::System { size, what, because: because.into() }
}
