//! Images that are right, and each way in which one is wrong.

use proptest::prelude::*;

use super::*;

const CODE: u64 = 0x7800_0000;
const CONSTANTS: u64 = 0x7800_1000;
const DATA: u64 = 0x2000_0000;
const FACE: u64 = CONSTANTS + 0x10;

/// The order of the program headers.
const DATA_HEADER: usize = 0;
const CODE_HEADER: usize = 1;
const CONSTANTS_HEADER: usize = 2;
const STACK_HEADER: usize = 3;

/// A program header: kind, flags, address, bytes in the file and in memory.
type Header = (u32, u32, u64, Vec<u8>, u64);

/// A file to be written.
struct Draft {
    headers: Vec<Header>,
    entry: u64,
    kind: u16,
    machine: u16,
}

/// A file that is right.
fn right() -> Draft {
    let mut constants = vec![0; 0x100];
    let face: [(usize, u64); 6] =
        [(8, CODE), (16, CODE + 1), (24, CODE + 2), (32, CODE + 3), (40, DATA), (48, 0)];
    for (offset, value) in face {
        put(&mut constants, 0x10 + offset, value);
    }
    put(&mut constants, 0x10, 3 | 1 << 32);
    Draft {
        headers: vec![
            (1, 6, DATA, vec![1, 2, 3], 0x1001),
            (1, 5, CODE, vec![0xc3; 16], 16),
            (1, 4, CONSTANTS, constants, 0x100),
            (0x6474_e551, 6, 0, Vec::new(), 0),
        ],
        entry: FACE,
        kind: 2,
        machine: 62,
    }
}

fn put(bytes: &mut [u8], offset: usize, value: u64) {
    bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
}

