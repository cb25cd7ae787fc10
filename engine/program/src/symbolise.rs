//! The line of source that an address of the code belongs to.

use std::path::Path;

use addr2line::{Context, Frame};
use object::{Object as _, ObjectKind};
use quietcore_program_image::Slot;
use serde::{Deserialize, Serialize};

use crate::debug;

/// Largest module that is looked into, in bytes.
const MODULE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The folder that the compiler believed to work in; paths are shown without it.
const WORKING_FOLDER: &str = "/proc/self/cwd/";

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeLocation {
    /// The function; the innermost where one was expanded in another.
    pub function: String,
    /// The file, relative to the folder of the program.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
}

/// Finds the source of an address, which counts from the module's load base. Of a program for a
/// guest it is the address itself, in either slot, whichever of the two files is looked into.
///
/// `None` when the file is no module, or the address lies in no function of it.
pub fn symbolise(module: &Path, address: u64) -> Option<CodeLocation> {
    if std::fs::metadata(module).ok()?.len() > MODULE_BYTES_MAX {
        return None;
    }
    let bytes = std::fs::read(module).ok()?;
    locate(&bytes, address)
}

pub(crate) fn locate(bytes: &[u8], address: u64) -> Option<CodeLocation> {
    let file = object::File::parse(bytes).ok()?;
    // Without code there is no line either, whatever the debug information says.
    file.has_debug_symbols().then_some(())?;
    let context = Context::from_dwarf(debug::sections(&file)).ok()?;
    let address = in_own_slot(&file, address);
    let mut frames = context.find_frames(address).skip_all_loads().ok()?;
    while let Ok(Some(frame)) = frames.next() {
        if let Some(location) = of_frame(&frame) {
            return Some(location);
        }
    }
    None
}

/// The same place in the slot that the file is linked for. Both images are laid out alike.
fn in_own_slot(file: &object::File<'_>, address: u64) -> u64 {
    let own = Slot::of_code(file.entry()).filter(|_| file.kind() == ObjectKind::Executable);
    let Some((own, given)) = own.zip(Slot::of_code(address)) else { return address };
    address - given.code().start + own.code().start
}

fn of_frame<R: gimli::Reader>(frame: &Frame<'_, R>) -> Option<CodeLocation> {
    let function = frame.function.as_ref()?.raw_name().ok()?.into_owned();
    let location = frame.location.as_ref();
    let file = location.and_then(|it| it.file).map(|file| {
        let file = file.strip_prefix(WORKING_FOLDER).unwrap_or(file);
        file.strip_prefix("./").unwrap_or(file).to_owned()
    });
    Some(CodeLocation { function, file, line: location.and_then(|it| it.line) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_has_no_source() {
        assert_eq!(locate(b"", 0), None);
        assert_eq!(locate(&[0x7f; 4096], 16), None);
    }
}
