//! The probes: each measures one thing from inside a partition and writes into the exchange.
//!
//! | module | what |
//! |--------|------|
//! | `ethercat` | round trips and rate of the EtherCAT cycle |
//! | [`guest`] | the probes inside of a guest |
//! | `job` | the job of a partition, which crosses the border to its process as JSON |
//! | [`latency`] | the measured loop: release after release, by sleep or by early wake |
//! | `measurement` | a measurement that a process of its own carries out |
//! | `memory` | the time of accesses to memory, by working set |
//! | `osek` | the ten routines of scordino2020 on our OSEK kernel |
//! | `partition` | the threads of a partition, started together |
//! | [`routines`] | the program that `osek` measures, for any machine |
//! | `thread` | a real-time thread that measures |
//!
//! `job`, `measurement`, `memory`, `osek`, `partition` and `thread` need a process, and the feature
//! of that name; the others are also for a guest, `ethercat` with the feature `fieldbus`.

#![cfg_attr(not(any(test, feature = "process")), no_std)]

#[cfg(feature = "fieldbus")]
pub mod ethercat;
pub mod guest;
#[cfg(feature = "process")]
pub mod job;
pub mod latency;
#[cfg(feature = "process")]
pub mod measurement;
#[cfg(feature = "process")]
pub mod memory;
#[cfg(feature = "process")]
pub mod osek;
#[cfg(feature = "process")]
pub mod partition;
pub mod routines;
#[cfg(feature = "process")]
mod thread;
