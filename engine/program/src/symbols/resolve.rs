//! From a path to its place, and from a place back to its path.

use crate::place::{Access, BitField, Memory, Scalar, VariableLocation};
use crate::symbols::path::{self, Step};
use crate::symbols::types::{Bits, Member, Shape, TypeIndex};
use crate::symbols::{Root, Symbols};
use quietcore_wording::{ALIKE_MAX, alike, list};

/// A path that names no variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// It is not written like a path.
    #[error("`{path}` is no path: at position {at} {problem}; write it like `servo_DW.filter[2]`")]
    Syntax {
        /// The path as it was given.
        path: String,
        /// Position in the path, counted in bytes from 0.
        at: usize,
        /// The problem, as the rest of a sentence.
        problem: String,
    },
    /// There is no such name.
    #[error("there is no `{name}`{}{}", inside(within), hint(near))]
    Unknown {
        /// The path as far as it could not be followed.
        name: String,
        /// Path in which it was looked for; empty for the program itself.
        within: String,
        /// Known names that resemble it.
        near: Vec<String>,
    },
    /// The index is too large.
    #[error(
        "`{path}` has {length} elements, 0 to {}; there is no [{index}]",
        length.saturating_sub(1)
    )]
    Beyond {
        /// Path of the array.
        path: String,
        /// The index asked for.
        index: u64,
        /// Number of its elements.
        length: u64,
    },
    /// It is more than one number.
    #[error("`{path}` is {kind}{}", hint(parts))]
    NotScalar {
        /// The path as it was given.
        path: String,
        /// The kind of type there, in words.
        kind: String,
        /// Some of its parts.
        parts: Vec<String>,
    },
    /// It has no such parts.
    #[error("`{path}` is {kind} and has no part `{part}`")]
    NoParts {
        /// The path as far as it could be followed.
        path: String,
        /// The kind of type there, in words.
        kind: String,
        /// The part asked for.
        part: String,
    },
}

fn inside(within: &str) -> String {
    if within.is_empty() { " in the program".to_owned() } else { format!(" in `{within}`") }
}

fn hint(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; perhaps {}", list(names)) }
}

/// The point that a walk has come to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    pub(crate) shape: TypeIndex,
    /// Offset in bytes, in the root's memory.
    pub(crate) offset: u64,
    /// The bits, from `offset` on, where the spot is a bit field.
    pub(crate) bits: Option<Bits>,
}

impl Spot {
    pub(crate) fn of_root(root: &Root) -> Self {
        Self { shape: root.shape, offset: u64::from(root.offset), bits: None }
    }

    pub(crate) fn member(self, member: &Member) -> Self {
        // Members of a union of bit fields lie at an offset too; it is part of `first` then.
        Self { shape: member.shape, offset: self.offset + member.offset, bits: member.bits }
    }

    pub(crate) fn element(self, element: TypeIndex, bytes: u64, index: u64) -> Self {
        Self { shape: element, offset: self.offset + bytes * index, bits: None }
    }
}

impl Symbols {
    /// The place of the scalar that a path names.
    ///
    /// # Errors
    /// [`SymbolError`], with the names nearest to a wrong one.
    pub fn resolve(&self, path: &str) -> Result<VariableLocation, SymbolError> {
        let (root, spot) = self.walk(path)?;
        self.place(root.access, root.memory, spot).ok_or_else(|| {
            let shape = self.shape(spot.shape);
            let parts = self.first_parts(path, shape);
            SymbolError::NotScalar { path: path.to_owned(), kind: shape.describe(), parts }
        })
    }

    /// Follows a path, whether it leads to a scalar or not.
    pub(crate) fn walk(&self, path: &str) -> Result<(&Root, Spot), SymbolError> {
        let steps = path::steps(path).map_err(|(at, problem)| SymbolError::Syntax {
            path: path.chars().take(path::PATH_BYTES_MAX).collect(),
            at,
            problem: problem.to_owned(),
        })?;
        let mut steps = steps.into_iter();
        let root = match steps.next() {
            Some(Step::Name(name)) => {
                self.root(name).ok_or_else(|| self.unknown_root(path, name))?
            }
            _ => unreachable!("a path starts with a name"),
        };
        let mut spot = Spot::of_root(root);
        let mut walked = root.name.clone();
        for step in steps {
            spot = self.step(&walked, spot, step)?;
            match step {
                Step::Name(name) => walked.extend([".", name]),
                Step::Index(index) => walked.extend(["[", index, "]"]),
            }
        }
        Ok((root, spot))
    }

