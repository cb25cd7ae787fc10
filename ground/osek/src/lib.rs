//! A real-time kernel after OSEK/VDX OS 2.2.3 (ISO 17356-3), statically configured.
//!
//! Tasks, resources, events, alarms and ISRs are entries of tables that are fixed before the start;
//! the kernel allocates nothing. All 26 services and the four conformance classes are there, and
//! beyond them software counters, schedule tables, execution budgets, inter-arrival times and
//! checked stacks, with the names of AUTOSAR OS. What each service answers is listed in
//! `docs/osek-conformance.md`, which is made from the tests.
//!
//! ```text
//! C program ── os.h ──► c ─┐
//! Rust program ────────────┴► system ── decides ──► kernel     which task runs; pure and safe
//!                               └────── acts ─────► port       contexts, interrupts, time
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`configuration`] | the tables |
//! | [`check`] | refuses tables that can't work |
//! | [`kernel`] | the decisions, as a state machine |
//! | [`system`] | a kernel on a machine: services, call levels, hooks, dispatcher |
//! | [`port`] | what a machine must do; `hosted` in a Linux thread, `bare` on a processor to itself |
//! | `c` | the services for C, under their names in the standard; with the feature of that name |
//! | [`stacks`] | how much memory stacks take |
//! | [`names`] | how statuses and services are called |
//! | [`status`] | errors, and the numbers of services |
//!
//! Bounds of every path are stated in [`kernel`]. No path waits, allocates, or runs an unbounded
//! loop while interrupts are held back.
#![no_std]

#[cfg(test)]
extern crate std;

#[cfg(feature = "c")]
pub mod c;
pub mod check;
pub mod configuration;
pub mod kernel;
pub mod names;
pub mod port;
pub mod stacks;
pub mod status;
pub mod system;
#[cfg(feature = "hosted")]
mod text;
