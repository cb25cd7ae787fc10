//! Wording shared by all that refuse a text or a name: the name that was probably meant, names in a
//! sentence, positions in files, the list of all problems, and text in lines of a terminal.
//!
//! The crate is pure. What a comparison costs is bounded: see [`COMPARED_MAX`] and
//! [`COMPARED_CHARS_MAX`].

#![forbid(unsafe_code)]

mod lines;
mod names;
mod position;
mod problems;

pub use lines::{LongWord, hanging, wrap};
pub use names::{
    ALIKE_MAX, COMPARED_CHARS_MAX, COMPARED_MAX, COMPARED_ONCE_MAX, alike, both, either, folded,
    list, meant, nearest, plural,
};
pub use position::FilePosition;
pub use problems::{PROBLEMS_MAX, Problems};
