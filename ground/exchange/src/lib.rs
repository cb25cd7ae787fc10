//! The exchange: the shared-memory region of a partition.
//!
//! Control code writes its cycle statistics here, in place, as part of its cycle; monitors read
//! them from outside and never ask. The region works like the dual-port memory of a fieldbus card:
//!
//! ```text
//! 0        ┌────────────────────────────┐
//!          │ Header (one page)          │ magic, version, layout hash, size, task count, stop
//! 4096     ├────────────────────────────┤
//!          │ TaskStatistics of task 0   │ state, counters, histograms, worst spikes, time line
//!          ├────────────────────────────┤
//!          │ TaskStatistics of task 1 … │
//!          └────────────────────────────┘
//! ```
//!
//! Invariants:
//! - Every shared word is an atomic; a task's statistics have one writer, its [`Recorder`].
//! - The writer keeps its own state and reads none of it back from the region, except the counter
//!   of the bin it adds to: what the other side wrote is never an index, a length or a loop count.
//! - [`Region::attach`] refuses another version, layout or size and names both.
//! - No allocation, no lock, no system call.

#![cfg_attr(not(test), no_std)]

pub mod bins;
mod histogram;
mod recorder;
mod region;
mod statistics;

pub use histogram::{Histogram, HistogramTotals};
pub use recorder::{Cycle, Recorder};
pub use region::{AttachError, Region, TASK_LIMIT};
pub use statistics::{
    Counters, SLOT_COUNT, SPIKE_COUNT, Setting, Slot, Spike, TaskState, TaskStatistics, TornRead,
};
