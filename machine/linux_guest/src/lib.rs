//! The image of a Linux guest: a kernel of Debian's with our runtime, as files that a virtual
//! machine starts from.
//!
//! ```text
//! Debian's package ─► kernel ─┐
//!   its modules ──────────────┤
//! quietcore-runtime ──────────┼─► folder: kernel, initramfs, guest.json, bom.cdx.json
//!   the libraries of both ────┘
//! ```
//!
//! The same inputs give the same bytes. A crate of its own because what builds an image and what
//! starts a guest from one need nothing else of each other, and because the lab makes its machines
//! of the same parts.

#![forbid(unsafe_code)]

pub mod archive;
mod bill;
pub mod build;
pub mod image;
pub mod kernel;
pub mod modules;
pub mod packages;
