//! Numbers as OIL writes them: `20`, `-3`, `0x14`, `0.5`, `1e-3`.

use crate::text::tree::Value;

/// Why something that begins like a number is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// It has characters that no number has.
    NoNumber,
    /// It does not fit into 64 bits.
    TooLarge,
}

/// Reads a number in any notation of the language.
pub(crate) fn read(text: &str) -> Result<Value, NumberError> {
    let negative = text.starts_with('-');
    let plain = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hexadecimal = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((plain, 10), |digits| (digits, 16));
    let are_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    if are_digits {
        let magnitude = u64::from_str_radix(digits, radix).map_err(|_| NumberError::TooLarge)?;
        return Ok(Value::Integer { negative, magnitude });
    }
    // `inf`, `nan` and `_` never get here or are refused: a number begins with a digit.
    match plain.parse::<f64>() {
        Ok(_) if hexadecimal.is_none() => Ok(Value::Float),
        _ => Err(NumberError::NoNumber),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_decimal_or_hexadecimal() {
        let integer = |negative, magnitude| Ok(Value::Integer { negative, magnitude });
        assert_eq!(read("20"), integer(false, 20));
        assert_eq!(read("+20"), integer(false, 20));
        assert_eq!(read("-3"), integer(true, 3));
        assert_eq!(read("0x1F"), integer(false, 31));
        assert_eq!(read("010"), integer(false, 10));
        assert_eq!(read("18446744073709551615"), integer(false, u64::MAX));
        assert_eq!(read("18446744073709551616"), Err(NumberError::TooLarge));
        assert_eq!(read("0x10000000000000000"), Err(NumberError::TooLarge));
    }

    #[test]
    fn fractions_and_exponents_are_numbers_and_units_are_not() {
        for number in ["0.5", "1e3", "1e-3", "-2.5E+7"] {
            assert_eq!(read(number), Ok(Value::Float), "{number}");
        }
        for no_number in ["12ms", "0x", "0xG", "1_000", "1e", "1.5x", "0x1.5"] {
            assert_eq!(read(no_number), Err(NumberError::NoNumber), "{no_number}");
        }
    }
}
