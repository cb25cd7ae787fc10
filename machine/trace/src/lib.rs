//! The kernel's trace of late releases, and the counters around them.
//!
//! | module | what |
//! |--------|------|
//! | [`tracefs`] | the kernel's tracing files: found where they are mounted, or opened without a mount |
//! | [`instance`] | a trace of our own: set up, read, armed again, and always removed |
//! | [`counters`] | what the kernel counts about a CPU and a thread |
//!
//! It is a crate of its own, apart from `host`: a trace is a thing that is made, used and removed,
//! and the facts of a machine never change it.

pub mod counters;
pub mod instance;
pub mod tracefs;
