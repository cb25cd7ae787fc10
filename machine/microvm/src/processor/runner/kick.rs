//! Makes a processor leave its guest at once.
// UNSAFETY: a signal handler, and a word in a page that KVM shares; see `runner`, which expects it.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::processor::Processor;

/// The signal by which a processor's thread is interrupted. Its handler does nothing: that it came
/// is enough.
pub fn kick_signal() -> i32 {
    // The first are those of calls into programs.
    libc::SIGRTMIN() + 4
}

extern "C" fn nothing(_: i32) {}

/// Takes the signal, once for the process.
pub(super) fn listen() -> io::Result<()> {
    static TAKEN: OnceLock<Result<(), i32>> = OnceLock::new();
    let taken = TAKEN.get_or_init(|| {
        // SAFETY: all zero is a valid value of it: no flags, no handler, an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
        // SAFETY: a handler that does nothing is sound in any thread at any instant.
        match unsafe { libc::sigaction(kick_signal(), &raw const action, ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
        }
    });
    taken.map_err(io::Error::from_raw_os_error)
}

/// Lets the signal through to the calling thread, whatever it inherited.
pub(super) fn unblock() -> io::Result<()> {
    // SAFETY: all zero is a valid value of it.
    let mut set: libc::sigset_t = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: makes the set, which lives, an empty one.
    unsafe { libc::sigemptyset(&raw mut set) };
    // SAFETY: adds one signal to it.
    unsafe { libc::sigaddset(&raw mut set, kick_signal()) };
    // SAFETY: reads the set, and changes the mask of the calling thread.
    match unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// A processor's thread to be kicked. Made by that thread, and gone before the thread or the
/// processor are.
#[derive(Debug)]
pub(super) struct Kick {
    thread: libc::pthread_t,
    at_once: *mut u8,
}

// SAFETY: all writers of the word hold the lock of the runner's state; see `kick`.
unsafe impl Send for Kick {}

impl Kick {
    /// A kick for the calling thread.
    pub(super) fn of(processor: &mut Processor) -> Self {
        // SAFETY: has no conditions.
        let thread = unsafe { libc::pthread_self() };
        Self { thread, at_once: processor.at_once_word() }
    }

    /// To be called under the lock of the runner's state.
    pub(super) fn kick(&self) {
        // SAFETY: the page is mapped as long as the processor is, which is longer than this; a byte
        // is aligned; all writers hold the lock, and KVM only reads it.
        let at_once = unsafe { AtomicU8::from_ptr(self.at_once) };
        at_once.store(1, Ordering::SeqCst);
        // SAFETY: the thread has not ended: it takes this kick away before it does.
        unsafe { libc::pthread_kill(self.thread, kick_signal()) };
    }
}
