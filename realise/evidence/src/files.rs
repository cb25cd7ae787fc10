//! Plain files of a folder: read, listed, summed, and written whole or not at all.
//!
//! A folder may come from anywhere, so only plain files are opened, and none is read without end.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::folder::{self, FILE_BYTES_MAX};

/// A file of the evidence could not be written. What was written before it is whole.
#[derive(Debug, thiserror::Error)]
#[error("`{}` could not be written{remedy}", path.display())]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// The error of the system.
    #[source]
    pub source: io::Error,
    /// The remedy behind `; `; empty where none is known.
    remedy: &'static str,
}

/// Returns what would help against a failure, where that is known.
fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free space, or choose another folder"
        }
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem => "; choose another folder",
        io::ErrorKind::NotFound => "; its folder must be there",
        _ => "",
    }
}

impl WriteError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self { path, remedy: remedy(&source), source }
    }
}

/// The text of a file of a folder; `None` where it is not there.
///
/// # Errors
/// When it is there and is no plain file, too large, or can't be read.
pub fn read_text(root: &Path, name: &str) -> io::Result<Option<String>> {
    match text_of(&root.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The text of a plain file.
pub(crate) fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = open_plain(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// Writes a file so that it appears whole or not at all.
///
/// # Errors
/// [`WriteError`]; then nothing is left under the name but what was there before.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    // Renaming would put a file in the place of a device, or of a link and not of what it names.
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(WriteError::at(path)(io::Error::other("it is there and is not a plain file")));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Under a name that nobody can foresee; it goes with its handle where anything fails, which on
    // a full disk gives its room back.
    let written = tempfile::Builder::new()
        .prefix(".quietcore-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .and_then(|mut part| {
            part.write_all(bytes)?;
            part.as_file().sync_all()?;
            part.persist(path).map_err(|error| error.error)
        });
    written.map(|_| ()).map_err(without_path).map_err(WriteError::at(path))
}

/// An error without the name of the file that nobody asked for, which stands in its text.
fn without_path(error: io::Error) -> io::Error {
    let is_named = error.raw_os_error().is_none() && error.kind() != io::ErrorKind::Other;
    if is_named { error.kind().into() } else { error }
}

/// Lists all files of the folder and of those within it, but sums and signature: relative to it,
/// sorted. Whatever lies deeper than a run writes is listed too, for it was added.
pub(crate) fn list(root: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(prefix) = folders.pop() {
        for entry in fs::read_dir(root.join(&prefix))? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            // Links and whatever else is no plain file are listed too: reading them is an error,
            // and so they are damage instead of invisible.
            if entry.file_type()?.is_dir() {
                folders.push(name + "/");
            } else if name != folder::SUMS && name != folder::SIGNATURE {
                names.push(name);
            }
        }
    }
    names.sort();
    Ok(names)
}

/// Opens a plain file: a link could show one thing to whoever lists the folder and another to
/// whoever reads it, and a pipe or a device would never end.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    File::open(path)
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(crate) fn sum_of(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut open_plain(path)?, &mut HashWriter(&mut hasher))?;
    Ok(hex(&hasher.finalize()))
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn sum_of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use quietcore_units::Causes;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_told_by_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/x.svg");
        let error = write_whole(&path, b"").unwrap_err();
        let told = Causes(&error).to_string();
        let begin = format!("`{}` could not be written; its folder must be there", path.display());
        assert!(told.starts_with(&begin), "{told}");
        assert!(!told.contains(".quietcore-") && !told.contains("--out"), "{told}");
    }
}
