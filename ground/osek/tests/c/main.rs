//! The C face, as C programs see it: layouts, headers, and programs that run.
//!
//! The static library is built as the product builds it, by a nested `cargo rustc` with a target
//! folder of its own.

// `cfg(test)` always holds here; it tells the lints that helper functions belong to tests too.
#[cfg(test)]
mod driven;
#[cfg(test)]
mod headers;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod library;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod tables;