    fn step(&self, walked: &str, spot: Spot, step: Step<'_>) -> Result<Spot, SymbolError> {
        let shape = self.shape(spot.shape);
        match (shape, step) {
            (Shape::Structure { members, .. }, Step::Name(name)) => {
                let found = members.iter().find(|member| member.name == name);
                found.map(|member| spot.member(member)).ok_or_else(|| SymbolError::Unknown {
                    name: name.to_owned(),
                    within: walked.to_owned(),
                    near: alike(name, members.iter().map(|member| member.name.as_str())),
                })
            }
            (Shape::Array { element, length, .. }, Step::Index(text)) => {
                let index = text.parse().map_err(|_| SymbolError::Syntax {
                    path: format!("{walked}[{text}]"),
                    at: walked.len() + 1,
                    problem: "an index is no number".to_owned(),
                })?;
                if index >= *length {
                    let path = walked.to_owned();
                    return Err(SymbolError::Beyond { path, index, length: *length });
                }
                Ok(spot.element(*element, self.shape(*element).bytes(), index))
            }
            (_, step) => Err(SymbolError::NoParts {
                path: walked.to_owned(),
                kind: shape.describe(),
                part: match step {
                    Step::Name(name) => format!(".{name}"),
                    Step::Index(index) => format!("[{index}]"),
                },
            }),
        }
    }

    /// The place of a spot, if a scalar stands there.
    pub(crate) fn place(
        &self,
        access: Access,
        memory: Memory,
        spot: Spot,
    ) -> Option<VariableLocation> {
        let Shape::Scalar(scalar) = self.shape(spot.shape) else {
            return None;
        };
        let (offset, bit) = match spot.bits {
            None => (spot.offset, None),
            Some(bits) => {
                let (offset, bit) = word_of(spot.offset, bits)?;
                (offset, Some(bit))
            }
        };
        Some(VariableLocation {
            memory,
            offset: u32::try_from(offset).ok()?,
            scalar: scalar.clone(),
            access,
            bit,
            writable: memory == Memory::Data && *scalar != Scalar::Address,
        })
    }

    /// The path of the variable that lies at an offset of the data image: the scalar that begins
    /// there or contains it. Of a union, its first member that does.
    pub fn name_at(&self, offset: u32) -> Option<String> {
        let at = u64::from(offset);
        let root = self.roots().iter().filter(|root| root.memory == Memory::Data).find(|root| {
            let start = u64::from(root.offset);
            (start..start + self.shape(root.shape).bytes()).contains(&at)
        })?;
        let mut path = root.name.clone();
        let mut spot = Spot::of_root(root);
        loop {
            match self.shape(spot.shape) {
                Shape::Scalar(_) => return Some(path),
                Shape::Opaque { .. } => return None,
                Shape::Array { element, .. } => {
                    let bytes = self.shape(*element).bytes();
                    let index = (at - spot.offset).checked_div(bytes)?;
                    path.push_str(&format!("[{index}]"));
                    spot = spot.element(*element, bytes, index);
                }
                Shape::Structure { members, .. } => {
                    let member = members.iter().find(|member| {
                        let (start, bytes) = self.span(spot, member);
                        (start..start + bytes).contains(&at)
                    })?;
                    path.extend([".", &member.name]);
                    spot = spot.member(member);
                }
            }
        }
    }

    /// First byte and number of bytes of a member of the structure at `spot`.
    fn span(&self, spot: Spot, member: &Member) -> (u64, u64) {
        match member.bits {
            None => (spot.offset + member.offset, self.shape(member.shape).bytes()),
            Some(bits) => {
                let first = bits.first / 8;
                let last = (bits.first + u64::from(bits.width) - 1) / 8;
                (spot.offset + first, last - first + 1)
            }
        }
    }

    /// The nearest roots, and roots that have a member of this name: whoever asks for `Kp` means
    /// `servo_P.Kp`.
    fn unknown_root(&self, path: &str, name: &str) -> SymbolError {
        let holders = self.roots().iter().filter_map(|root| match self.shape(root.shape) {
            Shape::Structure { members, .. } => {
                let has = members.iter().any(|member| member.name == name);
                has.then(|| format!("{}.{path}", root.name))
            }
            _ => None,
        });
        let mut near: Vec<String> = holders.take(ALIKE_MAX).collect();
        if near.is_empty() {
            near = alike(name, self.roots().iter().map(|root| root.name.as_str()));
        }
        SymbolError::Unknown { name: name.to_owned(), within: String::new(), near }
    }

    fn first_parts(&self, path: &str, shape: &Shape) -> Vec<String> {
        match shape {
            Shape::Structure { members, .. } => {
                let first = members.iter().take(ALIKE_MAX);
                first.map(|member| format!("{path}.{}", member.name)).collect()
            }
            Shape::Array { length, .. } if *length > 0 => vec![format!("{path}[0]")],
            _ => Vec::new(),
        }
    }
}

/// The smallest naturally aligned word that holds all bits of a bit field.
///
/// `None` for bits that no word of 8 bytes holds; compilers make such only in packed structures.
fn word_of(start: u64, bits: Bits) -> Option<(u64, BitField)> {
    let first = start.checked_mul(8)?.checked_add(bits.first)?;
    [1_u8, 2, 4, 8].into_iter().find_map(|word_bytes| {
        let offset = first / 8 / u64::from(word_bytes) * u64::from(word_bytes);
        let shift = u8::try_from(first - 8 * offset).ok()?;
        let fits = u32::from(shift) + u32::from(bits.width) <= 8 * u32::from(word_bytes);
        fits.then_some((offset, BitField { word_bytes, shift, width: bits.width }))
    })
}
