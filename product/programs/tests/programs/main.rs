//! Programs as they are received and kept, in folders of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arbitrary;
mod ground;
mod hostile;
mod keeping;
mod killed;
mod receiving;
