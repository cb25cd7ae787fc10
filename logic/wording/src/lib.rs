//! What those who refuse a text or a name share: the name that was probably meant, names in a
//! sentence, and the list of everything that is wrong.
//!
//! The crate is pure. What a comparison costs is bounded: see [`COMPARED_MAX`] and
//! [`COMPARED_CHARS_MAX`].

#![forbid(unsafe_code)]

mod names;
mod problems;

pub use names::{
    ALIKE_MAX, COMPARED_CHARS_MAX, COMPARED_MAX, COMPARED_ONCE_MAX, alike, either, list, meant,
    nearest, plural,
};
pub use problems::{PROBLEMS_MAX, Problems};
