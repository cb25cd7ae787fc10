//! The linked file: is it what a loader can take, and where are its writable data.
//!
//! ```text
//! PT_LOAD  r--   constants of the headers
//! PT_LOAD  r-x   code
//! PT_LOAD  r--   constants
//! PT_LOAD  rw-   ┌ GNU_RELRO: written by the dynamic loader only, then read-only
//!                ├────────────────────────────── page border = DataImage.address
//!                └ .data, .bss ───────────────── page border = end of the DataImage
//! ```
//!
//! The loader maps the exchange over the last part, so everything in it must be the program's own
//! data.

use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolFlags};
use quietcore_program_image::Segment;

use crate::symbols::DataImage;

/// The name that a module exports.
pub(crate) const MODULE_SYMBOL: &str = "quietcore_module";

/// A page, in bytes.
const PAGE_BYTES: u64 = 4096;

/// Largest data of a program, in bytes; the exchange holds them twice.
pub const DATA_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A linked file that no loader should take.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It can't be read.
    #[error("the linked file cannot be read: {0}")]
    Unreadable(String),
    /// It breaks a rule.
    #[error("the linked file {0}")]
    Refused(String),
}

impl ImageError {
    pub(super) fn stack() -> Self {
        let why = "needs an executable stack; a nested function or a piece of assembly asks for it";
        Self::Refused(why.to_owned())
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, ImageError> {
    Err(ImageError::Refused(why.into()))
}

/// A linked file, read.
#[derive(Debug)]
pub(crate) struct LinkedFile<'d> {
    file: ElfFile64<'d, LittleEndian>,
    bytes: &'d [u8],
}

impl<'d> LinkedFile<'d> {
    /// Reads the headers of a linked file.
    pub(crate) fn parse(bytes: &'d [u8]) -> Result<Self, ImageError> {
        let file =
            ElfFile64::parse(bytes).map_err(|error| ImageError::Unreadable(error.to_string()))?;
        Ok(Self { file, bytes })
    }

    fn segments(&self, kind: u32) -> Vec<Segment> {
        let headers = self.file.elf_program_headers().iter();
        let of_kind = headers.filter(|header| header.p_type(LittleEndian).0 == kind);
        of_kind.map(Segment::of).collect()
    }

    /// Checks everything that the loader relies on.
    pub(crate) fn check(&self) -> Result<DataImage, ImageError> {
        if self.file.elf_header().e_type(LittleEndian) != elf::ET_DYN {
            return refused("is no shared object");
        }
        let machine = match std::env::consts::ARCH {
            "x86_64" => elf::EM_X86_64,
            "aarch64" => elf::EM_AARCH64,
            _ => elf::EM_NONE,
        };
        if self.file.elf_header().e_machine(LittleEndian) != machine {
            return refused("is for another processor than this one");
        }
        if self.segments(elf::PT_GNU_STACK.0).iter().any(|it| it.flags & elf::PF_X.0 != 0) {
            return Err(ImageError::stack());
        }
        let loaded = self.segments(elf::PT_LOAD.0);
        if loaded.iter().any(|it| it.flags & elf::PF_W.0 != 0 && it.flags & elf::PF_X.0 != 0) {
            return refused("has memory that is both written and executed");
        }
        self.check_sections()?;
        self.check_exports()?;
        data_image(&loaded, &self.segments(elf::PT_GNU_RELRO.0))
    }

    /// Refuses what a loader would have to do beside mapping the file, or could not do.
    pub(super) fn check_sections(&self) -> Result<(), ImageError> {
        for symbol in self.file.symbols() {
            // What the function is, code of the program would decide inside of the loader.
            let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { continue };
            if st_info.st_type() == elf::STT_GNU_IFUNC {
                return refused(format!(
                    "has a function that is chosen when it is loaded (`{}`); leave out \
                     `target_clones` and `ifunc`",
                    symbol.name().unwrap_or_default()
                ));
            }
        }
        for section in self.file.sections() {
            let name = section.name().unwrap_or_default();
            // Constructors would run inside of the loader, where nothing guards against a crash.
            if [".init_array", ".preinit_array", ".fini_array", ".ctors", ".dtors"].contains(&name)
                && section.size() > 0
            {
                return refused(format!(
                    "has constructors (`{name}`); a program starts in its initialize function"
                ));
            }
            if [".tdata", ".tbss"].contains(&name) && section.size() > 0 {
                return refused("has thread-local variables; they lie outside of the exchange");
            }
        }
        let entries = self.file.elf_dynamic_table().ok();
        let has_text_relocations =
            entries.is_some_and(|table| table.iter().any(|entry| entry.tag == elf::DT_TEXTREL));
        if has_text_relocations { refused("has relocations in its code") } else { Ok(()) }
    }

