//! The scan cycle in a guest of our own: what it is asked to run.
//!
//! | module | what |
//! |--------|------|
//! | [`job`] | the job and the orders, as they cross the border to the guest |

pub mod job;
