//! COM: the table of a partition's signals, and its face in C and C++.

// `cfg(test)` always holds here; it tells the lints that helper functions belong to tests too.
#[cfg(test)]
mod c;
#[cfg(test)]
#[path = "../exchange/memory.rs"]
#[expect(dead_code, reason = "the module serves other tests too")]
mod memory;
#[cfg(test)]
mod table;
