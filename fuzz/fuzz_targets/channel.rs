//! A channel that a stranger filled is attached to and used by every entry.
#![no_main]

#[path = "../../ground/exchange/tests/exchange/hostile_bytes.rs"]
mod hostile_bytes;
#[path = "../../ground/exchange/tests/exchange/memory.rs"]
mod memory;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_bytes::use_channel(bytes));
