//! The tasks of a partition: what each of them does in a cycle, and how one cycle follows another.

pub mod follower;
pub mod leader;
pub mod release;
pub mod running;
pub mod task;
