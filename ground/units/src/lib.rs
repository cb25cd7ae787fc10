//! The quantities that every floor of Quietcore shares, with their written forms.
//!
//! | type | holds | written as |
//! |------|-------|------------|
//! | [`Nanos`] | a duration or an instant of the monotonic clock, in nanoseconds | `1 ms`, `800 us`, `8 h` |
//! | [`ByteSize`] | an amount of memory, in bytes | `64 MiB` |
//! | [`BitRate`], [`BitCount`] | a network rate and a burst | `100 Mbit/s`, `1 Mbit` |
//! | [`CpuId`], [`CpuSet`] | a logical CPU and a set of them | `3`, `0,2-5` |
//! | [`SchedulingPolicy`], [`ThreadSettings`] | how a kernel schedules a thread | `SCHED_FIFO 90` |
//! | [`Causes`] | an error with its causes | `the site can't run: no room` |
//!
//! A quantity that crosses a crate border has one of these types instead of a suffix in its name.
//! The crate allocates nothing and needs no standard library, so a guest kernel can use it.

#![cfg_attr(not(test), no_std)]

mod causes;
mod cpus;
mod duration;
mod quantity;
mod size;
mod thread;

pub use causes::Causes;
pub use cpus::{CPU_LIMIT, CpuId, CpuSet};
pub use duration::Nanos;
pub use quantity::UnitError;
pub use size::{BitCount, BitRate, ByteSize};
pub use thread::{SchedulingPolicy, SettingsChange, ThreadSettings};
