//! What a process keeps apart from the program that it runs: its open files, its words, and whether
//! what both call can still be used.

pub mod descriptors;
pub mod locks;
pub mod remark;
