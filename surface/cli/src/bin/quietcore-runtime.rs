//! The process of a partition or a load.

fn main() {}
