//! What accesses to memory take: scordino2020, section V-A, the benchmark that it calls membench.
//!
//! ```text
//! who measures                             partition, pinned, under a real-time policy
//!   cycle (a seed)              ─────────▶  the cycle begins anew, with no line
//!   working set (bytes)         ─────────▶  it grows through all lines of the set
//!   measure (a pattern)         ─────────▶  warm up: once through the set ─ block ─┐
//!                               ◀───────────────────── accesses and their time ────┘
//! ```
//!
//! Who measures decides when: it lets neighbours work or rest, and asks for a block with them and
//! one without in turns. The partition knows nothing of them.
//!
//! | module | what |
//! |---|---|
//! | [`chase`] | the random cycle, and both ways through a working set |
//! | [`plan`] | which working sets, and in which turns |
//! | [`victim`] | what the partition does when it is told to |
//!
//! **Random** accesses follow one cycle through all lines of the set, in which each line says where
//! the next one is: no access can begin before the one before has ended, and nothing can guess it.
//! **Sequential** ones read the same places from begin to end; they wait for nothing, so that
//! prefetching and overlapping show. A place is a cache line unless another stride is asked for.

pub mod chase;
pub mod plan;
pub mod victim;

use quietcore_process::field::{FieldState, PageKind};
use quietcore_process::setting::Policy;
use quietcore_record::reason::NotInForce;
pub use quietcore_record::record::AccessPattern;
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// What the partition is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryJob {
    /// The open pipe that commands come from, a line of JSON each.
    pub commands: u32,
    /// The open pipe that answers go to, one a command, and one at the begin.
    pub answers: u32,
    /// The CPU to be pinned to; `None` where the thread may move.
    pub cpu: Option<u32>,
    /// How it is scheduled.
    pub policy: Policy,
    /// The largest working set, in bytes.
    pub field_bytes: u64,
    /// From one place to the next one, in bytes: one of [`plan::STRIDES`].
    pub stride_bytes: u64,
    /// The kind of page.
    pub pages: PageKind,
    /// How long a block is measured.
    pub block: Nanos,
    /// How long the way through the set before it may take at most.
    pub warm_up_max: Nanos,
}

/// What the partition is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Begin a new random cycle.
    Cycle {
        /// What decides about it.
        seed: u64,
    },
    /// Let the working set be so large; it may only grow within a cycle.
    WorkingSet {
        /// In bytes.
        bytes: u64,
    },
    /// Measure a block.
    Measure {
        /// In which order.
        pattern: AccessPattern,
    },
}

/// What the partition says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is there.
    Ready {
        /// The thread that measures.
        thread: u32,
        /// What was asked for and is not in force, in words.
        degraded: Vec<NotInForce>,
        /// What the kernel made of its memory; `None` where it doesn't tell.
        field: Option<FieldState>,
    },
    /// It did as it was told.
    Done,
    /// It measured.
    Block {
        /// How many accesses.
        accesses: u64,
        /// How long they took together, in ns.
        time_ns: u64,
        /// Accesses of the warm-up before.
        warm_up_accesses: u64,
    },
    /// It can't do that.
    Refused {
        /// Why.
        because: String,
    },
}
