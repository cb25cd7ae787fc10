//! Which functions of the library would ask an operating system, and who calls them.
//!
//! ```text
//! servo.c ─ needs ─► snprintf ─► vsnprintf ─► vfprintf ─► …      nothing of it asks
//!         ─ needs ─► printf ─► … ─► __stdio_write: `syscall`     asks
//! ```
//!
//! The library is followed from section to section, each of which holds one function, by their
//! relocations. What the linker takes along and nobody calls does not count.
//!
//! A function asks where it has the instruction `syscall`, or uses what the operating system keeps
//! for each thread, which it finds by the segment register FS. The instructions are known by their
//! bytes. What looks like one and is none leads to a refusal that is not needed; in musl 1.2.3 that
//! happens in `iconv` alone, by a table within its code.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use object::read::archive::{ArchiveFile, ArchiveOffset};
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SectionIndex,
    SectionKind, SymbolKind,
};

use crate::build::BuildError;
use crate::build::guest::{GuestError, Musl};

/// The instruction `syscall`.
const SYSCALL: [u8; 2] = [0x0F, 0x05];
/// Offset from FS of the word that `support.c` provides: the one of a stack's protection.
const STACK_WORD: [u8; 4] = [0x28, 0, 0, 0];

/// A function of the library that the program needs and a guest can't offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// The function, as the program calls it.
    pub function: String,
    /// The source files that do.
    pub files: Vec<String>,
    /// The library's function that asks; it may be the same one.
    pub through: String,
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in {}", self.function, self.files.join(" and "))?;
        if self.through != self.function {
            write!(f, " (by way of `{}`)", self.through)?;
        }
        Ok(())
    }
}

/// The functions that ask, of those that the program needs, each with the files that need it.
/// `defined` are the names that the program defines itself.
pub(super) fn asking(
    musl: &Musl,
    needed: &BTreeMap<&str, BTreeSet<&str>>,
    defined: &BTreeSet<&str>,
) -> Result<Vec<Needed>, BuildError> {
    let unusable = |error: object::Error| {
        let file = musl.library().display().to_string();
        BuildError::from(GuestError::Library { file, why: error.to_string() })
    };
    let library = Library::new(musl.bytes(), defined).map_err(unusable)?;
    let mut found = Vec::new();
    for (name, files) in needed.iter().filter(|(name, _)| !defined.contains(*name)) {
        if let Some(through) = library.first_asking(name).map_err(unusable)? {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            found.push(Needed { function: (*name).to_owned(), files, through });
        }
    }
    Ok(found)
}

/// A section of a member of the library.
type MemberSection = (u64, SectionIndex);

/// A library, whose members are read where they are needed.
struct Library<'d> {
    bytes: &'d [u8],
    archive: ArchiveFile<'d>,
    /// Which member defines a name; the first one does, as for the linker.
    members: HashMap<&'d [u8], ArchiveOffset>,
    defined: &'d BTreeSet<&'d str>,
    read: RefCell<HashMap<u64, Rc<Member>>>,
}

/// A member of the library, parsed.
#[derive(Debug, Default)]
struct Member {
    /// Sections by the names that are defined in them.
    names: HashMap<String, SectionIndex>,
    sections: HashMap<SectionIndex, Section>,
}

#[derive(Debug, Default)]
struct Section {
    /// The function in it that is shown.
    function: String,
    asks: bool,
    /// Sections of the same member that it refers to.
    own: Vec<SectionIndex>,
    /// Names that it refers to.
    others: Vec<String>,
}

impl<'d> Library<'d> {
    fn new(bytes: &'d [u8], defined: &'d BTreeSet<&'d str>) -> Result<Self, object::Error> {
        let archive = ArchiveFile::parse(bytes)?;
        let mut members = HashMap::new();
        for symbol in archive.symbols()?.into_iter().flatten() {
            let symbol = symbol?;
            members.entry(symbol.name()).or_insert(symbol.offset());
        }
        Ok(Self { bytes, archive, members, defined, read: RefCell::default() })
    }

    /// The first function that asks, on the ways from a name; `None` where none does.
    fn first_asking(&self, name: &str) -> Result<Option<String>, object::Error> {
        let mut pending: Vec<MemberSection> = self.place_of(name)?.into_iter().collect();
        let mut seen: HashSet<MemberSection> = pending.iter().copied().collect();
        while let Some((offset, index)) = pending.pop() {
            let member = self.member(offset)?;
            let Some(section) = member.sections.get(&index) else { continue };
            if section.asks {
                return Ok(Some(section.function.clone()));
            }
            let mut next: Vec<MemberSection> =
                section.own.iter().map(|own| (offset, *own)).collect();
            for other in &section.others {
                next.extend(self.place_of(other)?);
            }
            next.retain(|place| seen.insert(*place));
            pending.extend(next);
        }
        Ok(None)
    }

