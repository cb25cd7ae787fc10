//! Probes, as a person has them measured.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
#[path = "../command/mod.rs"]
mod command;

mod memory;
mod osek;
