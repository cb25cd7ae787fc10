//! A timer that signals the thread which made it: how a running program is interrupted at an
//! instant.
//!
//! ```text
//! set ── 1 system call ── instant ── signal to the thread ── handler of the guard ── the program
//! ```
//!
//! It is a POSIX timer on `CLOCK_MONOTONIC`, absolute, for one shot. The signal goes to one thread
//! (`SIGEV_THREAD_ID`), so no other is woken. Where nothing is to be interrupted any more the
//! handler does nothing, so a shot that was on its way while the timer was set anew does no harm.
//!
//! Bound: one system call to set it, and none where it stands as wanted already.
//!
// UNSAFETY: POSIX timers have no safe face in the libraries used.
#![expect(unsafe_code, reason = "POSIX timers by thread have no safe face")]

use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use quietcore_units::Nanos;
use rustix::thread::gettid;

use crate::guard;

/// A timer of one thread, which alone uses it. Dropping it ends it.
#[derive(Debug)]
pub struct ThreadTimer {
    id: libc::timer_t,
    /// For when it is set.
    set: Cell<Option<Nanos>>,
    /// It belongs to the thread that made it.
    thread: PhantomData<*const ()>,
}

impl ThreadTimer {
    /// A timer that interrupts the calling thread; it is not set. [`guard::install`] comes first.
    ///
    /// # Errors
    /// `EAGAIN` when the kernel has no room for it: too many signals wait, see
    /// `RLIMIT_SIGPENDING`.
    pub fn new() -> io::Result<Self> {
        // SAFETY: all zero is a valid `sigevent`.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = guard::interrupting_signal();
        event.sigev_notify_thread_id = gettid().as_raw_nonzero().get();
        let mut id: libc::timer_t = std::ptr::null_mut();
        // SAFETY: both places are live for the call.
        let made =
            unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut id) };
        if made != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { id, set: Cell::new(None), thread: PhantomData })
    }

    /// Sets it for an instant, at once where that has passed, or stops it. The last call counts.
    #[inline]
    pub fn set(&self, instant: Option<Nanos>) {
        if self.set.get() == instant && instant.is_none() {
            return;
        }
        self.set.set(instant);
        // An instant of zero would stop it.
        let at = instant.map_or(0, |instant| instant.get().max(1));
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let value = libc::itimerspec { it_interval: zero, it_value: timespec(at) };
        // SAFETY: the timer lives as long as `self`, the value for the call; the old value is not
        // asked for.
        let done = unsafe {
            libc::timer_settime(
                self.id,
                libc::TIMER_ABSTIME,
                &raw const value,
                std::ptr::null_mut(),
            )
        };
        debug_assert!(done == 0, "a live timer takes every valid instant");
    }

    /// For when it is set.
    pub fn is_set_for(&self) -> Option<Nanos> {
        self.set.get()
    }
}

impl Drop for ThreadTimer {
    fn drop(&mut self) {
        // SAFETY: the timer was made by `new` and is not used after this.
        let _ = unsafe { libc::timer_delete(self.id) };
    }
}

fn timespec(nanos: u64) -> libc::timespec {
    const SECOND: u64 = 1_000_000_000;
    // Both fit: 2^64 ns are less than 2^35 s.
    libc::timespec { tv_sec: (nanos / SECOND) as i64, tv_nsec: (nanos % SECOND) as i64 }
}

#[cfg(test)]
mod tests;
