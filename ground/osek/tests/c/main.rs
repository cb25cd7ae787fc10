//! The C face, as C programs see it: layouts, headers, and programs that run.
//!
//! The static library is built as the product builds it, by a nested `cargo rustc` with a target
//! folder of its own.
// UNSAFETY: the tables of C are made here, with bytes that no C program should write.
#![expect(unsafe_code, reason = "tables as C could write them")]

mod driven;
mod headers;
mod layout;
mod library;
mod programs;
mod tables;
