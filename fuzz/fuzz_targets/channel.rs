//! A channel that a stranger filled is attached to and used by every entry.
#![no_main]

#[expect(dead_code, reason = "the module serves other targets too")]
#[path = "../../ground/exchange/tests/exchange/hostile_bytes.rs"]
mod hostile_bytes;
#[expect(dead_code, reason = "the module serves other targets too")]
#[path = "../../ground/exchange/tests/exchange/memory.rs"]
mod memory;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_bytes::use_channel(bytes));
