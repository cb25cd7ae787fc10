//! Files that the user alone may read, written whole or not at all, and the lock of a folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, RenameFlags, flock, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

use crate::AccessError;

/// The largest file that is read, in bytes.
pub(crate) const FILE_BYTES_MAX: u64 = 16 << 20;
/// Number of tries for the lock, and the time between two: 5 s in all.
const TRIES: u32 = 100;
const TRY_AGAIN: Duration = Duration::from_millis(50);
/// Name of the lock in a folder.
const LOCK: &str = "lock";

/// Writes a file so that it appears whole or not at all, and survives a loss of power.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), AccessError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // A temporary file is made readable by the user alone.
    let written =
        tempfile::Builder::new().prefix(".quietcore-").tempfile_in(folder).and_then(|mut part| {
            part.write_all(text.as_bytes())?;
            part.as_file().sync_all()?;
            part.persist(path).map_err(|error| error.error)?;
            File::open(folder)?.sync_all()
        });
    written.map_err(AccessError::io(path, "written"))
}

/// Reads a plain file of bounded size.
pub(crate) fn read(path: &Path) -> Result<String, AccessError> {
    let mut text = String::new();
    let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
    let read = OpenOptions::new().read(true).custom_flags(no_follow).open(path).and_then(|file| {
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no plain file"));
        }
        if file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)? as u64 > FILE_BYTES_MAX {
            return Err(io::Error::other("it is larger than 16 MiB"));
        }
        Ok(())
    });
    read.map_err(AccessError::io(path, "read"))?;
    Ok(text)
}

/// A folder that is filled beside its place, and appears there whole. Dropping it removes it.
pub(crate) struct NewFolder {
    part: TempDir,
}

impl NewFolder {
    /// Makes the folder beside `place`, whose parents are made, too.
    pub(crate) fn beside(place: &Path) -> Result<Self, AccessError> {
        let parent = parent_of(place);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(AccessError::io(parent, "made"))?;
        let only_own = fs::Permissions::from_mode(0o700);
        let made =
            tempfile::Builder::new().prefix(".quietcore-").permissions(only_own).tempdir_in(parent);
        Ok(Self { part: made.map_err(AccessError::io(parent, "written"))? })
    }

    pub(crate) fn path(&self) -> &Path {
        self.part.path()
    }

    /// Moves the folder to its place; `Ok(false)` if something is there.
    pub(crate) fn appear_at(self, place: &Path) -> Result<bool, AccessError> {
        use rustix::fs::CWD;
        match renameat_with(CWD, self.path(), CWD, place, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(false),
            Err(errno) => return Err(AccessError::io(place, "made")(errno.into())),
        }
        // It is not here any more to be removed.
        let _ = self.part.keep();
        let parent = parent_of(place);
        let kept = File::open(parent).and_then(|parent| parent.sync_all());
        kept.map_err(AccessError::io(parent, "written"))?;
        Ok(true)
    }
}

fn parent_of(place: &Path) -> &Path {
    match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Holds the folder against other programs until the returned file is dropped.
pub(crate) fn lock(folder: &Path) -> Result<File, AccessError> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(&path)
        .map_err(AccessError::io(&path, "opened"))?;
    for _ in 0..TRIES {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => thread::sleep(TRY_AGAIN),
            Err(errno) => return Err(AccessError::io(&path, "locked")(errno.into())),
        }
    }
    Err(AccessError::Held { folder: folder.to_owned() })
}
