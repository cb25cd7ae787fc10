//! What runs inside of a microVM: from the loader's jump to the partition's cycle.
//!
//! ```text
//! loader ─► boot (32 bit ─► long mode) ─► begin: descriptors, host page ─► main of the image
//!                                             exceptions ─► crash record ─► end
//! ```
//!
//! | module | what |
//! |---|---|
//! | `boot` | the first instructions, and the tables that they need |
//! | `descriptors`, `exceptions` | what the processor does when something is wrong |
//! | `host` | what the host tells, and how it hears |
//! | `interrupts`, `apic` | who is entered at an interrupt; the local controller and its timer |
//! | `pages` | memory behind the image, with guards |
//! | `kernel` | the OSEK kernel on this processor |
//! | `clock` | the host's monotonic clock, from the time stamp counter |
//!
//! On any other target than the bare machine only what is decided purely is there, for its tests.

#![cfg_attr(target_os = "none", no_std)]

pub mod clock;

#[cfg(target_os = "none")]
pub mod apic;
#[cfg(target_os = "none")]
mod boot;
#[cfg(target_os = "none")]
mod descriptors;
#[cfg(target_os = "none")]
mod exceptions;
#[cfg(target_os = "none")]
pub mod host;
#[cfg(target_os = "none")]
pub mod interrupts;
#[cfg(target_os = "none")]
pub mod kernel;
#[cfg(target_os = "none")]
pub mod pages;
