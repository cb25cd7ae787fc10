//! The journal's files: one journal for all sites of a machine, changed by one process at a time.
//!
//! ```text
//! /run/quietcore/@machine/journal.json            what is changed; memory, gone with the boot
//! /var/lib/quietcore/@machine/outlives-boot.json  what a reboot does not undo; only if any is
//! STATE/@machine/journal.json                     of an earlier version: taken over, removed
//! ```
//!
//! Settings are the machine's, and so is their journal: no variable of the environment moves it,
//! and a process in a mount namespace of its own finds it through the machine's first process.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::{Journal, SCHEMA};
use quietcore_host::Source;
use quietcore_host::process::IN_FIRST_NAMESPACE;

/// The largest file that is read: some ten thousand settings.
const BYTES_MAX: u64 = 16 << 20;

/// The folder of the machine's own journal.
const MACHINE: &str = "run/quietcore/@machine";
/// The folder of what outlives a boot.
const LASTING: &str = "var/lib/quietcore/@machine";
/// The machine's file system as its first process sees it.
const FIRST_ROOT: &str = "/proc/1/root";

const JOURNAL: &str = "journal.json";
const LOCK: &str = "journal.lock";
const KEPT: &str = "outlives-boot.json";

/// The journal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused something.
    #[error("`{}` can't be {action}: {}", path.display(), quietcore_host::error_text(because))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The action that failed.
        action: &'static str,
        /// The error of the kernel.
        because: io::Error,
    },
    /// Somebody else could have written it.
    #[error("`{}` {problem}, and what it says is written to the machine's settings; remove it",
        path.display())]
    Foreign {
        /// Path of the folder.
        path: PathBuf,
        /// The problem, as the rest of a sentence.
        problem: String,
    },
    /// The content was not written by this version, or not whole.
    #[error(
        "`{}` is no journal of this version: {reason}; what it says can't be put back. Restart the \
         machine, which undoes all settings, or remove the file to leave them as they are",
        path.display()
    )]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// The problem, as the rest of a sentence.
        reason: String,
    },
    /// The name holds settings already.
    #[error("site `{name}` holds settings of this machine already, by process {process}")]
    Taken {
        /// The name that is taken.
        name: String,
        /// The process that holds the settings.
        process: u32,
    },
}

impl JournalError {
    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |because| Self::Io { path, action, because }
    }
}

/// The folders in which journals are kept.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    /// Folder for what outlives a boot; `None` where `folder` outlives it, too.
    lasting: Option<PathBuf>,
    /// Folders in which earlier versions had journals.
    earlier: Vec<PathBuf>,
}

/// The journal, and nobody else changes it.
#[derive(Debug)]
pub(crate) struct Opened {
    path: PathBuf,
    kept: Option<PathBuf>,
    /// Journals of earlier versions, which are part of it now.
    taken_over: Vec<(PathBuf, File)>,
    pub(crate) journal: Journal,
    _lock: File,
}

impl Store {
    /// A journal in this folder, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), lasting: None, earlier: Vec::new() }
    }

    /// The journal of this machine. `earlier` is where an earlier version may have left another.
    pub fn of_machine(earlier: PathBuf) -> Self {
        let root = root(&Source::live());
        Self::below(&root, earlier)
    }

    fn below(root: &Path, earlier: PathBuf) -> Self {
        let lasting = root.join(LASTING);
        let mut all = vec![lasting.clone()];
        if earlier != lasting {
            all.push(earlier);
        }
        Self { folder: root.join(MACHINE), lasting: Some(lasting), earlier: all }
    }

    /// Returns `true` if there is a journal. Without one nothing of the machine is changed.
    pub fn exists(&self) -> bool {
        let earlier = self.earlier.iter().map(|folder| folder.join(JOURNAL));
        let kept = self.lasting.iter().map(|folder| folder.join(KEPT));
        earlier.chain(kept).chain([self.folder.join(JOURNAL)]).any(|path| path.exists())
    }

    /// Waits until nobody else has it open, and reads it. Of one of
    /// another boot, what that did not undo remains.
    ///
    /// # Errors
    /// It can't be read, is damaged, or somebody else could have written it.
    pub(crate) fn open(&self, boot: &str) -> Result<Opened, JournalError> {
        make_own(&self.folder)?;
        let lock = lock(&self.folder)?;
        let path = self.folder.join(JOURNAL);
        let kept = self.lasting.as_ref().map(|folder| folder.join(KEPT));
        let journal = match (read(&path)?, &kept) {
            (Some(journal), _) if journal.boot == boot => journal,
            (Some(journal), None) => journal.after_reboot(boot),
            (None, None) => Journal::empty(boot),
            // Of this boot it is what a removed journal has left: all of it was put back.
            (_, Some(kept)) => match read(kept)? {
                Some(journal) if journal.boot != boot => journal.after_reboot(boot),
                _ => Journal::empty(boot),
            },
        };
        let mut opened = Opened { path, kept, taken_over: Vec::new(), journal, _lock: lock };
        for folder in &self.earlier {
            opened.take_over(folder, boot)?;
        }
        Ok(opened)
    }
}

