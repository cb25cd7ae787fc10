//! Runs: campaigns and experiments that the daemon starts and does not hold.
//!
//! ```text
//! STATE/@daemon/runs/
//! ├── lock               held by the run that goes on, as its standard input; has its number
//! └── 7/
//!     ├── run.json       the run that was asked for; there with the folder, and never changed
//!     ├── site.toml      the site file, if it was received
//!     ├── cancelled.json who cancelled it
//!     ├── progress.json  its latest progress, and the number of its process
//!     ├── log            its remarks and results, a line each
//!     └── evidence/      as `quietcore qualify` writes it
//! ```
//!
//! The state of a run follows from these files alone, so that a daemon which starts later knows as
//! much as the one that has started the run: it goes on while the lock is held, and after that its
//! evidence tells how it ended. The kernel releases the lock with the last process of the run.
//!
//! [`RUNS_MAX`] runs are kept; then the oldest goes when a new one is started.

mod asked;
mod evidence;
mod kept;
mod starting;
mod watching;

pub(crate) use asked::CheckedRun;
pub use asked::{RUN_WORD_BYTES_MAX, RUN_WORDS_MAX};
pub(crate) use evidence::standing_verdicts;
pub use evidence::{RUN_FILE_BYTES_MAX, RUN_FILES_MAX};
pub use kept::RUNS_MAX;
pub(crate) use kept::{RunError, Runs};
pub(crate) use watching::{send_file, watch};
