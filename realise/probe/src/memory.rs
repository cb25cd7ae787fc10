//! The time of accesses to memory: scordino2020, section V-A, the benchmark that it calls membench.
//!
//! ```text
//! measuring process                        partition, pinned, under a real-time policy
//!   cycle (a seed)              ─────────▶  the cycle begins anew, with no line
//!   working set (bytes)         ─────────▶  it grows through all lines of the set
//!   measure (a pattern)         ─────────▶  warm up: once through the set ─ block ─┐
//!                               ◀───────────────────── accesses and their time ────┘
//! ```
//!
//! The measuring process decides when: it lets neighbours work or rest, and asks in turns for a
//! block beside them and one without. The partition knows nothing of the neighbours.
//!
//! | module | what |
//! |---|---|
//! | [`chase`] | the random cycle, and both ways through a working set |
//! | [`plan`] | the working sets, and the turns of the neighbours |
//! | [`victim`] | the partition, which carries out commands |
//!
//! **Random** accesses follow one cycle through all lines of the set, in which each line tells
//! where the next one is: no access can begin before the previous one has ended, and no hardware
//! can guess it. **Sequential** ones read the same places from begin to end; none waits for
//! another, so that prefetching and overlapping show. A place is a cache line unless another stride
//! is asked for.

pub mod chase;
pub mod plan;
pub mod victim;

use quietcore_process::field::{FieldState, PageKind};
use quietcore_record::reason::NotInForce;
pub use quietcore_record::record::AccessPattern;
use quietcore_units::{Nanos, Scheduling};
use serde::{Deserialize, Serialize};

/// The job of a partition whose accesses are measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryJob {
    /// Number of the open pipe from which commands come, a line of JSON each.
    pub commands: u32,
    /// Number of the open pipe to which answers go, one for each command, and one at the start.
    pub answers: u32,
    /// The CPU to be pinned to; `None` where the thread may move.
    pub cpu: Option<u32>,
    /// Scheduling policy and priority of the thread.
    pub policy: Scheduling,
    /// The largest working set, in bytes.
    pub field_bytes: u64,
    /// Distance from one place to the next, in bytes: one of [`plan::STRIDES`].
    pub stride_bytes: u64,
    /// The kind of page of the working set.
    pub pages: PageKind,
    /// Time for which a block is measured.
    pub block: Nanos,
    /// The longest time for the pass through the set before a block.
    pub warm_up_max: Nanos,
}

/// A command to the partition, a line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Begins a new random cycle, with no line in it yet.
    Cycle {
        /// Seed that decides the order of the cycle.
        seed: u64,
    },
    /// Sets the working set, which may only grow within a cycle.
    WorkingSet {
        /// Size in bytes, a multiple of [`chase::UNROLLED`] strides.
        bytes: u64,
    },
    /// Measures a block of accesses, after a pass through the set.
    Measure {
        /// Order of the accesses: random or sequential.
        pattern: AccessPattern,
    },
}

/// An answer of the partition, a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The partition waits for commands.
    Ready {
        /// The thread that measures.
        thread: u32,
        /// Settings that were asked for and are not in force.
        degraded: Vec<NotInForce>,
        /// State of its memory as the kernel tells it; `None` where it does not.
        field: Option<FieldState>,
    },
    /// The command was carried out.
    Done,
    /// A block was measured.
    Block {
        /// Number of accesses in the block.
        accesses: u64,
        /// Time that they took together, in ns.
        time_ns: u64,
        /// Number of accesses in the warm-up before.
        warm_up_accesses: u64,
    },
    /// The command can't be carried out.
    Refused {
        /// The reason, in words.
        because: String,
    },
}
