//! Remarks of a real-time process for people: lines that whoever started it keeps.
//!
//! A remark is made without allocation and without a lock of the C library, since a program that
//! was cancelled inside of that library may hold one for ever. It goes to a descriptor of its own,
//! beside what the program prints.

use std::fmt::{self, Write as _};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

/// The most that is written in one piece, which the kernel doesn't mix with others (`PIPE_BUF`).
const PIECE_BYTES_MAX: usize = 4096;

/// The file that remarks go to, where that is not the standard error.
static FILE: OnceLock<OwnedFd> = OnceLock::new();

/// Sends all remarks to `file` from now on. Only the first call counts.
pub fn send_to(file: OwnedFd) {
    let _ = FILE.set(file);
}

/// Says a line: what has several, as a panic's message, is one. Where nobody listens any more
/// nothing is said, and nobody panics for that.
pub fn remark(text: fmt::Arguments<'_>) {
    let standard_error = io::stderr();
    let file = FILE.get().map_or_else(|| standard_error.as_fd(), OwnedFd::as_fd);
    say(text, |piece| write_all(file, piece));
}

fn say(text: fmt::Arguments<'_>, write: impl FnMut(&[u8])) {
    let mut line = Line::new(write);
    // It fails only where a value can't be shown, and then what came before is said.
    let _ = write!(line, "{text}");
    line.end();
}

fn write_all(file: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            // There is nobody to be told.
            Err(_) => return,
        }
    }
}

/// A line on its way, in pieces as large as possible.
struct Line<W: FnMut(&[u8])> {
    bytes: [u8; PIECE_BYTES_MAX],
    length: usize,
    write: W,
}

impl<W: FnMut(&[u8])> Line<W> {
    fn new(write: W) -> Self {
        Self { bytes: [0; PIECE_BYTES_MAX], length: 0, write }
    }

    fn end(&mut self) {
        if self.length == self.bytes.len() {
            self.flush();
        }
        self.bytes[self.length] = b'\n';
        self.length += 1;
        self.flush();
    }

    fn flush(&mut self) {
        (self.write)(&self.bytes[..self.length]);
        self.length = 0;
    }
}

impl<W: FnMut(&[u8])> fmt::Write for Line<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut left = text.as_bytes();
        while !left.is_empty() {
            if self.length == self.bytes.len() {
                self.flush();
            }
            let room = &mut self.bytes[self.length..];
            let taken = room.len().min(left.len());
            room[..taken].copy_from_slice(&left[..taken]);
            room[..taken].iter_mut().filter(|byte| **byte == b'\n').for_each(|end| *end = b' ');
            self.length += taken;
            left = &left[taken..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: fmt::Arguments<'_>) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        say(text, |piece| pieces.push(piece.to_vec()));
        pieces
    }

    #[test]
    fn a_remark_comes_in_one_piece() {
        let line = pieces(format_args!("build {} is refused: {}", 7, "why"));
        assert_eq!(line, [b"build 7 is refused: why\n".to_vec()]);
    }

    #[test]
    fn a_remark_of_several_lines_is_one_line() {
        let line = pieces(format_args!("panicked at {}:\n{}", "a.rs:7:1", "it is\nodd"));
        assert_eq!(line, [b"panicked at a.rs:7:1: it is odd\n".to_vec()]);
    }

    #[test]
    fn a_long_remark_is_whole() {
        for length in [3 * PIECE_BYTES_MAX, PIECE_BYTES_MAX - 1, PIECE_BYTES_MAX + 1] {
            let long = "x".repeat(length);
            let pieces = pieces(format_args!("{long}"));
            assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES_MAX));
            assert_eq!(pieces.concat(), format!("{long}\n").into_bytes());
        }
    }

    #[test]
    fn a_remark_is_lost_where_the_pipe_is_closed() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        write_all(writer.as_fd(), b"nobody hears this");
    }
}
