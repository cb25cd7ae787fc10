//! Exchanges and channels that a stranger filled: every reader comes to its end within the memory.
//!
//! The bodies are those of the fuzz targets, here with what proptest thinks of.

use proptest::prelude::*;

use crate::hostile_bytes::{attach_to, use_channel};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    // Small numbers are more often possible ones than wild ones are.
    let byte = prop_oneof![4 => Just(0), 2 => 0_u8..9, 1 => any::<u8>(), 1 => Just(0xff)];
    // Miri takes a minute to choose four hundred.
    proptest::collection::vec(byte, 0..if cfg!(miri) { 40 } else { 400 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 300 }))]

    /// The fuzz target `exchange_attach`.
    #[test]
    fn no_exchange_leads_its_readers_astray(place in any::<u8>(), bytes in bytes()) {
        attach_to(&[&[place], &bytes[..]].concat());
    }

    /// The fuzz target `channel`.
    #[test]
    fn no_channel_leads_its_users_astray(place in any::<u8>(), bytes in bytes()) {
        use_channel(&[&[place], &bytes[..]].concat());
    }
}
