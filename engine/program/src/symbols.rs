//! The variables of a program by name: what the debug information says, kept as one small file.
//!
//! ```text
//! servo_DW.filter[2]
//! └──┬───┘ └──┬──┘└┬┘
//!   root    member index      root ─► type ─► member type ─► element type ─► VariableLocation
//! ```
//!
//! A root is a variable with a static address. Its parts are never listed in the file: they follow
//! from its type, and a path is resolved by walking the types. So a program of a million variables
//! has a file of a few hundred kilobytes, and [`Symbols::leaves`] walks as far as it is asked to.
//!
//! Static variables are roots too. Where a name alone would be ambiguous it is qualified:
//! `servo_step::counter` lies in a function, `filters::gain` in the source file `filters.c`.
//!
//! Invariants, checked whenever symbols are made or loaded: a type refers to types before it only,
//! so every walk ends; every root lies inside the data image.

mod leaves;
mod path;
mod pattern;
mod resolve;
mod types;

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::build::DATA_BYTES_MAX;
use crate::place::{Access, Memory};

pub use leaves::Leaves;
pub(crate) use pattern::matches_name;
pub use pattern::{Pattern, PatternError};
pub(crate) use resolve::Spot;
pub use resolve::SymbolError;
pub use types::{Bits, Member, Shape, TYPE_DEPTH_MAX, TypeIndex};

/// Schema of the file of symbols.
pub const SYMBOLS_SCHEMA: &str = "quietcore.symbols/1";

/// Largest file of symbols that is read, in bytes.
pub const SYMBOLS_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The writable data of a module: whole pages that become part of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataImage {
    /// Link-time address of the first page; a variable's offset counts from here.
    pub address: u64,
    /// Length in bytes: whole pages of 4096.
    pub bytes: u64,
}

/// A variable with a static address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Its name, qualified where it must be.
    pub name: String,
    /// Its type, an index into the list of types.
    #[serde(rename = "type")]
    pub shape: TypeIndex,
    /// The memory that its offset counts in; a constant lies in the module's file.
    pub memory: Memory,
    /// Offset in bytes; see [`Memory`].
    pub offset: u32,
    /// The use in the model.
    pub access: Access,
}

/// The variables of one build of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbols {
    schema: String,
    model: String,
    data: DataImage,
    roots: Vec<Root>,
    types: Vec<Shape>,
    /// Number of scalars in a value of each type; it follows from the types.
    #[serde(skip)]
    counts: Vec<u64>,
}

/// A file of symbols that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SymbolsFileError {
    /// It could not be read or written.
    #[error("the symbols could not be read or written")]
    Io(#[from] io::Error),
    /// It is not what it should be.
    #[error("the file holds no symbols of schema `{SYMBOLS_SCHEMA}`: {0}; build the program again")]
    Content(String),
}

impl Symbols {
    /// Symbols of these parts.
    ///
    /// # Errors
    /// [`SymbolsFileError::Content`] when an invariant is broken.
    pub fn new(
        model: &str,
        data: DataImage,
        mut roots: Vec<Root>,
        types: Vec<Shape>,
    ) -> Result<Self, SymbolsFileError> {
        roots.sort_by(|one, other| one.name.cmp(&other.name));
        let schema = SYMBOLS_SCHEMA.to_owned();
        let counts = Vec::new();
        Self { schema, model: model.to_owned(), data, roots, types, counts }.checked()
    }

    /// Reads symbols from a file.
    ///
    /// # Errors
    /// [`SymbolsFileError`].
    pub fn load(file: &Path) -> Result<Self, SymbolsFileError> {
        if fs::metadata(file)?.len() > SYMBOLS_BYTES_MAX {
            return Err(SymbolsFileError::Content(format!("it exceeds {SYMBOLS_BYTES_MAX} bytes")));
        }
        Self::from_json(&fs::read(file)?)
    }

    /// Reads symbols from the content of a file.
    ///
    /// # Errors
    /// [`SymbolsFileError::Content`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, SymbolsFileError> {
        let symbols: Self = serde_json::from_slice(bytes)
            .map_err(|error| SymbolsFileError::Content(error.to_string()))?;
        symbols.checked()
    }

    /// The content of the file.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("names and numbers can be written as JSON")
    }

    /// The pages that hold the variables.
    pub fn data(&self) -> DataImage {
        self.data
    }

    /// The variables with a static address, sorted by name.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The root of this name.
    pub fn root(&self, name: &str) -> Option<&Root> {
        let index = self.roots.binary_search_by(|root| root.name.as_str().cmp(name)).ok()?;
        self.roots.get(index)
    }

    /// Number of scalars of the whole program; of large programs more than anyone would list.
    pub fn leaf_count(&self) -> u64 {
        let counts = self.roots.iter().map(|root| self.scalar_count(root.shape));
        counts.fold(0, u64::saturating_add)
    }

    /// Number of scalars in a value of a type.
    pub(crate) fn scalar_count(&self, index: TypeIndex) -> u64 {
        self.counts[index as usize]
    }

    /// The type of an index; checked symbols hold all that they refer to.
    pub(crate) fn shape(&self, index: TypeIndex) -> &Shape {
        &self.types[index as usize]
    }

    fn checked(mut self) -> Result<Self, SymbolsFileError> {
        self.check().map_err(SymbolsFileError::Content)?;
        self.counts = types::scalar_counts(&self.types);
        Ok(self)
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != SYMBOLS_SCHEMA {
            return Err(format!("the schema is `{}`", self.schema));
        }
        types::check(&self.types)?;
        if self.data.bytes > DATA_BYTES_MAX {
            return Err(format!("the data have {} bytes", self.data.bytes));
        }
        for pair in self.roots.windows(2) {
            if pair[0].name >= pair[1].name {
                return Err(format!("`{}` is out of order or named twice", pair[1].name));
            }
        }
        for root in &self.roots {
            let shape = self.types.get(root.shape as usize);
            let bytes = shape.ok_or_else(|| format!("`{}` has no type", root.name))?.bytes();
            let end = u64::from(root.offset).checked_add(bytes);
            let inside = match root.memory {
                Memory::Data => end.is_some_and(|end| end <= self.data.bytes),
                Memory::Constant => end.is_some_and(|end| end <= u64::from(u32::MAX)),
            };
            if !inside {
                return Err(format!("`{}` lies outside of the data", root.name));
            }
        }
        Ok(())
    }
}
