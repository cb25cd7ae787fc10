//! COM: a program's face to the channels, by signal and group numbers as in AUTOSAR COM.
//!
//! ```text
//! C program ─ Com_SendSignal(id, &x) ─► services table ─► ComTable ─► channel
//! ```
//!
//! The host gives each signal of a partition a number; a [`ComTable`] says for each number which
//! entry of which channel it is, and in which direction. Built programs get a table of functions,
//! `struct quietcore_services` in `include/quietcore_services.h`, through which the functions of
//! `include/Com.h` go.
//!
//! | operation | bound |
//! |-----------|-------|
//! | send or receive a signal or member | wait-free, no locked instruction |
//! | send or receive a group | wait-free, no locked instruction |
//! | send or receive a message | one locked instruction; [`ComStatus::Busy`] when two tasks use one queue at once |
//! | wait for a signal or group | its own limit; the sender does not notice |
//!
//! A program that is a kernel with tasks of its own finds more in the same table of functions: see
//! [`KernelHost`].
//!
//! A signal that is sent, and the shadow buffer of a group, belong to one task. Where two use them
//! at once, values of both may be mixed in the group, or one sending may be lost; nothing worse.

mod claim;
mod entry;
mod kernel;
mod services;
mod table;

pub use claim::Claim;
pub use entry::{ComGroup, ComSignal, Direction, OnTimeout};
pub use kernel::{KernelHost, NoKernel};
pub use services::{Provision, SERVICES_VERSION, Services};
pub use table::{ComTable, Shelter, SignalState};

/// The status of a COM function, with the number that C programs see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ComStatus {
    /// The function did as asked.
    Ok = 0,
    /// There is no such signal, or not in this direction, or an argument is wrong.
    NotOk = 1,
    /// Another task is at it, or the sender overtook at every try; the last value holds.
    Busy = 0x81,
    /// The signal has been out for longer than its timeout allows. The value is the last one, or
    /// the initial one, as configured.
    Timeout = 0x90,
    /// There is no message.
    QueueEmpty = 0x91,
    /// There is no room for the message.
    QueueFull = 0x92,
    /// The buffer is too small for the message, which stays in the queue.
    BufferTooSmall = 0x93,
    /// Nothing new came within the limit of a wait.
    NothingNew = 0x94,
}
