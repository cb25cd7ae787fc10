//! The lock on a folder that one process at a time writes into.
//!
//! Two that go on with the same folder would write their records over each other's. The lock is
//! `flock` on the folder itself: it leaves no file in it, and the kernel releases it with the
//! process, however that ends.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::files::WriteError;

/// A folder that no other process writes into until this is dropped.
#[derive(Debug)]
pub struct FolderLock {
    root: PathBuf,
    _held: File,
}

impl FolderLock {
    /// Locks a folder that exists. File systems without locks, as some over a network are, leave it
    /// unlocked.
    ///
    /// # Errors
    /// [`WriteError`] when the folder can't be opened, or another process has the lock.
    pub fn take(root: &Path) -> Result<Self, WriteError> {
        let held = File::open(root).map_err(WriteError::at(root))?;
        if flock(&held, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            let other = "another process of Quietcore writes into it; wait until that has ended";
            return Err(WriteError::at(root)(io::Error::other(other)));
        }
        Ok(Self { root: root.to_owned(), _held: held })
    }

    /// Returns the path that was locked.
    pub fn root(&self) -> &Path {
        &self.root
    }
}
