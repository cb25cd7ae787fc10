//! The delivery of new builds to a guest's process, which may be unable to open files by then.
//!
//! The host and the guest's process share a memory file. The host copies a program's file to its
//! start, then gives an order with the length; the next file comes after that order was answered.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use quietcore_program_image::FILE_BYTES_MAX;
use quietcore_scan::process::job::Order;
use quietcore_units::ByteSize;
use rustix::fs::{MemfdFlags, memfd_create};

/// The memory file that both sides have.
#[derive(Debug)]
pub struct Delivery {
    file: File,
}

impl Delivery {
    /// Makes a delivery with nothing in it.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn create() -> io::Result<Self> {
        Ok(Self { file: memfd_create("quietcore-delivery", MemfdFlags::CLOEXEC)?.into() })
    }

    /// Opens the delivery behind a descriptor that this process was started with.
    ///
    /// # Errors
    /// When there is no such descriptor.
    pub(crate) fn inherited(descriptor: i32) -> io::Result<Self> {
        Ok(Self { file: inherited(descriptor)? })
    }

    /// Returns another handle of the file, to be passed on.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn file(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Copies a program's file into the delivery and returns its length in bytes.
    ///
    /// # Errors
    /// When the file can't be read, or is longer than [`FILE_BYTES_MAX`].
    pub fn put(&self, path: &Path) -> io::Result<u64> {
        let mut bytes = Vec::new();
        File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(io::Error::other(format!("the program's file {}", too_long())));
        }
        self.file.write_all_at(&bytes, 0)?;
        Ok(bytes.len() as u64)
    }

    /// Returns an order as a process can carry it out that can't open files: the file of a build is
    /// in the delivery then.
    ///
    /// # Errors
    /// Those of [`put`](Self::put).
    pub(crate) fn deliver<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        Ok(match order {
            Order::Stage(build) => {
                let bytes = self.put(&build.module)?;
                Cow::Owned(Order::Deliver { build: build.clone(), bytes })
            }
            Order::Deliver { .. } => Cow::Borrowed(order),
        })
    }

    /// Takes a file of `bytes` bytes out of the delivery.
    ///
    /// # Errors
    /// When it holds fewer, or `bytes` is above [`FILE_BYTES_MAX`]; in words.
    pub(crate) fn take(&self, bytes: u64) -> Result<Vec<u8>, String> {
        let length = usize::try_from(bytes).ok().filter(|_| bytes <= FILE_BYTES_MAX);
        let length = length.ok_or_else(|| {
            format!("{bytes} bytes were delivered; {FILE_BYTES_MAX} are possible")
        })?;
        let mut file = vec![0; length];
        let taken = self.file.read_exact_at(&mut file, 0);
        taken.map_err(|error| format!("the delivery can't be read: {error}"))?;
        Ok(file)
    }
}

/// Returns the end of a message about a file of more than [`FILE_BYTES_MAX`], with the remedy.
pub(crate) fn too_long() -> String {
    format!(
        "has more than {}, the most for a guest; give its tables less initial data, or build it \
         without debug information",
        ByteSize::new(FILE_BYTES_MAX)
    )
}

/// Opens the file behind a descriptor that this process was started with; the descriptor stays
/// open.
pub(crate) fn inherited(descriptor: i32) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/self/fd/{descriptor}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn what_was_delivered_is_taken_on_the_other_side() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let host = Delivery::create().unwrap();
        assert!(Delivery::inherited(-1).is_err(), "there is no such descriptor");
        let handle = host.file().unwrap();
        let guest = Delivery::inherited(handle.as_raw_fd()).unwrap();
        for content in [&b"the first program"[..], b"the next"] {
            fs::write(&path, content).unwrap();
            let bytes = host.put(&path).unwrap();
            assert_eq!(guest.take(bytes).unwrap(), content);
        }
        assert!(guest.take(1 << 20).unwrap_err().contains("can't be read"));
        assert!(guest.take(FILE_BYTES_MAX + 1).unwrap_err().contains("are possible"));
    }

    #[test]
    fn a_file_that_is_too_long_is_not_delivered() {
        let error = Delivery::create().unwrap().put(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("more than 64.0 MiB"), "{error}");
    }
}
