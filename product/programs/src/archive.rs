//! Archives, entry by entry: each name and kind is looked at before anything is written.
//!
//! Headers are as little trusted as contents: what a library would read whole into memory is
//! bounded before the library sees it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek as _, SeekFrom};

use flate2::read::MultiGzDecoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::ProgramsError;
use crate::error::LimitedQuantity;
use crate::name::NameProblem;
use crate::unpacked::{FILE_COUNT_MAX, Unpacked};

/// The most bytes of an extension of a header, such as a long name.
const HEADER_BYTES_MAX: u64 = 64 << 10;
/// Bytes of headers beside those of the files.
const HEADERS_BYTES_MAX: u64 = 4 * 512 * FILE_COUNT_MAX;
/// The bytes that begin each entry of the directory of a `.zip`.
const ZIP_DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";

/// The bits of a mode that tell the kind of a file, and their values.
const KIND_MASK: u32 = 0o170_000;
const KIND_FOLDER: u32 = 0o040_000;
const KIND_FILE: u32 = 0o100_000;
const KIND_LINK: u32 = 0o120_000;

/// Unpacks an archive of any known kind, which its first bytes tell.
pub(crate) fn unpack(file: &mut File, to: &mut Unpacked) -> Result<(), ProgramsError> {
    let unreadable = |error: io::Error| ProgramsError::Archive { why: error.to_string() };
    let bytes = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
    to.limit_to_archive(bytes);
    file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    let mut first = Vec::new();
    Read::by_ref(file).take(512).read_to_end(&mut first).map_err(unreadable)?;
    match &*first {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => unpack_zip(file, to),
        [0x1f, 0x8b, ..] => unpack_tar(file, to, MultiGzDecoder::new),
        header if header.get(257..262) == Some(b"ustar") => unpack_tar(file, to, |file| file),
        _ => Err(ProgramsError::Archive { why: "its first bytes are of no known kind".to_owned() }),
    }
}

fn unpack_tar<R: Read>(
    file: &mut File,
    to: &mut Unpacked,
    decode: impl Fn(BufReader<File>) -> R,
) -> Result<(), ProgramsError> {
    let bytes_max = to.bytes_max() + HEADERS_BYTES_MAX;
    let begin = |file: &mut File| -> io::Result<_> {
        file.seek(SeekFrom::Start(0))?;
        let inner = decode(BufReader::new(file.try_clone()?));
        Ok(tar::Archive::new(BoundedReader { inner, left: bytes_max }))
    };
    let mut archive = begin(file).map_err(|error| to.unreadable(&error))?;
    check_headers(&mut archive, to)?;
    let mut archive = begin(file).map_err(|error| to.unreadable(&error))?;
    for entry in archive.entries().map_err(|error| to.unreadable(&error))? {
        let mut entry = entry.map_err(|error| to.unreadable(&error))?;
        let name = entry.path_bytes().into_owned();
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => {}
            EntryType::Directory => to.folder(&name)?,
            EntryType::Regular | EntryType::Continuous => to.file(&name, &mut entry)?,
            other => return Err(refused(&name, kind_of(other))),
        }
    }
    Ok(())
}

/// Refuses extensions of headers that would be read whole, and too many entries.
fn check_headers<R: Read>(
    archive: &mut tar::Archive<R>,
    to: &Unpacked,
) -> Result<(), ProgramsError> {
    let entries = archive.entries().map_err(|error| to.unreadable(&error))?;
    let mut count = 0;
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(|error| to.unreadable(&error))?;
        count += 1;
        let limit = |what, most| Err(ProgramsError::Limit { what, most });
        // A file has two extensions at most that matter: its name, and that of a link.
        if count > 3 * FILE_COUNT_MAX {
            return limit(LimitedQuantity::Files, FILE_COUNT_MAX);
        }
        let is_extension = matches!(
            entry.header().entry_type(),
            EntryType::GNULongName
                | EntryType::GNULongLink
                | EntryType::XHeader
                | EntryType::XGlobalHeader
        );
        if is_extension && entry.size() > HEADER_BYTES_MAX {
            return limit(LimitedQuantity::Header, HEADER_BYTES_MAX);
        }
        if matches!(entry.header().entry_type(), EntryType::XHeader | EntryType::XGlobalHeader) {
            let mut records = Vec::new();
            entry.read_to_end(&mut records).map_err(|error| to.unreadable(&error))?;
            // The next header would lie elsewhere than this look at them finds it.
            if has_size(&records) {
                let why = "it gives the size of a file twice".to_owned();
                return Err(ProgramsError::Archive { why });
            }
        }
    }
    Ok(())
}

/// Returns `true` if records of an extended header, or what can't be read as such, may give a size.
fn has_size(records: &[u8]) -> bool {
    tar::PaxExtensions::new(records)
        .any(|record| record.map_or(true, |record| record.key_bytes() == b"size"))
}

const fn kind_of(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink => "a symbolic link",
        EntryType::Link => "a hard link",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a pipe",
        EntryType::GNUSparse => "a sparse file",
        _ => "of an unknown kind",
    }
}

fn refused(name: &[u8], kind: &'static str) -> ProgramsError {
    ProgramsError::EntryKind { name: String::from_utf8_lossy(name).into_owned(), kind }
}

fn unpack_zip(file: &mut File, to: &mut Unpacked) -> Result<(), ProgramsError> {
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
    read.map_err(|error| to.unreadable(&error))?;
    // The directory is read whole below, and the number of its entries may be a lie.
    let count = bytes.windows(4).filter(|four| *four == ZIP_DIRECTORY_ENTRY).count() as u64;
    if count > FILE_COUNT_MAX {
        let what = LimitedQuantity::Files;
        return Err(ProgramsError::Limit { what, most: FILE_COUNT_MAX });
    }
    let bad = |error: &zip::result::ZipError| ProgramsError::Archive { why: error.to_string() };
    let mut archive = ZipArchive::new(Cursor::new(&bytes)).map_err(|error| bad(&error))?;
    check_directory(&bytes, archive.central_directory_start())?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| bad(&error))?;
        let name = entry.name_raw().to_owned();
        match entry.unix_mode().map_or(0, |mode| mode & KIND_MASK) {
            KIND_LINK => return Err(refused(&name, kind_of(EntryType::Symlink))),
            0 | KIND_FILE if !entry.is_dir() => to.file(&name, &mut entry)?,
            0 | KIND_FILE | KIND_FOLDER => to.folder(&name)?,
            _ => return Err(refused(&name, "a device or a pipe")),
        }
    }
    Ok(())
}

/// Refuses a directory that names a file twice: of those the library shows the last alone.
fn check_directory(bytes: &[u8], start: u64) -> Result<(), ProgramsError> {
    let mut names = HashSet::new();
    let mut at = usize::try_from(start).unwrap_or(usize::MAX);
    while let Some(entry) = bytes.get(at..).filter(|it| it.starts_with(&ZIP_DIRECTORY_ENTRY)) {
        let length = |at: usize| {
            let bytes = entry.get(at..at + 2).and_then(|two| two.try_into().ok());
            usize::from(u16::from_le_bytes(bytes.unwrap_or_default()))
        };
        let (name_bytes, extra_bytes, comment_bytes) = (length(28), length(30), length(32));
        let name = entry.get(46..46 + name_bytes).unwrap_or_default();
        if !names.insert(name) {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(ProgramsError::FileName { name, problem: NameProblem::Twice });
        }
        at += 46 + name_bytes + extra_bytes + comment_bytes;
    }
    Ok(())
}

/// A reader that fails once more bytes come than there may be.
struct BoundedReader<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        }
        Ok(read)
    }
}
