//! Memory that processes share: a sealed memory file and its mapping.
//!
//! Whoever makes it seals its size, and whoever maps it looks for the seal: a file that another
//! process could shorten would end everyone who reads it. Memory of a device can't shrink: in a
//! Linux guest that of a device of the guest's machine, which is reached through `/dev/mem`, and in
//! dom0 of Xen the pages that `/dev/xen/gntalloc` grants a domain. The latter are those of the open
//! file: whoever opens the device anew gets none of them.

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

/// The memory of a device: for `/dev/mem` in the address space of a guest's machine, else in its
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// Its address, at a page.
    pub address: u64,
    /// Its size in bytes, whole pages.
    pub bytes: u64,
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
    pub fn device(&self) -> Option<DeviceMemory> {
        self.device
    }

    /// Returns the offset in the file at which the memory begins.
    pub fn begin(&self) -> u64 {
        self.device.map_or(0, |device| device.address)
    }

    /// Checks that nobody can shorten the memory.
    fn check(&self) -> Result<(), MemoryError> {
        match self.device {
            None => check_seal(&self.file),
            Some(_) if is_device(&self.file)? => Ok(()),
            Some(_) => Err(MemoryError::NoDevice),
        }
    }

    /// Returns options that map all of it.
    fn options(&self) -> Result<MmapOptions, MemoryError> {
        let mut options = MmapOptions::new();
        if let Some(device) = self.device {
            let too_large = |_| MemoryError::Unmapped(io::ErrorKind::OutOfMemory.into());
            options.offset(device.address).len(usize::try_from(device.bytes).map_err(too_large)?);
        }
        Ok(options)
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
        let mapped = source.options()?.populate().map_raw(&source.file);
        // The mapping stays when the file is closed.
        Ok(Self { map: mapped.map_err(MemoryError::Unmapped)?, file: None })
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
        let mapped = source.options()?.map_raw_read_only(&source.file);
        // The mapping stays when the file is closed.
        Ok(Self { map: mapped.map_err(MemoryError::Unmapped)?, file: None })
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
