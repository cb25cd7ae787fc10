//! The parts that all backends share whose partitions are guests with our own kernel: programs on
//! their way into the guest's slots, and its post.
//!
//! ```text
//! job ─► post ─► the guest's kernel
//! orders ─► program into the free slot ─► post ─► the guest's own loader
//! ```
//!
//! | module | content |
//! |---|---|
//! | `channels` | their memory files, and their addresses in the guest |
//! | `console` | the text that it writes |
//! | `control` | the control memory, where the host has no addresses of its choice |
//! | [`delivery`] | new builds for a process that can't open files |
//! | `introduction` | the first words between host and guest, where they share such memory |
//! | `mail` | the guest's post |
//! | `network` | the wire of its fieldbus, and the thread that serves it |
//! | `programs` | programs from their files into the slots |
//! | `staging` | orders from the host to slots and post |
//! | [`translate`] | the job of a process as that of a guest |
//! | `crash` | a crash in words |

pub(crate) mod channels;
pub(crate) mod console;
pub(crate) mod control;
pub(crate) mod crash;
pub mod delivery;
pub(crate) mod introduction;
pub(crate) mod mail;
pub(crate) mod network;
pub(crate) mod programs;
pub(crate) mod staging;
pub mod translate;

use std::error::Error;

use quietcore_exchange::{Recorder, Region};
use quietcore_process::thread::Prepared;
use quietcore_release::process::settings::note_refused;
use quietcore_units::{Causes, Nanos};

/// Bytes for the post: room for the stage of a program and the values that it retains.
pub(crate) const POST_BYTES: usize = 4 << 20;

/// Writes what the thread of a guest's processor was refused into the rows of all tasks, since it
/// runs all of them; before the guest has the rows.
pub(crate) fn note_refused_of_all(
    region: Region<'_>,
    period: Nanos,
    prepared: &Prepared,
    cpu: Option<u32>,
    memory_refused: Option<i32>,
) {
    for task in (0..region.task_count()).filter_map(|row| region.task(row)) {
        note_refused(&mut Recorder::new(task, period, 1), prepared, cpu, memory_refused);
    }
}

/// Returns an error with its causes, for a process that ends because of it.
pub(crate) fn in_words(error: impl Error) -> String {
    Causes(&error).to_string()
}
