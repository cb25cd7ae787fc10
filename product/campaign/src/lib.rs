//! A campaign: partitions × profiles, run, measured and judged.
//!
//! ```text
//! site ─► programs built ─► Run (pure)
//!                            │
//!      loads, neighbours up ─ partitions up ─ watch ─ partitions, neighbours, loads down
//!                                               │
//!                       exchange, events, read-back, activity ─► Record (pure)
//!                                                                    │
//!                             evidence folder ◄─ self-check ◄────────┘
//! ```
//!
//! [`experiment`] measures variants of such a run in turns.
//!
//! [`renewal`] decides what of an earlier folder is measured again.
//!
//! [`probe`] has the probes that measure something other than the releases of a site's partitions.
//!
//! A partition with a model runs its program (probe `exec`); any other runs the probe `latency`.
//!
//! The host's side only reads: ten times a second it looks at the exchange for progress, and five
//! times a second at the kernel for drift. However a run ends, its partitions and loads are gone
//! before the next begins.

#![forbid(unsafe_code)]

mod activity;
mod beside;
mod campaign;
mod collect;
pub mod experiment;
mod explain;
mod findings;
mod measure;
mod observer;
pub mod probe;
mod programs;
mod progress_file;
pub mod renewal;
mod run;
mod troubles;
mod work;
mod world;

pub use campaign::{Asked, Campaign, CampaignError, Earlier, Outcome};
pub use measure::{Machine, MeasureError, Measured, measure};
pub use observer::{Advance, Observer, Progress};
pub use programs::Programs;
pub use progress_file::{Beside, PROGRESS_SCHEMA, ProgressFile, RunProgress};
pub use run::{NeighbourRun, PartitionRun, Run, runs, setting_of};
pub use work::{PartitionWork, ProgramRun};
pub use world::{Live, Process, World};