/// The file's bytes: header, program headers, contents.
fn write(draft: &Draft) -> Vec<u8> {
    let mut file = vec![0; 64 + 56 * draft.headers.len()];
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    file[16..18].copy_from_slice(&draft.kind.to_le_bytes());
    file[18..20].copy_from_slice(&draft.machine.to_le_bytes());
    file[20..24].copy_from_slice(&1_u32.to_le_bytes());
    put(&mut file, 24, draft.entry);
    put(&mut file, 32, 64);
    file[52..54].copy_from_slice(&64_u16.to_le_bytes());
    file[54..56].copy_from_slice(&56_u16.to_le_bytes());
    let count = u16::try_from(draft.headers.len()).unwrap();
    file[56..58].copy_from_slice(&count.to_le_bytes());
    file[58..60].copy_from_slice(&64_u16.to_le_bytes());
    for (index, (kind, flags, address, bytes, memory_bytes)) in draft.headers.iter().enumerate() {
        let at = 64 + 56 * index;
        file[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        file[at + 4..at + 8].copy_from_slice(&flags.to_le_bytes());
        let offset = file.len() as u64;
        for (field, value) in
            [(8, offset), (16, *address), (24, *address), (32, bytes.len() as u64)]
        {
            put(&mut file, at + field, value);
        }
        put(&mut file, at + 40, *memory_bytes);
        file.extend(bytes);
    }
    file
}

/// Returns the refusal of a file that was right before it was changed.
fn said(change: impl FnOnce(&mut Draft)) -> String {
    let mut draft = right();
    change(&mut draft);
    ProgramImage::parse(&write(&draft)).unwrap_err().to_string()
}

#[test]
fn an_image_has_its_parts_its_face_and_whole_pages_of_data() {
    let image = ProgramImage::parse(&write(&right())).unwrap();
    assert_eq!((image.slot(), image.face()), (Slot::A, FACE));
    let parts: Vec<_> =
        image.parts().iter().map(|it| (it.address, it.bytes.len(), it.executable)).collect();
    assert_eq!(parts, [(CODE, 16, true), (CONSTANTS, 0x100, false)]);
    assert_eq!((&image.data()[..4], image.data().len()), (&[1, 2, 3, 0][..], 0x2000));
}

#[test]
fn what_breaks_a_rule_is_refused_with_it() {
    type Change = fn(&mut Draft);
    let cases: [(&str, Change); 18] = [
        ("is not linked for fixed addresses", |it| it.kind = 3),
        ("is for another processor", |it| it.machine = 183),
        ("in no slot for code", |it| it.entry = 0x1000),
        ("where it has no constants", |it| it.entry = CODE),
        ("where it has no constants", |it| it.entry += 4),
        ("inside a page", |it| it.headers[CONSTANTS_HEADER].2 += 8),
        ("overlap, or are out of order", |it| it.headers.swap(CODE_HEADER, CONSTANTS_HEADER)),
        ("slot A takes them from 0x78000000 to 0x7a000000", |it| {
            it.headers[CODE_HEADER].2 = 0x7C00_0000;
        }),
        ("slot A takes them from 0x78000000 to 0x7a000000", |it| {
            it.headers[CONSTANTS_HEADER].2 = 0x7A00_0000;
        }),
        ("takes them from 0x20000000 to 0x30000000", |it| {
            it.headers[DATA_HEADER].4 = (256 << 20) + 1;
        }),
        ("takes them from 0x20000000 to 0x30000000", |it| {
            it.headers[DATA_HEADER].4 = u64::MAX >> 1;
        }),
        ("slot A has all of them from 0x20000000", |it| it.headers[DATA_HEADER].2 += 0x1000),
        ("both written and executed", |it| it.headers[DATA_HEADER].1 = 7),
        ("that its file does not hold", |it| it.headers[CONSTANTS_HEADER].4 += 1),
        ("lies outside of its file", |it| it.headers[DATA_HEADER].4 = 2),
        ("needs a dynamic loader", |it| it.headers[STACK_HEADER].0 = 2),
        ("has thread-local variables", |it| it.headers[STACK_HEADER].0 = 7),
        ("needs an executable stack", |it| it.headers[STACK_HEADER].1 = 7),
    ];
    for (why, change) in cases {
        let text = said(change);
        assert!(text.contains(why), "{text}, and not {why}");
    }
}

#[test]
fn a_face_that_leads_nowhere_is_refused() {
    for (offset, value, why) in [
        (0, 1_u64 | 1 << 32, "has a face of version 1 instead of 3"),
        (0, 3, "has no rate"),
        (8, 0, "has `initialize` at 0x0, where it has no code"),
        (16, CONSTANTS, "has `step` at 0x78001000, where it has no code"),
        (40, CONSTANTS, "has `services` at 0x78001000, where it has no data"),
        (40, DATA + 0x1ffc, "has `services` at"),
        (48, 1, "has `interrupt` at 0x1"),
        (56, CODE, "names of 1 tasks at 0x78000000"),
        (64, 1, "names of 1 tasks at 0x0"),
        (80, DATA, "has `under_way` at"),
        (88, DATA, "has `guard` at"),
    ] {
        let text = said(|it| {
            put(&mut it.headers[CONSTANTS_HEADER].3, 0x10 + 64, u64::from(offset == 56));
            put(&mut it.headers[CONSTANTS_HEADER].3, 0x10 + offset, value);
        });
        assert!(text.contains(why), "{text}, and not {why}");
    }
}

#[test]
fn a_short_file_that_wants_much_memory_is_refused_before_it_gets_any() {
    let mut draft = right();
    draft.headers[DATA_HEADER].4 = PROGRAM_DATA_BYTES_MAX;
    let file = write(&draft);
    let text = ProgramImage::parse_within(&file, 0x2000).unwrap_err().to_string();
    assert!(text.contains("has 268435456 bytes of data, and there is room for 8192; "), "{text}");
    assert!(ProgramImage::parse_within(&write(&right()), 0x1001).is_ok());
}

proptest! {
    /// Goal: whatever a file holds, reading it ends, and what is taken keeps to its slot.
    #[test]
    fn a_changed_file_is_refused_or_keeps_to_its_slot(
        changes in prop::collection::vec((0_usize..600, any::<u8>()), 1..6),
        cut in prop::option::of(0_usize..600),
    ) {
        let mut file = write(&right());
        for (place, byte) in changes {
            if let Some(at) = file.get_mut(place) {
                *at = byte;
            }
        }
        file.truncate(cut.unwrap_or(file.len()));
        if let Ok(image) = ProgramImage::parse(&file) {
            let code = image.slot().code();
            for part in image.parts() {
                let end = part.address + part.bytes.len() as u64;
                prop_assert!(code.start <= part.address && end <= code.end);
            }
            prop_assert!(code.contains(&image.face()));
            prop_assert!(image.data().len() as u64 <= PROGRAM_DATA_BYTES_MAX);
        }
    }
}
