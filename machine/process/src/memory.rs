//! Memory that processes share: a sealed memory file and its mapping.
//!
//! Whoever makes it seals its size, and whoever maps it looks for the seal: a file that another
//! process could shorten would end everyone who reads it. Memory of a device can't shrink: in a
//! Linux guest that of a device of the guest's machine, which is reached through `/dev/mem`, or the
//! [pages that it was granted](Granted), and in dom0 of Xen the pages that `/dev/xen/gntalloc`
//! grants a domain. The latter are those of the open file: whoever opens the device anew gets none
//! of them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::ptr::NonNull;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{
    FileType, MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, memfd_create,
};
use serde::{Deserialize, Serialize};

use crate::in_guest::granted::{Granted, GrantedPart};

/// Why memory could not be had.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The kernel refused it.
    #[error("{bytes} bytes of shared memory could not be had; free memory, or raise the limits")]
    Refused {
        /// The bytes asked for.
        bytes: usize,
        /// The error of the kernel.
        #[source]
        source: io::Error,
    },
    /// A file of it can't be mapped.
    #[error("the file of shared memory can't be mapped")]
    Unmapped(#[source] io::Error),
    /// The file could be shortened by its other owner, which would kill whoever reads it.
    #[error("the file is not sealed against shrinking; only quietcore makes shared memory")]
    NotSealed,
    /// The file of a device's memory is none.
    #[error("the file of a device's memory is no device")]
    NoDevice,
}

/// The memory of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceMemory {
    /// A stretch of its file: for `/dev/mem` of the address space of a guest's machine.
    Stretch {
        /// Its first address, at a page.
        address: u64,
        /// Its size in bytes, whole pages.
        bytes: u64,
    },
    /// Pages that dom0 of Xen grants this domain, where the file is `/dev/xen/gntdev`.
    Granted(Granted),
}

impl DeviceMemory {
    /// Returns the first bytes of a device's file, whole pages.
    pub fn first(bytes: u64) -> Self {
        Self::Stretch { address: 0, bytes }
    }

    /// Returns its size in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Stretch { bytes, .. } => *bytes,
            Self::Granted(granted) => granted.bytes(),
        }
    }
}

/// A file of shared memory that this process was given: a sealed memory file, or a device with its
/// memory.
#[derive(Debug)]
pub struct MemorySource {
    file: File,
    device: Option<DeviceMemory>,
}

impl MemorySource {
    /// Takes a file that is checked when it is mapped; `device` where it is one.
    pub fn new(file: File, device: Option<DeviceMemory>) -> Self {
        Self { file, device }
    }

    /// Returns the file, of which only a part may be this memory.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the part of the file that the memory is, where that is a device.
    pub fn device(&self) -> Option<&DeviceMemory> {
        self.device.as_ref()
    }

    /// Returns a part of the memory, whole pages, which can be mapped whole as long as what is
    /// returned lives.
    ///
    /// # Errors
    /// Those of the device, which may not give it.
    pub fn part(&self, offset: u64, bytes: u64) -> io::Result<Part<'_>> {
        Ok(match &self.device {
            None => Part { file: &self.file, offset, _granted: None },
            Some(DeviceMemory::Stretch { address, .. }) => {
                Part { file: &self.file, offset: address + offset, _granted: None }
            }
            Some(DeviceMemory::Granted(granted)) => {
                let part = granted.part(&self.file, offset, bytes)?;
                Part { file: &self.file, offset: part.offset, _granted: Some(part) }
            }
        })
    }

    /// Checks that nobody can shorten the memory.
    fn check(&self) -> Result<(), MemoryError> {
        match self.device {
            None => check_seal(&self.file),
            Some(_) if is_device(&self.file)? => Ok(()),
            Some(_) => Err(MemoryError::NoDevice),
        }
    }

    /// Maps all of it as these options and `map` do.
    fn map(
        &self,
        options: &mut MmapOptions,
        map: impl FnOnce(&MmapOptions, &File) -> io::Result<MmapRaw>,
    ) -> Result<MmapRaw, MemoryError> {
        let Some(bytes) = self.device.as_ref().map(DeviceMemory::bytes) else {
            return map(options, &self.file).map_err(MemoryError::Unmapped);
        };
        let too_large = |_| MemoryError::Unmapped(io::ErrorKind::OutOfMemory.into());
        let length = usize::try_from(bytes).map_err(too_large)?;
        let part = self.part(0, bytes).map_err(MemoryError::Unmapped)?;
        map(options.offset(part.offset()).len(length), part.file()).map_err(MemoryError::Unmapped)
    }
}

