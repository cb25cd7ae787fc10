//! The fieldbus behind the scan cycle: the MainDevice as one process image, with its events.
//!
//! ```text
//! BusJob ─► Bus::bring_up ─► Bus: scan::program::Fieldbus ─► exchange, exchange, exchange, …
//!             over any Wire: a socket, a simulated segment, a virtio-net device in a guest
//! ```
//!
//! | module | what |
//! |--------|------|
//! | [`job`] | what a partition is told of its fieldbus, as values and as bytes |
//! | [`bus`] | the MainDevice behind the scan cycle's process image |
//! | `happening` | its alarms as events of the exchange |
//! | `stoppable` | a wire on which a bring-up ends when the partition is stopped |
//!
//! `no_std` with `alloc`: a process on the host and a guest run the same code. There is no executor
//! and no thread: whoever calls has the processor until the call is over. A bring-up takes as long
//! as the SubDevices do, [`PATIENCE`](bus::PATIENCE) at most, and ends at the next look at the wire
//! once a stop is requested. An exchange takes half a cycle at most, and never more than
//! [`WAIT_MAX`](bus::WAIT_MAX); it allocates nothing.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod bus;
mod happening;
pub mod job;
mod stoppable;

pub use bus::{Bus, BusError};
pub use happening::happening;
pub use job::{BusJob, JobError};
pub use stoppable::RestUntil;
