//! An ESI file that a stranger wrote is read; what is accepted is made process data.
#![no_main]

#[path = "../../logic/esi/tests/esi/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::use_bytes(bytes));
