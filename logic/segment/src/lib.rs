//! A simulated EtherCAT segment: SubDevices in a line that take a frame and a time and answer it.
//!
//! Pure: no input or output, no clock, no thread. The same segment serves a MainDevice in its own
//! process, one on a network interface, and a test with a clock of its own.
//!
//! ```text
//! frame, now ─► Segment::process ─► SubDevice 0 ─► SubDevice 1 ─► … ─► frame in place, Delivery
//!                  │    faults         │ ESC registers, SII, SyncManagers, FMMUs, mailbox, DC
//!                  │                   └ Application: what the device is for
//!                  └ plants advance with `now` and are wired to the applications' signals
//! ```
//!
//! - [`segment`]: the line, and the walk of a frame through it.
//! - [`subdevice`]: one SubDevice: its EtherCAT controller and its application.
//! - [`application`]: the trait of what a device is for, and its physical signals.
//! - [`device`]: the devices that can be had by name.
//! - [`describe()`]: identity, process data entries and signals of a device by name.
//! - [`plant`]: what drives and terminals act on: a servo axis, a steam turbine, a tank.
//! - [`faults`]: what can be made to go wrong, when and how often.
//!
//! It is a test tool and no SubDevice product. EtherCAT is a registered trademark and patented
//! technology of Beckhoff Automation GmbH.

#![forbid(unsafe_code)]

pub mod application;
pub mod blueprint;
pub mod coe;
pub mod describe;
pub mod device;
mod esc;
pub mod faults;
mod frame;
mod mailbox;
pub mod plant;
mod process_data;
pub mod segment;
mod sii;
pub mod subdevice;
mod trouble;

pub use application::{Application, Situation, Surroundings};
pub use blueprint::Blueprint;
pub use coe::Emergency;
pub use describe::{Description, Entry, Identity, Signal, SignalDirection};
pub use device::{UnknownDevice, describe};
pub use esc::al_state::{AlState, code};
pub use faults::{Fault, FaultKind, Faults, When};
pub use frame::Command;
pub use segment::{Counters, Delivery, Options, Segment};
pub use subdevice::SubDevice;
