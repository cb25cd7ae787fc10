//! Waits for a frame on a wire that is a file: looks all the time for a while, and then sleeps.

use std::hint;
use std::os::fd::{AsFd, BorrowedFd};

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::wire::WireError;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Returns what `look` finds until an instant; looks all the time for the span `spin`, and sleeps
/// afterwards until there is something in the file.
pub(crate) fn receive(
    file: &impl AsFd,
    spin: Nanos,
    until: Nanos,
    mut look: impl FnMut() -> Result<Option<usize>, WireError>,
) -> Result<Option<usize>, WireError> {
    let mut asleep_from = None;
    loop {
        if let Some(bytes) = look()? {
            return Ok(Some(bytes));
        }
        let now = Monotonic.now();
        if now >= until {
            return Ok(None);
        }
        if now < *asleep_from.get_or_insert(now + spin) {
            hint::spin_loop();
        } else {
            sleep(file.as_fd(), until - now)?;
        }
    }
}

/// Sleeps until a frame is there or the time is over.
fn sleep(file: BorrowedFd<'_>, left: Nanos) -> Result<(), WireError> {
    let timeout = Timespec {
        tv_sec: (left.get() / NANOS_PER_SECOND) as i64,
        tv_nsec: (left.get() % NANOS_PER_SECOND) as i64,
    };
    match poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(other) => Err(WireError::Refused(other.raw_os_error())),
    }
}
