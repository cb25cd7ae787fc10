//! The house rules that a program can check.

fn main() {}
