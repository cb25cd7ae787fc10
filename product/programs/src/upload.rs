//! A program on its way in: an archive, or files one by one.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use quietcore_program::build::RECEIVED_MARK;
use tempfile::TempDir;

use crate::ProgramsError;
use crate::archive;
use crate::error::LimitedQuantity;
use crate::unpacked::{Contents, Unpacked, sync_folder};

/// The most bytes of an archive.
pub const ARCHIVE_BYTES_MAX: u64 = 64 << 20;

const ARCHIVE: &str = "archive";
const FILES: &str = "files";

/// A program on its way in. Dropped before it is kept, it leaves nothing.
#[derive(Debug)]
pub struct Upload {
    program: String,
    folder: TempDir,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Unknown,
    Archive { file: File, bytes: u64 },
    Files(Box<Unpacked>),
}

/// An upload that is whole, and on the disk.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) program: String,
    pub(crate) contents: Contents,
    /// The folder that is to be moved to its place.
    pub(crate) files: PathBuf,
    /// Removes the rest, when all is done.
    pub(crate) _folder: TempDir,
}

impl Upload {
    pub(crate) fn begin(program: &str, incoming: &Path) -> Result<Self, ProgramsError> {
        let folder = TempDir::new_in(incoming).map_err(ProgramsError::io(incoming, "written"))?;
        let files = folder.path().join(FILES);
        std::fs::create_dir(&files).map_err(ProgramsError::io(&files, "made"))?;
        Ok(Self { program: program.to_owned(), folder, way: Way::Unknown })
    }

    /// Begins a file, by its name relative to the folder of the program.
    ///
    /// # Errors
    /// A name that no file may have, a limit that is passed, a full disk.
    pub fn file(&mut self, name: &str) -> Result<(), ProgramsError> {
        let files = self.files();
        if matches!(self.way, Way::Unknown) {
            self.way = Way::Files(Box::new(Unpacked::new(files)));
        }
        match &mut self.way {
            Way::Files(unpacked) => unpacked.begin(name.as_bytes()),
            _ => Err(ProgramsError::Order("a file's name came after parts of an archive")),
        }
    }

    /// Takes the next bytes: of the file that was begun last, or of an archive if none was.
    ///
    /// # Errors
    /// A limit that is passed, a full disk.
    pub fn chunk(&mut self, bytes: &[u8]) -> Result<(), ProgramsError> {
        let path = self.folder.path().join(ARCHIVE);
        if matches!(self.way, Way::Unknown) {
            let mut options = File::options();
            let file = options.read(true).write(true).create_new(true).open(&path);
            let file = file.map_err(ProgramsError::io(&path, "made"))?;
            self.way = Way::Archive { file, bytes: 0 };
        }
        match &mut self.way {
            Way::Archive { file, bytes: before } => {
                *before += bytes.len() as u64;
                if *before > ARCHIVE_BYTES_MAX {
                    let what = LimitedQuantity::Archive;
                    return Err(ProgramsError::Limit { what, most: ARCHIVE_BYTES_MAX });
                }
                file.write_all(bytes).map_err(ProgramsError::io(&path, "written"))
            }
            Way::Files(unpacked) => unpacked.write(bytes),
            Way::Unknown => Ok(()),
        }
    }

    /// Unpacks what has come, marks it as received, and waits for the disk.
    pub(crate) fn finish(self) -> Result<Whole, ProgramsError> {
        let files = self.files();
        let unpacked = match self.way {
            Way::Unknown => return Err(ProgramsError::Empty),
            Way::Files(unpacked) => *unpacked,
            Way::Archive { mut file, .. } => {
                let mut unpacked = Unpacked::new(files.clone());
                archive::unpack(&mut file, &mut unpacked)?;
                unpacked
            }
        };
        let contents = unpacked.finish()?;
        let mark = files.join(RECEIVED_MARK);
        let marked = File::create_new(&mark).and_then(|file| file.sync_all());
        marked.map_err(ProgramsError::io(&mark, "written"))?;
        sync_folder(&files)?;
        Ok(Whole { program: self.program, contents, files, _folder: self.folder })
    }

    fn files(&self) -> PathBuf {
        self.folder.path().join(FILES)
    }
}
