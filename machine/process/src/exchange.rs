//! The memory of an exchange.
//!
//! The host makes a sealed memory file, maps it and passes the file on; the partition maps the same
//! file. Both sides map it populated, so that no access in a cycle can fault. Monitors map it for
//! reading only, through a file that allows no more.
//!
// UNSAFETY: mapping a file is unsafe because others may change or shorten it. Changing is what it
// is for, and all access is atomic; shortening is prevented by a seal, without which mapping is
// refused.
#![expect(unsafe_code, reason = "memory shared with another process is mapped here")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use quietcore_exchange::{AttachError, PAGE_BYTES, Region, Shape, View};

use crate::memory::{DeviceMemory, MemoryError, MemorySource, SharedMemory, is_device};

/// Why an exchange could not be made or mapped.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The memory holds no exchange of this build.
    #[error(transparent)]
    Attach(#[from] AttachError),
}

/// A mapped exchange and the file behind it.
///
/// The header is read once, when it is mapped: the other side may overwrite it at any time.
#[derive(Debug)]
pub struct Exchange {
    /// Valid as long as `memory` lives; given out only with the life of `self`.
    region: Region<'static>,
    memory: SharedMemory,
    device: Option<DeviceMemory>,
}

impl Exchange {
    /// Makes an exchange of this shape; [`Shape::of_tasks`] for a probe.
    ///
    /// # Errors
    /// When the shape is out of range or there is no memory for it: some 1 MiB a task, and what the
    /// shape says.
    pub fn create(shape: &Shape) -> Result<Self, ExchangeError> {
        Self::create_with(shape, |bytes| bytes)
    }

    /// Makes the same in a file of the size that `size` makes of what is needed, where it is to be
    /// a device's memory. What is behind the exchange is zero and unused.
    ///
    /// # Errors
    /// As for [`create`](Self::create), or when that size is too small.
    pub fn create_with(
        shape: &Shape,
        size: impl FnOnce(usize) -> usize,
    ) -> Result<Self, ExchangeError> {
        let bytes = size(shape.layout().map_err(AttachError::from)?.bytes);
        let memory = SharedMemory::create("quietcore-exchange", bytes)?;
        // SAFETY: `memory` is mapped readable and writable for its length, stays so as long as
        // `self` lives, beyond which no region is given out, and is reached through regions and
        // programs mapped onto the data slots only; the seal keeps the file from shrinking under
        // it.
        let region = unsafe { Region::initialise(memory.base(), memory.bytes(), shape) }?;
        Ok(Self { region, memory, device: None })
    }

    /// Makes the same in a device's memory that is zero and not used yet.
    ///
    /// # Errors
    /// As for [`create`](Self::create), or when that memory is too small or no device's.
    pub fn create_in_device(
        shape: &Shape,
        file: File,
        device: DeviceMemory,
    ) -> Result<Self, ExchangeError> {
        let memory = SharedMemory::take(&MemorySource::new(file, Some(device.clone())))?;
        // SAFETY: as in `create_with`; a device's memory can't shrink.
        let region = unsafe { Region::initialise(memory.base(), memory.bytes(), shape) }?;
        Ok(Self { region, memory, device: Some(device) })
    }

    /// Maps an exchange that another process made.
    ///
    /// # Errors
    /// When the file isn't sealed, can't be mapped, or holds no exchange of this build.
    pub fn open(file: File) -> Result<Self, ExchangeError> {
        Self::of_source(&file.into())
    }

    /// Maps an exchange that another process made, or that is a device's memory.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn of_source(source: &MemorySource) -> Result<Self, ExchangeError> {
        let memory = SharedMemory::open(source)?;
        // SAFETY: as in `create`; a device's memory can't shrink.
        let region = unsafe { Region::attach(memory.base(), memory.bytes()) }?;
        Ok(Self { region, memory, device: source.device().cloned() })
    }

    /// Reads all of it into `bytes`, whatever is written to it meanwhile: whoever needs it of one
    /// moment has to look whether it was. It costs the writers nothing.
    ///
    /// # Errors
    /// When its file can't be read, as that of a device.
    pub fn read_all(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.resize(self.memory.bytes(), 0);
        self.memory.file()?.read_exact_at(bytes, 0)
    }

    /// Makes an exchange of what was [read](Self::read_all) of another one.
    ///
    /// # Errors
    /// When there is no memory for it, or these are the bytes of no exchange of this build.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, ExchangeError> {
        let memory = SharedMemory::create("quietcore-copy", bytes.len())?;
        let file = memory.file().map_err(MemoryError::Unmapped)?;
        file.write_all_at(bytes, 0).map_err(MemoryError::Unmapped)?;
        // SAFETY: as in `create_with`.
        let region = unsafe { Region::attach(memory.base(), memory.bytes()) }?;
        Ok(Self { region, memory, device: None })
    }

    /// Returns the part of its file that it is, where that is a device.
    pub fn device(&self) -> Option<&DeviceMemory> {
        self.device.as_ref()
    }

    /// The region in it.
    pub fn region(&self) -> Region<'_> {
        self.region
    }

    /// Another handle of the file, to be passed to the partition. Its data slots are mapped from it
    /// at [`DataSlot::section`](quietcore_exchange::DataSlot::section).
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn file(&self) -> io::Result<File> {
        self.memory.file()
    }

    /// A handle of the file that allows reading only, for monitors; of a device, one that allows
    /// more, which its monitors do not use.
    ///
    /// # Errors
    /// When the process has no file descriptors left, or `/proc` is not mounted.
    pub fn read_only_file(&self) -> io::Result<File> {
        self.memory.read_only_file()
    }
}

/// An exchange mapped for reading only, as monitors have it.
#[derive(Debug)]
pub struct ExchangeView {
    /// Valid as long as `_memory` lives; given out only with the life of `self`.
    view: View<'static>,
    _memory: SharedMemory,
}

impl ExchangeView {
    /// Maps an exchange that another process made, for reading only.
    ///
    /// # Errors
    /// When the file isn't sealed, can't be mapped, or holds no exchange of this build.
    pub fn open(file: File) -> Result<Self, ExchangeError> {
        if is_device(&file)? {
            return Self::open_device(&file);
        }
        let memory = SharedMemory::open_read_only(&file.into())?;
        // SAFETY: `memory` is mapped readable for its length and stays so as long as `self` lives,
        // beyond which no view is given out; a view only reads, by atomics.
        let view = unsafe { View::attach(memory.base(), memory.bytes()) }?;
        Ok(Self { view, _memory: memory })
    }

    /// Maps the exchange that a device's memory begins with, which says how long it is.
    fn open_device(file: &File) -> Result<Self, ExchangeError> {
        match Self::map_device(file, u64::from(PAGE_BYTES)) {
            Err(ExchangeError::Attach(AttachError::TooSmall { needed, .. })) => {
                Self::map_device(file, needed as u64)
            }
            attached => attached,
        }
    }

    /// Maps the first bytes of a device's memory.
    fn map_device(file: &File, bytes: u64) -> Result<Self, ExchangeError> {
        let file = file.try_clone().map_err(MemoryError::Unmapped)?;
        let device = DeviceMemory::first(bytes);
        let memory = SharedMemory::open_read_only(&MemorySource::new(file, Some(device)))?;
        // SAFETY: as in `open`; a device's memory can't shrink.
        let view = unsafe { View::attach(memory.base(), memory.bytes()) }?;
        Ok(Self { view, _memory: memory })
    }

    /// Returns a view of the exchange.
    pub fn view(&self) -> View<'_> {
        self.view
    }
}

#[cfg(test)]
mod tests;
