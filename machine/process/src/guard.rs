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
//! What a program calls of ours may hold something that the next call needs, and a call that is
//! cancelled then would keep it for ever. Such a stretch lies between [`enter_shelter`] and
//! [`leave_shelter`]: it is not cancelled there, and whoever cancels tries again.
//!
//! Limit: a program that was interrupted inside the C library (in `malloc`, say) leaves that
//! library's locks as they were. Generated code does not allocate.
//!
// UNSAFETY: calls functions by pointer through C, and signals a thread by its number.
#![expect(unsafe_code, reason = "the guard is C: nothing else may be jumped out of")]

use std::ffi::c_int;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};

/// A function of a control program: `step(rate)`.
pub type Entry = extern "C" fn(u32);

/// What ended a call early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The signal: `SIGSEGV`, `SIGFPE` and so on; see [`Fault::is_cancelled`] for a loop.
    pub signal: u32,
    /// The address that was accessed, where the signal says one.
    pub address: u64,
    /// The instruction that was interrupted, as an address in this process.
    pub instruction: u64,
}

impl Fault {
    /// Whether the call was ended from outside because it took too long.
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
        fault: *mut RawFault,
    ) -> c_int;
    safe fn quietcore_guard_enter_shelter();
    safe fn quietcore_guard_leave_shelter();
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

impl Guard {
    /// Calls `entry(argument)`; to be used by one thread only, after [`install`].
    ///
    /// # Errors
    /// [`Fault`] when it crashed or was cancelled.
    ///
    /// # Safety
    /// `entry` is C code that is loaded, and stays so while it runs; no frame between here and its
    /// crash owns anything that must be cleaned up, which holds for C. Frames that do, and can't
    /// crash, are in shelter.
    #[inline]
    pub unsafe fn call(&self, entry: Entry, argument: u32) -> Result<(), Fault> {
        let mut fault = RawFault::default();
        // SAFETY: both pointers are live for the call; of `entry` our caller promises it.
        let failed = unsafe { quietcore_guard_call(self, entry, argument, &raw mut fault) };
        if failed == 0 {
            return Ok(());
        }
        let RawFault { signal, address, instruction, .. } = fault;
        Err(Fault { signal, address, instruction })
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
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    static CALLED_WITH: AtomicU32 = AtomicU32::new(0);

    extern "C" fn note(rate: u32) {
        CALLED_WITH.store(rate, Ordering::Relaxed);
    }

    extern "C" fn read_nowhere(_: u32) {
        // SAFETY: not safe at all; this is the crash that the guard must survive.
        let read = unsafe { std::ptr::without_provenance::<u32>(0x40).read_volatile() };
        CALLED_WITH.store(read, Ordering::Relaxed);
    }

    extern "C" fn loop_forever(_: u32) {
        while CALLED_WITH.load(Ordering::Relaxed) != u32::MAX {
            std::hint::spin_loop();
        }
    }

    static SHELTER_IS_OPEN: AtomicU32 = AtomicU32::new(0);
    static LOOPS_IN_SHELTER: AtomicU32 = AtomicU32::new(0);

    extern "C" fn loop_in_shelter(_: u32) {
        enter_shelter();
        while SHELTER_IS_OPEN.load(Ordering::Relaxed) == 0 {
            LOOPS_IN_SHELTER.fetch_add(1, Ordering::Relaxed);
        }
        leave_shelter();
        loop_forever(0);
    }

    #[test]
    fn a_call_in_shelter_is_cancelled_when_it_has_left_it() {
        install().unwrap();
        let guard = Guard::default();
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let looping = scope.spawn(|| {
                let thread_id = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
                sender.send(thread_id).unwrap();
                // SAFETY: the function has no frame that would need cleaning up.
                let ended = unsafe { guard.call(loop_in_shelter, 0) };
                sender.send(0).unwrap();
                ended
            });
            let thread_id = receiver.recv().unwrap();
            while LOOPS_IN_SHELTER.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            let call = guard.running().unwrap();
            for _ in 0..20 {
                let loops = LOOPS_IN_SHELTER.load(Ordering::Relaxed);
                guard.cancel(call, thread_id).unwrap();
                while LOOPS_IN_SHELTER.load(Ordering::Relaxed) < loops + 2 {
                    assert_eq!(guard.running(), Some(call), "it is in shelter");
                }
            }
            SHELTER_IS_OPEN.store(1, Ordering::Relaxed);
            while receiver.recv_timeout(Duration::from_millis(1)).is_err() {
                // It may just have ended.
                let _ = guard.cancel(call, thread_id);
            }
            assert!(looping.join().unwrap().unwrap_err().is_cancelled());
        });
    }

    #[test]
    fn a_call_that_returns_leaves_no_trace() {
        install().unwrap();
        let guard = Guard::default();
        // SAFETY: the function lives as long as the program.
        assert_eq!(unsafe { guard.call(note, 7) }, Ok(()));
        assert_eq!(CALLED_WITH.load(Ordering::Relaxed), 7);
        assert_eq!(guard.running(), None);
    }

    #[test]
    fn a_crash_is_a_fault_with_its_address_again_and_again() {
        install().unwrap();
        let guard = Guard::default();
        // SAFETY: the function has no frame that would need cleaning up.
        let faults = [(); 3].map(|()| unsafe { guard.call(read_nowhere, 0) }.unwrap_err());
        for fault in faults {
            assert_eq!((fault.signal, fault.address), (libc::SIGSEGV.unsigned_abs(), 0x40));
            assert!(fault.instruction != 0 && fault.instruction == faults[0].instruction);
            assert!(!fault.is_cancelled());
        }
    }

    #[test]
    fn a_call_that_does_not_return_is_cancelled() {
        install().unwrap();
        let guard = Guard::default();
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let looping = scope.spawn(|| {
                let thread_id = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
                sender.send(thread_id).unwrap();
                // SAFETY: the function has no frame that would need cleaning up.
                unsafe { guard.call(loop_forever, 0) }
            });
            let thread_id = receiver.recv().unwrap();
            let call = loop {
                if let Some(call) = guard.running() {
                    break call;
                }
                thread::sleep(Duration::from_millis(1));
            };
            // Another call than the one that runs is not ended by mistake.
            guard.cancel(Call(call.0.wrapping_sub(2)), thread_id).unwrap();
            thread::sleep(Duration::from_millis(20));
            assert_eq!(guard.running(), Some(call));
            // Once would do; many at once must do no harm either, nor those after its end.
            for _ in 0..100 {
                let _ = guard.cancel(call, thread_id);
            }
            assert!(looping.join().unwrap().unwrap_err().is_cancelled());
        });
        assert_eq!(guard.running(), None);
    }
}
