//! Keeps a process apart from the program that it runs: its open files, its output, and the use of
//! what both call.

pub mod bound;
pub mod descriptors;
pub mod locks;
pub mod remark;
