//! The heap of a partition's process: memory that is there before its program asks for it.
//!
//! Memory that a program allocates comes from the kernel page by page, each at its first use and
//! with a page fault, and freed memory may go back. A partition with a reservation takes it as heap
//! at its start, writes to each page, and gives none back to the kernel; from then on `malloc`
//! finds memory that is present. Beyond the reservation there is as much as the partition's own
//! work needs (stacks, builds, orders), and then nothing: `malloc` refuses a program that leaks,
//! which takes nothing from others. The memory that it has taken is then lacking for that work,
//! too: an order that finds no memory ends the process, which is started anew.
//!
//! It is the C library's heap (`mallopt(3)`), which Rust's allocations share. To be called before
//! there is a second thread, in a process that has one arena only. While a large block is moved,
//! other threads that allocate wait for that.
//!
// UNSAFETY: the C library's allocator is called, and memory that it gave is written.
#![expect(unsafe_code, reason = "the C library's allocator is called")]

use std::fs;
use std::io;
use std::ptr::NonNull;

use quietcore_units::ByteSize;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const PAGE_BYTES: usize = 4096;

/// Why there is no heap, or no limit.
#[derive(Debug, thiserror::Error)]
pub enum HeapError {
    /// There is no more memory.
    #[error("{0} for the program's heap can't be had: the kernel refuses it")]
    Refused(ByteSize),
    /// The memory of the process is not known, or its limit can't be set.
    #[error("the memory of the process can't be limited")]
    System(#[from] io::Error),
}

/// Takes so much as heap, and limits what the process may take `beyond`.
///
/// # Errors
/// [`HeapError`]; the process runs on with what it has, and is limited to that where it can be.
pub fn reserve(heap: ByteSize, beyond: ByteSize) -> Result<(), HeapError> {
    keep_what_is_freed();
    let taken = take(usize::try_from(heap.get()).unwrap_or(usize::MAX));
    let most = line("VmData")?.get().saturating_add(beyond.get());
    // Where there is a lower limit already, that stays.
    let maximum = getrlimit(Resource::Data).maximum.map_or(most, |maximum| maximum.min(most));
    let limit = Rlimit { current: Some(maximum), maximum: Some(maximum) };
    setrlimit(Resource::Data, limit).map_err(io::Error::from)?;
    if taken { Ok(()) } else { Err(HeapError::Refused(heap)) }
}

/// Takes a block from the kernel, writes to each of its pages, and frees it. Whether there was one.
fn take(size: usize) -> bool {
    // SAFETY: nothing is asked of the argument.
    let Some(memory) = NonNull::new(unsafe { libc::malloc(size) }.cast::<u8>()) else {
        return false;
    };
    for at in (0..size).step_by(PAGE_BYTES) {
        // SAFETY: `at` is below the size of what was given.
        unsafe { memory.as_ptr().add(at).write_volatile(0) };
    }
    // SAFETY: it was given by `malloc`, is not used from here on, and is freed once.
    unsafe { libc::free(memory.as_ptr().cast()) };
    true
}

/// Has the C library give nothing back to the kernel, and take nothing from it but by its heap.
fn keep_what_is_freed() {
    for (option, value) in [(libc::M_MMAP_MAX, 0), (libc::M_TRIM_THRESHOLD, -1)] {
        // SAFETY: both are options that any value may be given to; there is no other thread.
        unsafe { libc::mallopt(option, value) };
    }
}

/// A line of what the kernel says of this process (proc(5)).
fn line(name: &str) -> io::Result<ByteSize> {
    let status = fs::read_to_string("/proc/self/status")?;
    let kib = status.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(':')?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    let kib = kib.ok_or_else(|| io::Error::other(format!("/proc/self/status has no {name}")))?;
    Ok(ByteSize::new(kib << 10))
}
