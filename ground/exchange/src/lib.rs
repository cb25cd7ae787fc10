//! The exchange: the shared-memory region of a partition.
//!
//! It works like the dual-port memory of a fieldbus card. Control code writes its statistics, its
//! process image and its variables here, in place, as part of its cycle; monitors read them from
//! outside and never ask. What changes a partition from outside comes through the command ring.
//!
//! ```text
//! 0  ┌──────────────────────────┐
//!    │ Header (one page)        │ magic, version, layout hash, size, shape, stop       host writes
//!    ├──────────────────────────┤
//!    │ TaskStatistics, each task│ state, counters, histograms, spikes, time line       its task
//!    ├──────────────────────────┤
//!    │ Control                  │ active data slot and its generation                  partition
//!    │ Inputs, Outputs          │ the process image, each stamped with its cycle       partition
//!    │ Data A, Data B           │ the variables of the program, and of the next build  program
//!    │ Commands                 │ ring: host; outcomes: partition
//!    │ Events, each task and 1  │ ring of what happened                                its task
//!    │ Trace, each task         │ request: host; acceptance and ring of samples: its task
//!    │ Forces                   │ the variables that are held                          partition
//!    │ Retain                   │ two halves of what survives a restart                partition
//!    └──────────────────────────┘
//! ```
//!
//! Each part starts on a page; how large it is, and whether there is one, says the [`Shape`].
//!
//! Invariants:
//! - Every shared word is an atomic with one writer, the variables of a program excepted.
//! - A writer keeps its own state and reads none of it back from the region, except the counter
//!   of a bin it adds to. What the other side wrote is never an index, a length or a loop count.
//! - [`Region::attach`] and [`View::attach`] refuse another version, layout or size and name both.
//! - No writer waits. Every reader's tries are bounded, and it says so when it got nothing whole.
//! - No allocation, no lock, no system call.

#![cfg_attr(not(any(test, loom)), no_std)]

pub mod channel;
pub mod com;
mod commands;
mod control;
mod data;
mod events;
mod forces;
mod image;
pub mod primitive;
pub mod program_face;
mod region;
mod retain;
mod statistics;
mod sync;
mod trace;

pub use commands::{
    Assignment, COMMANDS_PER_CYCLE, Command, CommandConsumer, CommandProducer, Group, Limits,
    Outcome, OutcomeReader, PublishError, Target, WhyRejected,
};
pub use control::{Active, FieldbusStatus};
pub use data::{DATA_READ_TRIES, DataRange, DataReading, DataSlot, OutOfData, Slot, WritableData};
pub use events::{Event, EventReader, EventWriter, HAPPENING_WORDS, Happening, ShortText};
pub use forces::{FORCE_LIMIT, ForceReader, ForceTable, ForcesFull, Held};
pub use image::{ImageReader, ImageWriter, Stamp};
pub use primitive::sequence::TornRead;
pub use primitive::words::Packer;
pub use region::{
    AttachError, COMMAND_SLOTS_MAX, DATA_BYTES_MAX, EVENT_SLOTS_MAX, IMAGE_BYTES_MAX, Layout,
    PAGE_BYTES, RETAIN_BYTES_MAX, Region, Section, Shape, ShapeError, TASK_LIMIT, TRACE_BYTES_MAX,
    View,
};
pub use retain::{RetainReader, RetainWriter, Retained};
pub use statistics::{
    Counters, Histogram, HistogramTotals, LateLimit, Pulse, Recorder, Release, SLOT_COUNT,
    SPIKE_COUNT, ScanCounters, SnapshotBuffers, Spike, TASK_SETTINGS, TaskSnapshot, TaskState,
    TaskStatistics, TimelineSlot, Worst, WritableTask, bins,
};
pub use trace::{
    TRACE_VARIABLES_MAX, TraceConfiguration, TracePlace, TraceReader, TraceRequestError,
    TraceRequester, TraceStep, TraceWriter,
};
