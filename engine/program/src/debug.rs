//! The compiler's record of types, variables and functions (DWARF), as plain data.
//!
//! The reader takes each entry once, in one pass, and follows nothing; relations between entries
//! are kept as their offsets and looked up later. So no shape of the input can make it recurse, and
//! its work is bounded by the number of entries, which is limited.
//!
//! | entry | becomes |
//! |---|---|
//! | base, enumeration, structure, class, union, array, pointer, reference, `typedef`, qualifier | [`RawType`] |
//! | variable with a static address | [`RawVariable`] |
//! | function, its parameters | [`RawFunction`] |

mod read;
mod shapes;

use std::collections::HashMap;

pub(crate) use read::{DebugError, read, sections};
pub(crate) use shapes::Shapes;

/// Offset of an entry in the debug information; the name by which entries refer to one another.
pub(crate) type EntryOffset = usize;

/// Everything that was read.
#[derive(Debug, Default)]
pub(crate) struct DebugInfo {
    pub(crate) types: HashMap<EntryOffset, RawType>,
    pub(crate) variables: Vec<RawVariable>,
    pub(crate) functions: Vec<RawFunction>,
}

/// One entry that describes a type.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawType {
    pub(crate) kind: RawKind,
    /// Its own name; empty where it has none.
    pub(crate) name: String,
    /// Length in bytes, where the entry says it.
    pub(crate) bytes: Option<u64>,
    /// The type that it refers to: of an element, of what a pointer points to, of a `typedef`.
    /// `None` means `void`.
    pub(crate) target: Option<EntryOffset>,
    /// It is an address that C++ writes as a reference.
    pub(crate) reference: bool,
    /// The classes and namespaces around it, as C++ writes them: `plant::Servo::`. Empty in C.
    pub(crate) scope: String,
}

/// The kind of a type.
#[derive(Debug, Clone, Default)]
pub(crate) enum RawKind {
    /// A number; its encoding as in DWARF 5, 7.8.
    Base(gimli::DwAte),
    /// A name for another type.
    Typedef,
    /// `const`.
    Constant,
    /// `volatile`, `_Atomic`, `restrict`: without meaning here.
    Qualifier,
    /// An address of anything.
    Pointer,
    /// A structure or union; `None` members mean that only its name is known.
    Structure { union: bool, members: Option<Vec<RawMember>> },
    /// Numbers with their names.
    Enumeration(Vec<(String, i64)>),
    /// Lengths of its dimensions, the outermost first; 0 where it is not known.
    Array(Vec<u64>),
    /// Anything that has no value to be shown.
    #[default]
    Other,
}

/// A part of a structure.
#[derive(Debug, Clone)]
pub(crate) struct RawMember {
    /// Its name; empty for an anonymous structure or union.
    pub(crate) name: String,
    pub(crate) target: EntryOffset,
    pub(crate) offset: u64,
    /// First bit, from the start of the structure, and number of bits.
    pub(crate) bits: Option<(u64, u64)>,
}

/// A variable with a static address.
#[derive(Debug, Clone)]
pub(crate) struct RawVariable {
    pub(crate) name: String,
    /// The function around it; `None` at file level.
    pub(crate) function: Option<String>,
    /// Path of the source file.
    pub(crate) unit: String,
    /// `true` if other source files see it.
    pub(crate) external: bool,
    pub(crate) target: EntryOffset,
    /// Address at link time.
    pub(crate) address: u64,
}

/// A function that is defined.
#[derive(Debug, Clone)]
pub(crate) struct RawFunction {
    pub(crate) name: String,
    /// Its name for the linker, where that is another one: in C++.
    pub(crate) linkage: String,
    /// The type of the address of the object that it is called on; `None` where there is none.
    pub(crate) object: Option<EntryOffset>,
    pub(crate) external: bool,
    /// Type of its result; `None` is `void`.
    pub(crate) returns: Option<EntryOffset>,
    /// Names and types of its parameters.
    pub(crate) parameters: Vec<(String, EntryOffset)>,
}

/// Longest chain of `typedef`s and qualifiers that is followed.
const CHAIN_MAX: usize = 64;

/// A type without its names and qualifiers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stripped<'a> {
    pub(crate) offset: EntryOffset,
    pub(crate) raw: &'a RawType,
    /// The outermost `typedef`'s name; empty where there is none.
    pub(crate) alias: &'a str,
    /// The classes and namespaces around the name, as in [`RawType::scope`].
    scope: &'a str,
    /// `true` if a `const` was on the way.
    pub(crate) constant: bool,
    /// `true` if one of the names was `boolean_T`: an `unsigned char` that holds truth.
    pub(crate) boolean: bool,
}

impl Stripped<'_> {
    /// The name that a person knows the type by.
    pub(crate) fn name(&self) -> &str {
        if self.alias.is_empty() { &self.raw.name } else { self.alias }
    }

    /// The type as it is written in C. `None` where it has no name.
    pub(crate) fn spelled(&self) -> Option<String> {
        if !self.alias.is_empty() {
            return Some(format!("{}{}", self.scope, self.alias));
        }
        if self.raw.name.is_empty() {
            return None;
        }
        let word = match self.raw.kind {
            RawKind::Structure { union: true, .. } => "union ",
            RawKind::Structure { .. } => "struct ",
            RawKind::Enumeration(_) => "enum ",
            RawKind::Base(_) => "",
            _ => return None,
        };
        Some(format!("{word}{}{}", self.scope, self.raw.name))
    }
}

impl RawFunction {
    /// Returns whether the linker knows it by this name.
    pub(crate) fn is_linked_as(&self, name: &str) -> bool {
        let linkage = if self.linkage.is_empty() { &self.name } else { &self.linkage };
        self.external && linkage == name
    }
}

impl DebugInfo {
    /// Follows `typedef`s and qualifiers to the type itself. `None` where they lead nowhere or to
    /// `void`.
    pub(crate) fn strip(&self, start: EntryOffset) -> Option<Stripped<'_>> {
        let (mut offset, mut alias, mut constant, mut boolean) = (start, "", false, false);
        let mut scope = "";
        for _ in 0..CHAIN_MAX {
            let raw = self.types.get(&offset)?;
            match raw.kind {
                RawKind::Typedef => {
                    boolean |= raw.name == "boolean_T";
                    if alias.is_empty() {
                        alias = &raw.name;
                        scope = &raw.scope;
                    }
                }
                RawKind::Constant => constant = true,
                RawKind::Qualifier => {}
                _ => {
                    let scope = if alias.is_empty() { &raw.scope } else { scope };
                    return Some(Stripped { offset, raw, alias, scope, constant, boolean });
                }
            }
            offset = raw.target?;
        }
        None
    }
}
