//! Keeps a site running, and lets others talk to it.
//!
//! ```text
//! quietcore watch, set, ps … ─► client ── socket, a line of JSON each ──► server ─► Site
//!        │                        ▲                                                 │
//!        │                        └── places: where the sites of this user run      │
//!        └── reads the exchange itself, read-only ◄── partition ◄──────────────────┘
//! ```
//!
//! | module | what |
//! |--------|------|
//! | [`live`] | a site that runs: a thread a partition keeps it |
//! | [`log_file`] | lines in a file of bounded size |
//! | [`places`] | the folders of running sites; one supervisor a site, told apart from leftovers |
//! | [`control`] | what can be asked of a running site: the trait [`Site`] and its words |
//! | [`protocol`] | requests and responses as lines of JSON, and the file that goes with one |
//! | [`shared_cpus`] | what of a site's CPUs partitions of other sites have |
//! | [`server`] | the socket: a thread a client, of ordinary priority |
//! | [`client`] | the other end of the socket |
//! | [`monitor`] | variables and figures by name, read from the exchange |
//! | [`recording`] | variables over time: trace ring, trigger, CSV, Parquet |
//! | [`trigger`] | when a recording begins, and what is kept from before |
//! | [`retained`] | retained variables on disk |
//! | `running_monitor` | sheds the less critical partitions when one that matters more is late |
//! | [`fake`] | a site without partitions, for tests of either end |

#![forbid(unsafe_code)]

pub mod client;
pub mod control;
pub mod fake;
mod keeper;
pub mod live;
pub mod monitor;
pub mod places;
pub mod protocol;
pub mod recording;
pub mod retained;
mod running_monitor;
pub mod server;
mod settings;
pub mod trigger;

pub use control::{ControlError, Site};
pub use places::{log_file, shared_cpus};
pub use settings::SettingsError;
