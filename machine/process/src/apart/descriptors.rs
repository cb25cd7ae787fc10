//! Open files out of a program's reach.
//!
//! A control program prints, and it may close or overwrite whatever number it likes. What its
//! process needs for itself lies at high numbers, which no program meets by accident:
//!
//! | descriptor | of a process that runs a program |
//! |-----------:|----------------------------------|
//! | 0 | `/dev/null` |
//! | 1, 2 | what the program prints: a pipe that never makes anybody wait |
//! | from [`FIRST`] on | the exchange, the job and its orders, remarks, channels, modules, sockets |
//!
//! Those are closed in whatever the program executes.
//!
// UNSAFETY: descriptors that this process was started with are known by number only, and the
// streams of the C library have no safe face.
#![expect(unsafe_code, reason = "descriptors and streams by number have no safe face")]

use std::ffi::{c_char, c_int};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The first number that is out of a program's reach.
pub const FIRST: RawFd = 1000;
/// Numbers that a process has room for, where it may.
const ROOM: u64 = 4096;
/// The most bytes of a line that the C library keeps until the line is printed.
const LINE_BYTES: usize = 4096;

/// Returns another number of the same file, out of a program's reach.
///
/// # Errors
/// When the process has no numbers left.
pub fn raised(file: impl AsFd) -> io::Result<OwnedFd> {
    let first = first_of(getrlimit(Resource::Nofile).current);
    Ok(fcntl_dupfd_cloexec(file, first)?)
}

/// Returns the first of the high numbers where so many are `possible`: half of them where those are
/// few.
fn first_of(possible: Option<u64>) -> RawFd {
    match possible {
        Some(possible) if possible < FIRST as u64 + 16 => (possible / 2).max(3) as RawFd,
        _ => FIRST,
    }
}

/// Takes over a file that this process was started with, under a high number; its old one is
/// closed.
///
/// # Errors
/// When there is no such file, or it is one of the standard streams.
pub fn take_over(number: RawFd) -> io::Result<OwnedFd> {
    if number <= libc::STDERR_FILENO {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: only looked at; where it is not open the kernel says so.
    let inherited = unsafe { BorrowedFd::borrow_raw(number) };
    let raised = raised(inherited)?;
    // SAFETY: it is open, as was just seen, and it was given to this process under that number for
    // whoever calls this.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
    Ok(raised)
}

/// Makes room for high numbers, as far as the process may.
pub fn make_room() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(ROOM, |maximum| maximum.min(ROOM));
    if limit.current.is_some_and(|current| current < wanted) {
        // Where that is refused the numbers are lower ones.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

/// Puts the standard streams in the state that a program finds: nothing to read, and what it
/// prints, on either of the two others, goes into the standard output, which takes no more than it
/// has room for and never makes anybody wait. The C library passes on whole lines.
///
/// Returns what the standard input and the standard error were.
///
/// # Errors
/// When there is no `/dev/null`, or the process has no numbers left.
pub fn settle_streams() -> io::Result<(OwnedFd, OwnedFd)> {
    let input = raised(io::stdin())?;
    let error = raised(io::stderr())?;
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    replace(nothing.as_fd(), libc::STDIN_FILENO)?;
    let output = io::stdout();
    fcntl_setfl(&output, fcntl_getfl(&output)? | OFlags::NONBLOCK)?;
    replace(output.as_fd(), libc::STDERR_FILENO)?;
    pass_on_lines();
    Ok((input, error))
}

/// Has what this process prints and says go to `file` from now on.
///
/// # Errors
/// Those of `dup2`.
pub fn replace_outputs(file: &File) -> io::Result<()> {
    replace(file.as_fd(), libc::STDOUT_FILENO)?;
    replace(file.as_fd(), libc::STDERR_FILENO)
}

fn replace(file: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers; the number is that of a standard stream, which nobody owns.
    let done = unsafe { libc::dup2(file.as_raw_fd(), number) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

// SAFETY: declared as the C library defines it.
unsafe extern "C" {
    #[link_name = "stdout"]
    static STANDARD_OUTPUT: *mut libc::FILE;
}

/// Has the C library print lines when they are whole. Its buffer is given to it here, so that the
/// first that is printed allocates nothing.
fn pass_on_lines() {
    let buffer: &'static mut [c_char] = Box::leak(vec![0; LINE_BYTES].into_boxed_slice());
    // SAFETY: the C library sets it before anything of this process runs, and nobody changes it.
    let output = unsafe { STANDARD_OUTPUT };
    const LINES: c_int = libc::_IOLBF;
    // SAFETY: the stream is open, nothing was printed to it, and the buffer lives for ever and is
    // the stream's alone.
    let _ = unsafe { libc::setvbuf(output, buffer.as_mut_ptr(), LINES, buffer.len()) };
}

#[cfg(test)]
mod tests {
    use rustix::io::{FdFlags, fcntl_getfd};

    use super::*;

    #[test]
    fn a_file_moves_to_a_high_number_and_is_closed_in_what_is_executed() {
        make_room();
        let (reader, _writer) = io::pipe().unwrap();
        let node = |file: BorrowedFd<'_>| rustix::fs::fstat(file).unwrap().st_ino;
        let same = node(reader.as_fd());
        let low = OwnedFd::from(reader);
        let number = low.as_raw_fd();
        std::mem::forget(low);
        let high = take_over(number).unwrap();
        assert!(high.as_raw_fd() >= first_of(getrlimit(Resource::Nofile).current));
        assert_eq!(node(high.as_fd()), same);
        assert!(fcntl_getfd(&high).unwrap().contains(FdFlags::CLOEXEC));
    }

    #[test]
    fn a_standard_stream_or_no_file_is_not_taken_over() {
        assert_eq!(take_over(1).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(take_over(i32::MAX).is_err());
    }

    #[test]
    fn few_numbers_are_halved() {
        assert_eq!(first_of(None), FIRST);
        assert_eq!(first_of(Some(4096)), FIRST);
        assert_eq!(first_of(Some(256)), 128);
        assert_eq!(first_of(Some(4)), 3);
    }
}
