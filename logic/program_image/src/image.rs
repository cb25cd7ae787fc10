//! The file of a program: its parts, and what is refused.
//!
//! ```text
//! PT_LOAD  r-x   code        ┐ in the slot's place for code, each from the start of a page
//! PT_LOAD  r--   constants   ┘ the face is among them, and the file's entry is its address
//! PT_LOAD  rw-   data          from the start of the slot's place for data; the only writable part
//! ```
//!
//! Nothing else may be asked for: no interpreter, no relocation, no thread-local variable, no
//! executable stack. What is read is copied out of the file, so that this may go on changing.

#[cfg(test)]
mod tests;

use object::elf::{self, ProgramHeader64};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, Object as _};
use quietcore_boot::places::PROGRAM_DATA_BYTES_MAX;

use crate::face;
use crate::slot::Slot;

/// Largest file that is read, in bytes: both parts of a slot, and debug information. A new build is
/// delivered to a guest's process through memory of this size, so that one which can't be delivered
/// later can't be started either.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// A page, in bytes.
const PAGE_BYTES: u64 = 4096;
/// Most parts of a file, of all kinds.
const PARTS_MAX: usize = 16;

/// A file that no guest should get.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// It can't be read.
    #[error("the program's image cannot be read: {0}")]
    Unreadable(String),
    /// It breaks a rule.
    #[error("the program's image {0}")]
    Refused(String),
}

fn refused<T>(why: impl Into<String>) -> Result<T, ImageError> {
    Err(ImageError::Refused(why.into()))
}

/// Code or constants: what is not written after the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its first address in the guest, the start of a page.
    pub address: u64,
    /// The content; zeros follow it up to the end of the page.
    pub bytes: Vec<u8>,
    /// `true` if it is code.
    pub executable: bool,
}

/// A program for a guest, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramImage {
    slot: Slot,
    face: u64,
    parts: Vec<Part>,
    data: Vec<u8>,
}

impl ProgramImage {
    /// Reads a file, and says which slot it is linked for.
    ///
    /// # Errors
    /// [`ImageError`] with the rule that it breaks.
    pub fn parse(file: &[u8]) -> Result<Self, ImageError> {
        Self::parse_within(file, PROGRAM_DATA_BYTES_MAX)
    }

    /// As [`parse`](Self::parse), for a slot that has room for so many bytes of data: a short file
    /// may ask for all that a slot can take.
    ///
    /// # Errors
    /// [`ImageError`] with the rule that it breaks.
    pub fn parse_within(file: &[u8], data_bytes_max: u64) -> Result<Self, ImageError> {
        let elf: ElfFile64<'_, LittleEndian> =
            ElfFile64::parse(file).map_err(|error| ImageError::Unreadable(error.to_string()))?;
        let header = elf.elf_header();
        if header.e_type(LittleEndian) != elf::ET_EXEC {
            return refused("is not linked for fixed addresses");
        }
        if header.e_machine(LittleEndian) != elf::EM_X86_64 {
            return refused("is for another processor than x86-64");
        }
        let segments = segments(&elf)?;
        let Some(slot) = Slot::of_code(elf.entry()) else {
            return refused(format!("has its face at {:#x}, in no slot for code", elf.entry()));
        };
        let mut image = Self { slot, face: elf.entry(), parts: Vec::new(), data: Vec::new() };
        let mut end = 0;
        for segment in &segments {
            if !segment.address.is_multiple_of(PAGE_BYTES) {
                return refused(format!("has a part at {:#x}, inside a page", segment.address));
            }
            if segment.address < end {
                return refused("has parts that overlap, or are out of order");
            }
            let Some(next) = segment.address.checked_add(segment.memory_bytes) else {
                return refused("has a part beyond all addresses");
            };
            image.take(segment, next, file, data_bytes_max)?;
            end = next.next_multiple_of(PAGE_BYTES);
        }
        if image.data.is_empty() {
            return refused("has no writable data, not even the program's services");
        }
        let parts = Parts { slot, parts: &image.parts, data_bytes: image.data.len() as u64 };
        face::check(&parts, image.face)?;
        Ok(image)
    }

    /// Takes a part that is loaded, which ends at `end`.
    fn take(
        &mut self,
        segment: &Segment,
        end: u64,
        file: &[u8],
        data_bytes_max: u64,
    ) -> Result<(), ImageError> {
        let start = segment.address;
        let (code, data) = (self.slot.code(), self.slot.data());
        let writable = segment.flags & elf::PF_W.0 != 0;
        let executable = segment.flags & elf::PF_X.0 != 0;
        if writable && executable {
            return refused("has memory that is both written and executed");
        }
        let place = if writable { &data } else { &code };
        if start < place.start || end > place.end {
            return refused(format!(
                "has {} from {start:#x} to {end:#x}; slot {} takes them from {:#x} to {:#x}",
                if writable { "data" } else { "code or constants" },
                self.slot,
                place.start,
                place.end,
            ));
        }
        let bytes = segment.bytes_of(file)?;
        if !writable {
            if segment.memory_bytes != segment.file_bytes {
                return refused("has code or constants that its file does not hold");
            }
            self.parts.push(Part { address: start, bytes: bytes.to_vec(), executable });
            return Ok(());
        }
        if start != data.start || !self.data.is_empty() {
            return refused(format!(
                "has data at {start:#x}; slot {} has all of them from {:#x}",
                self.slot, data.start
            ));
        }
        if segment.memory_bytes > data_bytes_max {
            return refused(format!(
                "has {} bytes of data, and there is room for {data_bytes_max}; bring the site down \
                 and up again",
                segment.memory_bytes
            ));
        }
        let pages = segment.memory_bytes.next_multiple_of(PAGE_BYTES);
        let pages = usize::try_from(pages).expect("at most what a slot takes");
        self.data = bytes.to_vec();
        self.data.resize(pages, 0);
        Ok(())
    }

