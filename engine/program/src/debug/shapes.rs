//! From the entries of the debug information to the types of the symbols.

use std::collections::HashMap;
use std::sync::Arc;

use quietcore_units::DataType;

use crate::debug::{DebugInfo, EntryOffset, RawKind, RawMember, Stripped};
use crate::place::{Enumeration, SCALAR_BYTES_MAX, Scalar};
use crate::symbols::{Bits, Member, Shape, TYPE_DEPTH_MAX, TypeIndex};

/// Most members of a structure, with those of anonymous ones inside of it.
const MEMBERS_MAX: usize = 100_000;

/// Makes types, each once: equal ones of several source files become the same.
///
/// A type that can't be shown becomes [`Shape::Opaque`] with its length, so that its surroundings
/// keep their layout.
#[derive(Debug)]
pub(crate) struct Shapes<'a> {
    info: &'a DebugInfo,
    shapes: Vec<Shape>,
    /// Nesting of each type.
    depths: Vec<usize>,
    interned: HashMap<Shape, TypeIndex>,
    /// Finished types; `None` while one is being made, so that a type inside of itself is noticed.
    made: HashMap<EntryOffset, Option<TypeIndex>>,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(info: &'a DebugInfo) -> Self {
        let (interned, made) = (HashMap::new(), HashMap::new());
        Self { info, shapes: Vec::new(), depths: Vec::new(), interned, made }
    }

    /// The types made so far.
    pub(crate) fn into_types(self) -> Vec<Shape> {
        self.shapes
    }

    /// Length in bytes of a type that was made.
    pub(crate) fn bytes(&self, index: TypeIndex) -> u64 {
        self.shapes[index as usize].bytes()
    }

    /// The type of an entry.
    pub(crate) fn of(&mut self, start: EntryOffset) -> TypeIndex {
        self.at_depth(start, 0)
    }

    fn at_depth(&mut self, start: EntryOffset, depth: usize) -> TypeIndex {
        match self.made.get(&start) {
            Some(Some(index)) => return *index,
            Some(None) => return self.opaque("a type that contains itself", 0),
            None => {}
        }
        if depth > TYPE_DEPTH_MAX / 2 {
            return self.opaque("a type nested too deep", 0);
        }
        self.made.insert(start, None);
        let index = match self.info.strip(start) {
            Some(stripped) => self.stripped(stripped, depth),
            None => self.opaque("a type that is not described", 0),
        };
        self.made.insert(start, Some(index));
        index
    }

    fn stripped(&mut self, stripped: Stripped<'a>, depth: usize) -> TypeIndex {
        let raw = stripped.raw;
        let bytes = raw.bytes.unwrap_or(0);
        match &raw.kind {
            RawKind::Base(encoding) => match base(*encoding, bytes, stripped.boolean) {
                Some(data_type) => self.intern(Shape::Scalar(Scalar::Number(data_type))),
                None => self.opaque(stripped.name(), bytes),
            },
            RawKind::Pointer => self.intern(Shape::Scalar(Scalar::Address)),
            RawKind::Enumeration(values) => match u8::try_from(bytes) {
                Ok(length @ (1 | 2 | 4 | 8)) => {
                    let enumeration = Enumeration {
                        name: stripped.name().to_owned(),
                        bytes: length,
                        signed: values.iter().any(|(_, value)| *value < 0),
                        values: values.clone(),
                    };
                    self.intern(Shape::Scalar(Scalar::Enum(Arc::new(enumeration))))
                }
                _ => self.opaque(stripped.name(), bytes),
            },
            RawKind::Structure { union, members: Some(members) } => {
                let mut parts = Vec::with_capacity(members.len());
                for member in members {
                    self.member(member, bytes, depth, &mut parts);
                }
                let name = stripped.name().to_owned();
                self.intern(Shape::Structure { name, bytes, union: *union, members: parts })
            }
            RawKind::Array(lengths) => {
                let element = match raw.target {
                    Some(target) => self.at_depth(target, depth + 1),
                    None => self.opaque("an element that is not described", 0),
                };
                self.array(element, lengths)
            }
            _ => self.opaque(stripped.name(), bytes),
        }
    }

    /// Adds a member, or those of an anonymous structure in its place.
    fn member(&mut self, raw: &RawMember, whole: u64, depth: usize, parts: &mut Vec<Member>) {
        if parts.len() >= MEMBERS_MAX {
            return;
        }
        let shape = self.at_depth(raw.target, depth + 1);
        let made = &self.shapes[shape as usize];
        if raw.name.is_empty() {
            // The members of an anonymous structure are named as if they were the outer one's.
            if let Shape::Structure { members, .. } = made {
                let inner = members.iter().filter_map(|member| {
                    let mut member = member.clone();
                    match &mut member.bits {
                        Some(bits) => {
                            bits.first = bits.first.checked_add(raw.offset.checked_mul(8)?)?;
                        }
                        None => member.offset = member.offset.checked_add(raw.offset)?,
                    }
                    Some(member)
                });
                parts.extend(inner.filter(|member| fits(member, self.shapes_bytes(member), whole)));
            }
            return;
        }
        let bits = match (raw.bits, made) {
            (None, _) => None,
            (Some((first, width)), Shape::Scalar(_)) => {
                // Before DWARF 5 the bits are counted from the member's own offset.
                let start = raw.offset.saturating_mul(8);
                let width = u8::try_from(width).unwrap_or(0);
                Some(Bits { first: first.saturating_add(start), width })
            }
            (Some(_), _) => return,
        };
        let offset = if bits.is_some() { 0 } else { raw.offset };
        let member = Member { name: raw.name.clone(), shape, offset, bits };
        if fits(&member, made.bytes(), whole) {
            parts.push(member);
        }
    }

    fn shapes_bytes(&self, member: &Member) -> u64 {
        self.shapes[member.shape as usize].bytes()
    }

    /// An array of several dimensions is an array of arrays; the innermost is the last.
    fn array(&mut self, element: TypeIndex, lengths: &[u64]) -> TypeIndex {
        let mut inner = element;
        for length in lengths.iter().rev().take(TYPE_DEPTH_MAX / 4) {
            let Some(bytes) = self.bytes(inner).checked_mul(*length) else {
                return self.opaque("an array longer than any memory", 0);
            };
            inner = self.intern(Shape::Array { element: inner, length: *length, bytes });
        }
        inner
    }

    fn opaque(&mut self, name: &str, bytes: u64) -> TypeIndex {
        self.intern(Shape::Opaque { name: name.to_owned(), bytes })
    }

    fn intern(&mut self, shape: Shape) -> TypeIndex {
        if let Some(index) = self.interned.get(&shape) {
            return *index;
        }
        let below = |index: &TypeIndex| self.depths[*index as usize] + 1;
        let depth = match &shape {
            Shape::Scalar(_) | Shape::Opaque { .. } => 0,
            Shape::Array { element, .. } => below(element),
            Shape::Structure { members, .. } => {
                members.iter().map(|member| below(&member.shape)).max().unwrap_or(0)
            }
        };
        if depth > TYPE_DEPTH_MAX {
            return self.opaque("a type nested too deep", shape.bytes());
        }
        let index = TypeIndex::try_from(self.shapes.len()).expect("fewer types than entries");
        self.shapes.push(shape.clone());
        self.depths.push(depth);
        self.interned.insert(shape, index);
        index
    }
}

/// Returns `true` if a member lies inside of its structure.
fn fits(member: &Member, bytes: u64, whole: u64) -> bool {
    match member.bits {
        None => member.offset.checked_add(bytes).is_some_and(|end| end <= whole),
        Some(bits) => {
            let end = bits.first.checked_add(u64::from(bits.width));
            (1..=64).contains(&bits.width) && end.is_some_and(|end| end.div_ceil(8) <= whole)
        }
    }
}

/// Returns the type of the numbers of a base type; `None` for what no scalar holds.
fn base(encoding: gimli::DwAte, bytes: u64, boolean: bool) -> Option<DataType> {
    if usize::try_from(bytes).is_ok_and(|bytes| bytes > SCALAR_BYTES_MAX) {
        return None;
    }
    let signed = match encoding {
        gimli::DW_ATE_boolean if bytes == 1 => return Some(DataType::Bool),
        gimli::DW_ATE_float => {
            return match bytes {
                4 => Some(DataType::F32),
                8 => Some(DataType::F64),
                _ => None,
            };
        }
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => true,
        gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => false,
        _ => return None,
    };
    if boolean && bytes == 1 { Some(DataType::Bool) } else { DataType::integer(bytes, signed) }
}
