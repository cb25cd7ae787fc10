//! The archive of files that a kernel starts from (initramfs): in the format `newc`, with nothing
//! in it that differs from one writing to the next.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use cpio::newc::{Builder, trailer};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const CONSOLE: u32 = 0o020_600;

/// Why there is no initramfs.
#[derive(Debug, thiserror::Error)]
pub enum NoInitramfs {
    /// A file can't be read or written.
    #[error("can't use {path}: {because}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
    /// The libraries of the first process can't be told.
    #[error("{program} is no program that ldd understands, or a library is missing: {said}")]
    Libraries {
        /// Path of the program.
        program: PathBuf,
        /// The output of `ldd`.
        said: String,
    },
}

fn failed(path: &Path) -> impl Fn(io::Error) -> NoInitramfs {
    move |because| NoInitramfs::File { path: path.to_owned(), because }
}

/// An archive that is being written.
#[derive(Debug)]
pub struct Archive<W> {
    output: W,
    next: u32,
    made: BTreeSet<PathBuf>,
}

impl<W: Write> Archive<W> {
    /// Begins an archive that has a console, which the kernel opens for the first process.
    ///
    /// # Errors
    /// [`NoInitramfs::File`].
    pub fn begin(output: W) -> Result<Self, NoInitramfs> {
        let mut archive = Self::empty(output);
        archive.folder(Path::new("/dev"))?;
        archive.device(Path::new("/dev/console"), 5, 1)?;
        Ok(archive)
    }

    /// Begins an archive with nothing in it.
    pub fn empty(output: W) -> Self {
        Self { output, next: 1, made: BTreeSet::new() }
    }

    /// Ends it and returns what it was written to.
    ///
    /// # Errors
    /// [`NoInitramfs::File`].
    pub fn end(self) -> Result<W, NoInitramfs> {
        trailer(self.output).map_err(failed(Path::new("the end of the initramfs")))
    }

    /// Adds a program with the libraries that it needs, each where it is here.
    ///
    /// # Errors
    /// [`NoInitramfs`].
    pub fn add_program(&mut self, place: &Path, source: &Path) -> Result<(), NoInitramfs> {
        self.add(place, source)?;
        for library in libraries(source)? {
            self.add(&library, &library)?;
        }
        Ok(())
    }

    /// Adds a file of this machine's.
    ///
    /// # Errors
    /// [`NoInitramfs::File`].
    pub fn add(&mut self, place: &Path, source: &Path) -> Result<(), NoInitramfs> {
        let bytes = fs::read(source).map_err(failed(source))?;
        self.put(place, &bytes)
    }

    /// Adds a file with these contents, and the folders that it is in.
    ///
    /// # Errors
    /// [`NoInitramfs::File`].
    pub fn put(&mut self, place: &Path, bytes: &[u8]) -> Result<(), NoInitramfs> {
        if let Some(folder) = place.parent() {
            self.folder(folder)?;
        }
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let builder = self.entry(place).mode(PROGRAM);
        let mut writer = builder.write(&mut self.output, length);
        writer.write_all(bytes).map_err(failed(place))?;
        writer.finish().map(drop).map_err(failed(place))
    }

    /// Adds a folder, if it isn't there, and those that it is in.
    ///
    /// # Errors
    /// [`NoInitramfs::File`].
    pub fn folder(&mut self, place: &Path) -> Result<(), NoInitramfs> {
        if place == Path::new("/") || !self.made.insert(place.to_owned()) {
            return Ok(());
        }
        if let Some(parent) = place.parent() {
            self.folder(parent)?;
        }
        let builder = self.entry(place).mode(FOLDER);
        builder.write(&mut self.output, 0).finish().map(drop).map_err(failed(place))
    }

    fn device(&mut self, place: &Path, major: u32, minor: u32) -> Result<(), NoInitramfs> {
        let builder = self.entry(place).mode(CONSOLE).rdev_major(major).rdev_minor(minor);
        builder.write(&mut self.output, 0).finish().map(drop).map_err(failed(place))
    }

    fn entry(&mut self, place: &Path) -> Builder {
        let name = place.to_string_lossy();
        let inode = self.next;
        self.next += 1;
        Builder::new(name.trim_start_matches('/')).ino(inode).nlink(1)
    }
}

/// Returns a program's libraries and its interpreter, as the interpreter itself finds them.
///
/// # Errors
/// [`NoInitramfs::Libraries`].
pub fn libraries(program: &Path) -> Result<Vec<PathBuf>, NoInitramfs> {
    let output = Command::new("ldd").arg(program).output().map_err(failed(Path::new("ldd")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.contains("not found") {
        let said = text.trim().to_owned();
        return Err(NoInitramfs::Libraries { program: program.to_owned(), said });
    }
    Ok(text.lines().filter_map(place_of_library).collect())
}

/// `libc.so.6 => /lib/libc.so.6 (0x…)` and `/lib64/ld-linux.so.2 (0x…)`; the kernel's own has no
/// place.
fn place_of_library(line: &str) -> Option<PathBuf> {
    line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_what_ldd_says() {
        let place = |line| place_of_library(line).map(|path| path.display().to_string());
        assert_eq!(place("\tlinux-vdso.so.1 (0x00007ffd)"), None);
        assert_eq!(place("\tlibc.so.6 => /lib/libc.so.6 (0x0000)"), Some("/lib/libc.so.6".into()));
        assert_eq!(place("\t/lib64/ld.so.2 (0x0000)"), Some("/lib64/ld.so.2".into()));
    }

    #[test]
    fn a_first_process_that_is_none_is_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let init = scratch.path().join("init");
        fs::write(&init, "no program").expect("a file");
        let error = libraries(&init).expect_err("no program");
        assert!(error.to_string().contains("no program that ldd understands"), "{error}");
    }
}