    fn check_exports(&self) -> Result<(), ImageError> {
        let defined = self.file.dynamic_symbols().filter(|it| it.is_definition() && it.is_global());
        let names: Vec<&str> = defined.filter_map(|symbol| symbol.name().ok()).collect();
        if names == [MODULE_SYMBOL] {
            return Ok(());
        }
        refused(format!("should export `{MODULE_SYMBOL}` alone and exports {}", names.join(", ")))
    }

    /// The writable data, as the file holds them.
    pub(crate) fn initial_data(&self, image: DataImage) -> Result<Vec<u8>, ImageError> {
        let too_large = || ImageError::Refused("has data beyond all limits".to_owned());
        if image.bytes > DATA_BYTES_MAX {
            return Err(too_large());
        }
        let length = usize::try_from(image.bytes).map_err(|_| too_large())?;
        let mut data = vec![0; length];
        for segment in self.segments(elf::PT_LOAD.0) {
            let start = image.address.max(segment.address);
            let end = image.address.saturating_add(image.bytes);
            let end = end.min(segment.address.saturating_add(segment.file_bytes));
            if start >= end {
                continue;
            }
            let from = self.file_range(start, end - start).ok_or_else(too_large)?;
            let to = usize::try_from(start - image.address).map_err(|_| too_large())?;
            data[to..to + from.len()].copy_from_slice(from);
        }
        Ok(data)
    }

    /// Bytes at a link-time address, where the file holds them.
    pub(crate) fn file_range(&self, address: u64, bytes: u64) -> Option<&'d [u8]> {
        self.segments(elf::PT_LOAD.0).iter().find_map(|segment| {
            let inside = address.checked_sub(segment.address)?;
            let end = inside.checked_add(bytes)?;
            if end > segment.file_bytes {
                return None;
            }
            let start = usize::try_from(segment.file_offset.checked_add(inside)?).ok()?;
            self.bytes.get(start..start.checked_add(usize::try_from(bytes).ok()?)?)
        })
    }
}

/// The pages of the one writable segment behind what the dynamic loader writes.
fn data_image(loaded: &[Segment], relro: &[Segment]) -> Result<DataImage, ImageError> {
    let writable: Vec<&Segment> = loaded.iter().filter(|it| it.flags & elf::PF_W.0 != 0).collect();
    let [segment] = writable[..] else {
        return refused(format!("has {} writable parts instead of one", writable.len()));
    };
    let damaged = || ImageError::Refused("has parts beyond all addresses".to_owned());
    let end = segment.address.checked_add(segment.memory_bytes).ok_or_else(damaged)?;
    let start = match relro {
        [] => segment.address,
        [relro] => {
            let relro_end = relro.address.checked_add(relro.memory_bytes).ok_or_else(damaged)?;
            if relro.address < segment.address || relro_end > end.next_multiple_of(PAGE_BYTES) {
                return refused("has a read-only part outside of its writable one");
            }
            relro_end
        }
        _ => return refused("has several parts that become read-only"),
    };
    if start % PAGE_BYTES != 0 {
        return refused(format!("has data that start at {start:#x}, inside of a page"));
    }
    let bytes =
        end.saturating_sub(start).checked_next_multiple_of(PAGE_BYTES).ok_or_else(damaged)?;
    if bytes == 0 {
        return refused("has no writable data at all");
    }
    if bytes > DATA_BYTES_MAX {
        return refused(format!(
            "has {bytes} bytes of writable data; the exchange takes {DATA_BYTES_MAX} at most"
        ));
    }
    Ok(DataImage { address: start, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writable(address: u64, memory_bytes: u64) -> Segment {
        let flags = elf::PF_R.0 | elf::PF_W.0;
        Segment { flags, address, memory_bytes, file_offset: 0, file_bytes: 0 }
    }

    fn text_of(loaded: &[Segment], relro: &[Segment]) -> String {
        match data_image(loaded, relro) {
            Ok(image) => format!("{:#x} {:#x}", image.address, image.bytes),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_data_are_what_follows_the_read_only_part() {
        let loaded = [writable(0x3f00, 0x1200)];
        assert_eq!(text_of(&loaded, &[writable(0x3f00, 0x100)]), "0x4000 0x2000");
        assert_eq!(text_of(&[writable(0x4000, 1)], &[]), "0x4000 0x1000");
    }

    #[test]
    fn an_unfit_layout_is_refused_with_its_reason() {
        for (loaded, relro, why) in [
            (vec![], vec![], "has 0 writable parts instead of one"),
            (vec![writable(0x4000, 1), writable(0x8000, 1)], vec![], "has 2 writable parts"),
            (vec![writable(0x3f00, 0x1200)], vec![writable(0x3f00, 0x80)], "inside of a page"),
            (vec![writable(0x4000, 0x10)], vec![writable(0x1000, 0x10)], "outside"),
            (vec![writable(0x4000, DATA_BYTES_MAX + 1)], vec![], "takes 268435456 at most"),
            (vec![writable(u64::MAX - 1, 0x10)], vec![], "beyond all addresses"),
        ] {
            let text = text_of(&loaded, &relro);
            assert!(text.contains(why), "{text}");
        }
    }
}
