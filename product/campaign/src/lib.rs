//! A campaign: partitions × profiles, run, measured and judged.
//!
//! ```text
//! site ─► programs built ─► Run (pure)
//!                            │
//!      loads up ─ partitions up ─ watch ─ partitions down ─ loads down
//!                                   │
//!           exchange, events, read-back, activity ─► Record (pure)
//!                                                       │
//!                evidence folder ◄─ self-check ◄────────┘
//! ```
//!
//! [`experiment`] measures variants of such a run in turns.
//!
//! A partition with a model runs its program (probe `exec`), any other the probe `latency`.
//!
//! The host's side only reads: ten times a second it looks at the exchange for progress, once a
//! second at the kernel for drift. Whatever ends a run, the partition and the loads are gone before
//! the next begins.

#![forbid(unsafe_code)]

mod activity;
mod campaign;
mod collect;
pub mod experiment;
mod explain;
mod findings;
mod measure;
mod observer;
mod programs;
mod run;
mod troubles;
mod work;

pub use campaign::{Asked, Campaign, CampaignError, Outcome};
pub use collect::{counters, timeline};
pub use measure::{Machine, MeasureError, Measured, measure};
pub use observer::{Observer, Progress};
pub use programs::Programs;
pub use run::{PartitionRun, Run, container_of, runs};
pub use work::{ProgramRun, Work, mode, wake_kind};
