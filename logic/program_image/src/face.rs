//! The structure that a program is entered by (`quietcore_module.h`), as bytes of its constants.
//!
//! | offset | field | must be |
//! |---:|---|---|
//! | 0 | `version`, 4 bytes | [`FACE_VERSION`] |
//! | 4 | `rate_count`, 4 bytes | at least 1 |
//! | 8 | `initialize` | in the code |
//! | 16 | `step` | in the code |
//! | 24 | `terminate` | in the code |
//! | 32 | `error_status` | in the code |
//! | 40 | `services` | in the data |
//! | 48 | `interrupt` | null, or in the code |
//! | 56 | `tasks` | null, or among the constants |
//! | 64 | `task_count`, 4 bytes | 0 without `tasks`; else their addresses are there |
//! | 72 | `overflowed` | null, or in the code |
//! | 80 | `under_way` | null, or in the code |
//! | 88 | `guard` | null, or in the code |
//!
//! A guest that calls what is no code crashes in a place that tells nothing.

use crate::image::{ImageError, Parts};

/// The version of `quietcore_module.h`.
const FACE_VERSION: u32 = 3;
/// Bytes of the structure.
const FACE_BYTES: u64 = 96;
/// Bytes of an address.
const ADDRESS_BYTES: u64 = 8;

/// Checks the face at an address.
pub(crate) fn check(parts: &Parts, face: u64) -> Result<(), ImageError> {
    let refused = |why: String| Err(ImageError::Refused(why));
    let bytes = parts.constants(face, FACE_BYTES);
    let Some(bytes) = bytes.filter(|_| face.is_multiple_of(ADDRESS_BYTES)) else {
        return refused(format!("names {face:#x} as its face, where it has no constants"));
    };
    let version = word(bytes, 0);
    if version != FACE_VERSION {
        return refused(format!("has a face of version {version} instead of {FACE_VERSION}"));
    }
    if word(bytes, 4) == 0 {
        return refused("has no rate".to_owned());
    }
    for (offset, name, may_be_null) in [
        (8, "initialize", false),
        (16, "step", false),
        (24, "terminate", false),
        (32, "error_status", false),
        (48, "interrupt", true),
        (72, "overflowed", true),
        (80, "under_way", true),
        (88, "guard", true),
    ] {
        let address = long(bytes, offset);
        let is_absent = may_be_null && address == 0;
        if !is_absent && !parts.is_code(address) {
            return refused(format!("has `{name}` at {address:#x}, where it has no code"));
        }
    }
    let services = long(bytes, 40);
    if !parts.is_data(services, ADDRESS_BYTES) || !services.is_multiple_of(ADDRESS_BYTES) {
        return refused(format!("has `services` at {services:#x}, where it has no data"));
    }
    let (tasks, count) = (long(bytes, 56), word(bytes, 64));
    let is_there = parts.constants(tasks, ADDRESS_BYTES * u64::from(count)).is_some();
    if if tasks == 0 { count != 0 } else { !is_there } {
        return refused(format!("has names of {count} tasks at {tasks:#x}, where it has none"));
    }
    Ok(())
}

/// Four bytes of the face; `bytes` are all of it.
fn word(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().expect("four bytes were taken"))
}

/// Eight bytes of the face; `bytes` are all of it.
fn long(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes were taken"))
}
