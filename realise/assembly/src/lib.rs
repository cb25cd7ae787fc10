//! From a partition of the site file to what its process is told: its program built, every name
//! resolved.
//!
//! ```text
//! model folder ─► build ─► symbols ─┐
//! site file: map, retain, tasks … ──┼─► stage: places and sizes ─► job of the partition
//! ESI files: entries, start-up ──────┘
//! ```
//!
//! All names that do not exist are reported at once, each with its place in the site file. The way
//! back is here too: [`tell`] says in the program's own words what its process tells as numbers.

#![forbid(unsafe_code)]

mod al_status;
mod assemble;
mod bus;
pub mod channels;
mod esi;
mod fieldbus;
mod kernel;
mod names;
mod tasks;
mod telling;

pub use assemble::{Assembly, AssemblyError, Staged, Workshop, stage};
pub use bus::BusImage;
pub use esi::{Catalogue, NotMeant, simulated};
pub use names::NameProblem;
pub use telling::{EventMessage, is_shut_down, kernel_errors, tell};
