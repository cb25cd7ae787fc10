//! The words that a guest and whoever starts it share.
//!
//! | where | what | who writes |
//! |---|---|---|
//! | [`HOST_PAGE`] | the [`HostPage`]: what the guest needs to know of its host | the host, before the guest starts |
//! | [`CRASH_RECORD`] | the [`CrashRecord`]: where and how the guest crashed | the guest, before it ends |
//! | [`port`] | how the guest is heard | the guest |
//!
//! Both records are words of 64 bits, little-endian, in the order of their fields, the first of
//! them a magic number with the version. Whoever reads one checks it first: neither side trusts the
//! other. Where there is no host page (the guest was started by somebody else), it is all zero.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod crash;
mod host;
mod places;
mod words;

pub use crash::{CrashRecord, REGISTERS};
pub use host::{HostPage, Place, Refused};
pub use places::{CRASH_RECORD, HOST_PAGE, RECORD_BYTES, port};
