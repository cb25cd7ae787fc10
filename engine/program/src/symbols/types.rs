//! The types of variables, each a few words; they refer to one another by index.

use serde::{Deserialize, Serialize};

use crate::place::{SCALAR_BYTES_MAX, Scalar};

/// Position of a type in the list.
pub type TypeIndex = u32;

/// Deepest nesting of types that is followed; generated code stays below 20.
pub const TYPE_DEPTH_MAX: usize = 64;

/// The bits of a bit field, counted from the start of its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bits {
    /// Number of the lowest bit; bit 0 is the least significant of the first byte.
    pub first: u64,
    /// Number of bits, 1 to 64.
    pub width: u8,
}

/// A part of a structure or union.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// Name in the structure.
    pub name: String,
    /// Index of its type.
    #[serde(rename = "type")]
    pub shape: TypeIndex,
    /// Offset from the start of the structure, in bytes; 0 for a bit field.
    pub offset: u64,
    /// Its bits, where it is a bit field; then its type is a scalar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<Bits>,
}

/// A type of the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A single number, truth value or enumeration.
    Scalar(Scalar),
    /// A structure, class or union with its members.
    Structure {
        /// Its name, that of its `typedef` where it has one.
        name: String,
        /// Size of the whole, in bytes.
        bytes: u64,
        /// `true` if the parts lie over one another.
        union: bool,
        /// The parts in the order of declaration.
        members: Vec<Member>,
    },
    /// Parts with a number, all of one type. Several dimensions are arrays of arrays.
    Array {
        /// Type of a part.
        element: TypeIndex,
        /// Number of its elements.
        length: u64,
        /// Length of the whole in bytes.
        bytes: u64,
    },
    /// Something that can't be shown, such as a number of 16 bytes.
    Opaque {
        /// The name in the debug information.
        name: String,
        /// Size of the whole, in bytes.
        bytes: u64,
    },
}

impl Shape {
    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Scalar(scalar) => scalar.bytes() as u64,
            Self::Structure { bytes, .. }
            | Self::Array { bytes, .. }
            | Self::Opaque { bytes, .. } => *bytes,
        }
    }

    /// Describes it for an error: ``a structure `DW_servo_T` ``.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Scalar(scalar) => format!("a single {scalar}"),
            Self::Structure { name, union, .. } => {
                let kind = if *union { "union" } else { "structure" };
                if name.is_empty() { format!("a {kind}") } else { format!("a {kind} `{name}`") }
            }
            Self::Array { length, .. } => format!("an array of {length}"),
            Self::Opaque { name, bytes } => {
                format!("`{name}` of {bytes} bytes, which cannot be shown")
            }
        }
    }
}

/// Checks that each type refers to types before it, that parts lie inside the whole, and that no
/// chain is deeper than [`TYPE_DEPTH_MAX`].
pub(super) fn check(types: &[Shape]) -> Result<(), String> {
    let mut depths: Vec<usize> = Vec::with_capacity(types.len());
    for (index, shape) in types.iter().enumerate() {
        let depth_of = |other: TypeIndex| {
            depths.get(other as usize).copied().ok_or(format!("type {index} refers to {other}"))
        };
        let depth = match shape {
            Shape::Scalar(scalar) => {
                if !matches!(scalar.bytes(), 1 | 2 | 4 | SCALAR_BYTES_MAX) {
                    return Err(format!("type {index} has a scalar of {} bytes", scalar.bytes()));
                }
                0
            }
            Shape::Opaque { .. } => 0,
            Shape::Array { element, length, bytes } => {
                let depth = depth_of(*element)? + 1;
                let needed = types[*element as usize].bytes().checked_mul(*length);
                if needed != Some(*bytes) {
                    return Err(format!("type {index} is an array whose length is wrong"));
                }
                depth
            }
            Shape::Structure { members, bytes, .. } => {
                let mut deepest = 0;
                for member in members {
                    deepest = deepest.max(depth_of(member.shape)? + 1);
                    check_member(member, &types[member.shape as usize], *bytes).map_err(
                        |what| format!("member `{}` of type {index} {what}", member.name),
                    )?;
                }
                deepest
            }
        };
        if depth > TYPE_DEPTH_MAX {
            return Err(format!("type {index} is nested deeper than {TYPE_DEPTH_MAX}"));
        }
        depths.push(depth);
    }
    Ok(())
}

/// Number of scalars in a value of each type; the types are checked.
pub(super) fn scalar_counts(types: &[Shape]) -> Vec<u64> {
    let mut counts: Vec<u64> = Vec::with_capacity(types.len());
    for shape in types {
        counts.push(match shape {
            Shape::Scalar(_) => 1,
            Shape::Opaque { .. } => 0,
            Shape::Array { element, length, .. } => {
                counts[*element as usize].saturating_mul(*length)
            }
            Shape::Structure { members, .. } => {
                let parts = members.iter().map(|member| counts[member.shape as usize]);
                parts.fold(0, u64::saturating_add)
            }
        });
    }
    counts
}

fn check_member(member: &Member, shape: &Shape, whole: u64) -> Result<(), &'static str> {
    let Some(bits) = member.bits else {
        let end = member.offset.checked_add(shape.bytes());
        return if end.is_some_and(|end| end <= whole) { Ok(()) } else { Err("lies outside") };
    };
    let end = bits.first.checked_add(u64::from(bits.width));
    let limit = whole.checked_mul(8);
    match (end, limit) {
        _ if !matches!(shape, Shape::Scalar(_)) => Err("is a bit field of no scalar"),
        _ if bits.width == 0 || bits.width > 64 => Err("has an impossible number of bits"),
        (Some(end), Some(limit)) if end <= limit => Ok(()),
        _ => Err("has bits outside"),
    }
}
