//! Pages that stay where they are.
//!
//! A locked page is there, and the kernel may still move it: to make room for a large page, or off
//! a memory module. Then its colour is another. What devices read and write directly does not move,
//! and the one such device that every kernel has is io_uring: memory registered with it is held in
//! place until its file is closed. No request is ever made.
// UNSAFETY: registers memory by its address.
#![expect(unsafe_code, reason = "the kernel is told of memory by its address")]

use std::io;

use rustix::fd::OwnedFd;
use rustix::io_uring::{
    IoringRegisterOp, io_uring_params, io_uring_register, io_uring_setup, iovec,
};

use crate::memory::{MEMORY_END, PAGE_BYTES};

/// The most bytes that one registration takes.
const BYTES_AT_ONCE: usize = 1 << 30;
/// The most registrations that a guest's memory takes.
const REGISTRATIONS_MAX: usize = (MEMORY_END as usize).div_ceil(BYTES_AT_ONCE);

/// Memory that is held in place as long as this lives, and the process.
#[derive(Debug)]
pub struct Pin {
    _ring: OwnedFd,
}

impl Pin {
    /// Holds memory of this process in place.
    ///
    /// # Errors
    /// What the operating system says; kernels can be set to have no io_uring.
    ///
    /// # Panics
    /// When these are not whole pages, or more than the memory of a guest.
    pub fn hold(address: u64, bytes: u64) -> io::Result<Self> {
        assert!(address.is_multiple_of(PAGE_BYTES) && bytes.is_multiple_of(PAGE_BYTES));
        assert!(bytes <= MEMORY_END, "no guest has more");
        let end = address + bytes;
        let stretches: Vec<iovec> = (address..end)
            .step_by(BYTES_AT_ONCE)
            .map(|start| iovec {
                iov_base: std::ptr::without_provenance_mut(start as usize),
                iov_len: (end - start).min(BYTES_AT_ONCE as u64) as usize,
            })
            .collect();
        assert!(stretches.len() <= REGISTRATIONS_MAX, "checked above");
        let mut parameters = io_uring_params::default();
        // SAFETY: the ring is never mapped and no request is ever put into it.
        let ring = unsafe { io_uring_setup(1, &mut parameters) }?;
        let operation = IoringRegisterOp::RegisterBuffers;
        // SAFETY: the list lives during the call. The kernel holds the pages of these addresses in
        // place, or refuses; it reads and writes them on request only, and there is none.
        unsafe {
            io_uring_register(&ring, operation, stretches.as_ptr().cast(), stretches.len() as u32)
        }?;
        Ok(Self { _ring: ring })
    }
}
