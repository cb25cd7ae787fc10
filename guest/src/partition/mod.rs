//! The life of a partition in its guest.
//!
//! ```text
//! job ─► exchange, channels ─► kernel ─► loader: face, initialize, values, fieldbus ─► tasks begin
//!                                          └ in the background then: orders, and the end
//! ```
//!
//! | context | its task |
//! |---|---|
//! | `LEADER` | the leading task, above all others |
//! | 1 … | the other tasks, the one with the shortest period above |
//! | `LOADER` | loads builds, below all |
//!
//! | module | what |
//! |---|---|
//! | `start` | from the host page to the kernel |
//! | `state` | what the tasks share, and what each of them does |
//! | `loader` | the first build, and those that are ordered |
//! | `board` | the kernel's processor: the timer, interrupts, waiting |
//! | `releases` | when tasks are due, and what the timer is set to |
//! | `calls` | calls into the program, which may fail |
//! | `late` | late releases, for a host that explains them |
//! | `kernel` | the cycle of a program that is a kernel |
//! | `face`, `program` | a program at its places |
//!
//! A job that can't be run is refused on the console, and the guest ends with the status `REFUSED`.

#[cfg(target_os = "none")]
mod board;
#[cfg(target_os = "none")]
mod calls;
#[cfg(target_os = "none")]
mod face;
#[cfg(target_os = "none")]
mod kernel;
#[cfg(any(test, target_os = "none"))]
mod late;
#[cfg(target_os = "none")]
mod loader;
#[cfg(target_os = "none")]
mod program;
#[cfg(any(test, target_os = "none"))]
mod releases;
#[cfg(target_os = "none")]
mod start;
#[cfg(target_os = "none")]
mod state;

#[cfg(any(test, target_os = "none"))]
use quietcore_scan::shared::TASK_LIMIT;

#[cfg(target_os = "none")]
pub use start::{BringUp, run};

/// The leading task's context.
#[cfg(any(test, target_os = "none"))]
pub(crate) const LEADER: usize = 0;
/// Index of the loader's context.
#[cfg(any(test, target_os = "none"))]
pub(crate) const LOADER: usize = TASK_LIMIT;
/// Number of all contexts.
#[cfg(any(test, target_os = "none"))]
pub(crate) const CONTEXTS: usize = TASK_LIMIT + 1;
