//! The memory of an exchange.
//!
//! The host makes a sealed memory file, maps it and passes the file on; the partition maps the same
//! file. Both sides map it populated, so that no access in a cycle can fault.
//!
// UNSAFETY: mapping a file is unsafe because others may change or shorten it. Changing is what it
// is for, and all access is atomic; shortening is prevented by a seal, without which mapping is
// refused.
#![expect(unsafe_code, reason = "memory shared with another process is mapped here")]

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;

use memmap2::{MmapOptions, MmapRaw};
use quietcore_exchange::{AttachError, Region, Shape};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};

/// Why an exchange could not be made or mapped.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The kernel refused the memory.
    #[error("the memory of the exchange could not be had; it needs some 1 MiB a task")]
    Memory(#[source] io::Error),
    /// The file could be shortened by its other owner, which would kill whoever reads it.
    #[error("the exchange's file is not sealed against shrinking; only quietcore makes exchanges")]
    NotSealed,
    /// What is in the memory is no exchange of this build.
    #[error(transparent)]
    Attach(#[from] AttachError),
}

/// A mapped exchange and the file behind it.
///
/// The header is read once, when it is mapped: the other side may overwrite it at any time.
#[derive(Debug)]
pub struct Exchange {
    /// Valid as long as `_map` lives; given out only with the life of `self`.
    region: Region<'static>,
    file: File,
    _map: MmapRaw,
}

impl Exchange {
    /// Makes an exchange of this shape; [`Shape::of_tasks`] for a probe.
    ///
    /// # Errors
    /// When the shape is out of range or there is no memory for it.
    pub fn create(shape: &Shape) -> Result<Self, ExchangeError> {
        let size = shape.layout().map_err(AttachError::from)?.bytes;
        let file: File = memfd_create("quietcore-exchange", memfd_flags())
            .map_err(|errno| ExchangeError::Memory(errno.into()))?
            .into();
        file.set_len(size as u64).map_err(ExchangeError::Memory)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
            .map_err(|errno| ExchangeError::Memory(errno.into()))?;
        let map = map(&file)?;
        let base = base_of(&map)?;
        // SAFETY: `map` is mapped readable and writable for its length, stays so as long as `self`
        // lives, beyond which no region is given out, and is reached through regions only; the seal
        // keeps the file from shrinking under it.
        let region = unsafe { Region::initialise(base, map.len(), shape) }?;
        Ok(Self { region, file, _map: map })
    }

    /// Maps an exchange that another process made.
    ///
    /// # Errors
    /// When the file isn't sealed, can't be mapped, or holds no exchange of this build.
    pub fn open(file: File) -> Result<Self, ExchangeError> {
        let seals = fcntl_get_seals(file.as_fd()).map_err(|_| ExchangeError::NotSealed)?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(ExchangeError::NotSealed);
        }
        let map = map(&file)?;
        let base = base_of(&map)?;
        // SAFETY: as in `create`.
        let region = unsafe { Region::attach(base, map.len()) }?;
        Ok(Self { region, file, _map: map })
    }

    /// The region in it.
    pub fn region(&self) -> Region<'_> {
        self.region
    }

    /// Another handle of the file, to be passed to the partition.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

fn memfd_flags() -> MemfdFlags {
    MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING
}

fn map(file: &File) -> Result<MmapRaw, ExchangeError> {
    MmapOptions::new().populate().map_raw(file).map_err(ExchangeError::Memory)
}

fn base_of(map: &MmapRaw) -> Result<NonNull<u8>, ExchangeError> {
    NonNull::new(map.as_mut_ptr())
        .ok_or_else(|| ExchangeError::Memory(io::Error::from(io::ErrorKind::OutOfMemory)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_exchange::{ShapeError, TaskState};
    use std::io::Write as _;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn two_mappings_of_one_file_see_the_same() {
        let host = Exchange::create(&Shape::of_tasks(2)).unwrap();
        let partition = Exchange::open(host.file().unwrap()).unwrap();
        assert_eq!(partition.region().task_count(), 2);
        host.region().request_stop();
        assert!(partition.region().stop_requested());
        assert_eq!(partition.region().task(1).unwrap().state(), TaskState::Unused);
    }

    #[test]
    fn a_header_that_the_other_side_overwrites_changes_nothing() {
        let host = Exchange::create(&Shape::of_tasks(2)).unwrap();
        host.file().unwrap().write_all_at(&[0xff; 32], 0).unwrap();
        assert_eq!(host.region().task_count(), 2);
        assert!(host.region().task(2).is_none());
    }

    #[test]
    fn what_is_no_exchange_is_refused() {
        let mut file: File = memfd_create("other", memfd_flags()).unwrap().into();
        file.write_all(&[0; 1 << 20]).unwrap();
        assert!(matches!(Exchange::open(file.try_clone().unwrap()), Err(ExchangeError::NotSealed)));
        fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
        let refused = Exchange::open(file).unwrap_err().to_string();
        assert!(refused.contains("no exchange here"), "{refused}");
        let plain = File::open("/proc/self/stat").unwrap();
        assert!(matches!(Exchange::open(plain), Err(ExchangeError::NotSealed)));
    }

    #[test]
    fn an_impossible_number_of_tasks_is_refused() {
        assert!(matches!(
            Exchange::create(&Shape::of_tasks(0)),
            Err(ExchangeError::Attach(AttachError::Shape(ShapeError::NoTask)))
        ));
    }
}
