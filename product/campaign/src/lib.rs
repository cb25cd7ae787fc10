//! A campaign: partitions × profiles, run, measured and judged.
//!
//! ```text
//! site ─► Run (pure) ─► measure: loads up ─ partitions up ─ watch ─ partitions down ─ loads down
//!                                                          │
//!                                  exchange, read-back, activity ─► Record (pure)
//!                                                                     │
//!                              evidence folder ◄─ self-check ◄────────┘
//! ```
//!
//! The host's side only reads: ten times a second it looks at the exchange for progress, once a
//! second at the kernel for drift. Whatever ends a run, the partition and the loads are gone before
//! the next begins.

#![forbid(unsafe_code)]

mod activity;
mod campaign;
mod collect;
mod findings;
mod measure;
mod observer;
mod run;

pub use campaign::{Asked, Campaign, CampaignError, Outcome};
pub use measure::{Machine, MeasureError, Measured, measure};
pub use observer::{Observer, Progress};
pub use run::{PartitionRun, Run, runs};
