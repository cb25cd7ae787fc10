//! The threads of a process before their first release.
//!
//! | module | what |
//! |--------|------|
//! | [`settings`] | what a task's thread asks of the kernel, and where a refusal is written |
//! | [`start`] | the instant from which all threads take their releases |

pub mod settings;
pub mod start;
