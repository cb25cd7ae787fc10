//! The words that a guest and whoever starts it share.
//!
//! | where | what | who writes |
//! |---|---|---|
//! | [`HOST_PAGE`] | the [`HostPage`]: what the guest needs to know of its host | the host, before the guest starts |
//! | [`HOST_TIME`] | the [`HostTime`], in the host page: what the time is | the host, again and again |
//! | [`CRASH_RECORD`] | the [`CrashRecord`]: where and how the guest crashed | the guest, before it ends |
//! | [`places::POST`] | the job and the orders: [`post`] | the host; the guest says what it took |
//! | [`port`] | how the guest is heard | the guest |
//! | [`LATE_RELEASES`] | its [`LateReleases`] | the guest, before it says so |
//! | [`board`] | the clock board: when it raised its last interrupt | the host |
//!
//! A host that can't put memory at these addresses shares it as [`devices`], or as pages that
//! [`xen`] grants.
//!
//! Both records are words of 64 bits, little-endian, in the order of their fields, the first of
//! them a magic number with the version. Whoever reads one checks it first: neither side trusts the
//! other. Where there is no host page (the guest was started by somebody else), it is all zero.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod board;
mod cards;
mod crash;
pub mod devices;
mod host;
mod late;
pub mod places;
pub mod post;
mod time;
mod words;
pub mod xen;

pub use cards::CardFamily;
pub use crash::{CrashRecord, REGISTERS};
pub use host::{AddressRange, HostPage, Refused};
pub use late::{LATE_BYTES, LateReleases};
pub use places::{CRASH_RECORD, HOST_PAGE, LATE_RELEASES, RECORD_BYTES, port, vector};
pub use time::{HOST_TIME, HOST_TIME_WORDS, HostTime, HostTimeReading, Moment};
