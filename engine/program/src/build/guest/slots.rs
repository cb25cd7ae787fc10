//! The linker's script, and whether the images of both slots are laid out alike.
//!
//! One list of variables serves both images, and an address in either one names the same line of
//! source. So each section and each name has to lie at the same distance from the start of its
//! slot's code or data.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use quietcore_program_image::Slot;

use crate::build::guest::GuestError;

/// The script of both; `CODE` and `DATA` are replaced by addresses.
///
/// Sections that it does not name are put behind those of their kind, as a program may have data in
/// sections of its own. The word of the thread is first, at one place for all builds.
const SCRIPT: &str = "\
ENTRY(quietcore_module)
PHDRS
{
  data PT_LOAD FLAGS(6);
  code PT_LOAD FLAGS(5);
  constants PT_LOAD FLAGS(4);
}
SECTIONS
{
  . = DATA;
  .data : { KEEP(*(.quietcore.thread)) *(.data .data.*) } :data
  .bss : { *(.bss .bss.*) *(COMMON) }
  . = CODE;
  .text : { *(.text .text.*) } :code
  . = ALIGN(4096);
  .rodata :
  {
    *(.rodata .rodata.*) *(.data.rel.ro .data.rel.ro.*) *(.got .got.plt)
  } :constants
  /DISCARD/ : { *(.comment) *(.note .note.*) *(.eh_frame .eh_frame.*) }
}
";

/// The script of a slot.
pub(crate) fn script(slot: Slot) -> String {
    let address = |address: u64| format!("= {address:#x};");
    SCRIPT
        .replace("= CODE;", &address(slot.code().start))
        .replace("= DATA;", &address(slot.data().start))
}

/// Something that has a place in an image: its name, its place from the start of code or data, and
/// its length.
type Laid<'d> = (&'d [u8], Option<(bool, u64)>, u64);

/// Refuses images that are laid out differently.
pub(super) fn compare(images: &[Vec<u8>; 2]) -> Result<(), GuestError> {
    let unreadable = |error: object::Error| GuestError::Slots(error.to_string());
    let [first, second] = [&images[0], &images[1]].map(|image| object::File::parse(&**image));
    let (first, second) = (first.map_err(unreadable)?, second.map_err(unreadable)?);
    let [one, other] = [laid_out(&first, Slot::A), laid_out(&second, Slot::B)];
    if one.len() != other.len() {
        return Err(GuestError::Slots(format!("{} names and {}", one.len(), other.len())));
    }
    let Some((one, other)) = one.iter().zip(&other).find(|(one, other)| one != other) else {
        return Ok(());
    };
    let name = |laid: &Laid<'_>| String::from_utf8_lossy(laid.0).into_owned();
    Err(GuestError::Slots(format!("`{}` beside `{}`", name(one), name(other))))
}

/// Lists the sections in a slot, in the order of the file.
fn laid_out<'d>(file: &object::File<'d>, slot: Slot) -> Vec<Laid<'d>> {
    let place = |address: u64| {
        let (code, data) = (slot.code(), slot.data());
        let in_code = code.contains(&address).then(|| (false, address - code.start));
        in_code.or_else(|| data.contains(&address).then(|| (true, address - data.start)))
    };
    let sections = file.sections().filter(|section| section.address() != 0);
    let sections = sections.map(|section| {
        (section.name_bytes().unwrap_or_default(), place(section.address()), section.size())
    });
    let symbols = file.symbols().filter(|symbol| !symbol.is_undefined() && symbol.address() != 0);
    let symbols = symbols.map(|symbol| {
        (symbol.name_bytes().unwrap_or_default(), place(symbol.address()), symbol.size())
    });
    sections.chain(symbols).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_the_addresses_of_its_slot() {
        let script = script(Slot::B);
        assert!(script.contains("  . = 0x7a000000;\n  .text"), "{script}");
        assert!(script.contains("  . = 0x30000000;\n  .data"), "{script}");
        assert!(!script.contains("CODE;") && !script.contains("DATA;"), "{script}");
    }
}
