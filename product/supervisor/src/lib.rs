//! Keeps a site running, and lets others control and watch it.
//!
//! ```text
//! quietcore watch, set, ps … ─► client ── socket, a line of JSON each ──► server ─► Site
//!        │                        ▲                                                 │
//!        │                        └── places: where the sites of this user run      │
//!        └── reads the exchange itself, read-only ◄── partition ◄──────────────────┘
//! ```
//!
//! | module | content |
//! |--------|------|
//! | [`live`] | a site that runs: a thread a partition keeps it |
//! | [`log_file`] | lines in a file of bounded size |
//! | [`places`] | the folders of running sites, told apart from leftovers; one supervisor a site |
//! | [`control`] | requests to a running site and their answers; a crate of its own |
//! | [`Site`] | a site as its clients see it: one way to ask, whatever the request |
//! | [`channel`] | lines over a socket, and the file that goes with one |
//! | [`shared_cpus`] | CPUs of a site that partitions of other sites have |
//! | [`server`] | the socket: a thread a client, of ordinary priority |
//! | [`client`] | the other end of the socket |
//! | [`monitor`] | variables and figures by name, read from the exchange |
//! | [`host_channel`] | a channel of a running site in an ordinary program of the host |
//! | [`recording`] | variables over time: trace ring, trigger, CSV, Parquet |
//! | [`trigger`] | the begin of a recording, and the samples kept from before it |
//! | `retained` | retained variables on disk |
//! | `world` | the outside of keepers: time, storage, processes |
//! | `running_monitor` | sheds the less critical partitions when one that matters more is late |
//! | `simulation` | keepers on simulated time, with faults by chance; feature `simulation` |
//! | `fake` | a site without partitions, for tests of either end; feature `fake` |

#![forbid(unsafe_code)]

#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod host_channel;
mod keeper;
pub mod live;
pub mod monitor;
pub mod places;
pub mod recording;
mod retained;
mod running_monitor;
mod settings;
#[cfg(any(test, feature = "simulation"))]
pub mod simulation;
mod site;
mod socket;
pub mod trigger;
mod variables;
mod world;

pub use control::ControlError;
pub use places::{log_file, shared_cpus};
pub use quietcore_control as control;
pub use settings::SettingsError;
pub use site::{Answered, Site};
pub use socket::{channel, client, server};
