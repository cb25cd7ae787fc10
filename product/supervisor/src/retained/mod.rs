//! Retained variables on disk: what survives a restart.
//!
//! ```text
//! "QCRETAIN" │ version │ sequence │ length of table │ table (JSON) │ values │ CRC-32 of all before
//!  8 bytes     u32       u64        u32               names, types    bytes    u32   little-endian
//! ```
//!
//! Two files take turns. Each is written beside its place and renamed, so a process that dies at
//! any moment leaves at least one that is whole; the newest whole one counts. Where the machine
//! itself may die only what was synchronised is sure: such a file is not written over until the
//! other one is synchronised, too.
//!
//! ```text
//! place 0   keep ────────── write  write  write ─ keep ────────── …
//! place 1        write ─ keep ────────────────────────── write ─ …
//! ```
//!
//! The table says what the values are, by name and type, so that they can be given back to another
//! build, and so that a value is never given to a variable of another type.

mod matching;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

pub use matching::{Match, Mismatch, Restored, match_variables};

const MAGIC: &[u8; 8] = b"QCRETAIN";
const VERSION: u32 = 1;
/// The two files.
const NAMES: [&str; 2] = crate::places::RETAINED;
/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 64 << 20;
const HEADER_BYTES: usize = 8 + 4 + 8 + 4;
const CHECKSUM_BYTES: usize = 4;

/// One retained variable: what its value is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its path in the program, such as `servo_DW.position`.
    pub path: String,
    /// Its type in the notation of the symbols, such as `f64` or `i16[4]`.
    pub type_name: String,
    /// Its size.
    pub bytes: u32,
}

/// The values of all retained variables after one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Rises with each snapshot of a partition, over all its restarts.
    pub sequence: u64,
    /// What the values are, in their order.
    pub variables: Vec<Variable>,
    /// The values, one after the other.
    pub values: Vec<u8>,
}

/// Why a snapshot can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RetainError {
    /// The file can't be written or read.
    #[error("the retained values in `{path}` can't be {what}")]
    File {
        /// The file.
        path: String,
        /// `written` or `read`.
        what: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Both files are damaged, so that nobody can say what the values were.
    #[error(
        "both files of retained values in `{folder}` are damaged ({why}); start with `--cold` to \
         begin with initial values"
    )]
    Damaged {
        /// The folder.
        folder: String,
        /// What is wrong with the newer one.
        why: String,
    },
}

/// The two files in a partition's state folder.
#[derive(Debug)]
pub struct RetainFiles {
    folder: PathBuf,
    sequence: u64,
    /// The place that is written next; the other one holds what is sure.
    next: usize,
}

impl RetainFiles {
    /// The files in `folder`, which need not exist yet, and the newest snapshot in them.
    ///
    /// # Errors
    /// [`RetainError::Damaged`] when there are files and none of them is whole.
    pub fn open(folder: &Path) -> Result<(Self, Option<Snapshot>), RetainError> {
        let mut newest: Option<Snapshot> = None;
        let mut damage = None;
        let mut next = 0;
        for (place, name) in NAMES.iter().enumerate() {
            match read(&folder.join(name)) {
                Ok(Some(found)) => {
                    if newest.as_ref().is_none_or(|newest| newest.sequence < found.sequence) {
                        newest = Some(found);
                        next = 1 - place;
                    }
                }
                Ok(None) => {}
                Err(why) => damage = Some(why),
            }
        }
        if let (None, Some(why)) = (&newest, damage) {
            return Err(RetainError::Damaged { folder: folder.display().to_string(), why });
        }
        let sequence = newest.as_ref().map_or(0, |newest| newest.sequence);
        Ok((Self { folder: folder.to_owned(), sequence, next }, newest))
    }

    /// The files in `folder`, whatever they hold; they will be overwritten.
    pub fn begin_anew(folder: &Path) -> Self {
        let anew = Self { folder: folder.to_owned(), sequence: 0, next: 0 };
        Self::open(folder).map_or(anew, |(files, _)| files)
    }

