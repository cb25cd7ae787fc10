//! The words that a guest and whoever starts it share.
//!
//! | where | what | who writes |
//! |---|---|---|
//! | [`HOST_PAGE`] | the [`HostPage`]: what the guest needs to know of its host | the host, before the guest starts |
//! | [`CRASH_RECORD`] | the [`CrashRecord`]: where and how the guest crashed | the guest, before it ends |
//! | [`port`] | how the guest is heard | the guest |
//!
//! Both records are words of 64 bits, little-endian, in the order of their fields, the first of them
//! a magic number with the version. Whoever reads one checks it first: neither side trusts the other.
//! Where there is no host page (the guest was started by somebody else), it is all zero.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod crash;
mod host;
mod words;

pub use crash::{CrashRecord, REGISTERS};
pub use host::{HostPage, Place, Refused};

/// Where the host page is, in the guest's memory.
pub const HOST_PAGE: u64 = 0x7000;

/// Where the crash record is, in the guest's memory.
pub const CRASH_RECORD: u64 = 0x7800;

/// The most bytes that each of the two takes.
pub const RECORD_BYTES: usize = 0x800;

/// Ports by which a guest is heard.
pub mod port {
    /// The console: what is written is text. The first serial line of a PC.
    pub const CONSOLE: u16 = 0x3F8;
    /// The end: the guest ends with the byte written as its status. QEMU's `isa-debug-exit`, put
    /// there, ends with twice that and one.
    pub const END: u16 = 0x501;
    /// The statuses of guests that ended well, and that crashed.
    pub const ENDED: u8 = 0;
    /// See [`ENDED`].
    pub const CRASHED: u8 = 1;
}
