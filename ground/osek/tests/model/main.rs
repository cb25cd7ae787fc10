//! The kernel against a reference of the specification.
//!
//! Goal: no program finds out a difference between the kernel and the standard. Method: random
//! programs run on both, one service call at a time; after each, everything that can be seen is
//! compared, and the invariants of the standard are looked at by books of their own.
//!
//! A failing program is shrunk and printed with all that led to the difference. More programs than
//! usual run with `PROPTEST_CASES=100000 cargo test --release -p quietcore-osek --test model`.

// `cfg(test)` always holds here; it tells the lints that helper functions belong to tests too.
#[cfg(test)]
mod comparison;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod interpreter;
#[cfg(test)]
mod invariants;
#[cfg(test)]
mod observation;
#[cfg(test)]
mod program;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod subject;
#[cfg(test)]
mod tally;
