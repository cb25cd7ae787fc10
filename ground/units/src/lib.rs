//! The quantities that every floor of Quietcore shares, with their written forms.
//!
//! | type | holds | written as |
//! |------|-------|------------|
//! | [`Nanos`] | a duration or an instant of the monotonic clock, in nanoseconds | `1 ms`, `800 us`, `8 h` |
//! | [`ByteSize`] | an amount of memory, in bytes | `64 MiB` |
//! | [`BitRate`], [`BitCount`] | a network rate and a burst | `100 Mbit/s`, `1 Mbit` |
//! | [`DataType`] | the type of a number | `i16`, `f64` |
//! | [`CpuId`], [`CpuSet`] | a logical CPU and a set of them | `3`, `0,2-5` |
//! | [`SchedulingPolicy`], [`ThreadSettings`] | how a kernel schedules a thread | `SCHED_FIFO 90` |
//! | [`Scheduling`], [`ThreadRequest`] | what a thread is asked to be | |
//! | [`ThreadSetting`] | one part of that, which a kernel may refuse | |
//! | [`Wake`], [`WakeKind`] | how a task waits for its release | `early wake, 50 µs before the release` |
//! | [`ReleaseRule`] | when a task is released | `cyclic`, `event` |
//! | [`Overrun`], [`FaultReaction`] | what follows when a program is late or at fault | `catch-up`, `hold` |
//! | [`KernelJob`] | a job of a kernel's task, as C tells it, too | |
//! | [`Routine`], [`Trigger`] | a measured routine of a kernel, and how its interrupt is brought | `istentry`, `timer` |
//! | [`Causes`] | an error with its causes | `the site can't run: no room` |
//!
//! A quantity that crosses a crate border has one of these types instead of a suffix in its name.
//! The crate allocates nothing and needs no standard library, so a guest kernel can use it.

#![cfg_attr(not(test), no_std)]

mod causes;
mod cpus;
mod data_type;
mod duration;
mod quantity;
mod request;
mod routine;
mod size;
mod task;
mod thread;
mod wake;

pub use causes::Causes;
pub use cpus::{CPU_LIMIT, CpuId, CpuSet};
pub use data_type::DataType;
pub use duration::Nanos;
pub use quantity::UnitError;
pub use request::{MemoryLock, Scheduling, ThreadRequest, ThreadSetting};
pub use routine::{Routine, Trigger};
pub use size::{BitCount, BitRate, ByteSize};
pub use task::{FaultReaction, KernelJob, Overrun, ReleaseRule};
pub use thread::{SchedulingPolicy, SettingsChange, ThreadSettings};
pub use wake::{Wake, WakeKind};
