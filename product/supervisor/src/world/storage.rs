//! The storage for what outlives a site: retained values, events, and lines printed by programs.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::log_file;

/// Files by their paths. Each call is one step, before or after which the process may die.
pub(crate) trait Storage: Send + Sync + fmt::Debug {
    /// Makes a folder, and missing ones above it.
    ///
    /// # Errors
    /// Those of the file system.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;

    /// Reads a regular file, at most one byte more than `limit`; `None` if there is no file.
    ///
    /// # Errors
    /// The reason, in words that name the file.
    fn read(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, String>;

    /// Writes a new file in the place of any older one, and waits for the disk if `sync`.
    ///
    /// # Errors
    /// Those of the file system; a part of the file may be there then.
    fn write_anew(&self, path: &Path, bytes: &[u8], sync: bool) -> io::Result<()>;

    /// Gives a file another name, in the place of any file that has it.
    ///
    /// # Errors
    /// Those of the file system; both files are as they were then.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Waits until the names in a folder are on the disk.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file by its path.
    ///
    /// # Errors
    /// Those of the file system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Opens a file for lines, and makes its folder if that is missing. A file that has reached
    /// `limit` bytes becomes the older one first. Also returns the length of the file.
    ///
    /// # Errors
    /// Those of the file system.
    fn open_log(&self, path: &Path, limit: u64) -> io::Result<(Box<dyn LogLines>, u64)>;
}

/// An open file for lines.
pub(crate) trait LogLines: Write + Send + fmt::Debug {}

impl LogLines for File {}

/// The file system of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk;

impl Storage for Disk {
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, String> {
        // A pipe must not make anyone wait, and a link must not lead elsewhere.
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let flags = flags.bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let no_file = || format!("`{}` is not a regular file", path.display());
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(no_file());
            }
            Err(error) => return Err(format!("`{}`: {error}", path.display())),
        };
        if !file.metadata().map_err(|error| error.to_string())?.is_file() {
            return Err(no_file());
        }
        let mut bytes = Vec::new();
        let read = file.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        Ok(Some(bytes))
    }

    fn write_anew(&self, path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
        let mut file = create_anew(path)?;
        file.write_all(bytes)?;
        if sync { file.sync_data() } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn open_log(&self, path: &Path, limit: u64) -> io::Result<(Box<dyn LogLines>, u64)> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = log_file::open(path, limit)?;
        let length = file.metadata()?.len();
        Ok((Box::new(file), length))
    }
}

/// Creates a new file in the place of one that a process that died may have left there.
fn create_anew(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            File::create_new(path)
        }
        created => created,
    }
}

/// The file system, without room for a whole file until a test makes some.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct FullDisk {
    pub(crate) has_room: std::sync::atomic::AtomicBool,
}

#[cfg(test)]
impl Storage for FullDisk {
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        Disk.make_folder(folder)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, String> {
        Disk.read(path, limit)
    }

    fn write_anew(&self, path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
        if self.has_room.load(std::sync::atomic::Ordering::Relaxed) {
            return Disk.write_anew(path, bytes, sync);
        }
        Disk.write_anew(path, &bytes[..bytes.len() / 2], false)?;
        Err(io::ErrorKind::StorageFull.into())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        Disk.sync_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn open_log(&self, path: &Path, limit: u64) -> io::Result<(Box<dyn LogLines>, u64)> {
        Disk.open_log(path, limit)
    }
}
