//! Runs a program that works on files of strangers, such as the compiler, apart from the machine.
//!
//! ```text
//! caller ── spawn ──► keeper ── fork ──► the program, process 1 of its own namespace
//!                       │                  sees: system folders and one folder, read-only
//!                       │                        /out and /tmp, in memory and limited
//!                       ◄── ends ──────────┘
//!                       └ copies /out/result into the file that the caller has opened
//! ```
//!
//! | taken | by |
//! |---|---|
//! | network, IPC objects, other processes | namespaces |
//! | files, but those that it works on | a root of its own; nothing of the machine is writable |
//! | rights of root | another user, `no_new_privs` |
//! | memory, file sizes, processes, processor time | [`Limits`] |
//! | environment | a fixed one |
//!
//! Whoever is not root gets a namespace for users first; where the system grants none, the program
//! is not run at all ([`SandboxError::Step`]). The guest's sandbox in `microvm` encloses a process
//! that has opened all it needs; here another program is started, which has to find its files.
//! Plain system calls do it, and not `bwrap` of the package bubblewrap: that one leaves root's
//! programs the user number of root, whose processes the kernel does not count, and has to be
//! installed. Landlock needs no namespaces, but leaves the network and other processes.
//!
//! The caller bounds the time, and ends it by killing the group of the child: the kernel ends all
//! that runs in the namespace with its process 1.
// UNSAFETY: a new process makes system calls between `fork` and `exec`.
#![expect(unsafe_code, reason = "namespaces and mounts are entered between fork and exec")]

mod confine;
mod enter;
mod keeper;
mod limits;

pub use confine::{RESULT, Sandbox, SandboxError, View, make_readable};
pub use limits::Limits;
