//! Images of guests, built for the bare machine: the product's own, and those that a test asks for.
//!
//! An image is a program of `guest/images`. It is built by a cargo of its own, in a folder of its
//! own, optimised as a whole, whatever its user is built for. What the outer cargo was told about
//! its own compiler calls (flags, wrappers such as clippy's, folders) is kept from it.
//!
//! A test that asks for one is skipped, and says so, where Rust's library for the bare machine is
//! not installed. Images are taken from a folder, and nothing is built, if `QUIETCORE_IMAGES` names
//! one: a virtual test machine can't build.

#![forbid(unsafe_code)]

mod build;
mod for_tests;

pub use build::{TARGET, build, file_of, library};
pub use for_tests::image;
