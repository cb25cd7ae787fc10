//! A ledger of exits that a stranger filled is read.
#![no_main]

#[expect(dead_code, reason = "the module serves another target too")]
#[path = "../../machine/microvm/tests/hostile/accesses.rs"]
mod accesses;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| accesses::read_ledger(bytes));
