//! The guest's monotonic clock, made the host's.
//!
//! A namespace of time shifts the clock for the processes that are started from then on; the rate
//! of the kernel's clocks is steered as a time service would.
// UNSAFETY: two system calls without a safe wrapper.
#![expect(unsafe_code, reason = "the kernel's calls for namespaces and for the rate of its clock")]

use std::fs;
use std::io;
use std::mem::MaybeUninit;

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// The most by which the kernel lets its clocks run faster or slower, in parts of a billion.
pub const STEERING_MAX_PPB: i64 = 500_000;
/// The kernel's unit of a rate: 2^-16 parts of a million (`adjtimex(2)`).
const UNITS_OF_PPM: i64 = 1 << 16;
const NANOS_OF_SECOND: i64 = 1_000_000_000;

/// Has the monotonic clock and the time since boot of processes that are started from now on be
/// ahead by `nanos`, which may be negative. Those have to be forked: the kernel starts no process
/// and no thread any more that would share this one's memory, and its clock with it.
///
/// # Errors
/// Those of the kernel, which may know no such namespaces.
pub fn shift(nanos: i64) -> io::Result<()> {
    // SAFETY: a namespace of time changes nothing for the calling process itself, whose memory and
    // files stay shared as they are.
    unsafe { unshare_unsafe(UnshareFlags::NEWTIME) }?;
    let (seconds, rest) = (nanos.div_euclid(NANOS_OF_SECOND), nanos.rem_euclid(NANOS_OF_SECOND));
    let offsets = format!("monotonic {seconds} {rest}\nboottime {seconds} {rest}\n");
    fs::write("/proc/self/timens_offsets", offsets)
}

/// Lets the kernel's clocks run faster by so many parts of a billion; slower where it is negative.
/// What is beyond [`STEERING_MAX_PPB`] is cut off.
///
/// # Errors
/// Those of the kernel, without the right to set its clock.
pub fn steer(parts_of_billion: i64) -> io::Result<()> {
    let ppb = parts_of_billion.clamp(-STEERING_MAX_PPB, STEERING_MAX_PPB);
    // SAFETY: all zero is a valid `timex`.
    let mut request: libc::timex = unsafe { MaybeUninit::zeroed().assume_init() };
    request.modes = libc::ADJ_FREQUENCY;
    request.freq = ppb * UNITS_OF_PPM / 1_000;
    // SAFETY: the request is live and of the kernel's layout.
    let status = unsafe { libc::adjtimex(&raw mut request) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
