//! Variables that survive a restart: which of a program, and in which order.
//!
//! The retained values are the chosen variables one after the other. They go back by name and type,
//! so a rebuild that moves a variable does not matter, and one that changes its type is noticed.
//! Keeping and giving back is the work of whoever runs the program.

use std::collections::BTreeMap;

use crate::place::{Memory, Scalar, VariableLocation};
use crate::symbols::{Pattern, SymbolError, Symbols};

/// Most scalars that one pattern may choose.
const LEAVES_MAX: usize = 4_000_000;

/// One retained variable: a scalar, or a run of elements of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainEntry {
    /// Its path; of a run, that of the first element.
    pub path: String,
    /// Its type in words, enumerations with all values.
    pub kind: String,
    /// Offset in the data image.
    pub offset: u32,
    /// Length in bytes, of all elements together.
    pub bytes: u32,
}

/// A variable that can't be retained, and that a wider pattern chose with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The number of the pattern, counted from 0.
    pub chosen: usize,
    /// Path of the variable.
    pub path: String,
    /// Why not, such as `a bit field`.
    pub why: &'static str,
}

/// Which variables are retained, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetainLayout {
    /// The variables, sorted by path; also the order of their values.
    pub entries: Vec<RetainEntry>,
    /// Variables that could not be taken, in the order of the patterns and there by path.
    pub left_out: Vec<Unfit>,
}

/// Retained variables that can't be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetainError {
    /// A pattern chooses nothing.
    #[error("`{pattern}` chooses no variable of the program")]
    NoneChosen {
        /// The pattern as written in the site file.
        pattern: String,
        /// The error of it as a path, if it is one.
        source: Option<SymbolError>,
    },
    /// Nothing that a pattern chooses can be retained.
    #[error(
        "`{pattern}` can't be retained: {} is {why}; choose numbers of whole bytes that the \
         program can write",
        subject(pattern, path)
    )]
    Unfit {
        /// The pattern as written in the site file.
        pattern: String,
        /// The first variable that it chooses.
        path: String,
        /// Why that can't be retained, such as `a bit field`.
        why: &'static str,
    },
    /// The variables need more room than there is.
    #[error("the retained variables need more than {limit} bytes; choose fewer")]
    TooLarge {
        /// Room that there is, in bytes.
        limit: u32,
    },
}

fn subject(pattern: &str, path: &str) -> String {
    if pattern == path { "it".to_owned() } else { format!("`{path}`") }
}

impl RetainLayout {
    /// The layout of all variables that a pattern chooses; each once, however often it is chosen.
    ///
    /// # Errors
    /// [`RetainError`] of every pattern that chooses nothing or nothing that can be retained, and
    /// of the one with which all together exceed `limit` bytes; each with its pattern's number.
    pub fn new(
        symbols: &Symbols,
        chosen: &[Pattern],
        limit: u32,
    ) -> Result<Self, Vec<(usize, RetainError)>> {
        let mut found = RetainedSelection { limit, ..RetainedSelection::default() };
        let mut errors = Vec::new();
        for (number, pattern) in chosen.iter().enumerate() {
            match found.choose(symbols, number, pattern) {
                Ok(()) => {}
                Err(error) => {
                    let is_full = matches!(error, RetainError::TooLarge { .. });
                    errors.push((number, error));
                    if is_full {
                        break;
                    }
                }
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut entries = joined(found.places);
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { entries, left_out: found.left_out })
    }
}

/// Variables that the patterns have chosen so far.
#[derive(Default)]
struct RetainedSelection {
    limit: u32,
    /// Sorted by offset, elements of an array follow one another and can be joined.
    places: BTreeMap<u32, (String, VariableLocation)>,
    bytes: u64,
    left_out: Vec<Unfit>,
}

impl RetainedSelection {
    fn choose(
        &mut self,
        symbols: &Symbols,
        number: usize,
        pattern: &Pattern,
    ) -> Result<(), RetainError> {
        let limit = self.limit;
        let mut unfit = Vec::new();
        let (mut is_empty, mut is_fit) = (true, false);
        // Members of unions lie over one another, so bytes alone do not bound their number.
        let mut leaves = symbols.leaves(Some(pattern), LEAVES_MAX);
        for (path, place) in leaves.by_ref() {
            is_empty = false;
            if let Some(why) = unfit_because(&place) {
                unfit.push(Unfit { chosen: number, path, why });
                continue;
            }
            is_fit = true;
            if self.places.insert(place.offset, (path, place.clone())).is_none() {
                self.bytes += place.bytes() as u64;
            }
            if self.bytes > u64::from(limit) {
                return Err(RetainError::TooLarge { limit });
            }
        }
        if leaves.is_cut() {
            return Err(RetainError::TooLarge { limit });
        }
        let pattern = pattern.to_string();
        if is_empty {
            let source = symbols.resolve(&pattern).err();
            return Err(RetainError::NoneChosen { pattern, source });
        }
        unfit.sort_by(|one, other| one.path.cmp(&other.path));
        match unfit.first() {
            Some(Unfit { path, why, .. }) if !is_fit => {
                Err(RetainError::Unfit { pattern, path: path.clone(), why })
            }
            _ => {
                self.left_out.append(&mut unfit);
                Ok(())
            }
        }
    }
}

/// Why a scalar can't be retained.
fn unfit_because(place: &VariableLocation) -> Option<&'static str> {
    if place.memory == Memory::Constant {
        Some("a constant")
    } else if place.scalar == Scalar::Address {
        Some("an address")
    } else if place.bit.is_some() {
        Some("a bit field")
    } else {
        None
    }
}

/// Joins elements of one array that follow one another.
fn joined(places: BTreeMap<u32, (String, VariableLocation)>) -> Vec<RetainEntry> {
    let mut entries: Vec<(RetainEntry, String)> = Vec::new();
    for (offset, (path, place)) in places {
        let kind = kind(&place.scalar);
        let bytes = u32::try_from(place.bytes()).expect("a scalar has at most 8 bytes");
        let array = path.rsplit_once('[').map(|(array, _)| array.to_owned()).unwrap_or_default();
        if let Some((last, last_array)) = entries.last_mut()
            && !array.is_empty()
            && path.ends_with(']')
            && *last_array == array
            && last.kind == kind
            && last.offset + last.bytes == offset
        {
            last.bytes += bytes;
            continue;
        }
        entries.push((RetainEntry { path, kind, offset, bytes }, array));
    }
    entries.into_iter().map(|(entry, _)| entry).collect()
}

/// A type in words that differ whenever the meaning of its bytes does.
fn kind(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Enum(enumeration) => {
            let values = enumeration.values.iter();
            let values: Vec<String> =
                values.map(|(name, value)| format!("{name}={value}")).collect();
            let sign = if enumeration.signed { 'i' } else { 'u' };
            let bits = 8 * u32::from(enumeration.bytes);
            format!("{} {sign}{bits} {{{}}}", enumeration.name, values.join(", "))
        }
        _ => scalar.to_string(),
    }
}
