//! Loads for the machine: started, verified, measured and always stopped.
//!
//! A load disturbs a measurement on purpose. Each worker of a load is a process of its own, so that
//! what it does to its address space stays apart from the memory a probe has locked:
//!
//! ```text
//! parent (LoadSet)                          worker process, one per worker
//!   start ── program load --kind K … ─────▶ reset policy, niceness, affinity, OOM score
//!   board (memfd) ◀──── operations, bytes ─ work thread: the loop of its kind
//!   stdin pipe ───────────────────────────▶ main thread: ends the process at end of file
//!   stderr pipe ◀── the reason of a failure ┘
//! ```
//!
//! Invariants:
//! - When the parent ends, for whatever reason, the kernel closes its end of the pipes and every
//!   worker ends within 100 ms, whatever its work thread is doing.
//! - What the workers wrote to the board is a number to show, never an index, a length or a bound.
//! - A load that was asked for is either as asked (policy, niceness, CPUs, number of workers) or an
//!   error; a weaker load than claimed would make the evidence false.
//! - [`LoadSet::stop`] and dropping the set leave no process, zombie, file or socket.
//!
//! A set can be told a [`Pace`], so that a measurement with it and without it can take turns in
//! short blocks: workers that rest keep their memory and use no processor.
//!
//! Limits: the memory check looks at the machine, not at the memory limit of a control group.

mod affinity;
mod board;
mod error;
mod pace;
mod parent;
pub mod presets;
mod request;
mod work;
pub mod worker;

pub use error::{FolderError, LoadError, RequestProblem};
pub use pace::Pace;
pub use parent::achieved::{Achieved, WorkerFault, WorkerProblem};
pub use parent::check::default_size;
pub use parent::set::LoadSet;
pub use request::{LoadRequest, WORKER_LIMIT};
