//! Programs built by the real compiler and run by a small loader in C.
//!
//! Everything here needs `gcc` and skips without it. Models in the style of a generator lie in
//! `tests/models`; one file and one question make a model of their own, written where they are
//! asked.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
mod support;

mod carrying;
mod cpp;
mod errors;
mod forms;
mod guest;
mod lacks;
mod osek;
mod received;
mod repeating;
mod variables;
