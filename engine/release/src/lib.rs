//! The release of a real-time task: one way to come to it, whoever waits.
//!
//! ```text
//!  wake_at        woke              due = release        started
//!    │─ wake-up latency ─│── spin ──────│─ release latency ─│
//!    └──────── margin ──────────────────┘
//! ```
//!
//! A task sleeps until `margin` before its release, spins to the instant, and learns from how late
//! it was woken. The measured loop of the probe, the tasks of a program and those of a guest all
//! do so by [`wait_for`], so that what was measured is what a program gets.
//!
//! | module | what |
//! |--------|------|
//! | `grid` | the release after a job: what is left out, what is run late |
//! | `injection` | a delay put in on purpose |
//! | `margin` | how long before its release a task is woken |
//! | `process` | the threads of a process before their first release; with the feature of that name |
//! | `wait` | the wait for one release |

#![cfg_attr(not(any(test, feature = "process")), no_std)]

extern crate alloc;

mod grid;
mod injection;
mod margin;
#[cfg(feature = "process")]
pub mod process;
mod wait;

pub use grid::{Next, first_after, overdue};
pub use injection::Injection;
pub use margin::{MISSES_ONE_IN, Margin};
pub use quietcore_exchange::{LateLimit, Release};
pub use wait::{spin_until, wait_for};
