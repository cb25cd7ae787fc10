//! The images of guests that the product brings along.
//!
//! An image is a program of `guest/images`: a static ELF file for a machine without an operating
//! system, which a loader enters by PVH. The build script of this crate makes them, so that who has
//! the product has them, whatever is installed beside it.
//!
//! On a machine other than x86-64, and where Rust's library for the bare machine was not installed
//! when this was built, an image has no bytes: [`Image::bytes`] says so then.

#![forbid(unsafe_code)]

mod image;

pub use image::{ETHERCAT, IRQ, Image, LATENCY, Missing, OSEK, PARTITION};
