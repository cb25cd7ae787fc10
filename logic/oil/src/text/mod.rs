//! From text to a tree: tokens, included files, and the grammar of OIL 2.5.
//!
//! ```text
//! characters ──► tokens ──► tokens of all files ──► tree of sections, objects, attributes
//!         lexemes       including              sections, declaring, parser
//! ```

pub(crate) mod declaration;
mod declaring;
pub(crate) mod including;
pub(crate) mod lexeme;
mod number;
pub(crate) mod parser;
pub(crate) mod place;
pub(crate) mod sections;
pub(crate) mod tree;
