//! The network of a guest: a virtio-net device (virtio 1.2, 5.1) over memory-mapped registers, with
//! one queue in each direction.
//!
//! ```text
//! guest ─► transmit queue ─► rings ─► link ─► a socket, a tap, a simulated segment
//!       ◄─ receive queue  ◄─       ◄─
//! ```
//!
//! | service | when the guest rings | exits of its processor a frame |
//! |---|---|---|
//! | [`Service::AtBell`] | its processor leaves it for this process, which answers at once | 1 |
//! | [`Service::Thread`] | KVM writes an event file, and a thread of this process serves | 1, to the kernel |
//! | the same, spinning | it need not: that thread looks at the queues all the time | none |
//!
//! | module | what |
//! |---|---|
//! | `registers` | the registers, as a state machine |
//! | `rings` | frames out of and into the queues |
//! | [`link`] | where frames go |
//! | [`device`] | the device: registers, rings and link |
//! | `serve` | the thread that serves it |
//!
//! The guest is not trusted: whatever it writes to registers and rings, no address beyond its own
//! memory is touched, nothing is allocated, and one call handles a bounded number of frames of a
//! bounded length. A chain of descriptors that is none costs the guest that frame; a ring that
//! can't be costs it the device, until it resets it.

pub mod device;
pub mod link;
mod registers;
mod rings;
mod serve;

pub use device::{Counts, Net, Service};
pub use link::{Link, Readiness};

/// MAC address of a guest's interface, administered locally (IEEE 802, clause 8.2).
pub const ADDRESS: [u8; 6] = [0x02, 0x51, 0x43, 0, 0, 1];
/// Bytes of the registers, from the device's place on.
pub const REGISTER_BYTES: u64 = 0x1000;
/// Offset of the bell in them: the one register whose writing need not reach this process.
pub const BELL: u64 = 0x50;
/// The most entries of a queue.
pub const QUEUE_ENTRIES_MAX: u16 = 256;
