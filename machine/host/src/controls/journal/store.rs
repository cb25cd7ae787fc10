//! The journal's file: one for all sites of a machine, changed by one process at a time.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::{Journal, SCHEMA};

/// The largest file that is read: some ten thousand settings.
const BYTES_MAX: u64 = 16 << 20;

/// The journal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused something.
    #[error("`{}` can't be {action}: {}", path.display(), crate::error_text(because))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the kernel says.
        #[source]
        because: io::Error,
    },
    /// What stands in it was not written by this version, or not whole.
    #[error(
        "`{}` is no journal of this version: {reason}; what it says can't be put back. Restart the \
         machine, which undoes all settings, or remove the file to leave them as they are",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The name holds settings already.
    #[error("site `{name}` holds settings of this machine already, by process {process}")]
    Taken {
        /// The name.
        name: String,
        /// Who holds them.
        process: u32,
    },
}

impl JournalError {
    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |because| Self::Io { path, action, because }
    }
}

/// Where the journal is.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// The journal, and nobody else changes it.
#[derive(Debug)]
pub(crate) struct Opened {
    path: PathBuf,
    pub(crate) journal: Journal,
    _lock: File,
}

impl Store {
    /// A journal in this folder, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Whether there is a journal. Without one nothing of the machine is changed.
    pub fn exists(&self) -> bool {
        self.folder.join("journal.json").exists()
    }

    /// Waits until nobody else has it open, and reads it. Of one of
    /// another boot, what that did not undo remains.
    ///
    /// # Errors
    /// It can't be read, or is damaged.
    pub(crate) fn open(&self, boot: &str) -> Result<Opened, JournalError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(JournalError::io(&self.folder, "made"))?;
        let lock_path = self.folder.join("journal.lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags(libc::O_NOFOLLOW);
        let lock = options.open(&lock_path).map_err(JournalError::io(&lock_path, "opened"))?;
        let locked = flock(&lock, FlockOperation::LockExclusive).map_err(io::Error::from);
        locked.map_err(JournalError::io(&lock_path, "locked"))?;
        let path = self.folder.join("journal.json");
        let journal = match read(&path)? {
            Some(journal) if journal.boot == boot => journal,
            Some(journal) => journal.after_reboot(boot),
            None => Journal::empty(boot),
        };
        Ok(Opened { path, journal, _lock: lock })
    }
}

impl Opened {
    /// Writes the journal, whole or not at all, so that it is there after a loss of power.
    pub(crate) fn save(&self) -> Result<(), JournalError> {
        let fresh = self.path.with_extension("new");
        let text = serde_json::to_vec(&self.journal).map_err(io::Error::other);
        let written = text.and_then(|text| {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = options.custom_flags(libc::O_NOFOLLOW).open(&fresh)?;
            file.write_all(&text)?;
            file.sync_all()
        });
        written.map_err(JournalError::io(&fresh, "written"))?;
        let renamed = fs::rename(&fresh, &self.path).and_then(|()| self.sync_folder());
        renamed.map_err(JournalError::io(&self.path, "replaced"))
    }

    /// Writes the journal, or removes it where nothing is changed.
    pub(crate) fn close(&self) -> Result<(), JournalError> {
        if self.journal.is_empty() { self.remove() } else { self.save() }
    }

    fn remove(&self) -> Result<(), JournalError> {
        let removed = match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync_folder(),
        };
        removed.map_err(JournalError::io(&self.path, "removed"))
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(self.path.parent().unwrap_or_else(|| Path::new("/")))?.sync_all()
    }
}

fn read(path: &Path) -> Result<Option<Journal>, JournalError> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(JournalError::io(path, "read"))?,
    };
    let damaged = |reason: String| JournalError::Damaged { path: path.to_owned(), reason };
    if bytes.len() as u64 > BYTES_MAX {
        return Err(damaged(format!("it has more than {BYTES_MAX} bytes")));
    }
    let journal: Journal =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if journal.schema != SCHEMA {
        return Err(damaged(format!("its schema is `{}`, not `{SCHEMA}`", journal.schema)));
    }
    Ok(Some(journal))
}
