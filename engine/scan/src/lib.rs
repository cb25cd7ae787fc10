//! The scan cycle.
#![cfg_attr(not(test), no_std)]
extern crate alloc;
pub mod fault;
pub mod mapping;
pub mod schedule;
pub mod stage;
pub mod watchdog;
