//! Generates from a configuration: C files, a Rust file, OIL again.

mod header;
mod oil;
mod rust;
mod source;

pub use header::header;
pub use oil::oil;
pub use rust::rust;
pub use source::source;
