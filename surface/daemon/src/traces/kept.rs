//! Traces that have ended, each a file in the state of the daemon.
//!
//! A file has the messages of `FetchTrace`, each with its length before it, and appears whole or
//! not at all. A number is taken once: the last one is kept beside the files.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prost::Message as _;
use quietcore_api::v1;
use quietcore_api::v1::fetch_trace_response::Content;
use quietcore_evidence::write_whole;
use quietcore_supervisor::places::Places;

use super::TraceError;
use crate::failure::CallError;

/// The most traces that are kept.
pub const TRACES_MAX: usize = 100;
/// The most bytes of all traces that are kept.
pub const TRACES_BYTES_MAX: u64 = 512 << 20;
/// The longest message of a file; names of enumerations are the longest part of one.
const MESSAGE_BYTES_MAX: u64 = 4 << 20;
/// The file of the number that was taken last.
const LAST: &str = "last";
/// The end of the name of a trace's file.
const ENDING: &str = "trace";

/// Makes and returns the folder of traces.
pub(super) fn folder(places: &Places) -> Result<PathBuf, CallError> {
    let folder = places.daemon_state()?.join("traces");
    match fs::create_dir(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(TraceError::at(&folder)(error).into())
        }
        _ => Ok(folder),
    }
}

fn file_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.{ENDING}"))
}

/// Takes the next number.
pub(super) fn take_number(folder: &Path) -> Result<u64, TraceError> {
    let path = folder.join(LAST);
    let last = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
    // Without that file, or with a damaged one, those that are kept are the ones that are known.
    let number = last.max(numbers(folder)?.pop()).unwrap_or(0) + 1;
    write_whole(&path, number.to_string().as_bytes())
        .map_err(|error| TraceError::at(&path)(error.source))?;
    Ok(number)
}

/// Returns the numbers of the traces that are kept, the oldest first.
pub(super) fn numbers(folder: &Path) -> Result<Vec<u64>, TraceError> {
    let entries = fs::read_dir(folder).map_err(TraceError::at(folder))?.flatten();
    let number = |entry: fs::DirEntry| {
        let path = PathBuf::from(entry.file_name());
        let is_trace = path.extension().is_some_and(|ending| ending == ENDING);
        is_trace.then(|| path.file_stem()?.to_str()?.parse().ok())?
    };
    let mut numbers: Vec<u64> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Writes a trace that has ended.
pub(super) fn write(
    folder: &Path,
    trace: &v1::Trace,
    chunks: &[Arc<v1::TraceRows>],
) -> Result<(), TraceError> {
    let path = file_of(folder, trace.number);
    let first = message(Content::Trace(trace.clone()));
    let rows = chunks.iter().map(|chunk| message(Content::Rows(v1::TraceRows::clone(chunk))));
    let bytes: Vec<u8> = std::iter::once(first)
        .chain(rows)
        .flat_map(|message| message.encode_length_delimited_to_vec())
        .collect();
    write_whole(&path, &bytes).map_err(|error| TraceError::at(&path)(error.source))
}

/// Removes the oldest traces beyond [`TRACES_MAX`] and [`TRACES_BYTES_MAX`]. The one that can't be
/// removed is tried again after the next trace.
pub(super) fn remove_surplus(folder: &Path) -> Result<(), TraceError> {
    let (mut count, mut bytes) = (0, 0);
    for number in numbers(folder)?.into_iter().rev() {
        let path = file_of(folder, number);
        count += 1;
        bytes += fs::metadata(&path).map_or(0, |found| found.len());
        if count > TRACES_MAX || bytes > TRACES_BYTES_MAX {
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

/// Removes the file of a trace; [`TraceError::NoTrace`] if there is none.
pub(super) fn remove(folder: &Path, number: u64) -> Result<(), TraceError> {
    let path = file_of(folder, number);
    fs::remove_file(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => TraceError::NoTrace { number },
        _ => TraceError::at(&path)(error),
    })
}

/// The file of a trace, read message by message.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    reader: BufReader<File>,
    trace: v1::Trace,
}

impl TraceFile {
    /// Opens the file of a trace and reads what it is.
    ///
    /// # Errors
    /// [`TraceError::NoTrace`] and [`TraceError::Damaged`].
    pub(super) fn open(folder: &Path, number: u64) -> Result<Self, TraceError> {
        let path = file_of(folder, number);
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => TraceError::NoTrace { number },
            _ => TraceError::at(&path)(error),
        })?;
        let mut reader = BufReader::new(file);
        let trace = match read(&mut reader) {
            Ok(Some(Content::Trace(trace))) if trace.number == number => trace,
            Ok(_) => return Err(TraceError::Damaged { path, source: no_trace() }),
            Err(source) => return Err(TraceError::Damaged { path, source }),
        };
        Ok(Self { path, reader, trace })
    }

    pub(super) fn trace(&self) -> &v1::Trace {
        &self.trace
    }

    /// Returns the messages of the file, that of the trace first; the last one is an error if the
    /// file is damaged.
    pub(super) fn messages(
        self,
    ) -> impl Iterator<Item = Result<v1::FetchTraceResponse, TraceError>> + use<> {
        let Self { path, mut reader, trace } = self;
        let first = std::iter::once(Ok(message(Content::Trace(trace))));
        let mut is_over = false;
        let rest = std::iter::from_fn(move || {
            let next = if is_over { None } else { read(&mut reader).transpose() };
            is_over = !matches!(next, Some(Ok(_)));
            let damaged = |source| TraceError::Damaged { path: path.clone(), source };
            next.map(|next| next.map(message).map_err(damaged))
        });
        first.chain(rest)
    }
}

