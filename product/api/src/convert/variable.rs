//! Values of variables, each in the field that its type has in the contract.

use quietcore_program::Value;

use crate::v1;
use crate::v1::value::Kind;

/// Makes the message of a value.
pub fn value(value: &Value) -> v1::Value {
    let kind = match value {
        Value::Bool(value) => Kind::Boolean(*value),
        Value::Signed(value) => Kind::Signed(*value),
        Value::Unsigned(value) => Kind::Unsigned(*value),
        Value::Single(value) => Kind::Single(*value),
        Value::Double(value) => Kind::Double(*value),
        Value::Named { value, name } => Kind::Enumeration(v1::EnumerationValue {
            number: *value,
            name: name.clone().unwrap_or_default(),
        }),
        Value::Address(value) => Kind::Address(*value),
    };
    v1::Value { kind: Some(kind) }
}
