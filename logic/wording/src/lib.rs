//! What those who refuse a text or a name share: the name that was probably meant, names in a
//! sentence, the list of everything that is wrong, and text in lines of a terminal.
//!
//! The crate is pure. What a comparison costs is bounded: see [`COMPARED_MAX`] and
//! [`COMPARED_CHARS_MAX`].

#![forbid(unsafe_code)]

mod lines;
mod names;
mod problems;

pub use lines::{LongWord, hanging, wrap};
pub use names::{
    ALIKE_MAX, COMPARED_CHARS_MAX, COMPARED_MAX, COMPARED_ONCE_MAX, alike, either, list, meant,
    nearest, plural,
};
pub use problems::{PROBLEMS_MAX, Problems};