    /// Writes a snapshot over the older of the two and waits until it is on the disk, where it
    /// survives a loss of power. The first one after [`open`](Self::open) must be such a one.
    ///
    /// # Errors
    /// [`RetainError::File`]; the newer snapshot is still whole then.
    pub fn keep(&mut self, variables: &[Variable], values: &[u8]) -> Result<(), RetainError> {
        self.replace(variables, values, true)?;
        self.next = 1 - self.next;
        Ok(())
    }

    /// Writes a snapshot over all since the last [`keep`](Self::keep). It survives the death of
    /// every process, and costs no wait for the disk.
    ///
    /// # Errors
    /// [`RetainError::File`]; the snapshot before is still whole then.
    pub fn write(&mut self, variables: &[Variable], values: &[u8]) -> Result<(), RetainError> {
        self.replace(variables, values, false)
    }

    fn replace(
        &mut self,
        variables: &[Variable],
        values: &[u8],
        sync: bool,
    ) -> Result<(), RetainError> {
        let sequence = self.sequence + 1;
        let bytes = encode(sequence, variables, values);
        let path = self.folder.join(NAMES[self.next]);
        write_whole(&self.folder, &path, &bytes, sync).map_err(|source| RetainError::File {
            path: path.display().to_string(),
            what: "written",
            source,
        })?;
        self.sequence = sequence;
        Ok(())
    }

    /// Forgets all values: an origin restart.
    ///
    /// # Errors
    /// [`RetainError::File`] when a file can't be removed.
    pub fn forget(&mut self) -> Result<(), RetainError> {
        for name in NAMES {
            let path = self.folder.join(name);
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    let path = path.display().to_string();
                    return Err(RetainError::File { path, what: "removed", source });
                }
            }
        }
        Ok(())
    }
}

fn write_whole(folder: &Path, path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let beside = path.with_extension("new");
    fs::create_dir_all(folder)?;
    let mut file = create_anew(&beside)?;
    file.write_all(bytes)?;
    if sync {
        file.sync_data()?;
    }
    fs::rename(beside, path)?;
    if sync {
        // The new name, too.
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// A new file in the place of whatever a process that died may have left there.
fn create_anew(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            File::create_new(path)
        }
        created => created,
    }
}

fn encode(sequence: u64, variables: &[Variable], values: &[u8]) -> Vec<u8> {
    let table = serde_json::to_vec(variables).expect("names and numbers can be written");
    let table_bytes = u32::try_from(table.len()).expect("the number of variables is limited");
    let mut bytes = Vec::with_capacity(HEADER_BYTES + table.len() + values.len() + CHECKSUM_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&sequence.to_le_bytes());
    bytes.extend_from_slice(&table_bytes.to_le_bytes());
    bytes.extend_from_slice(&table);
    bytes.extend_from_slice(values);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The snapshot in a file; `None` where there is no file. The error says what is damaged.
fn read(path: &Path) -> Result<Option<Snapshot>, String> {
    // A pipe must not make anyone wait, and a link not lead elsewhere.
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
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
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    decode(&bytes).map(Some).ok_or_else(|| format!("`{}` is not whole", path.display()))
}

fn decode(bytes: &[u8]) -> Option<Snapshot> {
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (magic, rest) = content.split_first_chunk::<8>()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (sequence, rest) = rest.split_first_chunk::<8>()?;
    let (table_bytes, rest) = rest.split_first_chunk::<4>()?;
    if magic != MAGIC || u32::from_le_bytes(*version) != VERSION {
        return None;
    }
    let (table, values) = rest.split_at_checked(u32::from_le_bytes(*table_bytes) as usize)?;
    let variables: Vec<Variable> = serde_json::from_slice(table).ok()?;
    let bytes: u64 = variables.iter().map(|variable| u64::from(variable.bytes)).sum();
    (bytes == values.len() as u64).then(|| Snapshot {
        sequence: u64::from_le_bytes(*sequence),
        variables,
        values: values.to_vec(),
    })
}
