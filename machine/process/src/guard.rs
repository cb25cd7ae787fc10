//! Calls into a control program that may crash or never return.
//!
//! A program is C that we did not write. Its faults must not take the partition with them: the
//! fieldbus goes on, outputs are held or zeroed, and the fault is reported with what it was.
//!
//! ```text
//! task thread      ── enter ── step ── leave ──           ordinal: even, odd, even
//! watching thread  looks: odd, and the same for too long? ── cancel ──► signal ── leave
//! ```
//!
//! A call costs no system call. After a fault the program's data are as the fault left them; the
//! caller starts the program anew or stays with safe outputs.
//!
//! A function of ours that a program calls may hold something that the next call needs, and a call
//! that is cancelled then would keep it for ever. Such a stretch lies between [`enter_shelter`] and
//! [`leave_shelter`]: it is not cancelled there, and the canceller tries again.
//!
//! A program that is a kernel with tasks of its own gives a function to [`Guard::call`] that is
//! called when the [`interrupting_signal`] comes to the thread meanwhile, in shelter at its end. It
//! may go on in another context, and the call returns from there. After a fault it is not called
//! any more.
//!
//! Limit: a program that was cut off inside of the C library (in `malloc`, say) leaves that
//! library's locks as they were. From the fault on the caller must need none of them, until it is
//! known that they are free ([`crate::locks`]).
//!
// UNSAFETY: calls functions by pointer through C, and signals a thread by its number.
#![expect(unsafe_code, reason = "the guard is C: nothing else may be jumped out of")]

use std::ffi::c_int;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};

use quietcore_exchange::program_face::{Entry, Interrupt};

/// The event that ended a call early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The signal: `SIGSEGV`, `SIGFPE` and so on; see [`Fault::is_cancelled`] for a loop.
    pub signal: u32,
    /// The address that was accessed, where the signal says one.
    pub address: u64,
    /// The instruction that was interrupted, as an address in this process.
    pub instruction: u64,
    /// The address that tells whose stack overflowed, if one did: the one that was accessed, or the
    /// stack pointer where the signal says none.
    pub overflow_address: u64,
}

impl Fault {
    /// Returns `true` if the call was ended from outside because it took too long.
    pub fn is_cancelled(&self) -> bool {
        Ok(self.signal as c_int) == cancelling_signal()
    }
}

#[repr(C)]
#[derive(Default)]
struct RawFault {
    signal: u32,
    reserved: u32,
    address: u64,
    instruction: u64,
    overflow_address: u64,
}

/// The guard of one task: the calls of its thread go through it, one after the other.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Guard {
    ordinal: AtomicU64,
    cancelled: AtomicU64,
}

// SAFETY: declared as `guard/guard.c` defines them, with the same layouts.
unsafe extern "C" {
    fn quietcore_guard_install() -> c_int;
    fn quietcore_guard_call(
        guard: *const Guard,
        call: Entry,
        argument: u32,
        interrupt: Option<Interrupt>,
        fault: *mut RawFault,
    ) -> c_int;
    safe fn quietcore_guard_interrupting() -> c_int;
    safe fn quietcore_guard_is_inside() -> c_int;
    safe fn quietcore_guard_enter_shelter();
    safe fn quietcore_guard_leave_shelter();
    fn quietcore_guard_called_from(begin: u64, end: u64) -> u64;
}

/// Begins a stretch in which a call of the calling thread is not cancelled. It is short, and does
/// not crash; such stretches don't lie within each other.
#[inline]
pub fn enter_shelter() {
    quietcore_guard_enter_shelter();
}

/// Ends such a stretch.
#[inline]
pub fn leave_shelter() {
    quietcore_guard_leave_shelter();
}

/// Returns `true` if the calling thread is inside of a call.
pub fn is_inside() -> bool {
    quietcore_guard_is_inside() != 0
}

/// Looks on the stack of the call of this thread that was ended last for the place in `code` from
/// which it had called into other code. Returns the address behind that call; `None` where there is
/// none, as where a stack overflowed. Nothing but the nearest 4 KiB of the stack is looked at, so
/// the place is likely and not certain.
///
/// # Safety
/// `code` is loaded and can be read.
pub unsafe fn called_from(code: Range<u64>) -> Option<u64> {
    // SAFETY: it reads what our caller vouches for.
    let behind = unsafe { quietcore_guard_called_from(code.start, code.end) };
    (behind != 0).then_some(behind)
}

/// Ends the process at once: nothing that was left to be run at its end is run.
pub fn end_process(status: i32) -> ! {
    // SAFETY: a plain number.
    unsafe { libc::_exit(status) }
}

/// Installs the handlers once for the process and returns the signal by which calls are cancelled.
fn cancelling_signal() -> Result<c_int, c_int> {
    static INSTALLED: OnceLock<c_int> = OnceLock::new();
    // SAFETY: it only installs handlers, which do nothing of their own outside of a guarded call.
    let signal = *INSTALLED.get_or_init(|| unsafe { quietcore_guard_install() });
    if signal > 0 { Ok(signal) } else { Err(signal) }
}

/// Makes guarded calls possible in this process.
///
/// # Errors
/// When the kernel refuses a signal handler.
pub fn install() -> io::Result<()> {
    cancelling_signal().map(|_| ()).map_err(|_| io::Error::last_os_error())
}

/// The signal by which a call is interrupted, once [`install`] has been called.
pub fn interrupting_signal() -> c_int {
    quietcore_guard_interrupting()
}

impl Guard {
    /// Calls `entry(argument)`; to be used by one thread only, after [`install`]. The
    /// [`interrupting_signal`] to that thread calls `interrupt` meanwhile.
    ///
    /// # Errors
    /// [`Fault`] when it crashed or was cancelled.
    ///
    /// # Safety
    /// `entry` is C code that is loaded, and stays so while it runs; no frame between here and its
    /// crash owns anything that must be cleaned up, which holds for C. Frames that do, and can't
    /// crash, are in shelter. The same holds for `interrupt`, which comes back at the end of a call
    /// or goes on in another context, but not in that of a call which is over.
    #[inline]
    pub unsafe fn call(
        &self,
        entry: Entry,
        argument: u32,
        interrupt: Option<Interrupt>,
    ) -> Result<(), Fault> {
        let mut fault = RawFault::default();
        // SAFETY: both pointers are live for the call; of the functions our caller promises it.
        let failed =
            unsafe { quietcore_guard_call(self, entry, argument, interrupt, &raw mut fault) };
        if failed == 0 {
            return Ok(());
        }
        let RawFault { signal, address, instruction, overflow_address, .. } = fault;
        Err(Fault { signal, address, instruction, overflow_address })
    }

    /// The call that runs now, if one does: a number that no other call of this guard has.
    pub fn running(&self) -> Option<Call> {
        let ordinal = self.ordinal.load(Relaxed);
        (!ordinal.is_multiple_of(2)).then_some(Call(ordinal))
    }

    /// Ends `call`, if it still runs in the thread with this number of the kernel and is not in
    /// shelter at this instant: then it has to be cancelled again.
    ///
    /// # Errors
    /// When the thread has gone.
    pub fn cancel(&self, call: Call, thread_id: u32) -> io::Result<()> {
        self.cancelled.store(call.0, Release);
        let signal = cancelling_signal().map_err(|_| io::ErrorKind::Unsupported)?;
        let process_id = std::process::id();
        // SAFETY: plain numbers; the signal's handler does nothing unless `call` still runs.
        let result = unsafe { libc::syscall(libc::SYS_tgkill, process_id, thread_id, signal) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// One call through a [`Guard`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call(u64);

#[cfg(test)]
mod tests;
