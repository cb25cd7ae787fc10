//! The probes: each measures one thing from inside a partition and writes into the exchange.
//!
//! | module | what |
//! |--------|------|
//! | [`ethercat`] | round trips and rate of the EtherCAT cycle |
//! | [`job`] | what a partition is asked to run; crosses the border to its process as JSON |
//! | [`latency`] | the measured loop: release after release, by sleep or by early wake |
//! | [`margin`] | how long before its release a task is woken |
//! | [`osek`] | the ten routines of seed 001 on our OSEK kernel |
//! | [`partition`] | the threads of a partition, started together |

pub mod ethercat;
pub mod job;
pub mod latency;
pub mod margin;
pub mod osek;
pub mod partition;