/// A part of shared memory that can be mapped.
#[derive(Debug)]
pub struct Part<'a> {
    file: &'a File,
    offset: u64,
    _granted: Option<GrantedPart<'a>>,
}

impl Part<'_> {
    /// Returns the file that it is mapped from.
    pub fn file(&self) -> &File {
        self.file
    }

    /// Returns its offset there.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl From<File> for MemorySource {
    fn from(file: File) -> Self {
        Self::new(file, None)
    }
}

/// A mapped memory file.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    map: MmapRaw,
    /// Of memory that was made here: what others made needs no open file once it is mapped, and
    /// what is closed can't be written to by accident.
    file: Option<File>,
}

impl SharedMemory {
    /// Makes zeroed memory of this size, present and sealed.
    pub(crate) fn create(name: &str, bytes: usize) -> Result<Self, MemoryError> {
        let refused = |source| MemoryError::Refused { bytes, source };
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file: File = memfd_create(name, flags).map_err(|errno| refused(errno.into()))?.into();
        file.set_len(bytes as u64).map_err(refused)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
            .map_err(|errno| refused(errno.into()))?;
        let map = MmapOptions::new().populate().map_raw(&file).map_err(refused)?;
        Ok(Self { map, file: Some(file) })
    }

    /// Maps memory that another process made, present, to be read and written.
    pub(crate) fn open(source: &MemorySource) -> Result<Self, MemoryError> {
        source.check()?;
        let map = source.map(MmapOptions::new().populate(), |it, file| it.map_raw(file))?;
        // The mapping stays when the file is closed.
        Ok(Self { map, file: None })
    }

    /// Maps memory of a device that is zero and not used yet, present, to be read and written, and
    /// keeps its file.
    pub(crate) fn take(source: &MemorySource) -> Result<Self, MemoryError> {
        Ok(Self {
            file: Some(source.file.try_clone().map_err(MemoryError::Unmapped)?),
            ..Self::open(source)?
        })
    }

    /// Maps memory that another process made, to be read only. Pages come when they are read: who
    /// only reads has no deadline.
    pub(crate) fn open_read_only(source: &MemorySource) -> Result<Self, MemoryError> {
        source.check()?;
        let mut options = MmapOptions::new();
        let map = source.map(&mut options, |it, file| it.map_raw_read_only(file))?;
        // The mapping stays when the file is closed.
        Ok(Self { map, file: None })
    }

    /// Returns the address of its mapping.
    pub(crate) fn base(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("the kernel maps nothing at address zero")
    }

    /// Returns the size of the mapping in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Another handle of the file, with the rights of this one.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.made()?.try_clone()
    }

    /// Another handle of the file, by which it can only be read; of a device's with the rights of
    /// this one, since its memory is that of the open file.
    pub(crate) fn read_only_file(&self) -> io::Result<File> {
        if is_device(self.made()?).map_err(io::Error::other)? {
            return self.file();
        }
        let own = PathBuf::from(format!("/proc/self/fd/{}", self.made()?.as_raw_fd()));
        File::open(own)
    }

    /// The file opened anew, with a position and locks of its own.
    pub(crate) fn reopened(&self) -> io::Result<File> {
        let own = format!("/proc/self/fd/{}", self.made()?.as_raw_fd());
        OpenOptions::new().read(true).write(true).open(own)
    }

    /// The file of memory that was made here.
    fn made(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Returns `true` if a file is a device.
pub(crate) fn is_device(file: &File) -> Result<bool, MemoryError> {
    let mode = fstat(file).map_err(|errno| MemoryError::Unmapped(errno.into()))?.st_mode;
    Ok(FileType::from_raw_mode(mode) == FileType::CharacterDevice)
}

fn check_seal(file: &File) -> Result<(), MemoryError> {
    let seals = fcntl_get_seals(file.as_fd()).map_err(|_| MemoryError::NotSealed)?;
    if seals.contains(SealFlags::SHRINK) { Ok(()) } else { Err(MemoryError::NotSealed) }
}
