//! Values of variables, as the product's own types.

use quietcore_program::Value;

use super::{UnknownValue, harmless};
use crate::v1;
use crate::v1::value::Kind;

/// Reads a value, whose kind follows from its type.
///
/// # Errors
/// [`UnknownValue`] for a kind that this version does not know.
pub fn read_value(told: v1::Value) -> Result<Value, UnknownValue> {
    Ok(match told.kind.ok_or(UnknownValue::of("a kind of value"))? {
        Kind::Boolean(value) => Value::Bool(value),
        Kind::Signed(value) => Value::Signed(value),
        Kind::Unsigned(value) => Value::Unsigned(value),
        Kind::Single(value) => Value::Single(value),
        Kind::Double(value) => Value::Double(value),
        Kind::Enumeration(v1::EnumerationValue { number, name }) => {
            Value::Named { value: number, name: Some(harmless(name)).filter(|it| !it.is_empty()) }
        }
        Kind::Address(value) => Value::Address(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::value;

    #[test]
    fn a_value_of_each_kind_is_the_same_after_a_way_there_and_back() {
        for own in [
            Value::Bool(true),
            Value::Signed(i64::MIN),
            Value::Unsigned(u64::MAX),
            Value::Single(0.1),
            Value::Double(0.1),
            Value::Named { value: 2, name: Some("RUN".to_owned()) },
            Value::Named { value: 9, name: None },
            Value::Address(0xffff_0000_1234),
        ] {
            assert_eq!(read_value(value(&own)), Ok(own));
        }
        assert!(read_value(v1::Value::default()).is_err());
    }
}
