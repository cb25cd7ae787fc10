//! Programs on their way from their files into the slots of a guest.
//!
//! ```text
//! slot-a.elf ─ read, checked ─┬─ code, constants ─► code slot, which the guest only reads
//!                             └─ initial values ──► data slot, which is the exchange's
//! ```
//!
//! A slot holds nothing of the previous program: behind code there are instructions that trap, and
//! behind data there are zeros.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use quietcore_boot::AddressRange;
use quietcore_boot::places::{PAGE_BYTES, PROGRAM_CODE, PROGRAM_CODE_BYTES_MAX};
use quietcore_microvm::slot::{Shared, SharedError};
use quietcore_program_image::{FILE_BYTES_MAX, Functions, Part, ProgramImage};
use quietcore_scan::guest::job::GuestBuild;
use quietcore_scan::process::job::Build;
use quietcore_units::{ByteSize, Causes};

use super::delivery::too_long;
use super::in_words;

/// Size of a code slot as a multiple of the first program's, so that programs can grow;
/// [`GROWTH_BYTES`] come on top.
const GROWTH: u64 = 2;
/// Bytes of a code slot beyond that multiple.
const GROWTH_BYTES: u64 = 256 << 10;

/// Filling of a code slot where there is no program: an instruction that traps (`int3`).
const NO_CODE: u8 = 0xCC;
/// Bytes that are filled at once.
const FILL_BYTES: u64 = 64 << 10;

/// The two code slots and data slots of a guest.
#[derive(Debug)]
pub(crate) struct Programs {
    code: [Arc<Shared>; 2],
    data: [Arc<Shared>; 2],
}

impl Programs {
    /// Makes both slots, with room for programs like `first`. `data` are the data slots of the
    /// exchange; `code` returns the memory for the code of a slot, by its index and size.
    ///
    /// # Errors
    /// When there is no memory; in words.
    pub(crate) fn new(
        first: &ProgramImage,
        data: [Arc<Shared>; 2],
        code: impl Fn(usize, ByteSize) -> Result<Shared, SharedError>,
    ) -> Result<Self, String> {
        let size = slot_size(first);
        let slot = |index| {
            let made = code(index, size).map(Arc::new);
            made.map_err(|error| format!("no memory for programs: {}", Causes(&error)))
        };
        Ok(Self { code: [slot(0)?, slot(1)?], data })
    }

    /// Returns the memory of the data slots.
    pub(crate) fn data(&self) -> &[Arc<Shared>; 2] {
        &self.data
    }

    /// Copies a program into its slot, and returns its description for the guest.
    ///
    /// # Errors
    /// When its file is for the other slot, or the slot has no room for it; in words.
    pub(crate) fn place(&self, image: &ProgramImage, build: &Build) -> Result<GuestBuild, String> {
        let slot = image.slot().index();
        if usize::from(build.stage.slot) != slot {
            return Err(format!("its file is for slot {slot}, and it is meant for the other one"));
        }
        let (code, data) = (&self.code[slot], &self.data[slot]);
        let too_large = |what: &str, bytes: u64, room: u64| {
            format!(
                "its {what} have {bytes} bytes, and there is room for {room}; bring the site down \
                 and up again"
            )
        };
        let bytes = code_bytes(image);
        if bytes > code.bytes() {
            return Err(too_large("code and constants", bytes, code.bytes()));
        }
        if image.data().len() as u64 > data.bytes() {
            return Err(too_large("data", image.data().len() as u64, data.bytes()));
        }
        put_data(data, image.data())?;
        put_code(code, PROGRAM_CODE[slot], image.parts())?;
        Ok(GuestBuild {
            face: image.face(),
            code: AddressRange {
                address: PROGRAM_CODE[slot],
                bytes: bytes.next_multiple_of(PAGE_BYTES),
            },
            stage: build.stage.clone(),
            values: build.values.clone(),
        })
    }
}

/// Returns the size of a code slot with room for programs like this one.
pub(crate) fn slot_size(first: &ProgramImage) -> ByteSize {
    let size = code_bytes(first).saturating_mul(GROWTH).saturating_add(GROWTH_BYTES);
    ByteSize::new(size.next_multiple_of(PAGE_BYTES).min(PROGRAM_CODE_BYTES_MAX))
}

/// Copies a program's data, and clears the rest of the slot.
fn put_data(data: &Shared, bytes: &[u8]) -> Result<(), String> {
    put(data, 0, bytes)?;
    fill(data, bytes.len() as u64..data.bytes(), 0)
}

