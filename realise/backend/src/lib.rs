//! The backends, which realise partitions: one module each.
//!
//! | backend | module | realised as |
//! |---------|--------|-------------|
//! | `process` | [`process`] | a Linux process of its own |
//! | `container` | [`container`] | such a process in a container of `runc` or `crun` |
//! | `kvm` | [`kvm`] | a guest of our own virtual machine monitor, which is such a process |
//! | `qemu` | [`qemu`] | a guest of QEMU, which such a process starts and keeps |
//! | `xen` | [`xen`] | a domain of Xen, which such a process keeps |
//!
//! Everything that differs between them behind [`process::Partition`] is in two traits: one for the
//! settings of a partition, in [`setting`], one for the surroundings of its process, in
//! `surroundings`. [`measuring`] is a process that carries out one measurement; [`memory`] is one
//! that is told block by block which accesses to measure; [`neighbour`] is one that runs loads.
//!
//! Every backend starts the partition's process or guest with its exchange, watches it, stops it,
//! and leaves nothing behind when the host's program ends, in whatever way.

#![forbid(unsafe_code)]

pub mod container;
pub mod fieldbus;
pub mod guest;
pub mod interior;
pub mod job;
pub mod kvm;
mod lines;
pub mod linux;
pub mod measuring;
pub mod memory;
pub mod neighbour;
pub mod process;
pub mod qemu;
pub mod rooms;
pub mod setting;
mod surroundings;
pub mod xen;
