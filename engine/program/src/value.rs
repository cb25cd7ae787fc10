//! Values of variables: from text, to text, from and into the bytes of the data image.
//!
//! | kind | written as |
//! |---|---|
//! | bool | `true`, `false`, `on`, `off`, `1`, `0` |
//! | integer | `-12`, `1_000`, `0x1F`, `0b101` |
//! | real | `1.5`, `-2e-3`, `inf`, `nan` |
//! | enumeration | one of its names, or the number of one of them |
//!
//! A value that its type can't hold is refused, never wrapped or cut. Bytes are little-endian, as
//! on every machine that the platform runs on.

use std::fmt;

use quietcore_units::DataType;
use serde::Serialize;

use crate::place::{BitField, Enumeration, SCALAR_BYTES_MAX, Scalar, VariableLocation, low_bits};
use quietcore_wording::{ALIKE_MAX, alike, list};

/// A value of one scalar.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false, of a type for truth values.
    Bool(bool),
    /// An integer of a signed type.
    Signed(i64),
    /// An integer of an unsigned type.
    Unsigned(u64),
    /// A real number of 4 bytes.
    Single(f32),
    /// A real number of 8 bytes.
    Double(f64),
    /// A value of an enumeration.
    Named {
        /// The number behind the name.
        value: i64,
        /// Its name; `None` when the enumeration has no such value.
        name: Option<String>,
    },
    /// An address in the process of the program.
    Address(u64),
}

/// A value that can't be given to a variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The text is no value of this kind.
    #[error("`{text}` is not a value of type {kind}; {remedy}")]
    NotOfKind {
        /// The text that was given.
        text: String,
        /// The kind of the variable.
        kind: String,
        /// The texts that are accepted, in words.
        remedy: String,
    },
    /// The number is beyond the range of the type.
    #[error("`{text}` does not fit type {kind}; it holds {lowest} to {highest}")]
    OutOfRange {
        /// The text that was given.
        text: String,
        /// The kind of the variable.
        kind: String,
        /// The smallest value that fits.
        lowest: String,
        /// The largest value that fits.
        highest: String,
    },
    /// The variable can't be written at all.
    #[error("a variable of type {kind} cannot be written; {because}")]
    ReadOnly {
        /// The kind of the variable.
        kind: String,
        /// The reason, as the rest of a sentence.
        because: &'static str,
    },
}

