//! An OIL text that a stranger wrote is read; what is accepted is made tables and written again.
#![no_main]

#[path = "../../logic/oil/tests/oil/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|text: &str| hostile::use_text(text));
