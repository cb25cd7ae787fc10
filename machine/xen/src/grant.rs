//! Pages of dom0's memory that a domain may map.
//!
//! ```text
//! file of /dev/xen/gntalloc:  0 ─ pages of the area ─ bytes ─ directories ─
//!                                                             └ references of the pages
//! ```
//!
//! The kernel has the pages as long as the file is open, is mapped, or the domain maps them.
// UNSAFETY: a device is asked by numbers that the compiler does not know, and its pages are mapped:
// others may change them, which here is done before anybody else has them; they can't shrink.
#![expect(unsafe_code, reason = "the device of granted pages has no other face")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use memmap2::MmapOptions;
use quietcore_boot::places::PAGE_BYTES;
use quietcore_boot::xen::{Announcement, REFERENCES_PER_DIRECTORY};

use crate::DomainId;

const DEVICE: &str = "/dev/xen/gntalloc";
/// The request for pages (Linux, `include/uapi/xen/gntalloc.h`): domain and flags, number of pages,
/// two words of their place in the file, then as many references. Its number has the size of a
/// request for one page.
const ALLOCATE: libc::c_ulong = 24 << 16 | (b'G' as libc::c_ulong) << 8 | 5;
const WORDS_BEFORE_REFERENCES: usize = 4;
/// Flag: the domain may write.
const WRITABLE: u32 = 1 << 16;

/// Why there are no granted pages.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// The device is not there, or not for this user.
    #[error("`{DEVICE}` can't be opened; load the module `xen-gntalloc`, and be root")]
    Device(#[source] io::Error),
    /// The kernel has a limit.
    #[error(
        "{pages} pages can't be granted; more are possible by \
         `echo 65536 >/sys/module/xen_gntalloc/parameters/limit`"
    )]
    Refused {
        /// Pages that were asked for.
        pages: u32,
        /// The error of the kernel.
        #[source]
        source: io::Error,
    },
    /// A domain is told of 256 MiB at most.
    #[error("{bytes} bytes are too many for pages that are granted to a domain")]
    TooLarge {
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// The pages are there and can't be mapped.
    #[error("granted pages can't be mapped")]
    Unmapped(#[source] io::Error),
}

/// Memory of this process that a domain may map.
#[derive(Debug)]
pub struct GrantedArea {
    file: File,
    bytes: u64,
    announcement: Announcement,
}

impl GrantedArea {
    /// Makes zeroed memory of at least so many bytes for a domain.
    ///
    /// # Errors
    /// [`GrantError`]; then nothing is left.
    pub fn create(domain: DomainId, bytes: u64) -> Result<Self, GrantError> {
        let too_large = || GrantError::TooLarge { bytes };
        let pages = u32::try_from(bytes.div_ceil(PAGE_BYTES)).map_err(|_| too_large())?;
        let directories = pages.div_ceil(REFERENCES_PER_DIRECTORY as u32);
        // Refuses what is too large before the kernel is asked for it.
        Announcement::new(pages, &vec![0; directories as usize]).ok_or_else(too_large)?;
        let file =
            File::options().read(true).write(true).open(DEVICE).map_err(GrantError::Device)?;
        let all = pages + directories;
        let references = allocate(&file, domain, all)
            .map_err(|source| GrantError::Refused { pages: all, source })?;
        let (listed, directories) = references.split_at(pages as usize);
        let bytes = u64::from(pages) * PAGE_BYTES;
        let places = (bytes..).step_by(PAGE_BYTES as usize);
        for (place, references) in places.zip(listed.chunks(REFERENCES_PER_DIRECTORY)) {
            write_directory(&file, place, references).map_err(GrantError::Unmapped)?;
        }
        let announcement = Announcement::new(pages, directories).ok_or_else(too_large)?;
        Ok(Self { file, bytes, announcement })
    }

    /// Returns the file, in which the memory begins at zero.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns its size in bytes: whole pages.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the words by which the domain finds it.
    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }
}

/// Asks for pages, which come at the start of the file, and returns their references.
fn allocate(file: &File, domain: DomainId, pages: u32) -> io::Result<Vec<u32>> {
    let mut words = vec![0; WORDS_BEFORE_REFERENCES + pages as usize];
    words[0] = u32::from(domain.0) | WRITABLE;
    words[1] = pages;
    // SAFETY: the kernel writes as many references as there is room for behind the first words.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), ALLOCATE, words.as_mut_ptr()) };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(words.split_off(WORDS_BEFORE_REFERENCES))
}

/// Writes references into the page at this place of the file.
fn write_directory(file: &File, place: u64, references: &[u32]) -> io::Result<()> {
    // SAFETY: the page was just made, so that nobody else has it; it is gone with this function.
    let mut page =
        unsafe { MmapOptions::new().offset(place).len(PAGE_BYTES as usize).map_mut(file) }?;
    for (bytes, reference) in page.chunks_exact_mut(size_of::<u32>()).zip(references) {
        bytes.copy_from_slice(&reference.to_le_bytes());
    }
    Ok(())
}
