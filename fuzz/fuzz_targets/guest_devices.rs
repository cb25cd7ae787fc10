//! A guest asks anything of its devices, at any port and address.
#![no_main]

#[expect(dead_code, reason = "the module serves another target too")]
#[path = "../../machine/microvm/tests/hostile/accesses.rs"]
mod accesses;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| accesses::access_devices(bytes));
