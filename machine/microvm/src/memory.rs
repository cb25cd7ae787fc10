//! The memory of a guest: one region from address zero, a file in memory, locked and present.

use std::fs::File;
use std::io;

use quietcore_units::ByteSize;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use vm_memory::mmap::{MmapRegionBuilder, MmapRegionError};
use vm_memory::{
    FileOffset, GuestAddress, GuestMemoryMmap, GuestRegionCollectionError, GuestRegionMmap,
};

/// The first address that is no memory: the addresses of devices are below 4 GiB.
pub const MEMORY_END: u64 = 2 << 30;

/// The size of a page of the guest, in bytes.
pub const PAGE_BYTES: u64 = 4096;

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

/// The memory of a guest.
#[derive(Debug)]
pub struct Memory {
    mapping: GuestMemoryMmap,
    file: File,
    size: ByteSize,
}

impl Memory {
    /// Makes memory of this size, all zero. With `is_present`, every page of it is there from now
    /// on and stays: an access never waits for one.
    ///
    /// # Errors
    /// [`MemoryError`]; then nothing is left.
    pub fn new(size: ByteSize, is_present: bool) -> Result<Self, MemoryError> {
        let bytes = size.get();
        if !(2 << 20..=MEMORY_END).contains(&bytes) || !bytes.is_multiple_of(PAGE_BYTES) {
            return Err(MemoryError::Size(size));
        }
        let failed = |what| {
            move |because: rustix::io::Errno| MemoryError::System {
                size,
                what,
                because: because.into(),
            }
        };
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("quietcore-guest", flags).map_err(failed("making"))?);
        ftruncate(&file, bytes).map_err(failed("sizing"))?;
        // Others map it, who must not find it shorter one day.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).map_err(failed("sealing"))?;
        let behind = FileOffset::new(
            file.try_clone().map_err(|because| MemoryError::System {
                size,
                what: "sharing",
                because,
            })?,
            0,
        );
        let presence =
            if is_present { libc::MAP_POPULATE | libc::MAP_LOCKED } else { libc::MAP_NORESERVE };
        let length = usize::try_from(bytes).expect("an address has 64 bits");
        let region = MmapRegionBuilder::new(length)
            .with_file_offset(behind)
            .with_mmap_prot(libc::PROT_READ | libc::PROT_WRITE)
            .with_mmap_flags(libc::MAP_SHARED | presence)
            .build()?;
        let region =
            GuestRegionMmap::new(region, GuestAddress(0)).ok_or(MemoryError::Size(size))?;
        Ok(Self { mapping: GuestMemoryMmap::from_regions(vec![region])?, file, size })
    }

    /// As the guest addresses it.
    pub fn mapping(&self) -> &GuestMemoryMmap {
        &self.mapping
    }

    /// The file that it is.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its size.
    pub fn size(&self) -> ByteSize {
        self.size
    }
}
