//! The scan cycle of a partition: what a control program runs in.
//!
//! ```text
//! release → fieldbus: outputs of the last cycle out, inputs in → inputs to variables
//!         → commands → forces → step → forces → variables to outputs
//!         → statistics, images, retained values, trace → sleep
//! ```
//!
//! | module | what |
//! |--------|------|
//! | [`leader`] | the cycle of the leading task: everything above |
//! | [`follower`] | the cycle of the other tasks: forces, step, forces |
//! | [`change`] | commands, and the swap of one build for another |
//! | [`mapping::outputs`] | the fieldbus's image and the variables behind it |
//! | [`shared`] | what the tasks of a partition share |
//! | [`stage`] | a build as places and sizes |
//! | [`mapping`], [`watchdog`], [`fault`] | decisions, as pure functions |
//! | [`release`] | waiting for the next release |
//! | [`running`] | one release after the other, from the start to the end |
//! | [`kernel`] | the cycle of a program that is a kernel with tasks of its own |
//! | [`channels`] | the channels to other partitions, by number |
//! | [`job`] | what a partition is told, whatever it runs in |
//! | [`guest`] | what a guest is told |
//! | `process` | all of it in a Linux process; with the feature of that name |
//!
//! Bounds of a cycle (promise P57 of SPECIFICATION.md): no allocation, no lock, no system call but
//! those of the fieldbus and the sleep, and two for the timer of an OSEK program in whose cycle a
//! task ran; at most [`COMMANDS_PER_CYCLE`](quietcore_exchange::COMMANDS_PER_CYCLE) commands.

#![cfg_attr(not(any(test, feature = "process")), no_std)]

extern crate alloc;

pub mod change;
pub mod channels;
pub mod fault;
pub mod guest;
pub mod job;
pub mod kernel;
pub mod mapping;
#[cfg(feature = "process")]
pub mod process;
pub mod program;
pub mod shared;
pub mod stage;
mod tasks;
pub mod watchdog;

pub use tasks::{follower, leader, release, running, task};
