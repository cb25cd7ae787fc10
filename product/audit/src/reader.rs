//! Reading a trail, while the daemon runs and when it does not.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::database;
use crate::entry::Row;
use crate::error::TrailError;
use crate::verify::{Head, Verification};

/// A trail that is read. Whoever writes it meanwhile is not held up.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    connection: Connection,
}

impl Reader {
    /// Opens the trail in a file, which may be one that was set aside.
    ///
    /// # Errors
    /// [`TrailError::File`] if there is no such file, others if it can't be opened.
    pub fn open(path: &Path) -> Result<Self, TrailError> {
        let is_file = path.metadata().map_err(TrailError::file(path, "read"))?.is_file();
        if !is_file {
            let no_file = io::Error::new(io::ErrorKind::InvalidInput, "it is no file");
            return Err(TrailError::file(path, "read")(no_file));
        }
        let connection = database::open_to_read(path).map_err(TrailError::database(path))?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Shows the rows from number `since` on, in their order, until `show` returns `false`. All are
    /// of the trail as it is at the first.
    ///
    /// # Errors
    /// [`TrailError::Database`] if a row can't be read.
    pub fn for_each(&self, since: u64, show: impl FnMut(Row) -> bool) -> Result<(), TrailError> {
        let shown = database::for_each(&self.connection, since, show);
        shown.map_err(TrailError::database(&self.path))
    }

    /// Returns `count` rows at most, from number `since` on.
    ///
    /// # Errors
    /// Those of [`Self::for_each`].
    pub fn rows(&self, since: u64, count: usize) -> Result<Vec<Row>, TrailError> {
        let mut rows = Vec::new();
        if count > 0 {
            self.for_each(since, |row| {
                rows.push(row);
                rows.len() < count
            })?;
        }
        Ok(rows)
    }

    /// Returns the end of the chain.
    ///
    /// # Errors
    /// [`TrailError::Database`] if it can't be read.
    pub fn head(&self) -> Result<Head, TrailError> {
        database::head(&self.connection).map_err(TrailError::database(&self.path))
    }

    /// Checks file and chain as a whole. Damage is a fault of the result, not an error.
    ///
    /// # Errors
    /// [`TrailError`] if the file can't be read for another reason, or a later version wrote it.
    pub fn verify(&self) -> Result<Verification, TrailError> {
        // One transaction, so that rows and head are of one instant.
        match self.connection.unchecked_transaction() {
            Ok(snapshot) => database::examine(&self.path, &snapshot),
            Err(error) => database::damage(&self.path, error),
        }
    }
}