pub(super) fn message(content: Content) -> v1::FetchTraceResponse {
    v1::FetchTraceResponse { content: Some(content) }
}

fn no_trace() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it does not begin with its trace")
}

/// Reads the next message; `None` at the end of the file.
fn read(reader: &mut impl Read) -> io::Result<Option<Content>> {
    let Some(bytes) = read_length(reader)? else { return Ok(None) };
    let damaged = |told: String| io::Error::new(io::ErrorKind::InvalidData, told);
    if bytes > MESSAGE_BYTES_MAX {
        return Err(damaged(format!("a message has {bytes} bytes, {MESSAGE_BYTES_MAX} at most")));
    }
    let mut message = Vec::new();
    if reader.take(bytes).read_to_end(&mut message)? as u64 != bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let read = v1::FetchTraceResponse::decode(message.as_slice());
    match read.map_err(|error| damaged(error.to_string()))?.content {
        Some(content) => Ok(Some(content)),
        None => Err(damaged("a message is empty".to_owned())),
    }
}

/// Reads the length of a message: seven bits a byte, the lowest first, as protocol buffers have it.
fn read_length(reader: &mut impl Read) -> io::Result<Option<u64>> {
    let mut length = 0;
    for place in 0..4 {
        let mut byte = [0];
        if reader.read(&mut byte)? == 0 {
            return if place == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        length |= u64::from(byte[0] & 0x7f) << (7 * place);
        if byte[0] < 0x80 {
            return Ok(Some(length));
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "the length of a message has no end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_one(folder: &Path, number: u64) {
        let trace = v1::Trace { number, ..v1::Trace::default() };
        write(folder, &trace, &[]).expect("the folder is ours");
    }

    #[test]
    fn a_number_is_taken_once_also_if_its_file_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(take_number(folder.path()).expect("a number"), 1);
        assert_eq!(take_number(folder.path()).expect("a number"), 2);
        write_one(folder.path(), 7);
        fs::write(folder.path().join(LAST), "nonsense").expect("the file is ours");
        assert_eq!(take_number(folder.path()).expect("a number"), 8);
        remove(folder.path(), 7).expect("it is there");
        assert_eq!(take_number(folder.path()).expect("a number"), 9);
    }

    #[test]
    fn the_oldest_go_beyond_a_limit_and_other_files_are_no_traces() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 1..=TRACES_MAX as u64 + 2 {
            write_one(folder.path(), number);
        }
        fs::write(folder.path().join("x.trace"), "").expect("the folder is ours");
        remove_surplus(folder.path()).expect("the folder is ours");
        let left = numbers(folder.path()).expect("a folder");
        assert_eq!((left.first(), left.len()), (Some(&3), TRACES_MAX));
        let file = File::create(file_of(folder.path(), 50)).expect("the folder is ours");
        file.set_len(TRACES_BYTES_MAX).expect("a sparse file");
        remove_surplus(folder.path()).expect("the folder is ours");
        assert_eq!(numbers(folder.path()).expect("a folder").first(), Some(&51));
    }

    #[test]
    fn bytes_that_are_no_messages_are_an_error_and_no_memory() {
        for bytes in [&[0x80][..], &[0xff; 8], &[0xff, 0xff, 0xff, 0x7f], &[3, 1], &[0]] {
            read(&mut &*bytes).expect_err("it is no message");
        }
        assert_eq!(read(&mut &[][..]).expect("an end"), None);
    }
}
