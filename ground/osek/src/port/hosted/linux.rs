//! The surroundings of a machine in a Linux process: a clock, memory, the C library.
// UNSAFETY: asks the operating system, and reads and writes a variable of the C library.
#![expect(unsafe_code, reason = "the operating system is called by raw pointers")]

use core::ffi::c_int;
use core::ptr::{self, NonNull};

use super::Refused;
use super::driven::Driven;
use crate::stacks::Machine;

/// A process has all that a machine needs.
pub(super) fn check(_: &Driven) -> Result<(), Refused> {
    Ok(())
}

/// The instant now, in ns of the monotonic clock.
#[inline]
pub(super) fn now_ns(_: &Driven) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is live; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    // Seconds since the start of the machine, in ns, fit for 584 years.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The C library's error number: one for each thread, which all tasks share.
pub(super) fn errno() -> c_int {
    // SAFETY: the function has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the place is valid for as long as the thread lives.
    unsafe { place.read() }
}

/// Sets `errno` of the calling thread.
pub(super) fn set_errno(number: c_int) {
    // SAFETY: the function has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as in `errno`.
    unsafe { place.write(number) };
}

/// The bytes of a page, and of the largest frame of a signal on this processor.
pub(super) fn machine() -> Machine {
    // SAFETY: asks for a number.
    let frame = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Machine {
        frame_bytes: if frame == 0 { Machine::USUAL.frame_bytes } else { frame },
        page_bytes: usize::try_from(page).unwrap_or(4096).max(4096),
    }
}

/// Maps so many bytes that can't be used yet.
pub(super) fn reserve(bytes: usize) -> Result<NonNull<u8>, Refused> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a new mapping at a place of the kernel's choice.
    let place = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    if place == libc::MAP_FAILED {
        return Err(Refused::system("mmap of the stacks"));
    }
    place.expose_provenance();
    NonNull::new(place.cast()).ok_or(Refused::system("mmap of the stacks"))
}

/// Makes a part of what was reserved usable, and fills it.
pub(super) fn fill(lowest: NonNull<u8>, bytes: usize, pattern: u8) -> Result<(), Refused> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: within the mapping, as our caller promises; nothing uses it yet.
    if unsafe { libc::mprotect(lowest.as_ptr().cast(), bytes, rights) } != 0 {
        return Err(Refused::system("mprotect of a stack"));
    }
    // SAFETY: it is writable now.
    unsafe { lowest.write_bytes(pattern, bytes) };
    Ok(())
}

/// Gives back what was reserved.
pub(super) fn give_back(start: *mut u8, bytes: usize) {
    // SAFETY: a mapping of ours that nothing uses, as our caller knows.
    unsafe { libc::munmap(start.cast(), bytes) };
}
