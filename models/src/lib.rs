//! The example programs in closed loop with their plants, in simulated time.
//!
//! ```text
//!            ┌────────── one frame a release ──────────┐
//! sensors ───┤ inputs of this cycle                    │
//!            │                     C controller: step  │
//! actuators ◄┤ outputs of the cycle before             │
//!            └─────────────────────────────────────────┘
//! ```
//!
//! The controllers are the C files of this folder, compiled by the build script; the plants are
//! those of the simulated segment. What is asked here is what a platform must guarantee to a
//! program: how late may its releases come before the loop leaves its specification, and when does
//! it become unstable?
//!
//! - [`controller`]: the compiled models behind a safe face.
//! - [`timing`]: releases that come late, in the ways in which machines make them late.
//! - [`closed_loop`]: controller and plant together.
//! - [`servo`], [`turbine`], [`tank`]: a scenario each, with the specification of the loop.
//! - [`margin`]: how much of each lateness a loop bears.
//!
//! A crate of its own, beside the floors: nothing is built from it, and it needs a C compiler.

pub mod closed_loop;
pub mod controller;
pub mod margin;
pub mod servo;
pub mod tank;
pub mod timing;
pub mod turbine;
