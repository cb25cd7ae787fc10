//! Writing an evidence folder.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use quietcore_record::record::Record;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::folder::{self, TRACE_COUNT_MAX, record_file};
use crate::manifest::Manifest;
use crate::signature::{self, Signature, VerificationKey};

/// A file of the evidence could not be written. What was written before it is whole.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{}` could not be written; free space or choose another folder with --out",
    path.display()
)]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

impl WriteError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self { path, source }
    }
}

/// Writes into one evidence folder.
#[derive(Debug)]
pub struct Writer {
    root: PathBuf,
    is_new: bool,
    signed_by: Option<VerificationKey>,
}

impl Writer {
    /// Makes a new folder.
    ///
    /// # Errors
    /// When it exists already or can't be made.
    pub fn create(root: &Path) -> Result<Self, WriteError> {
        if let Some(parent) = root.parent() {
            fs::create_dir_all(parent).map_err(WriteError::at(parent))?;
        }
        fs::create_dir(root).map_err(WriteError::at(root))?;
        Ok(Self { is_new: true, ..Self::open(root)? })
    }

    /// Goes on with a folder that exists.
    ///
    /// # Errors
    /// When its subfolder for records can't be made.
    pub fn open(root: &Path) -> Result<Self, WriteError> {
        let records = root.join(folder::RECORDS);
        match fs::symlink_metadata(&records) {
            Ok(found) if !found.is_dir() => {
                return Err(WriteError::at(&records)(io::Error::other("it is not a folder")));
            }
            Ok(_) => {}
            Err(_) => fs::create_dir(&records).map_err(WriteError::at(&records))?,
        }
        let signed_by = match signature::look(root) {
            Signature::Signed { key, .. } => Some(key),
            Signature::Unsigned | Signature::Broken(_) => None,
        };
        Ok(Self { root: root.to_owned(), is_new: false, signed_by })
    }

    /// Whether the folder was made by this writer.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The key that the folder was signed with when this writer came to it, and whose signature did
    /// hold; `None` where it was unsigned.
    pub fn signed_by(&self) -> Option<&VerificationKey> {
        self.signed_by.as_ref()
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// [`WriteError`], as for all of these.
    pub fn manifest(&self, manifest: &Manifest) -> Result<(), WriteError> {
        self.json(folder::MANIFEST, manifest)
    }

    /// Writes the site file as it was read.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn site(&self, bytes: &[u8]) -> Result<(), WriteError> {
        self.file(folder::SITE, bytes)
    }

    /// Writes what the doctor read and found.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn doctor(&self, document: &impl Serialize) -> Result<(), WriteError> {
        self.json(folder::DOCTOR, document)
    }

    /// Writes one record, in place of an earlier one of the same name.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn record(&self, record: &Record) -> Result<(), WriteError> {
        self.json(&record_file(&record.name), record)
    }

    /// Writes the summary and the verdicts.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn evidence(&self, document: &impl Serialize) -> Result<(), WriteError> {
        self.json(folder::EVIDENCE, document)
    }

    /// A free place for a recording of variables as a table, and the folder for it; to be written
    /// whole, before the folder is sealed.
    ///
    /// # Errors
    /// [`WriteError`] when there is no folder for it, or there are [`TRACE_COUNT_MAX`] already.
    pub fn trace_path(&self, name: &str) -> Result<PathBuf, WriteError> {
        let folder = self.root.join(folder::TRACES);
        match fs::symlink_metadata(&folder) {
            Ok(found) if !found.is_dir() => {
                return Err(WriteError::at(&folder)(io::Error::other("it is not a folder")));
            }
            Ok(_) => {}
            Err(_) => fs::create_dir(&folder).map_err(WriteError::at(&folder))?,
        }
        let name = folder::file_name(name);
        let number = |index: usize| match index {
            0 => folder.join(format!("{name}.csv")),
            index => folder.join(format!("{name}-{}.csv", index + 1)),
        };
        let free = (0..TRACE_COUNT_MAX).map(number).find(|path| !path.exists());
        free.ok_or_else(|| WriteError::at(&folder)(io::Error::other("it is full of recordings")))
    }

    /// Writes a file of any other name, such as the report.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn file(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        write_whole(&self.root.join(name), bytes)
    }

    fn json(&self, name: &str, value: &impl Serialize) -> Result<(), WriteError> {
        let path = self.root.join(name);
        let mut bytes = serde_json::to_vec_pretty(value)
            .map_err(|error| WriteError { path: path.clone(), source: io::Error::other(error) })?;
        bytes.push(b'\n');
        write_whole(&path, &bytes)
    }

    /// Takes sums and signature away, before more is written into a folder that has them.
    ///
    /// # Errors
    /// [`WriteError`] when they are there and can't be removed.
    pub fn unseal(&self) -> Result<(), WriteError> {
        self.remove(folder::SIGNATURE)?;
        self.remove(folder::SUMS)
    }

    fn remove(&self, name: &str) -> Result<(), WriteError> {
        let path = self.root.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(WriteError::at(&path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes the sums of all files, and takes a signature away that was of other ones. To be
    /// called last, but for signing.
    ///
    /// # Errors
    /// [`WriteError`], also when a file can't be read back.
    pub fn seal(&self) -> Result<(), WriteError> {
        self.remove(folder::SIGNATURE)?;
        let mut lines = String::new();
        for name in files(&self.root).map_err(WriteError::at(&self.root))? {
            let path = self.root.join(&name);
            let sum = sum_of(&path).map_err(WriteError::at(&path))?;
            lines.push_str(&format!("{sum}  {name}\n"));
        }
        self.file(folder::SUMS, lines.as_bytes())
    }
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
    written.map(|_| ()).map_err(WriteError::at(path))
}

/// Lists all files of the folder and of those within it, but sums and signature: relative to it,
/// sorted. Whatever lies deeper than a run writes is listed too, for it was added.
pub(crate) fn files(root: &Path) -> io::Result<Vec<String>> {
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
