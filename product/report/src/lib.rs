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
//! Over a folder of runs stands one more page, [`index`], with the trend of each partition; over
//! the folders of a paper's experiment one with its tables and figures, [`reproduction`].
//!
//! [`Summary`] decides what the evidence says; the three renderers only show it, so they can't
//! disagree.

#![forbid(unsafe_code)]

pub mod comparison;
pub mod derived;
mod figures;
pub mod html;
pub mod junit;
mod pages;
mod plot;
pub mod section;
pub mod summary;
pub mod table;
pub mod text;

pub use derived::published::{Published, PublishedBox};
pub use pages::{index, recording, reproduction};
pub use summary::Summary;
