//! Lines from a process through a pipe. Each is awaited for a limited time and has a limited
//! length.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read, Write as _};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use quietcore_units::ByteSize;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// The lines of a process, on the host's side.
#[derive(Debug)]
pub(crate) struct Lines<R = PipeReader> {
    pipe: R,
    kept: Vec<u8>,
    /// Bytes of these that hold no end of a line.
    searched: usize,
    bytes_max: ByteSize,
}

impl<R: Read + AsFd> Lines<R> {
    /// Makes a reader of lines of `bytes_max` at most.
    pub(crate) fn new(pipe: R, bytes_max: ByteSize) -> Self {
        Self { pipe, kept: Vec::new(), searched: 0, bytes_max }
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    /// [`TimedOut`](io::ErrorKind::TimedOut) when none has come within `limit`, and the errors of
    /// the pipe.
    pub(crate) fn next(&mut self, limit: Duration) -> io::Result<Option<Vec<u8>>> {
        let end = Instant::now() + limit;
        loop {
            let unsearched = self.kept.iter().skip(self.searched);
            if let Some(place) = unsearched.copied().position(|byte| byte == b'\n') {
                let rest = self.kept.split_off(self.searched + place + 1);
                self.searched = 0;
                return Ok(Some(std::mem::replace(&mut self.kept, rest)));
            }
            self.searched = self.kept.len();
            if self.kept.len() as u64 > self.bytes_max.get() {
                return Err(io::Error::other("an answer without an end"));
            }
            let left = end.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            let mut watched = [PollFd::new(&self.pipe, PollFlags::IN)];
            match poll(&mut watched, Some(&timeout)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            let mut bytes = [0; READ_BYTES];
            match self.pipe.read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(count) => self.kept.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Opens a pipe in the process, by the number that its job names.
pub(crate) fn open(number: u32, options: &OpenOptions) -> Result<File, String> {
    let path = format!("/proc/self/fd/{number}");
    options.open(&path).map_err(|error| format!("`{path}`: {error}"))
}

/// Returns a function that sends a line through a pipe, for the process.
pub(crate) fn sender(number: u32) -> Result<impl FnMut(Vec<u8>) -> io::Result<()>, String> {
    let mut pipe = open(number, OpenOptions::new().write(true))?;
    Ok(move |mut line: Vec<u8>| {
        line.push(b'\n');
        pipe.write_all(&line)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write as _};

    use super::*;

    fn lines() -> (PipeWriter, Lines) {
        let (pipe, writer) = io::pipe().unwrap();
        (writer, Lines::new(pipe, ByteSize::new(64 << 10)))
    }

    #[test]
    fn lines_come_one_by_one_and_the_end_is_seen() {
        let (mut writer, mut lines) = lines();
        writer.write_all(b"one\ntwo\nthr").unwrap();
        let mut line = || lines.next(Duration::from_secs(1));
        assert_eq!(line().unwrap().as_deref(), Some(&b"one\n"[..]));
        assert_eq!(line().unwrap().as_deref(), Some(&b"two\n"[..]));
        writer.write_all(b"ee\n").unwrap();
        assert_eq!(line().unwrap().as_deref(), Some(&b"three\n"[..]));
        drop(writer);
        assert_eq!(line().unwrap(), None);
    }

    #[test]
    fn who_says_nothing_or_without_end_is_not_waited_for() {
        let (mut writer, mut lines) = lines();
        let silent = lines.next(Duration::from_millis(20)).unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        let endless = std::thread::spawn(move || while writer.write_all(&[b'x'; 4096]).is_ok() {});
        let error = lines.next(Duration::from_secs(10)).unwrap_err();
        assert!(error.to_string().contains("without an end"));
        drop(lines);
        endless.join().unwrap();
    }
}
