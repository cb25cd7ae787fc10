//! The types of the numbers that programs, channels and SubDevices exchange.

use core::fmt;
use core::ops::RangeInclusive;

/// The type of a number: an elementary data type of IEC 61131-3, a basic one of ETG.1000.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataType {
    /// One byte, `false` or `true`.
    Bool,
    /// A signed integer of 8 bits.
    I8,
    /// A signed integer of 16 bits.
    I16,
    /// A signed integer of 32 bits.
    I32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 8 bits.
    U8,
    /// An unsigned integer of 16 bits.
    U16,
    /// An unsigned integer of 32 bits.
    U32,
    /// An unsigned integer of 64 bits; in a site file a value ends at 2⁶³ − 1.
    U64,
    /// A binary floating-point number of 32 bits.
    F32,
    /// A binary floating-point number of 64 bits.
    F64,
}

impl DataType {
    /// Returns the integer type of 1, 2, 4 or 8 bytes; `None` for any other size.
    pub const fn integer(bytes: u64, is_signed: bool) -> Option<Self> {
        Some(match (bytes, is_signed) {
            (1, true) => Self::I8,
            (1, false) => Self::U8,
            (2, true) => Self::I16,
            (2, false) => Self::U16,
            (4, true) => Self::I32,
            (4, false) => Self::U32,
            (8, true) => Self::I64,
            (8, false) => Self::U64,
            _ => return None,
        })
    }

    /// The word in the site file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Returns the size in memory: 1, 2, 4 or 8 bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns the size in the process data of a SubDevice: one bit for [`DataType::Bool`].
    pub const fn bits(self) -> u16 {
        match self {
            Self::Bool => 1,
            _ => 8 * self.bytes() as u16,
        }
    }

    /// Returns `true` if values below zero exist.
    pub const fn is_signed(self) -> bool {
        !matches!(self, Self::Bool | Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }

    /// Returns the values of an integer type; `None` for the others.
    pub const fn integers(self) -> Option<RangeInclusive<i128>> {
        if matches!(self, Self::Bool | Self::F32 | Self::F64) {
            return None;
        }
        let values = 1_i128 << self.bits();
        Some(if self.is_signed() { -values / 2..=values / 2 - 1 } else { 0..=values - 1 })
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_the_size_sign_and_range_of_its_name() {
        for (bytes, name) in [(1, "8"), (2, "16"), (4, "32"), (8, "64")] {
            for (is_signed, letter) in [(true, 'i'), (false, 'u')] {
                let data_type = DataType::integer(bytes, is_signed).unwrap();
                assert_eq!(data_type.to_string(), format!("{letter}{name}"));
                assert_eq!((data_type.bytes() as u64, data_type.is_signed()), (bytes, is_signed));
            }
        }
        assert_eq!(DataType::I8.integers(), Some(-128..=127));
        assert_eq!(DataType::U64.integers(), Some(0..=u64::MAX.into()));
        assert_eq!([DataType::Bool, DataType::F64].map(DataType::integers), [None, None]);
        assert_eq!([DataType::Bool, DataType::F64].map(DataType::bits), [1, 64]);
    }
}