/// Copies code and constants to a slot that begins at `start`, and overwrites everything between
/// and behind them.
fn put_code(code: &Shared, start: u64, parts: &[Part]) -> Result<(), String> {
    let mut end = 0;
    for part in parts {
        let offset = part.address - start;
        fill(code, end..offset, NO_CODE)?;
        put(code, offset, &part.bytes)?;
        let rest = offset + part.bytes.len() as u64;
        end = rest.next_multiple_of(PAGE_BYTES);
        fill(code, rest..end, 0)?;
    }
    fill(code, end..code.bytes(), NO_CODE)
}

fn put(shared: &Shared, offset: u64, bytes: &[u8]) -> Result<(), String> {
    shared.write(offset, bytes).map_err(in_words)
}

/// Fills a stretch of a slot with `byte`; does nothing if it ends before it begins.
fn fill(shared: &Shared, stretch: Range<u64>, byte: u8) -> Result<(), String> {
    let bytes = [byte; FILL_BYTES as usize];
    let mut start = stretch.start;
    while start < stretch.end {
        let length = FILL_BYTES.min(stretch.end - start);
        put(shared, start, &bytes[..length as usize])?;
        start += length;
    }
    Ok(())
}

/// Returns the bytes from the start of the slot to the end of the program.
fn code_bytes(image: &ProgramImage) -> u64 {
    let start = image.slot().code().start;
    let ends = image.parts().iter().map(|part| part.address - start + part.bytes.len() as u64);
    ends.max().unwrap_or(0)
}

/// A program, with its functions by address to describe a crash.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) image: ProgramImage,
    pub(crate) functions: Functions,
}

/// Reads the file of a program, for slots with room for `data_bytes_max` bytes of data.
///
/// # Errors
/// When it can't be read, or is no program for such a slot; in words.
pub(crate) fn read(path: &Path, data_bytes_max: u64) -> Result<Program, String> {
    let name = path.display();
    let file = File::open(path).map_err(|why| format!("`{name}` can't be opened: {why}"))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|why| format!("`{name}` can't be read: {why}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("`{name}` {}", too_long()));
    }
    parse(&bytes, data_bytes_max).map_err(|error| format!("`{name}`: {error}"))
}

/// Parses a program from a file's bytes, as [`read`] does.
///
/// # Errors
/// When they are no program for such a slot; in words.
pub(crate) fn parse(bytes: &[u8], data_bytes_max: u64) -> Result<Program, String> {
    let image = ProgramImage::parse_within(bytes, data_bytes_max).map_err(in_words)?;
    Ok(Program { image, functions: Functions::of(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = PROGRAM_CODE[0];

    /// Makes a slot of four pages that holds an older, longer program.
    fn slot() -> Shared {
        let slot = Shared::create("slot", ByteSize::new(4 * PAGE_BYTES)).unwrap();
        slot.write(0, &[0x90; 4 * PAGE_BYTES as usize]).unwrap();
        slot
    }

    fn content(slot: &Shared) -> Vec<u8> {
        let mut bytes = vec![1; slot.bytes() as usize];
        slot.read(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn behind_a_shorter_program_nothing_of_the_one_before_can_be_run() {
        let slot = slot();
        let part = |address, length| Part { address, bytes: vec![7; length], executable: true };
        put_code(&slot, START, &[part(START, 10), part(START + 2 * PAGE_BYTES, 20)]).unwrap();
        let page = PAGE_BYTES as usize;
        let mut expected = vec![NO_CODE; 4 * page];
        expected[..page].fill(0);
        expected[..10].fill(7);
        expected[2 * page..3 * page].fill(0);
        expected[2 * page..2 * page + 20].fill(7);
        assert_eq!(content(&slot), expected);
    }

    #[test]
    fn behind_the_data_of_a_program_there_are_zeros() {
        let slot = slot();
        put_data(&slot, &[7; 4096]).unwrap();
        let content = content(&slot);
        assert!(content[..4096].iter().all(|byte| *byte == 7));
        assert!(content[4096..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_file_that_could_not_be_delivered_later_is_not_started() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(FILE_BYTES_MAX + 1).unwrap();
        let refusal = read(file.path(), 1 << 20).unwrap_err();
        assert!(refusal.contains("has more than 64.0 MiB"), "{refusal}");
        assert!(refusal.contains("without debug information"), "{refusal}");
    }
}
