//! Lines over a Unix socket, with limits on their length and on the time they take; a line may
//! carry an open file.
//!
//! A file is sent with the first byte of its line (`SCM_RIGHTS`). A side that doesn't expect any
//! gives the kernel no room for them, and the kernel closes files that come uninvited.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::control::line::LINE_BYTES_MAX;

/// Bytes that the kernel is asked for at once.
const CHUNK_BYTES: usize = 16 << 10;
/// Limit of the files that are taken over in one message.
const FILES_MAX: usize = 4;

/// The times that a side waits.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Wait for the first byte of a line.
    pub begin: Duration,
    /// Wait for the rest of a line, and for the other side to take what is sent.
    pub finish: Duration,
}

/// The error of a connection that can't go on.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The other side has closed it between two lines.
    #[error("the other side has closed the connection")]
    Closed,
    /// It was closed within a line.
    #[error("the connection was cut within a line")]
    Cut,
    /// A line is longer than [`LINE_BYTES_MAX`].
    #[error("a line is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// Nothing came in time.
    #[error("nothing was said for {} s", .0.as_secs())]
    Silent(Duration),
    /// A line began and didn't end in time.
    #[error("a line took longer than {} s", .0.as_secs())]
    Slow(Duration),
    /// The operating system refused.
    #[error("the connection failed")]
    Io(#[from] io::Error),
}

/// One end of a connection.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    patience: Patience,
    /// Bytes that have come and are not read yet.
    buffer: Vec<u8>,
    /// Bytes of the buffer that are known to hold no end of a line.
    searched: usize,
    files: VecDeque<OwnedFd>,
    takes_files: bool,
}

impl Channel {
    /// Makes an end that takes no files.
    pub fn new(stream: UnixStream, patience: Patience) -> Self {
        Self {
            stream,
            patience,
            buffer: Vec::new(),
            searched: 0,
            files: VecDeque::new(),
            takes_files: false,
        }
    }

    /// Makes an end that takes files.
    pub fn taking_files(stream: UnixStream, patience: Patience) -> Self {
        Self { takes_files: true, ..Self::new(stream, patience) }
    }

    /// Changes the times that it waits.
    pub fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Sends a whole line.
    ///
    /// # Errors
    /// [`ChannelError::Io`] when the other side has gone or takes nothing.
    pub fn send(&mut self, line: &[u8]) -> Result<(), ChannelError> {
        self.stream.set_write_timeout(Some(self.patience.finish))?;
        Ok(self.stream.write_all(line)?)
    }

    /// Sends a whole line, and with it a file.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    pub fn send_with(&mut self, line: &[u8], file: BorrowedFd<'_>) -> Result<(), ChannelError> {
        self.stream.set_write_timeout(Some(self.patience.finish))?;
        let files = [file];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(&files)) {
            return Err(io::Error::other("there is no room for the file").into());
        }
        let slices = [IoSlice::new(line)];
        let sent = loop {
            match sendmsg(&self.stream, &slices, &mut ancillary, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                sent => break sent.map_err(io::Error::from)?,
            }
        };
        Ok(self.stream.write_all(&line[sent..])?)
    }

    /// Waits for a line, and returns it without its end.
    ///
    /// # Errors
    /// [`ChannelError`]; the connection is of no use after any of them.
    pub fn receive(&mut self) -> Result<Vec<u8>, ChannelError> {
        let patience = self.patience;
        let mut began = (!self.buffer.is_empty()).then(Instant::now);
        loop {
            if let Some(line) = self.take_line() {
                return Ok(line);
            }
            if self.buffer.len() >= LINE_BYTES_MAX {
                return Err(ChannelError::TooLong);
            }
            let left = match began {
                None => patience.begin,
                Some(began) => patience.finish.saturating_sub(began.elapsed()),
            };
            let late = || match began {
                None => ChannelError::Silent(patience.begin),
                Some(_) => ChannelError::Slow(patience.finish),
            };
            if left.is_zero() {
                return Err(late());
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.read_more() {
                Ok(0) if self.buffer.is_empty() => return Err(ChannelError::Closed),
                Ok(0) => return Err(ChannelError::Cut),
                Ok(_) => {
                    began.get_or_insert_with(Instant::now);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(late()),
                Err(Errno::CONNRESET) => return Err(ChannelError::Closed),
                Err(errno) => return Err(io::Error::from(errno).into()),
            }
        }
    }

    /// Takes the oldest file that has come with a line.
    pub fn take_file(&mut self) -> Option<OwnedFd> {
        self.files.pop_front()
    }

    /// Returns `true` if the other side has closed the connection, or has sent something unasked.
    pub fn is_disturbed(&self) -> bool {
        let mut polled = [rustix::event::PollFd::from_borrowed_fd(
            self.stream.as_fd(),
            rustix::event::PollFlags::IN,
        )];
        let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        !matches!(rustix::event::poll(&mut polled, Some(&now)), Ok(0) | Err(Errno::INTR))
    }

    /// Ends the connection, which is disturbed from then on.
    pub fn hang_up(&self) {
        // One that has ended already is as it should be.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end.map(|end| end + self.searched) else {
            self.searched = self.buffer.len();
            return None;
        };
        let rest = self.buffer.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.pop();
        self.searched = 0;
        Some(line)
    }

    fn read_more(&mut self) -> Result<usize, Errno> {
        let held = self.buffer.len();
        let room = CHUNK_BYTES.min(LINE_BYTES_MAX - held);
        self.buffer.resize(held + room, 0);
        let mut slices = [IoSliceMut::new(&mut self.buffer[held..])];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
        let given = if self.takes_files { &mut space[..] } else { &mut [] };
        let mut ancillary = RecvAncillaryBuffer::new(given);
        let received = recvmsg(&self.stream, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC);
        let read = received.as_ref().map_or(0, |message| message.bytes);
        self.buffer.truncate(held + read);
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        received.map(|message| message.bytes)
    }
}

#[cfg(test)]
mod tests;
