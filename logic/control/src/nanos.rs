//! Durations as whole numbers, under keys that name the unit.
//!
//! A duration's usual written form, `1 ms`, is for people; programs compute with numbers.

use quietcore_units::Nanos;
use serde::{Deserialize as _, Deserializer, Serializer};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) fn serialize<S: Serializer>(nanos: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(nanos.get())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    u64::deserialize(deserializer).map(Nanos::new)
}
