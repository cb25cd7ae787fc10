//! Images of guests for tests: built for the bare machine when a test asks for them.
//!
//! An image is a program of `guest/images`. Where Rust's library for the bare machine is not
//! installed, a test that asks for one is skipped, and says so. Where `QUIETCORE_IMAGES` names a
//! folder, they are taken from there, and nothing is built: a virtual test machine can't.

#![forbid(unsafe_code)]

mod build;

pub use build::image;
