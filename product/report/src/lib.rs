//! The report of an evidence folder for people and programs: HTML, JUnit and text.
//!
//! ```text
//! Evidence ─► Summary ─┬─► html    one self-contained page, verdict first
//!                      ├─► junit   for continuous integration
//!                      └─► text    for the terminal
//! ```
//!
//! Everything here is pure: it takes the evidence as it was read and returns a string. It opens no
//! file, reads no clock and no environment. Nothing in it is trusted: names, reasons and findings
//! come from files that anyone may have written, so HTML and XML escape them and the terminal gets
//! no control character of theirs.
//!
//! Over a folder of runs stands one more page, [`index`], with the trend of each partition.
//!
//! [`Summary`] decides what the evidence says; the three renderers only show it, so they can't
//! disagree.

#![forbid(unsafe_code)]

pub mod comparison;
pub mod derived;
mod figures;
pub mod html;
pub mod index;
pub mod junit;
mod plot;
pub mod recording;
pub mod section;
pub mod summary;
pub mod table;
pub mod text;

pub use derived::published::{Published, PublishedBox};
pub use summary::Summary;
