//! Tests that values are written as said, that others are refused, and that nothing is lost on the
//! way.

use std::sync::Arc;

use proptest::prelude::*;
use quietcore_units::DataType::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

use super::*;
use crate::place::Scalar::Number;
use crate::place::{Access, Memory};

fn states() -> Scalar {
    Scalar::Enum(Arc::new(Enumeration {
        name: "ServoState".to_owned(),
        bytes: 4,
        signed: true,
        values: vec![
            ("Disabled".to_owned(), 0),
            ("Following".to_owned(), 2),
            ("Fault".to_owned(), -1),
        ],
    }))
}

fn place(scalar: Scalar, bit: Option<BitField>) -> VariableLocation {
    let writable = scalar != Scalar::Address;
    VariableLocation {
        memory: Memory::Data,
        offset: 16,
        scalar,
        access: Access::Other,
        bit,
        writable,
    }
}

fn text_of(text: &str, scalar: &Scalar) -> String {
    match Value::parse(text, scalar) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn values_are_read_and_shown() {
    for (text, scalar, shown) in [
        ("on", Number(Bool), "true"),
        ("0", Number(Bool), "false"),
        ("-128", Number(I8), "-128"),
        ("0xFFFF_FFFF_FFFF_FFFF", Number(U64), "18446744073709551615"),
        ("-0x8000_0000_0000_0000", Number(I64), "-9223372036854775808"),
        ("0b101", Number(U8), "5"),
        ("1", Number(F64), "1.0"),
        ("1e300", Number(F64), "1e300"),
        ("0.1", Number(F32), "0.1"),
        ("-inf", Number(F64), "-inf"),
        ("NaN", Number(F64), "NaN"),
        ("Following", states(), "Following"),
        ("-1", states(), "Fault"),
    ] {
        assert_eq!(text_of(text, &scalar), shown, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    for (text, scalar, error) in [
        ("yes", Number(Bool), "`yes` is not a value of type bool; say true or false"),
        ("256", Number(U8), "`256` does not fit type u8; it holds 0 to 255"),
        ("-1", Number(U64), "`-1` does not fit type u64; it holds 0 to 18446744073709551615"),
        (
            "1.5",
            Number(I32),
            "`1.5` is not a value of type i32; say a whole number such as 12 or 0x1F",
        ),
        (
            "1__",
            Number(I32),
            "`1__` is not a value of type i32; say a whole number such as 12 or 0x1F",
        ),
        ("1,5", Number(F64), "`1,5` is not a value of type f64; say a number such as 1.5 or 2e-3"),
        (
            "1e39",
            Number(F32),
            "`1e39` does not fit type f32; it holds -3.4028235e38 to 3.4028235e38",
        ),
        (
            "Folowing",
            states(),
            "`Folowing` is not a value of type ServoState; it has values such as `Following`",
        ),
        (
            "7",
            states(),
            "`7` is not a value of type ServoState; it has values such as `Disabled`, \
             `Following`, `Fault`",
        ),
        (
            "1",
            Scalar::Address,
            "a variable of type address cannot be written; it is an address inside the running \
             program",
        ),
    ] {
        assert_eq!(text_of(text, &scalar), error);
    }
}

#[test]
fn a_bit_field_takes_its_bits_and_no_others() {
    let bit = BitField { word_bytes: 1, shift: 5, width: 3 };
    let unsigned = place(Number(U32), Some(bit));
    let encoded = unsigned.encode_text("6").unwrap();
    assert_eq!((encoded, unsigned.mask()), (0b1100_0000, 0b1110_0000));
    assert_eq!(unsigned.decode(&[0b1101_1111]), Some(Value::Unsigned(6)));
    let error = unsigned.encode_text("8").unwrap_err();
    assert_eq!(error.to_string(), "`8` does not fit type u32 of 3 bits; it holds 0 to 7");

    let signed = place(Number(I32), Some(bit));
    assert_eq!(signed.encode_text("-4").unwrap(), 0b1000_0000);
    assert_eq!(signed.decode(&[0b1000_0000]), Some(Value::Signed(-4)));
    assert!(signed.encode_text("4").is_err());
}

#[test]
fn an_unnamed_value_of_an_enumeration_is_shown_as_such() {
    let value = Value::from_bytes(&9_i32.to_le_bytes(), &states(), None).unwrap();
    assert_eq!(value.to_string(), "9 (no name)");
}

#[test]
fn too_few_bytes_are_no_value() {
    assert_eq!(Value::from_bytes(&[0; 7], &Number(F64), None), None);
    let bit = BitField { word_bytes: 200, shift: 200, width: 200 };
    assert_eq!(Value::from_bytes(&[0; 8], &Number(U8), Some(bit)), None);
}

fn any_scalar() -> impl Strategy<Value = Scalar> {
    let numbers = [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    proptest::sample::select(numbers.to_vec()).prop_map(Number)
}

proptest! {
    #[test]
    fn what_is_shown_can_be_written_again(bytes in any::<[u8; 8]>(), scalar in any_scalar()) {
        let value = Value::from_bytes(&bytes, &scalar, None).unwrap();
        let again = Value::parse(&value.to_string(), &scalar).unwrap();
        // Compared as bits, because a NaN differs from itself; its payload is not kept.
        let is_nan = value.as_f64().is_some_and(f64::is_nan);
        prop_assert!(is_nan || again.bits() == value.bits());
        let length = scalar.bytes();
        let encoded = place(scalar, None).encode(&value).unwrap();
        prop_assert_eq!(&encoded.to_le_bytes()[..length], &bytes[..length]);
    }

    #[test]
    fn any_text_is_a_value_or_an_error(text in ".{0,20}", scalar in any_scalar()) {
        let place = place(scalar, None);
        if let Ok(encoded) = place.encode_text(&text) {
            prop_assert_eq!(encoded & !place.mask(), 0);
        }
    }

    #[test]
    fn an_encoded_bit_field_reads_back(
        number in any::<i64>(), shift in 0_u8..32, width in 1_u8..=32, old in any::<u64>()
    ) {
        let bit = BitField { word_bytes: 8, shift, width };
        let place = place(Number(I64), Some(bit));
        if let Ok(encoded) = place.encode(&Value::Signed(number)) {
            prop_assert_eq!(encoded & !place.mask(), 0);
            let word = (old & !place.mask()) | encoded;
            prop_assert_eq!(place.decode(&word.to_le_bytes()), Some(Value::Signed(number)));
        }
    }
}
