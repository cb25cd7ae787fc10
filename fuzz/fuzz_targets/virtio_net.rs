//! A guest does with its network device what the bytes say.
#![no_main]

#[expect(dead_code, reason = "the module serves other tests too")]
#[path = "../../machine/microvm/tests/net/driver.rs"]
mod driver;
#[path = "../../machine/microvm/tests/net/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::use_device(bytes));
