//! Probes, comparisons and the first steps, as a person has them done.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
#[path = "../command/mod.rs"]
mod command;

mod alone;
mod campaign;
mod comparing;
mod ethercat;
mod first_program;
mod irq;
mod memory;
mod osek;
mod reproduction;
