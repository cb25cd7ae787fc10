//! Everything around partitions that run at the same time, for a campaign and for a site that is
//! up.
//!
//! ```text
//! HeldSettings::change ──► Loads::start ──► partitions, in rooms of the backend
//!    looked at while they run                     │
//! HeldSettings::put_back ◄── loads stop ◄─────────┘
//! ```
//!
//! - [`HeldSettings`]: the machine's settings, changed for a holder and looked at at each of its
//!   polls, with the group that has the partitions' CPUs for itself.
//! - [`Loads`](loads::Loads): loads beside them, let onto the partitions' CPUs where they are to
//!   disturb there.
//!
//! Nothing here waits, reads a clock or has a thread: the caller polls.

#![forbid(unsafe_code)]

pub mod loads;
mod settings;

pub use settings::{HeldSettings, Looked, SETTINGS_EVERY};
