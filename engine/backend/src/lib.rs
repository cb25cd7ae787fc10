//! What realises a partition: one module a backend.
//!
//! | backend | module | realised as |
//! |---------|--------|-------------|
//! | `process` | [`process`] | a Linux process of its own |
//! | `kvm` | [`kvm`] | a guest of our own virtual machine monitor, which is such a process |
//!
//! [`memory`] is a process that is told block by block what to measure.
//!
//! Every backend starts the partition's process or guest with its exchange, watches it, stops it,
//! and leaves nothing behind when the host's program ends, in whatever way.

#![forbid(unsafe_code)]

pub mod container;
pub mod fieldbus;
pub mod job;
pub mod kvm;
pub mod memory;
pub mod process;
