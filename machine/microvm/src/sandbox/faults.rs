//! Lets a sealed process die of a fault of its own.
// UNSAFETY: gives signals back to the kernel, which the libraries leave to us.
#![expect(unsafe_code, reason = "the handlers of two signals are taken away")]

use std::panic;
use std::sync::Once;
use std::thread;

/// Gives the signals of faults back to the kernel, and has a panic write its message alone: no
/// backtrace, which opens files. Once for the process.
pub(super) fn die_plainly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for fault in [libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: the kernel's own way with a signal runs no code of this process.
            // It can't fail: both are signals that may have a handler.
            let _ = unsafe { libc::signal(fault, libc::SIG_DFL) };
        }
        panic::set_hook(Box::new(|told| {
            let thread = thread::current();
            eprintln!("thread `{}` {told}", thread.name().unwrap_or("without a name"));
        }));
    });
}
