//! The client of a daemon, for programs that wait for each answer: `quietcore --at`.
//!
//! ```text
//! Contexts ──► Target ── connect ──► Remote ── one call, one answer ──► values of the product
//! ```
//!
//! | module | content |
//! |--------|---------|
//! | [`Contexts`] | the file that names daemons, and says which one is meant |
//! | [`Target`] | the address of a daemon, and what the caller shows there |
//! | [`Remote`] | a connection, and the calls on it |
//! | [`RemoteError`] | why there is no answer, with what would be right |
//!
//! The runtime that gRPC needs is inside of a [`Remote`] and runs in the caller's thread, during a
//! call alone ([decision 0021]). TLS is of version 1.3 alone.
//!
//! A daemon is not believed. Its texts lose what a terminal would obey, a message has
//! [`MESSAGE_BYTES_MAX`] bytes at most, a list has a limit, and each call has an end.
//!
//! [decision 0021]: ../../../docs/decisions/0021-the-command-line-waits-for-each-answer.md

#![forbid(unsafe_code)]

mod calls;
mod contexts;
mod dial;
mod error;
mod files;
mod programs;
mod target;
mod tls;

pub use calls::{
    AUDIT_BYTES_MAX, EVENTS_MAX, MESSAGE_BYTES_MAX, Reading, Remote, SITES_MAX, StoredEntry,
    Variable,
};
pub use contexts::{
    CONTEXTS_MAX, Context, ContextError, Contexts, FILE_BYTES_MAX, HERE, NAME_BYTES_MAX,
};
pub use error::RemoteError;
pub use files::SECRET_BYTES_MAX;
pub use programs::{FILES_MAX, FOLDER_BYTES_MAX};
pub use target::{Credential, PORT, Target};
