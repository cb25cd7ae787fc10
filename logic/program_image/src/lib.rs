//! A program as a guest gets it: a file linked for fixed addresses, read and checked.
//!
//! ```text
//! slot-a.elf ─► ProgramImage ─┬─ parts: code and constants ─► PROGRAM_CODE of the slot
//!                             ├─ data: initial values ──────► PROGRAM_DATA of the slot
//!                             └─ face: where `quietcore_module` is
//! ```
//!
//! `engine/program` links such files and checks them by this crate; who starts a guest reads them
//! again, as a file may have been changed meanwhile. Neither needs what the other does, so that
//! this is a crate of its own.
//!
//! | module | what |
//! |---|---|
//! | [`slot`] | the two places that a program may be linked for |
//! | [`image`] | the file: its parts, and what is refused |
//! | [`functions`] | its functions by their addresses, for crashes |
//! | `face` | the structure that the program is entered by, inside of the parts |
//!
//! The file is input from outside: whatever it holds, reading it ends in a checked image or in an
//! error, and allocates no more than the slot takes, or what its caller has room for.

#![forbid(unsafe_code)]

mod face;
pub mod functions;
pub mod image;
pub mod slot;

pub use functions::Functions;
pub use image::{FILE_BYTES_MAX, ImageError, Part, ProgramImage, Segment};
pub use slot::Slot;
