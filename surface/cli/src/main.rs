//! The command `quietcore`.

fn main() {}