impl Opened {
    /// Makes the journal that an earlier version has left in a folder part of this one.
    fn take_over(&mut self, folder: &Path, boot: &str) -> Result<(), JournalError> {
        let path = folder.join(JOURNAL);
        if !path.exists() {
            return Ok(());
        }
        check_own(folder)?;
        let lock = lock(folder)?;
        let Some(earlier) = read(&path)? else { return Ok(()) };
        let is_of_boot = earlier.boot == boot;
        self.journal.adopt(if is_of_boot { earlier } else { earlier.after_reboot(boot) });
        self.taken_over.push((path, lock));
        Ok(())
    }

    /// Writes the journal, whole or not at all. What outlives a boot is on disk before the rest.
    pub(crate) fn save(&self) -> Result<(), JournalError> {
        let lasting = self.journal.lasting();
        if let Some(kept) = self.kept.as_ref().filter(|_| !lasting.is_empty()) {
            if let Some(folder) = kept.parent() {
                make_own(folder)?;
            }
            write(kept, &lasting)?;
        }
        write(&self.path, &self.journal)?;
        if let Some(kept) = self.kept.as_ref().filter(|_| lasting.is_empty()) {
            remove(kept)?;
        }
        self.remove_taken_over()
    }

    /// Writes the journal, or removes it where nothing is changed.
    pub(crate) fn close(&self) -> Result<(), JournalError> {
        if !self.journal.is_empty() {
            return self.save();
        }
        remove(&self.path)?;
        self.kept.as_deref().map_or(Ok(()), remove)?;
        self.remove_taken_over()
    }

    fn remove_taken_over(&self) -> Result<(), JournalError> {
        self.taken_over.iter().try_for_each(|(path, _)| remove(path))
    }
}

/// Returns the root of the machine's file system. A process with a mount namespace of its own has
/// other folders at `/`, and goes through the machine's first process where it can see that one.
fn root(source: &Source) -> PathBuf {
    let namespace = |of: &str, kind: &str| source.link(&format!("/proc/{of}/ns/{kind}"));
    let sees_first = namespace("self", "pid").is_some_and(|it| it == Path::new(IN_FIRST_NAMESPACE));
    let is_elsewhere = match (namespace("self", "mnt"), namespace("1", "mnt")) {
        (Some(own), Some(first)) => own != first,
        _ => false,
    };
    let root = Path::new(FIRST_ROOT);
    let first = source.place(FIRST_ROOT).join("run").is_dir();
    if sees_first && is_elsewhere && first { root.to_owned() } else { PathBuf::from("/") }
}

/// Makes a folder that is this user's alone, or makes sure that the one there is.
fn make_own(folder: &Path) -> Result<(), JournalError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(JournalError::io(folder, "made"))?;
    check_own(folder)
}

/// Refuses a link, another's folder, and one that others may write to: whoever writes the journal
/// has root write what it says.
fn check_own(folder: &Path) -> Result<(), JournalError> {
    let found = fs::symlink_metadata(folder).map_err(JournalError::io(folder, "looked at"))?;
    let user = rustix::process::geteuid().as_raw();
    let problem = if !found.is_dir() {
        "is no folder".to_owned()
    } else if found.uid() != user {
        format!("belongs to user {}, not to user {user}", found.uid())
    } else if found.mode() & 0o022 != 0 {
        format!("may be written by others (mode {:o})", found.mode() & 0o777)
    } else {
        return Ok(());
    };
    Err(JournalError::Foreign { path: folder.to_owned(), problem })
}

/// Waits until nobody else has the journal of a folder open.
fn lock(folder: &Path) -> Result<File, JournalError> {
    let path = folder.join(LOCK);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW);
    let lock = options.open(&path).map_err(JournalError::io(&path, "opened"))?;
    let locked = flock(&lock, FlockOperation::LockExclusive).map_err(io::Error::from);
    locked.map_err(JournalError::io(&path, "locked"))?;
    Ok(lock)
}

/// Writes a journal, whole or not at all, so that it is there after a loss of power.
fn write(path: &Path, journal: &Journal) -> Result<(), JournalError> {
    let fresh = path.with_extension("new");
    let text = serde_json::to_vec(journal).map_err(io::Error::other);
    let written = text.and_then(|text| {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.custom_flags(libc::O_NOFOLLOW).open(&fresh)?;
        file.write_all(&text)?;
        file.sync_all()
    });
    written.map_err(JournalError::io(&fresh, "written"))?;
    let renamed = fs::rename(&fresh, path).and_then(|()| sync_folder(path));
    renamed.map_err(JournalError::io(path, "replaced"))
}

fn remove(path: &Path) -> Result<(), JournalError> {
    let removed = match fs::remove_file(path) {
        Err(error) if is_absent(path, &error) => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder(path),
    };
    removed.map_err(JournalError::io(path, "removed"))
}

/// Returns whether `error` means that there was no file to remove. A read-only file system refuses
/// before it looks for the file.
fn is_absent(path: &Path, error: &io::Error) -> bool {
    let is_not_found = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    is_not_found(error)
        || error.kind() == io::ErrorKind::ReadOnlyFilesystem
            && fs::symlink_metadata(path).err().as_ref().is_some_and(is_not_found)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or_else(|| Path::new("/")))?.sync_all()
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

#[cfg(test)]
mod tests;
