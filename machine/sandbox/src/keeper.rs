//! The keeper of a sandbox: waits for the program, and takes its result out.
//!
//! It sees the program's root, but is outside of its namespace of processes, so that the program
//! can't reach it. Process 1 of that namespace keeps the program likewise, and takes nothing out.
//! What the program has left is not trusted: it is copied only if it is a plain file of an allowed
//! size.
// UNSAFETY: a process that was forked ends without running anything of its parent's.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, fchmod, fstat, openat};
use rustix::io::Errno;

/// Exit status where the program has failed.
const FAILED: i32 = 1;
/// Exit status where the result can't be taken.
const NOT_TAKEN: i32 = 125;

/// Bytes that are copied at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Waits for the program, copies its result, and ends as the program did.
pub(crate) fn keep(program: libc::pid_t, result: Option<&File>, bytes_max: u64) -> ! {
    let kept = result.map(AsRawFd::as_raw_fd);
    close_others(kept);
    let status = match (wait_for(program), result) {
        (Some(0), Some(file)) => match take(file, bytes_max) {
            Ok(()) => 0,
            Err(_) => {
                let told = b"the sandbox: the result is no plain file, or too large\n";
                let _ = rustix::io::write(rustix::stdio::stderr(), told);
                NOT_TAKEN
            }
        },
        (Some(0), None) => 0,
        (Some(status), _) => status,
        (None, _) => FAILED,
    };
    // SAFETY: ends this process at once, without its parent's handlers.
    unsafe { libc::_exit(status) }
}

/// Closes all files but the standard ones and this one: above all the pipe by which the caller
/// waits for the start of the program.
fn close_others(kept: Option<i32>) {
    let kept = kept.and_then(|kept| u32::try_from(kept).ok());
    let ranges = match kept {
        Some(kept) if kept > 2 => [(3, kept - 1), (kept + 1, u32::MAX)],
        _ => [(3, u32::MAX), (3, u32::MAX)],
    };
    for (first, last) in ranges.into_iter().filter(|(first, last)| first <= last) {
        // SAFETY: nothing in this process uses these files any more.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

/// Returns the exit status of the program; `None` where a signal has ended it.
fn wait_for(program: libc::pid_t) -> Option<i32> {
    let mut status = 0;
    loop {
        // SAFETY: the status is a place of this function.
        let waited = unsafe { libc::waitpid(program, &raw mut status, 0) };
        if waited == program {
            return libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        }
        if waited == -1 && std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return None;
        }
    }
}

fn take(to: &File, bytes_max: u64) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let from = openat(CWD, c"/out/result", flags, Mode::empty())?;
    let found = fstat(&from)?;
    let is_allowed = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
        && u64::try_from(found.st_size).is_ok_and(|bytes| bytes <= bytes_max);
    if !is_allowed {
        return Err(Errno::FBIG);
    }
    // Later steps of the same work read it in a sandbox, too.
    fchmod(to, Mode::from_raw_mode(0o644))?;
    let mut chunk = [0; CHUNK_BYTES];
    loop {
        let read = match rustix::io::read(&from, &mut chunk)? {
            0 => return Ok(()),
            read => read,
        };
        let mut rest = &chunk[..read];
        while !rest.is_empty() {
            let written = rustix::io::write(to.as_fd(), rest)?;
            rest = &rest[written..];
        }
    }
}
