//! The C library's error number: one for each thread, which all tasks share.
// UNSAFETY: reads and writes a variable of the C library.
#![expect(unsafe_code, reason = "the error number is a variable of the C library")]

use core::ffi::c_int;

/// The error number of this thread.
pub(super) fn get() -> c_int {
    // SAFETY: the function has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the place is valid for as long as the thread lives.
    unsafe { place.read() }
}

/// Sets it.
pub(super) fn set(number: c_int) {
    // SAFETY: the function has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as in `get`.
    unsafe { place.write(number) };
}
