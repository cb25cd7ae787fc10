//! Retained variables on disk, where they survive a restart.
//!
//! ```text
//! "QCRETAIN" │ version │ sequence │ length of table │ table (JSON) │ values │ CRC-32 of all before
//!  8 bytes     u32       u64        u32               names, types    bytes    u32   little-endian
//! ```
//!
//! Two files take turns. Each is written beside its place and renamed, so a process that dies at
//! any moment leaves at least one whole file; the newest whole one counts. If the machine itself
//! dies, only a synchronised file is sure to survive: such a file is not overwritten until the
//! other one is synchronised, too.
//!
//! ```text
//! place 0   keep ────────── write  write  write ─ keep ────────── …
//! place 1        write ─ keep ────────────────────────── write ─ …
//! ```
//!
//! The table gives the name and type of each value, so that values can be given back to another
//! build, and never to a variable of another type.

mod matching;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::world::Storage;
pub(crate) use matching::{Mismatch, match_variables};

const MAGIC: &[u8; 8] = b"QCRETAIN";
const VERSION: u32 = 1;
/// Names of the two files.
const NAMES: [&str; 2] = crate::places::RETAINED;
/// Limit of the size of a file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;
const HEADER_BYTES: usize = 8 + 4 + 8 + 4;
const CHECKSUM_BYTES: usize = 4;

/// The description of one retained value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Variable {
    /// Path of the variable in the program, such as `servo_DW.position`.
    pub(crate) path: String,
    /// Type in the notation of the symbols, such as `f64` or `i16[4]`.
    pub(crate) type_name: String,
    /// Size of the value in bytes.
    pub(crate) bytes: u32,
}

/// The values of all retained variables after one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Number that rises with each snapshot of a partition, over all its restarts.
    pub(crate) sequence: u64,
    /// Descriptions of the values, in their order.
    pub(crate) variables: Vec<Variable>,
    /// Bytes of the values, one after the other.
    pub(crate) values: Vec<u8>,
}

/// The error of files of retained values.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RetainError {
    /// A file can't be written or removed.
    #[error("the retained values in `{path}` can't be {what}")]
    File {
        /// Path of the file.
        path: String,
        /// The attempt that failed: `written` or `removed`.
        what: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Both files are damaged, so the values are lost.
    #[error(
        "both files of retained values in `{folder}` are damaged ({why}); start with `--cold` to \
         begin with initial values"
    )]
    Damaged {
        /// Folder of the two files.
        folder: String,
        /// Damage of one of them, in words.
        why: String,
    },
}

/// The two files in a partition's state folder.
#[derive(Debug)]
pub(crate) struct RetainFiles {
    storage: Arc<dyn Storage>,
    folder: PathBuf,
    sequence: u64,
    /// Index of the file that is written next; the other one may hold a synchronised snapshot.
    next: usize,
    /// `true` if the other one is known to be synchronised.
    is_sure: bool,
}

impl RetainFiles {
    /// Opens the files in `folder`, which need not exist yet, and returns the newest snapshot in
    /// them.
    ///
    /// # Errors
    /// [`RetainError::Damaged`] when there are files and none of them is whole.
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        folder: &Path,
    ) -> Result<(Self, Option<Snapshot>), RetainError> {
        // A process that died may have left one half written.
        let _ = storage.remove(&folder.join(NAMES[0]).with_extension("new"));
        let mut newest: Option<Snapshot> = None;
        let mut damage = None;
        let mut next = 0;
        for (place, name) in NAMES.iter().enumerate() {
            match read(&*storage, &folder.join(name)) {
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
        let folder = folder.to_owned();
        Ok((Self { storage, folder, sequence, next, is_sure: false }, newest))
    }

    /// Opens the files in `folder`, whatever they hold; they will be overwritten.
    pub(crate) fn begin_anew(storage: Arc<dyn Storage>, folder: &Path) -> Self {
        let own = Arc::clone(&storage);
        let folder_own = folder.to_owned();
        let anew = Self { storage: own, folder: folder_own, sequence: 0, next: 0, is_sure: false };
        Self::open(storage, folder).map_or(anew, |(files, _)| files)
    }

    /// Writes a snapshot over the older of the two and waits until it is on the disk, where it
    /// survives a loss of power. The first write after [`open`](Self::open) must be such a one.
    ///
    /// # Errors
    /// [`RetainError::File`]; the newer snapshot is still whole then.
    pub(crate) fn keep(
        &mut self,
        variables: &[Variable],
        values: &[u8],
    ) -> Result<(), RetainError> {
        self.replace(variables, values, true)?;
        self.next = 1 - self.next;
        self.is_sure = true;
        Ok(())
    }

    /// Writes a snapshot over any since the last [`keep`](Self::keep). It survives the death of
    /// every process, and costs no wait for the disk.
    ///
    /// # Errors
    /// [`RetainError::File`]; the previous snapshot is still whole then.
    pub(crate) fn write(
        &mut self,
        variables: &[Variable],
        values: &[u8],
    ) -> Result<(), RetainError> {
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
        write_whole(&*self.storage, &path, &bytes, sync).map_err(|source| RetainError::File {
            path: path.display().to_string(),
            what: "written",
            source,
        })?;
        self.sequence = sequence;
        Ok(())
    }

    /// Returns `true` if there is a snapshot on the disk that [`write`](Self::write) leaves as it
    /// is. Otherwise the next one must be [kept](Self::keep).
    pub(crate) fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// Forgets all values, as an origin restart does.
    ///
    /// # Errors
    /// [`RetainError::File`] when a file can't be removed.
    pub(crate) fn forget(&mut self) -> Result<(), RetainError> {
        self.is_sure = false;
        for name in NAMES {
            let path = self.folder.join(name);
            match self.storage.remove(&path) {
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

fn write_whole(storage: &dyn Storage, path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let beside = path.with_extension("new");
    let folder = path.parent().unwrap_or(Path::new("."));
    storage.make_folder(folder)?;
    let written = storage.write_anew(&beside, bytes, sync);
    written.and_then(|()| storage.rename(&beside, path)).inspect_err(|_| {
        // A file that is cut off is of no use to anybody, and a full disk needs its room.
        let _ = storage.remove(&beside);
    })?;
    // The new name must be on the disk, too.
    if sync { storage.sync_folder(folder) } else { Ok(()) }
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

/// Reads the snapshot in a file; `None` if there is no file. The error is a message that names the
/// damaged file.
fn read(storage: &dyn Storage, path: &Path) -> Result<Option<Snapshot>, String> {
    let Some(bytes) = storage.read(path, FILE_BYTES_MAX)? else { return Ok(None) };
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
