//! Encodes records of the boot protocol as little-endian words of 64 bits, and decodes them.

use crate::RECORD_BYTES;

/// Puts words behind each other.
pub(crate) struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    pub(crate) fn new(bytes: &'a mut [u8; RECORD_BYTES]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn put(&mut self, word: u64) {
        let (here, rest) = core::mem::take(&mut self.rest)
            .split_first_chunk_mut()
            .expect("a record is shorter than its place");
        *here = word.to_le_bytes();
        self.rest = rest;
    }
}

/// Takes words from behind each other.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8; RECORD_BYTES]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn take(&mut self) -> u64 {
        let (here, rest) =
            self.rest.split_first_chunk().expect("a record is shorter than its place");
        self.rest = rest;
        u64::from_le_bytes(*here)
    }
}
