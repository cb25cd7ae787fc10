//! The files of an upload: written below one folder, within limits, and summed up.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::ProgramsError;
use crate::error::LimitedQuantity;
use crate::name::{EntryName, NameProblem};

/// The most bytes of all files of a program.
pub const UNPACKED_BYTES_MAX: u64 = 512 << 20;
/// The most bytes that an archive unpacks to for each byte of its own, beside 1 MiB.
pub const RATIO_MAX: u64 = 200;
/// Bytes that any archive may unpack to, however small it is.
pub(crate) const FREE_BYTES: u64 = 1 << 20;
/// The most files and folders of a program.
pub const FILE_COUNT_MAX: u64 = 10_000;

/// Room that a file takes beside its bytes.
pub(crate) const FILE_ROOM_BYTES: u64 = 4 << 10;

const CHUNK_BYTES: usize = 64 << 10;

/// The sum over all files of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    /// SHA-256 of names and contents, in hexadecimal digits.
    pub(crate) sha256: String,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Contents {
    /// Returns the room that they take, in bytes.
    pub(crate) fn room_bytes(&self) -> u64 {
        self.bytes.saturating_add(self.files.saturating_mul(FILE_ROOM_BYTES))
    }
}

/// Files as they are unpacked.
#[derive(Debug)]
pub(crate) struct Unpacked {
    folder: PathBuf,
    /// The most bytes of all files, and the limit that it follows from.
    bytes_max: (u64, LimitedQuantity, u64),
    entries: u64,
    bytes: u64,
    /// Length and SHA-256 of each file.
    sums: BTreeMap<EntryName, (u64, [u8; 32])>,
    folders: HashSet<PathBuf>,
    open: Option<(EntryName, File, Sha256, u64)>,
}

impl Unpacked {
    /// Begins to unpack into a folder that is empty.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            bytes_max: (UNPACKED_BYTES_MAX, LimitedQuantity::Unpacked, UNPACKED_BYTES_MAX),
            entries: 0,
            bytes: 0,
            sums: BTreeMap::new(),
            folders: HashSet::new(),
            open: None,
        }
    }

    /// Limits what comes of an archive of so many bytes.
    pub(crate) fn limit_to_archive(&mut self, archive_bytes: u64) {
        let most = FREE_BYTES + archive_bytes.saturating_mul(RATIO_MAX);
        if most < UNPACKED_BYTES_MAX {
            self.bytes_max = (most, LimitedQuantity::Ratio, RATIO_MAX);
        }
    }

    /// Returns the most bytes that all files may have.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max.0
    }

    /// Returns the error of an archive that can't be read, or holds more bytes than that.
    pub(crate) fn unreadable(&self, error: &io::Error) -> ProgramsError {
        match error.kind() {
            io::ErrorKind::FileTooLarge => self.too_large(),
            _ => ProgramsError::Archive { why: error.to_string() },
        }
    }

    fn too_large(&self) -> ProgramsError {
        let (_, what, most) = self.bytes_max;
        ProgramsError::Limit { what, most }
    }

    /// Makes a folder; an archive may name it again.
    pub(crate) fn folder(&mut self, name: &[u8]) -> Result<(), ProgramsError> {
        self.count()?;
        // The folder of the archive itself is there.
        if name.iter().all(|byte| b"./".contains(byte)) && !name.windows(2).any(|two| two == b"..")
        {
            return Ok(());
        }
        let checked = checked(name)?;
        self.make_folder(&checked, &checked.below(&self.folder))
    }

    /// Writes a file of an archive.
    pub(crate) fn file(
        &mut self,
        name: &[u8],
        content: &mut dyn Read,
    ) -> Result<(), ProgramsError> {
        self.begin(name)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match content.read(&mut chunk).map_err(|error| self.unreadable(&error))? {
                0 => return self.end(),
                read => self.write(&chunk[..read])?,
            }
        }
    }

    /// Begins a file, and ends the one before.
    pub(crate) fn begin(&mut self, name: &[u8]) -> Result<(), ProgramsError> {
        self.end()?;
        self.count()?;
        let name = checked(name)?;
        let path = name.below(&self.folder);
        let above = path.parent().unwrap_or(&self.folder).to_owned();
        self.make_folder(&name, &above)?;
        let file = match File::create_new(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(twice(&name));
            }
            Err(error) => return Err(ProgramsError::io(&path, "made")(error)),
        };
        self.open = Some((name, file, Sha256::new(), 0));
        Ok(())
    }

    /// Writes to the file that was begun last.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ProgramsError> {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.bytes_max.0 {
            return Err(self.too_large());
        }
        let Some((name, file, sum, length)) = &mut self.open else {
            return Err(ProgramsError::Order("content came before the name of its file"));
        };
        sum.update(bytes);
        *length += bytes.len() as u64;
        let path = name.below(&self.folder);
        file.write_all(bytes).map_err(ProgramsError::io(&path, "written"))
    }

    /// Ends the file that was begun last, if any, on the disk.
    pub(crate) fn end(&mut self) -> Result<(), ProgramsError> {
        let Some((name, file, sum, length)) = self.open.take() else { return Ok(()) };
        let path = name.below(&self.folder);
        file.sync_all().map_err(ProgramsError::io(&path, "written"))?;
        self.sums.insert(name, (length, sum.finalize().into()));
        Ok(())
    }

    /// Ends all, on the disk, and returns what came of it.
    pub(crate) fn finish(mut self) -> Result<Contents, ProgramsError> {
        self.end()?;
        if self.sums.is_empty() {
            return Err(ProgramsError::Empty);
        }
        for folder in self.folders.iter().chain([&self.folder]) {
            sync_folder(folder)?;
        }
        let mut all = Sha256::new();
        for (name, (length, sum)) in &self.sums {
            let name = name.as_str();
            // With its length before each name, no two lists look alike.
            all.update((name.len() as u64).to_le_bytes());
            all.update(name.as_bytes());
            all.update(length.to_le_bytes());
            all.update(sum);
        }
        let digits = all.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let files = self.sums.len() as u64;
        Ok(Contents { sha256: digits, files, bytes: self.bytes })
    }

    fn count(&mut self) -> Result<(), ProgramsError> {
        self.entries += 1;
        if self.entries > FILE_COUNT_MAX {
            let what = LimitedQuantity::Files;
            return Err(ProgramsError::Limit { what, most: FILE_COUNT_MAX });
        }
        Ok(())
    }

    fn make_folder(&mut self, name: &EntryName, path: &Path) -> Result<(), ProgramsError> {
        if path == self.folder || self.folders.contains(path) {
            return Ok(());
        }
        if let Some(above) = path.parent() {
            self.make_folder(name, above)?;
        }
        match fs::create_dir(path) {
            Ok(()) => {
                self.folders.insert(path.to_owned());
                Ok(())
            }
            // A file has the name of the folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(twice(name)),
            Err(error) => Err(ProgramsError::io(path, "made")(error)),
        }
    }
}

/// Checks a name, and cuts what is told of a bad one.
pub(crate) fn checked(name: &[u8]) -> Result<EntryName, ProgramsError> {
    EntryName::check(name).map_err(|problem| {
        let name: String = String::from_utf8_lossy(name).chars().take(120).collect();
        ProgramsError::FileName { name, problem }
    })
}

fn twice(name: &EntryName) -> ProgramsError {
    ProgramsError::FileName { name: name.as_str().to_owned(), problem: NameProblem::Twice }
}

/// Writes a folder's list of names to the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), ProgramsError> {
    let opened = File::open(folder).and_then(|folder| folder.sync_all());
    opened.map_err(ProgramsError::io(folder, "written"))
}