    /// The slot that it is linked for.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The address of its face, `struct quietcore_module`, in the guest.
    pub fn face(&self) -> u64 {
        self.face
    }

    /// Code and constants, in the order of their addresses; all of them inside of
    /// [`Slot::code`].
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The initial values of the writable data, from the start of [`Slot::data`]: whole pages.
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}

/// The parts of an image while its face is checked.
#[derive(Debug)]
pub(crate) struct Parts<'i> {
    slot: Slot,
    parts: &'i [Part],
    data_bytes: u64,
}

impl Parts<'_> {
    /// The bytes at an address that is not code, where all of them are there.
    pub(crate) fn constants(&self, address: u64, bytes: u64) -> Option<&[u8]> {
        self.parts.iter().filter(|part| !part.executable).find_map(|part| {
            let start = usize::try_from(address.checked_sub(part.address)?).ok()?;
            part.bytes.get(start..start.checked_add(usize::try_from(bytes).ok()?)?)
        })
    }

    /// Returns `true` if there is code at an address.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.parts.iter().filter(|part| part.executable).any(|part| {
            let inside = address.checked_sub(part.address);
            inside.is_some_and(|inside| inside < part.bytes.len() as u64)
        })
    }

    /// Returns `true` if `bytes` bytes of writable data are at an address.
    pub(crate) fn is_data(&self, address: u64, bytes: u64) -> bool {
        let inside = address.checked_sub(self.slot.data().start);
        let end = inside.and_then(|inside| inside.checked_add(bytes));
        end.is_some_and(|end| end <= self.data_bytes)
    }
}

/// A part of a linked file, as its program header has it.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// The permissions, `PF_R`, `PF_W` and `PF_X`.
    pub flags: u32,
    /// The address of its first byte in memory.
    pub address: u64,
    /// Bytes that it takes in memory.
    pub memory_bytes: u64,
    /// Offset of its content in the file, in bytes.
    pub file_offset: u64,
    /// Bytes of its content; zeros follow it in memory.
    pub file_bytes: u64,
}

impl Segment {
    /// Reads a program header.
    pub fn of(header: &ProgramHeader64<LittleEndian>) -> Self {
        Self {
            flags: header.p_flags(LittleEndian).0,
            address: header.p_vaddr(LittleEndian),
            memory_bytes: header.p_memsz(LittleEndian),
            file_offset: header.p_offset(LittleEndian),
            file_bytes: header.p_filesz(LittleEndian),
        }
    }

    fn bytes_of<'d>(&self, file: &'d [u8]) -> Result<&'d [u8], ImageError> {
        let start = usize::try_from(self.file_offset).ok();
        let bytes = usize::try_from(self.file_bytes).ok();
        let range =
            start.zip(bytes).and_then(|(start, bytes)| Some(start..start.checked_add(bytes)?));
        let found = range.and_then(|range| file.get(range));
        match found {
            Some(found) if self.file_bytes <= self.memory_bytes => Ok(found),
            _ => refused("has a part that lies outside of its file"),
        }
    }
}

/// The parts that are loaded, those of no bytes left out; all other kinds are refused where they
/// would ask for something.
fn segments(elf: &ElfFile64<'_, LittleEndian>) -> Result<Vec<Segment>, ImageError> {
    let headers = elf.elf_program_headers();
    if headers.len() > PARTS_MAX {
        return refused(format!("has {} parts; {PARTS_MAX} are the most", headers.len()));
    }
    let mut loaded = Vec::new();
    for header in headers {
        let kind = header.p_type(LittleEndian);
        let segment = Segment::of(header);
        match kind {
            elf::PT_LOAD if segment.memory_bytes > 0 => loaded.push(segment),
            elf::PT_LOAD | elf::PT_NULL => {}
            elf::PT_GNU_STACK if segment.flags & elf::PF_X.0 == 0 => {}
            elf::PT_GNU_STACK => {
                return refused(
                    "needs an executable stack; a nested function or a piece of assembly asks \
                     for it",
                );
            }
            elf::PT_DYNAMIC | elf::PT_INTERP => return refused("needs a dynamic loader"),
            elf::PT_TLS => {
                return refused("has thread-local variables; they lie outside of the exchange");
            }
            _ => return refused(format!("has a part of the unknown kind {:#x}", kind.0)),
        }
    }
    Ok(loaded)
}
