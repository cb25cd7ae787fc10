//! Checked channels and the types of values they carry.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A channel from one partition to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Channel {
    /// The name, unique in the site.
    pub name: String,
    /// The partition that sends; it exists.
    pub from: String,
    /// The partition that receives; it exists and is another one.
    pub to: String,
    /// What it carries; never empty.
    pub signals: Vec<Signal>,
}

/// One value of a channel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Signal {
    /// The name, unique in its channel.
    pub name: String,
    /// The type of its value.
    pub value_type: SignalType,
    /// How long the receiver waits for news before it counts the sender as lost.
    pub timeout: Option<Nanos>,
    /// Whether the last value counts or every one of them.
    pub kind: SignalKind,
}

/// The two kinds of signal, as in AUTOSAR COM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SignalKind {
    /// The last value is best.
    Latest {
        /// The value before the first one is sent.
        initial: Initial,
    },
    /// Every value counts: single producer, single consumer, bounded.
    Queue {
        /// How many values have room.
        depth: u32,
    },
}

/// A value that fits its [`SignalType`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// Of a `bool`.
    Truth(bool),
    /// Of an integer type, within its range.
    Whole(i64),
    /// Of `f32` or `f64`; finite.
    Real(f64),
}

/// The types of values that channels carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignalType {
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
    /// An unsigned integer of 64 bits; an initial value ends at 2⁶³ − 1.
    U64,
    /// A binary floating-point number of 32 bits.
    F32,
    /// A binary floating-point number of 64 bits.
    F64,
}

impl SignalType {
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

    /// The size of a value in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The integers that a site file can give for this type; `None` if it is no integer type.
    pub(crate) const fn integers(self) -> Option<(i64, i64)> {
        Some(match self {
            Self::I8 => (i8::MIN as i64, i8::MAX as i64),
            Self::I16 => (i16::MIN as i64, i16::MAX as i64),
            Self::I32 => (i32::MIN as i64, i32::MAX as i64),
            Self::I64 => (i64::MIN, i64::MAX),
            Self::U8 => (0, u8::MAX as i64),
            Self::U16 => (0, u16::MAX as i64),
            Self::U32 => (0, u32::MAX as i64),
            Self::U64 => (0, i64::MAX),
            Self::Bool | Self::F32 | Self::F64 => return None,
        })
    }
}

impl fmt::Display for SignalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
