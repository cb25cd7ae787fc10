//! The inside of a microVM: from the loader's jump to the partition's cycle.
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
//! | `partition` | the life of a partition: its tasks, its program, its orders |
//! | `pages`, `heap` | memory behind the image, with guards; memory taken and given back |
//! | `kernel` | the OSEK kernel on this processor |
//! | `board` | the driver of the clock board |
//! | `probing` | what the images of the probes have in common |
//! | `devices` | memory that the host shares as devices of a bus |
//! | `xen` | a host that is dom0 of Xen, and shares its memory as granted pages |
//! | `net` | Ethernet frames over a virtio-net device, polled |
//! | `clock` | the host's monotonic clock, from the time stamp counter |
//!
//! On any other target than the bare machine only what is decided purely is there, for its tests.

#![cfg_attr(target_os = "none", no_std)]

#[cfg(target_os = "none")]
extern crate alloc;

pub mod clock;
pub mod partition;

#[cfg(target_os = "none")]
pub mod board;
#[cfg(target_os = "none")]
mod boot;
#[cfg(target_os = "none")]
mod devices;
#[cfg(target_os = "none")]
pub mod heap;
#[cfg(target_os = "none")]
pub mod host;
#[cfg(target_os = "none")]
pub mod kernel;
#[cfg(target_os = "none")]
pub mod net;
#[cfg(target_os = "none")]
pub mod pages;
#[cfg(target_os = "none")]
pub mod probing;
#[cfg(target_os = "none")]
mod processor;
#[cfg(target_os = "none")]
mod xen;

#[cfg(target_os = "none")]
pub use processor::{apic, interrupts};
#[cfg(target_os = "none")]
pub(crate) use processor::{descriptors, exceptions};
