//! The EtherCAT MainDevice of a partition.
//!
//! ```text
//! Expectation ─► bring_up ─► Fieldbus ─► cycle, supervise, cycle, supervise, …
//!                   │            │          │         └ one datagram a cycle: states, mailboxes,
//!                   │            │          │           counters, recovery of single SubDevices
//!                   │            │          └ prebuilt frames; waits until a given instant at most
//!                   │            └ process image, alarms, topology
//!                   └ ethercrab: addresses, SII, mailboxes, SyncManagers, FMMUs, clocks
//! ```
//!
//! | module | what |
//! |--------|------|
//! | [`expectation`] | what shall be on the wire; every difference to what is |
//! | `bring_up` | from a silent wire to SubDevices in OP, on `ethercrab` |
//! | [`fieldbus`] | the face: process data, cycle, supervision, alarms |
//! | `cycle`, `frame` | the real-time path |
//! | `supervise`, [`mailbox`] | everything else, one datagram at a time |
//! | [`alarm`], [`state`], [`subdevice`], [`topology`] | what is said about the SubDevices |
//!
//! `no_std` with `alloc`: a process on the host and the guest run the same code. The feature `std`
//! adds only that a panic in `ethercrab` is survived.
//!
//! Limits: one line or tree, no redundant ring; up to 256 SubDevices and 8192 bytes of process
//! data; FMMUs on whole bytes, as `ethercrab` maps them; of the mailbox protocols, CoE.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod alarm;
mod bring_up;
mod cycle;
pub mod expectation;
pub mod fieldbus;
mod frame;
pub mod mailbox;
pub mod state;
pub mod subdevice;
mod supervise;
pub mod topology;

pub use alarm::{Alarm, ErrorCounters};
pub use bring_up::{BringUpError, SUBDEVICES_MAX, Step};
pub use cycle::CycleOutcome;
pub use expectation::{Difference, Expectation, Expected, Identity, StartUp, Synchronisation};
pub use fieldbus::Fieldbus;
pub use mailbox::{Object, SDO_BYTES_MAX, SdoError};
pub use state::{AlState, AlStatus};
pub use subdevice::SubDevice;
pub use supervise::Presence;
pub use topology::Topology;
