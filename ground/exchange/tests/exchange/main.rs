//! The exchange through its public face: what is written is read, and nothing else is attached to.

// `cfg(test)` always holds here; it tells the lints that helper functions belong to tests too.
#[cfg(test)]
mod attach;
#[cfg(test)]
mod channel;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod data;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hostile_bytes;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod rings;
#[cfg(test)]
mod snapshot;
#[cfg(test)]
mod statistics;
