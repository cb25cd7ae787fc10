//! Checkpoints: records of a run that is not over, in a folder of their own beside the records.
//!
//! ```text
//! run ─► checkpoints/NAME.json, again and again ─► records/NAME.json at its end, checkpoints gone
//!                    └── the machine dies: whoever goes on takes them up as the earlier part
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quietcore_record::record::Record;

use crate::files::{self, WriteError};
use crate::folder::{self, RECORD_COUNT_MAX, record_file};
use crate::read::json;

/// Name of the folder of checkpoints.
const CHECKPOINTS: &str = "checkpoints";

/// The checkpoints of one evidence folder.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// Returns those of the evidence folder at `root`; there need not be any.
    pub fn of(root: &Path) -> Self {
        Self { folder: root.join(CHECKPOINTS) }
    }

    /// Writes a record in place of the checkpoint before, and waits until the disk has it.
    ///
    /// # Errors
    /// [`WriteError`]; the checkpoint before is still whole then.
    pub fn keep(&self, record: &Record) -> Result<(), WriteError> {
        fs::create_dir_all(&self.folder).map_err(WriteError::at(&self.folder))?;
        let name = record_file(&record.name);
        let path = self.folder.join(name.trim_start_matches(folder::RECORDS_PREFIX));
        let mut bytes = serde_json::to_vec(record)
            .map_err(|error| WriteError::at(&path)(io::Error::other(error)))?;
        bytes.push(b'\n');
        files::write_whole(&path, &bytes)
    }

    /// Reads those that are whole; what is not was being written when the machine died.
    pub fn read(&self) -> Vec<Record> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let paths = entries.take(RECORD_COUNT_MAX).filter_map(|entry| Some(entry.ok()?.path()));
        let records = paths.filter_map(|path| json::<Record>(&path).ok());
        records.filter(Record::has_known_schema).collect()
    }

    /// Removes all of them.
    ///
    /// # Errors
    /// [`WriteError`] when they are there and can't be removed.
    pub fn clear(&self) -> Result<(), WriteError> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(WriteError::at(&self.folder)(error))
            }
            _ => Ok(()),
        }
    }
}
