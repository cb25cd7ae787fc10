//! What is made of a configuration.

mod header;
mod source;

pub use header::header;
pub use source::source;
