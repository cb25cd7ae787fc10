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
//! | [`delivery`] | new builds for a process that can't open files |
//! | `mail` | the guest's post |
//! | `programs` | programs from their files into the slots |
//! | `staging` | orders from the host to slots and post |
//! | [`translate`] | the job of a process as that of a guest |
//! | `crash` | a crash in words |

pub(crate) mod crash;
pub mod delivery;
pub(crate) mod mail;
pub(crate) mod programs;
pub(crate) mod staging;
pub mod translate;

use std::error::Error;

use quietcore_units::Causes;

/// Returns an error with its causes, for a process that ends because of it.
pub(crate) fn in_words(error: impl Error) -> String {
    Causes(&error).to_string()
}