    /// Returns the section in which the library defines a name that the program does not.
    fn place_of(&self, name: &str) -> Result<Option<MemberSection>, object::Error> {
        if self.defined.contains(name) {
            return Ok(None);
        }
        let Some(offset) = self.members.get(name.as_bytes()) else { return Ok(None) };
        let member = self.member(offset.0)?;
        Ok(member.names.get(name).map(|section| (offset.0, *section)))
    }

    fn member(&self, offset: u64) -> Result<Rc<Member>, object::Error> {
        if let Some(member) = self.read.borrow().get(&offset) {
            return Ok(Rc::clone(member));
        }
        let data = self.archive.member(ArchiveOffset(offset))?.data(self.bytes)?;
        let member = Rc::new(Member::read(&object::File::parse(data)?, self.defined)?);
        self.read.borrow_mut().insert(offset, Rc::clone(&member));
        Ok(member)
    }
}

impl Member {
    fn read(file: &object::File<'_>, defined: &BTreeSet<&str>) -> Result<Self, object::Error> {
        let mut member = Self::default();
        for symbol in file.symbols() {
            let (Some(index), Ok(name)) = (symbol.section_index(), symbol.name()) else { continue };
            if symbol.is_global() {
                member.names.insert(name.to_owned(), index);
            }
            let section = member.sections.entry(index).or_default();
            let is_function = symbol.kind() == SymbolKind::Text && !name.is_empty();
            if is_function && (symbol.is_global() || section.function.is_empty()) {
                name.clone_into(&mut section.function);
            }
        }
        for section in file.sections() {
            let read = member.sections.entry(section.index()).or_default();
            read.asks = section.kind() == SectionKind::Text && asks(section.data()?);
            for (_, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else { continue };
                let symbol = file.symbol_by_index(index)?;
                let name = symbol.name().unwrap_or_default();
                match symbol.section_index() {
                    _ if defined.contains(name) => {}
                    Some(own) => read.own.push(own),
                    // What is weak is not taken out of a library for its own sake.
                    None if symbol.is_weak() => {}
                    None => read.others.push(name.to_owned()),
                }
            }
        }
        Ok(member)
    }
}

/// Returns `true` if code asks an operating system.
fn asks(code: &[u8]) -> bool {
    // `fs:` before an instruction on a register of 64 bits and an address of 32 bits.
    let uses_thread = |bytes: &[u8]| {
        bytes[0] == 0x64
            && bytes[1] & 0xF8 == 0x48
            && bytes[3] & 0xC7 == 0x04
            && bytes[4] == 0x25
            && bytes[5..] != STACK_WORD
    };
    code.windows(SYSCALL.len()).any(|bytes| bytes == SYSCALL) || code.windows(9).any(uses_thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_is_known_by_its_instructions() {
        for (code, expected) in [
            (&[0xB8, 1, 0, 0, 0, 0x0F, 0x05][..], true),
            (&[0x64, 0x48, 0x8B, 0x04, 0x25, 0, 0, 0, 0][..], true),
            (&[0x90, 0x64, 0x4C, 0x8B, 0x24, 0x25, 8, 0, 0, 0][..], true),
            (&[0x64, 0x48, 0x8B, 0x04, 0x25, 0x28, 0, 0, 0][..], false),
            (&[0x48, 0x8B, 0x04, 0x25, 0, 0, 0, 0, 0x90][..], false),
            (&[][..], false),
        ] {
            assert_eq!(asks(code), expected, "{code:x?}");
        }
    }

    #[test]
    fn what_a_guest_lacks_is_named_with_who_needs_it() {
        let files = ["a.c", "b.c"].map(str::to_owned).to_vec();
        let [function, through] = ["printf", "__stdio_write"].map(str::to_owned);
        let needed = Needed { function, files, through };
        assert_eq!(needed.to_string(), "`printf` in a.c and b.c (by way of `__stdio_write`)");
        let direct = Needed { through: needed.function.clone(), ..needed };
        assert_eq!(direct.to_string(), "`printf` in a.c and b.c");
    }
}
