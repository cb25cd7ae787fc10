//! Errors of the trail.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why the trail can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TrailError {
    /// The database refuses: the disk is full, it may not be written, or another process holds it.
    #[error("the audit trail `{}` can't be used", path.display())]
    Database {
        /// Path of the trail.
        path: PathBuf,
        /// The error of SQLite.
        #[source]
        source: rusqlite::Error,
    },
    /// The file can't be looked at or set aside.
    #[error("the audit trail `{}` can't be {done}", path.display())]
    File {
        /// Path of the trail.
        path: PathBuf,
        /// The step that was tried, as in "set aside".
        done: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A later version has written it.
    #[error("the audit trail `{}` has schema {found}, and this version knows {known}; use the \
        version that has written it, or a later one", path.display())]
    Later {
        /// Path of the trail.
        path: PathBuf,
        /// Number of its schema.
        found: i64,
        /// Number of the schema that this version writes.
        known: i64,
    },
    /// The chain is broken where an entry was to be added.
    #[error("the audit trail `{}` is broken; {why}", path.display())]
    Broken {
        /// Path of the trail.
        path: PathBuf,
        /// The fault, as a sentence.
        why: String,
    },
}

impl TrailError {
    pub(crate) fn database(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Database { path: path.clone(), source }
    }

    pub(crate) fn file(path: &Path, done: &'static str) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path: path.clone(), done, source }
    }

    /// Returns `true` if the file itself is damaged, so that trying again can't help.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Broken { .. } => true,
            Self::Database { source, .. } => is_damage(source),
            Self::File { .. } | Self::Later { .. } => false,
        }
    }
}

/// Returns `true` for what SQLite says of a file that is damaged or no database.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}