impl Value {
    /// Reads a value as a person writes it.
    ///
    /// # Errors
    /// [`ValueError`] when the text is no value of this kind or does not fit it.
    pub fn parse(text: &str, scalar: &Scalar) -> Result<Self, ValueError> {
        let text = text.trim();
        let not_of_kind = |remedy: String| ValueError::NotOfKind {
            text: text.to_owned(),
            kind: scalar.to_string(),
            remedy,
        };
        let data_type = match scalar {
            Scalar::Enum(enumeration) => return named(text, enumeration).map_err(not_of_kind),
            Scalar::Address => return Err(read_only(scalar)),
            Scalar::Number(data_type) => *data_type,
        };
        match data_type {
            DataType::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "1" => Ok(Self::Bool(true)),
                "false" | "off" | "0" => Ok(Self::Bool(false)),
                _ => Err(not_of_kind("say true or false".to_owned())),
            },
            DataType::F32 => match text.parse::<f32>() {
                Ok(value) if value.is_infinite() && !names_infinity(text) => {
                    Err(out_of_range(text, scalar, f32::MIN, f32::MAX))
                }
                Ok(value) => Ok(Self::Single(value)),
                Err(_) => Err(not_of_kind("say a number such as 1.5 or 2e-3".to_owned())),
            },
            DataType::F64 => match text.parse::<f64>() {
                Ok(value) if value.is_infinite() && !names_infinity(text) => {
                    Err(out_of_range(text, scalar, f64::MIN, f64::MAX))
                }
                Ok(value) => Ok(Self::Double(value)),
                Err(_) => Err(not_of_kind("say a number such as 1.5 or 2e-3".to_owned())),
            },
            _ => {
                let number = integer(text)
                    .ok_or_else(|| not_of_kind("say a whole number such as 12 or 0x1F".to_owned()));
                whole(text, number?, data_type)
            }
        }
    }

    /// Reads a number of a plain type as a person writes it.
    ///
    /// # Errors
    /// [`ValueError`] when the text is no value of this type or does not fit it.
    pub fn parse_number(text: &str, data_type: DataType) -> Result<Self, ValueError> {
        Self::parse(text, &Scalar::Number(data_type))
    }

    /// Returns the number of a plain type whose bits are the low ones of `bits`.
    pub fn from_number_bits(bits: u64, data_type: DataType) -> Self {
        let scalar = Scalar::Number(data_type);
        let found = Self::from_bytes(&bits.to_le_bytes(), &scalar, None);
        found.expect("a word holds every number")
    }

    /// Returns the bits of the number in a plain type, without those that the type doesn't have.
    pub fn number_bits(&self, data_type: DataType) -> u64 {
        self.bits() & low_bits(8 * data_type.bytes() as u32)
    }

    /// The value in the bytes of the word that holds a variable.
    ///
    /// `None` when there are fewer bytes than the variable has.
    pub(crate) fn from_bytes(bytes: &[u8], scalar: &Scalar, bit: Option<BitField>) -> Option<Self> {
        let length = bit.map_or_else(|| scalar.bytes(), |bit| usize::from(bit.word_bytes));
        let mut word = [0; SCALAR_BYTES_MAX];
        word.get_mut(..length)?.copy_from_slice(bytes.get(..length)?);
        let word = u64::from_le_bytes(word);
        let (bits, width) = match bit {
            Some(bit) => {
                let width = u32::from(bit.width).clamp(1, 64);
                (word.checked_shr(u32::from(bit.shift))? & low_bits(width), width)
            }
            None => (word, u32::try_from(8 * length).ok()?),
        };
        let signed = sign_extended(bits, width);
        Some(match scalar {
            Scalar::Number(DataType::Bool) => Self::Bool(bits != 0),
            Scalar::Number(DataType::F32) => {
                Self::Single(f32::from_bits(u32::try_from(bits).ok()?))
            }
            Scalar::Number(DataType::F64) => Self::Double(f64::from_bits(bits)),
            Scalar::Address => Self::Address(bits),
            Scalar::Enum(enumeration) => {
                let value = if enumeration.signed { signed } else { bits.cast_signed() };
                Self::Named { value, name: enumeration.name_of(value).map(str::to_owned) }
            }
            _ if scalar.is_signed() => Self::Signed(signed),
            _ => Self::Unsigned(bits),
        })
    }

    /// The bits of the value, zero-extended.
    pub(crate) fn bits(&self) -> u64 {
        match self {
            Self::Bool(value) => u64::from(*value),
            Self::Signed(value) | Self::Named { value, .. } => value.cast_unsigned(),
            Self::Unsigned(value) | Self::Address(value) => *value,
            Self::Single(value) => u64::from(value.to_bits()),
            Self::Double(value) => value.to_bits(),
        }
    }

    /// The value as a real number; an address has none.
    pub fn as_f64(&self) -> Option<f64> {
        Some(match self {
            Self::Bool(value) => f64::from(u8::from(*value)),
            #[expect(clippy::cast_precision_loss, reason = "a plot needs no 53rd bit")]
            Self::Signed(value) | Self::Named { value, .. } => *value as f64,
            #[expect(clippy::cast_precision_loss, reason = "a plot needs no 53rd bit")]
            Self::Unsigned(value) => *value as f64,
            Self::Single(value) => f64::from(*value),
            Self::Double(value) => *value,
            Self::Address(_) => return None,
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => f.pad(if *value { "true" } else { "false" }),
            Self::Signed(value) => fmt::Display::fmt(value, f),
            Self::Unsigned(value) => fmt::Display::fmt(value, f),
            // The debug form of a real number uses an exponent where zeros would hide the digits.
            Self::Single(value) => f.pad(&format!("{value:?}")),
            Self::Double(value) => f.pad(&format!("{value:?}")),
            Self::Named { name: Some(name), .. } => f.pad(name),
            Self::Named { value, name: None } => f.pad(&format!("{value} (no name)")),
            Self::Address(value) => f.pad(&format!("{value:#x}")),
        }
    }
}

impl VariableLocation {
    /// Decodes the value from the [`VariableLocation::bytes`] bytes at its location; returns `None`
    /// when there are fewer.
    pub fn decode(&self, bytes: &[u8]) -> Option<Value> {
        Value::from_bytes(bytes, &self.scalar, self.bit)
    }

