//! The location of a program's variable, and the kind of number it is.
//!
//! A [`VariableLocation`] suffices to read or write a variable: an offset in the program's data
//! image, a [`Scalar`], and the bits of a bit field. The real-time side never sees names or debug
//! information; it gets offsets and masks, and checks them against the image once more.

use std::fmt;
use std::sync::Arc;

use quietcore_units::DataType;
use serde::{Deserialize, Serialize};

/// The longest scalar, in bytes; it fits one entry of the command ring.
pub const SCALAR_BYTES_MAX: usize = 8;

/// The use of a variable in the model.
///
/// It follows from the name and the type of the structure that holds the variable; see
/// [`Access::of_root`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// An input of the model: `NAME_U`.
    Input,
    /// An output of the model: `NAME_Y`.
    Output,
    /// A parameter that may be tuned: `NAME_P`.
    Parameter,
    /// A signal between blocks: `NAME_B`.
    Signal,
    /// A state: `NAME_DW`, `NAME_X`.
    State,
    /// Anything else with a static address.
    Other,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Parameter => "parameter",
            Self::Signal => "signal",
            Self::State => "state",
            Self::Other => "other",
        })
    }
}

impl Access {
    /// The class of a variable by its own name and that of its type.
    ///
    /// Generators of every age agree on the first letters of the type (`ExtU_servo_T`,
    /// `ExternalInputs_servo`) or on the end of the variable's name (`servo_U`, `rtU`). The type
    /// decides, because a user names variables more freely than types.
    pub fn of_root(variable: &str, type_name: &str) -> Self {
        const BY_TYPE: [(&str, Access); 15] = [
            ("ExtU", Access::Input),
            ("ExternalInputs", Access::Input),
            ("ExtY", Access::Output),
            ("ExternalOutputs", Access::Output),
            ("P", Access::Parameter),
            ("Parameters", Access::Parameter),
            ("B", Access::Signal),
            ("BlockIO", Access::Signal),
            ("DW", Access::State),
            ("D_Work", Access::State),
            ("X", Access::State),
            ("ContinuousStates", Access::State),
            ("PrevZCX", Access::State),
            ("PrevZCSigStates", Access::State),
            ("XDis", Access::State),
        ];
        const BY_NAME: [(&str, Access); 9] = [
            ("U", Access::Input),
            ("Y", Access::Output),
            ("P", Access::Parameter),
            ("B", Access::Signal),
            ("DW", Access::State),
            ("DWork", Access::State),
            ("X", Access::State),
            ("PrevZCX", Access::State),
            ("PrevZCSigState", Access::State),
        ];
        let of_type = BY_TYPE.iter().find(|(start, _)| {
            type_name
                .strip_prefix(start)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        });
        let end = variable.strip_prefix("rt").unwrap_or_else(|| match variable.rsplit_once('_') {
            Some((_, end)) => end,
            None => "",
        });
        of_type
            .or_else(|| BY_NAME.iter().find(|(name, _)| *name == end))
            .map_or(Self::Other, |(_, access)| *access)
    }
}

/// An enumeration of the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Enumeration {
    /// Its name; empty when it has none.
    pub name: String,
    /// Bytes of a value: 1, 2, 4 or 8.
    pub bytes: u8,
    /// `true` if values below zero exist.
    pub signed: bool,
    /// Names with their values, in the order of the declaration.
    pub values: Vec<(String, i64)>,
}

impl Enumeration {
    /// The first name of a value.
    pub fn name_of(&self, value: i64) -> Option<&str> {
        self.values.iter().find(|(_, it)| *it == value).map(|(name, _)| name.as_str())
    }
}

/// The kind of one variable's value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scalar {
    /// One of a list of names.
    Enum(Arc<Enumeration>),
    /// An address inside the process that runs the program; shown, never written, never carried.
    Address,
    /// A number, as channels and SubDevices have them.
    #[serde(untagged)]
    Number(DataType),
}

impl Scalar {
    /// Bytes of a value, at most [`SCALAR_BYTES_MAX`].
    pub fn bytes(&self) -> usize {
        match self {
            Self::Number(data_type) => data_type.bytes(),
            Self::Enum(enumeration) => usize::from(enumeration.bytes),
            Self::Address => 8,
        }
    }

