//! Ethernet frames in and out.
//!
//! | module | what | system calls a round trip |
//! |--------|------|---------------------------|
//! | [`wire`] | the trait [`Wire`] and its errors; all that a `no_std` MainDevice needs | |
//! | [`packet`] | a raw socket on a network interface, EtherCAT frames only | 2 and more |
//! | [`tap`] | the far end of a virtual network interface, EtherCAT frames only | 2 and more |
//! | [`in_process`] | a simulated segment in the same process, without privileges | none |
//! | [`intel`] | a network card that its user drives itself, by its registers | none |
//! | [`server`] | answers the frames of a wire with a simulated segment | 2 and more |
//! | [`answers`] | frames that wait for the instant of their delivery | |
//! | `waiting` | how the wires that are files wait for a frame | |
//! | [`fake`] | a wire for tests that answers and fails as told | none |
//!
//! A wire carries whole frames, from the destination address to the last byte of the payload: no
//! check sequence, no length but the slice's own. It never changes them.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "std")]
pub mod answers;
#[cfg(feature = "std")]
pub mod fake;
#[cfg(feature = "std")]
pub mod in_process;
pub mod intel;
#[cfg(feature = "std")]
pub mod packet;
#[cfg(feature = "std")]
pub mod server;
#[cfg(feature = "std")]
pub mod tap;
#[cfg(feature = "std")]
mod waiting;
pub mod wire;

#[cfg(feature = "std")]
pub use in_process::SegmentWire;
#[cfg(feature = "std")]
pub use packet::{InterfaceLook, OpenError, PacketWire};
#[cfg(feature = "std")]
pub use server::Server;
#[cfg(feature = "std")]
pub use tap::{TapError, TapWire};
pub use wire::{ETHERCAT_TYPE, FRAME_BYTES_MAX, Wire, WireError};