    /// Encodes the value as the command ring carries it: in the bits of [`VariableLocation::mask`],
    /// with no other bit set.
    ///
    /// # Errors
    /// When the variable can't be written, or a bit field is too narrow for the value.
    pub fn encode(&self, value: &Value) -> Result<u64, ValueError> {
        if !self.writable {
            return Err(read_only(&self.scalar));
        }
        let mut bits = value.bits() & low_bits(8 * bytes_of(&self.scalar));
        let mut shift = 0;
        if let Some(bit) = self.bit {
            let width = u32::from(bit.width);
            let kept = bits & low_bits(width);
            let back = if self.scalar.is_signed() {
                sign_extended(kept, width).cast_unsigned() & low_bits(8 * bytes_of(&self.scalar))
            } else {
                kept
            };
            if back != bits {
                return Err(beyond_bits(value, &self.scalar, width));
            }
            bits = kept;
            shift = u32::from(bit.shift);
        }
        Ok(bits << shift)
    }

    /// Reads a value as a person writes it and makes it ready for the command ring.
    ///
    /// # Errors
    /// [`ValueError`].
    pub fn encode_text(&self, text: &str) -> Result<u64, ValueError> {
        self.encode(&Value::parse(text, &self.scalar)?)
    }
}

fn bytes_of(scalar: &Scalar) -> u32 {
    u32::try_from(scalar.bytes()).expect("at most 8 bytes")
}

fn names_infinity(text: &str) -> bool {
    text.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("inf")
}

/// A whole number in decimal, hexadecimal or binary digits.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix("0b")) {
        (Some(rest), _) => (rest, 16),
        (_, Some(rest)) => (rest, 2),
        _ => (lower.as_str(), 10),
    };
    if digits.is_empty() || digits.starts_with(['_', '+', '-']) || digits.ends_with('_') {
        return None;
    }
    let number = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(if negative { -number } else { number })
}

/// A whole number as a value of an integer type, if it fits.
fn whole(text: &str, number: i128, data_type: DataType) -> Result<Value, ValueError> {
    let range = data_type.integers().expect("an integer type");
    if !range.contains(&number) {
        return Err(out_of_range(text, &Scalar::Number(data_type), range.start(), range.end()));
    }
    Ok(if data_type.is_signed() {
        Value::Signed(i64::try_from(number).expect("within the range of the type"))
    } else {
        Value::Unsigned(u64::try_from(number).expect("within the range of the type"))
    })
}

/// A value of an enumeration by its name or number; the error is the remedy.
fn named(text: &str, enumeration: &Enumeration) -> Result<Value, String> {
    let by_name = enumeration.values.iter().find(|(name, _)| name == text);
    let by_number = || {
        let number = i64::try_from(integer(text)?).ok()?;
        enumeration.values.iter().find(|(_, value)| *value == number)
    };
    if let Some((name, value)) = by_name.or_else(by_number) {
        return Ok(Value::Named { value: *value, name: Some(name.clone()) });
    }
    let names = enumeration.values.iter().map(|(name, _)| name.as_str());
    let near = alike(text, names);
    let shown = if near.is_empty() {
        enumeration.values.iter().take(ALIKE_MAX).map(|(name, _)| name.clone()).collect()
    } else {
        near
    };
    Err(format!("it has values such as {}", list(&shown)))
}

fn out_of_range(
    text: &str,
    scalar: &Scalar,
    lowest: impl fmt::Debug,
    highest: impl fmt::Debug,
) -> ValueError {
    ValueError::OutOfRange {
        text: text.to_owned(),
        kind: scalar.to_string(),
        lowest: format!("{lowest:?}"),
        highest: format!("{highest:?}"),
    }
}

fn beyond_bits(value: &Value, scalar: &Scalar, width: u32) -> ValueError {
    let (lowest, highest) = if scalar.is_signed() {
        (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1)
    } else {
        (0, i128::from(low_bits(width)))
    };
    let kind = format!("{scalar} of {width} bits");
    let (lowest, highest) = (lowest.to_string(), highest.to_string());
    ValueError::OutOfRange { text: value.to_string(), kind, lowest, highest }
}

fn read_only(scalar: &Scalar) -> ValueError {
    let because = match scalar {
        Scalar::Address => "it is an address inside the running program",
        _ => "it is a constant of the program",
    };
    ValueError::ReadOnly { kind: scalar.to_string(), because }
}

/// The lowest `width` bits as a signed number; `width` is 1 to 64.
fn sign_extended(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    (bits << unused).cast_signed() >> unused
}

#[cfg(test)]
mod tests;
