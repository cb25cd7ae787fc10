//! The C face: the services under their names in the standard, on one kernel for the library.
//!
//! Declared in `include/os.h` and `include/quietcore_osek.h`. A static library of this crate holds
//! one kernel, so that each module of a partition has its own.
//!
//! | module | what |
//! |---|---|
//! | `tables` | the tables as C lays them out: read with care, then borrowed as they are |
//! | `services` | the services of `os.h` |
//! | `drivers` | a program of its own, and a module in a partition |
//! | `abort` | what a panic ends in, in the static library |
// UNSAFETY: makes the system.
#![expect(unsafe_code, reason = "who makes a system promises who uses it")]

#[cfg(all(not(test), panic = "abort"))]
mod abort;
pub mod drivers;
pub mod services;
pub mod tables;

use crate::port::hosted::Hosted;
use crate::system::System;

/// The kernel of this library.
// SAFETY: the services and the drivers of this module are all that C reaches of it.
static SYSTEM: System<Hosted> = unsafe { System::new(Hosted::new()) };
