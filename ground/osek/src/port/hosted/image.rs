//! The surroundings of a machine in a program for a guest: a clock that the loader tells, and
//! memory that the image was linked with.
// UNSAFETY: uses variables of the image, which the linker knows.
#![expect(unsafe_code, reason = "the memory of the stacks is a variable of the image")]

use core::ffi::c_int;
use core::ptr::NonNull;

use super::Refused;
use super::driven::Driven;
use crate::stacks::Machine;

/// The bytes at the end of a stack that are written beforehand. Those above need not be: there are
/// no page faults, and the start shall not take long.
const FILLED_BYTES_MAX: usize = 64;

// SAFETY: so the glue of programs for guests defines them.
unsafe extern "C" {
    /// The memory of all stacks, from the start of a page.
    static mut quietcore_osek_memory: u8;
    /// Size of that memory, in bytes.
    static quietcore_osek_memory_bytes: usize;
}

/// The loader has to tell the time.
pub(super) fn check(driven: &Driven) -> Result<(), Refused> {
    if driven.clock_ns() == 0 { Err(Refused::NoClock) } else { Ok(()) }
}

/// The instant now, in ns of the monotonic clock.
#[inline]
pub(super) fn now_ns(driven: &Driven) -> u64 {
    driven.clock_ns()
}

/// All tasks share one error number, which nothing of the kernel changes.
pub(super) fn errno() -> c_int {
    0
}

/// See [`errno`].
pub(super) fn set_errno(_: c_int) {}

/// An interrupt's frame holds all vector registers, as that of a signal.
pub(super) fn machine() -> Machine {
    Machine::USUAL
}

/// Takes the image's memory.
pub(super) fn reserve(bytes: usize) -> Result<NonNull<u8>, Refused> {
    // SAFETY: a constant of the image.
    let there = unsafe { quietcore_osek_memory_bytes };
    let start = &raw mut quietcore_osek_memory;
    start.expose_provenance();
    NonNull::new(start).filter(|_| bytes <= there).ok_or(Refused::ImageTooSmall)
}

/// Fills the end of a stack.
pub(super) fn fill(lowest: NonNull<u8>, bytes: usize, pattern: u8) -> Result<(), Refused> {
    // SAFETY: within the image's memory, as our caller promises; nothing uses it yet.
    unsafe { lowest.write_bytes(pattern, bytes.min(FILLED_BYTES_MAX)) };
    Ok(())
}

/// The memory stays the image's.
pub(super) fn give_back(_: *mut u8, _: usize) {}
