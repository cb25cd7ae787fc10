//! An exchange that a stranger filled is attached to and read by every reader.
#![no_main]

#[expect(dead_code, reason = "the module serves other targets too")]
#[path = "../../ground/exchange/tests/exchange/hostile_bytes.rs"]
mod hostile_bytes;
#[expect(dead_code, reason = "the module serves other targets too")]
#[path = "../../ground/exchange/tests/exchange/memory.rs"]
mod memory;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_bytes::attach_to(bytes));
