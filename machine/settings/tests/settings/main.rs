//! Settings of a real kernel: changed, and put back whatever happens to who changed them.
//!
//! They are those of the whole machine, so these tests run where `QUIETCORE_OWN_MACHINE` says that
//! it is theirs alone: in the lab.

// `cfg(test)` always holds here; it tells the lints that helper functions belong to tests too.
#[cfg(test)]
mod tests;
