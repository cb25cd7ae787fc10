//! Variables that survive a restart: what is saved, in which order, and where it may go back to.
//!
//! The saved bytes are the chosen variables one after the other. The layout says which; it is kept
//! beside the bytes. Its hash covers names, types and lengths, but no addresses: a rebuild that
//! moves a variable leaves the hash as it is, one that changes its type does not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::build::store::hexadecimal;
use crate::carry::{CarryPlan, Copy};
use crate::place::{Memory, Place, Scalar};
use crate::symbols::{Pattern, SymbolError, Symbols};

/// Most scalars that one pattern may choose.
const LEAVES_MAX: usize = 4_000_000;

/// One retained variable: a scalar, or a run of elements of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetainEntry {
    /// Its path; of a run, that of the first element.
    pub path: String,
    /// Its type in words, enumerations with all values.
    pub kind: String,
    /// Offset in the data image.
    pub offset: u32,
    /// Length in bytes, of all elements together.
    pub bytes: u32,
    /// Offset in the saved bytes.
    pub at: u32,
}

/// Which variables are saved, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetainLayout {
    /// The variables, sorted by path; also the order of the saved bytes.
    pub entries: Vec<RetainEntry>,
    /// Length of the saved bytes.
    pub bytes: u32,
    /// SHA-256 of names, types and lengths, in hexadecimal digits.
    pub hash: String,
    /// Variables that were chosen and can't be saved, with the reason.
    pub left_out: Vec<String>,
}

/// A set of retained variables that can't be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetainError {
    /// A pattern chooses nothing.
    #[error("`{pattern}` chooses no variable of the program{}", remark(source.as_ref()))]
    NoneChosen {
        /// The pattern.
        pattern: String,
        /// What is wrong with it as a path, if it is one.
        source: Option<SymbolError>,
    },
    /// The variables need more room than there is.
    #[error("the retained variables need more than {limit} bytes; choose fewer")]
    TooLarge {
        /// Room in bytes.
        limit: u32,
    },
}

fn remark(error: Option<&SymbolError>) -> String {
    error.map(|error| format!("; {error}")).unwrap_or_default()
}

impl RetainLayout {
    /// The layout of all variables that a pattern chooses; each once, however often it is chosen.
    ///
    /// # Errors
    /// [`RetainError`] when a pattern chooses nothing, or all together exceed `limit` bytes.
    pub fn new(symbols: &Symbols, chosen: &[Pattern], limit: u32) -> Result<Self, RetainError> {
        let mut layout = Self::default();
        // Sorted by offset, elements of an array follow one another and can be joined.
        let mut places: BTreeMap<u32, (String, Place)> = BTreeMap::new();
        let mut bytes = 0_u64;
        for pattern in chosen {
            let mut is_empty = true;
            // Members of unions lie over one another, so bytes alone do not bound their number.
            let mut leaves = symbols.leaves(Some(pattern), LEAVES_MAX);
            for (path, place) in leaves.by_ref() {
                is_empty = false;
                if let Some(why) = unfit(&place) {
                    layout.left_out.push(format!("`{path}` {why}"));
                } else if places.insert(place.offset, (path, place.clone())).is_none() {
                    bytes += place.bytes() as u64;
                }
                if bytes > u64::from(limit) {
                    return Err(RetainError::TooLarge { limit });
                }
            }
            if leaves.is_cut() {
                return Err(RetainError::TooLarge { limit });
            }
            if is_empty {
                let pattern = pattern.to_string();
                let source = symbols.resolve(&pattern).err();
                return Err(RetainError::NoneChosen { pattern, source });
            }
        }
        layout.left_out.sort();
        layout.left_out.dedup();
        layout.entries = joined(places);
        layout.entries.sort_by(|one, other| one.path.cmp(&other.path));
        let mut hasher = Sha256::new();
        for entry in &mut layout.entries {
            entry.at = layout.bytes;
            layout.bytes += entry.bytes;
            hasher.update(format!("{}\n{}\n{}\n", entry.path, entry.kind, entry.bytes));
        }
        layout.hash = hexadecimal(&hasher.finalize());
        Ok(layout)
    }

    /// The copies from the data image into the saved bytes; `to` counts in the latter.
    pub fn save(&self) -> Vec<Copy> {
        let entries = self.entries.iter();
        entries.map(|it| Copy { from: it.offset, to: it.at, bytes: it.bytes }).collect()
    }

    /// Plans how bytes that were saved with the layout `saved` go back into the data image: by name
    /// and type. In the plan's copies `from` counts in the saved bytes.
    ///
    /// A variable of another type, or of which there were more or fewer, is not restored.
    pub fn restore(&self, saved: &Self) -> CarryPlan {
        let mut plan = CarryPlan::default();
        let ours: BTreeMap<&str, &RetainEntry> =
            self.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        for entry in &saved.entries {
            let end = entry.at.checked_add(entry.bytes);
            match ours.get(entry.path.as_str()) {
                None => plan.refuse(&entry.path, "it is no longer retained"),
                Some(now) if now.kind != entry.kind => {
                    plan.refuse(&entry.path, format!("it was {} and is {}", entry.kind, now.kind));
                }
                Some(now) if now.bytes != entry.bytes => {
                    let why = format!("it had {} bytes and has {}", entry.bytes, now.bytes);
                    plan.refuse(&entry.path, why);
                }
                Some(_) if end.is_none_or(|end| end > saved.bytes) => {
                    plan.refuse(&entry.path, "the saved layout is damaged");
                }
                Some(now) => {
                    plan.copies.push(Copy { from: entry.at, to: now.offset, bytes: now.bytes });
                    plan.carried += 1;
                }
            }
        }
        let known: std::collections::BTreeSet<&str> =
            saved.entries.iter().map(|entry| entry.path.as_str()).collect();
        let fresh = self.entries.iter().filter(|entry| !known.contains(entry.path.as_str()));
        plan.fresh = fresh.map(|entry| entry.path.clone()).collect();
        plan.arrange();
        plan
    }
}

/// Why a scalar can't be retained.
fn unfit(place: &Place) -> Option<&'static str> {
    if place.memory == Memory::Constant {
        Some("is a constant")
    } else if place.scalar == Scalar::Address {
        Some("is an address")
    } else if place.bit.is_some() {
        Some("is a bit field, which shares its bytes with others")
    } else {
        None
    }
}

/// Joins elements of one array that follow one another.
fn joined(places: BTreeMap<u32, (String, Place)>) -> Vec<RetainEntry> {
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
        entries.push((RetainEntry { path, kind, offset, bytes, at: 0 }, array));
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
