//! The scan cycle in a Linux process.
//!
//! ```text
//! main thread      loads builds, reads orders, ends the process when the host goes
//! watchman         finds steps that do not return
//! examiner         finds whether a step that was cut off holds a lock
//! task 0 (leads)   ─┐
//! task 1 …          ├ one thread each, on one CPU, under its own priority
//! ```
//!
//! | module | what |
//! |--------|------|
//! | [`job`] | what the process is asked to run |
//! | `channels` | the channels to other partitions, as the program sees them |
//! | `departure` | a program that ends its thread or the process |
//! | [`error`] | the reasons why there is nothing to run |
//! | `kernel` | the thread that the cycle of a kernel runs in, and its timer |
//! | `library` | whether libraries can be used after a call was cut off in one |
//! | `loading` | a build from its module file to a program in a data slot |
//! | [`threads`] | the threads of the tasks |
//! | `watchman` | the thread that finds a step which does not return |
//! | [`orders`] | new builds, staged while the tasks run |

mod channels;
#[cfg(test)]
mod compiled;
mod departure;
pub mod error;
pub mod job;
mod kernel;
mod library;
mod loading;
pub mod orders;
pub mod threads;
mod watchman;
