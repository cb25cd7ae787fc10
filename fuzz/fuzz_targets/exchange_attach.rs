//! An exchange that a stranger filled is attached to and read by every reader.
#![no_main]

#[path = "../../ground/exchange/tests/exchange/hostile_bytes.rs"]
mod hostile_bytes;
#[path = "../../ground/exchange/tests/exchange/memory.rs"]
mod memory;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_bytes::attach_to(bytes));