    /// Returns `true` if values below zero exist.
    pub fn is_signed(&self) -> bool {
        match self {
            Self::Number(data_type) => data_type.is_signed(),
            Self::Enum(enumeration) => enumeration.signed,
            Self::Address => false,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Number(data_type) => data_type.name(),
            Self::Enum(enumeration) if enumeration.name.is_empty() => "enum",
            Self::Enum(enumeration) => &enumeration.name,
            Self::Address => "address",
        })
    }
}

/// The bits of a bit field inside the word that a [`VariableLocation`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BitField {
    /// Bytes of the word: 1, 2, 4 or 8; the word is aligned to them in the image.
    pub word_bytes: u8,
    /// Number of the lowest bit, from the least significant of the word.
    pub shift: u8,
    /// Number of bits, at least 1; `shift + width` is at most 8 × `word_bytes`.
    pub width: u8,
}

/// Which memory an offset counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// The program's data image, and so the data slot of the exchange.
    Data,
    /// The module's file: a constant. The offset is the link-time address; the value is read with
    /// [`crate::Build::constant`].
    Constant,
}

/// The location of one scalar in the program's data or constants.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VariableLocation {
    /// The memory that `offset` counts in.
    pub memory: Memory,
    /// Offset in bytes of the scalar, or of the word that holds the bit field.
    pub offset: u32,
    /// Kind of number. For a bit field the declared one, which may be longer than the word.
    pub scalar: Scalar,
    /// The use in the model.
    pub access: Access,
    /// The bits, where it is a bit field.
    pub bit: Option<BitField>,
    /// `true` if it may be set or forced; constants and addresses may not.
    pub writable: bool,
}

impl VariableLocation {
    /// Number of bytes to read at `offset`: 1 to 8.
    pub fn bytes(&self) -> usize {
        self.bit.map_or_else(|| self.scalar.bytes(), |bit| usize::from(bit.word_bytes))
    }

    /// The bits of the word that belong to the variable.
    pub fn mask(&self) -> u64 {
        match self.bit {
            Some(bit) => low_bits(u32::from(bit.width)) << bit.shift,
            None => low_bits(8 * u32::try_from(self.bytes()).expect("at most 8 bytes")),
        }
    }
}

/// A word whose `count` lowest bits are set.
pub(crate) fn low_bits(count: u32) -> u64 {
    match count {
        0 => 0,
        1..=63 => (1 << count) - 1,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_type_and_then_from_the_name() {
        for (variable, type_name, access) in [
            ("servo_U", "ExtU_servo_T", Access::Input),
            ("anything", "ExternalOutputs_servo", Access::Output),
            ("servo_P", "Parameters_servo", Access::Parameter),
            ("servo_P", "P_servo_T", Access::Parameter),
            ("rtDW", "DW", Access::State),
            ("rtB", "B", Access::Signal),
            ("servo_DWork", "D_Work_servo", Access::State),
            ("rtP", "struct_of_mine", Access::Parameter),
            ("P", "real_T", Access::Other),
            ("counter", "Pump", Access::Other),
            ("counter", "uint32_T", Access::Other),
        ] {
            assert_eq!(Access::of_root(variable, type_name), access, "{variable}: {type_name}");
        }
    }

    #[test]
    fn a_mask_covers_the_bits_of_the_variable() {
        let place = |scalar, bit| VariableLocation {
            memory: Memory::Data,
            offset: 0,
            scalar,
            access: Access::Other,
            bit,
            writable: true,
        };
        assert_eq!(place(Scalar::Number(DataType::U8), None).mask(), 0xff);
        assert_eq!(place(Scalar::Number(DataType::F64), None).mask(), u64::MAX);
        let bit = BitField { word_bytes: 1, shift: 3, width: 2 };
        assert_eq!(place(Scalar::Number(DataType::U32), Some(bit)).mask(), 0b11000);
        assert_eq!(place(Scalar::Number(DataType::U32), Some(bit)).bytes(), 1);
    }
}
