//! Writing an evidence folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quietcore_record::record::Record;
use serde::Serialize;

use crate::files::{self, WriteError};
use crate::folder::{self, TRACE_COUNT_MAX, record_file};
use crate::lock::FolderLock;
use crate::manifest::Manifest;
use crate::signature::{self, Signature, VerificationKey};

/// Writes into one evidence folder, which no other process writes into meanwhile.
#[derive(Debug)]
pub struct Writer {
    lock: FolderLock,
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

    /// Removes a new folder into which nothing was written, so that its path can be used again.
    pub fn give_up(self) {
        if self.is_new {
            // What is not empty is not removed by these.
            let _ = fs::remove_dir(self.root().join(folder::RECORDS));
            let _ = fs::remove_dir(self.root());
        }
    }

    /// Goes on with a folder that exists.
    ///
    /// # Errors
    /// When another process writes into it, or its subfolder for records can't be made.
    pub fn open(root: &Path) -> Result<Self, WriteError> {
        Self::of(FolderLock::take(root)?)
    }

    /// Goes on with a folder that was locked before it was read.
    ///
    /// # Errors
    /// When its subfolder for records can't be made.
    pub fn of(lock: FolderLock) -> Result<Self, WriteError> {
        let root = lock.root();
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
        Ok(Self { lock, is_new: false, signed_by })
    }

    /// Returns `true` if the folder was made by this writer.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The key that the folder was signed with when this writer came to it, and whose signature did
    /// hold; `None` where it was unsigned.
    pub fn signed_by(&self) -> Option<&VerificationKey> {
        self.signed_by.as_ref()
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        self.lock.root()
    }

    /// Writes the manifest as JSON.
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

    /// Copies the record of this name from another folder, byte for byte, and returns the SHA-256
    /// of its file.
    ///
    /// # Errors
    /// [`WriteError`], also when it can't be read there.
    pub fn take_over(&self, from: &Path, name: &str) -> Result<String, WriteError> {
        let file = record_file(name);
        let theirs = from.join(&file);
        let text = files::text_of(&theirs).map_err(WriteError::at(&theirs))?;
        self.file(&file, text.as_bytes())?;
        Ok(files::sum_of_bytes(text.as_bytes()))
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
        let folder = self.root().join(folder::TRACES);
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
        files::write_whole(&self.root().join(name), bytes)
    }

    fn json(&self, name: &str, value: &impl Serialize) -> Result<(), WriteError> {
        let path = self.root().join(name);
        let mut bytes = serde_json::to_vec_pretty(value)
            .map_err(|error| WriteError::at(&path)(io::Error::other(error)))?;
        bytes.push(b'\n');
        files::write_whole(&path, &bytes)
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
        let path = self.root().join(name);
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
        for name in files::list(self.root()).map_err(WriteError::at(self.root()))? {
            let path = self.root().join(&name);
            let sum = files::sum_of(&path).map_err(WriteError::at(&path))?;
            lines.push_str(&format!("{sum}  {name}\n"));
        }
        self.file(folder::SUMS, lines.as_bytes())
    }
}
