//! Bytes in shared words: packed with the first byte lowest, the last word filled up with zeros.

use crate::sync::{AtomicU64, Relaxed};

/// Bytes of a shared word.
pub const WORD_BYTES: usize = 8;

/// The number of words that hold `bytes` bytes.
pub const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(WORD_BYTES)
}

/// Stores `bytes`; what has no word is left out.
#[inline]
pub fn store_bytes(words: &[AtomicU64], bytes: &[u8]) {
    let (whole, rest) = bytes.as_chunks::<WORD_BYTES>();
    // Cut first: where the number of bytes is a constant, no loop is left.
    let places = words.get(..whole.len()).unwrap_or(words);
    for (word, chunk) in places.iter().zip(whole) {
        word.store(u64::from_le_bytes(*chunk), Relaxed);
    }
    if !rest.is_empty()
        && let Some(word) = words.get(whole.len())
    {
        word.store(value_of(rest), Relaxed);
    }
}

/// Loads as many bytes as both sides have.
#[inline]
pub fn load_bytes(words: &[AtomicU64], bytes: &mut [u8]) {
    let (whole, rest) = bytes.as_chunks_mut::<WORD_BYTES>();
    let count = whole.len();
    for (word, chunk) in words.iter().zip(whole) {
        *chunk = word.load(Relaxed).to_le_bytes();
    }
    if let Some(word) = words.get(count) {
        let last = word.load(Relaxed).to_le_bytes();
        let length = rest.len();
        rest.copy_from_slice(&last[..length]);
    }
}

/// The number that up to eight bytes stand for, the first byte lowest.
#[inline]
pub fn value_of(bytes: &[u8]) -> u64 {
    let mut whole = [0; WORD_BYTES];
    let length = bytes.len().min(WORD_BYTES);
    whole[..length].copy_from_slice(&bytes[..length]);
    u64::from_le_bytes(whole)
}

/// Ones in all bits of a value of `bytes` bytes.
#[inline]
pub const fn mask_of(bytes: usize) -> u64 {
    if bytes >= WORD_BYTES { u64::MAX } else { (1 << (bytes * 8)) - 1 }
}

/// Packs runs of bytes of any length into consecutive words.
#[derive(Debug)]
pub struct Packer<'m> {
    words: &'m [AtomicU64],
    /// Bytes packed so far, those that found no word included.
    packed: usize,
    pending: u64,
}

impl<'m> Packer<'m> {
    /// Packs into `words`, from the first on.
    pub fn new(words: &'m [AtomicU64]) -> Self {
        Self { words, packed: 0, pending: 0 }
    }

    /// Adds a run. Whatever finds no word any more is left out.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let shift = self.packed % WORD_BYTES * 8;
            self.pending |= u64::from(*byte) << shift;
            self.packed += 1;
            if self.packed.is_multiple_of(WORD_BYTES) {
                self.flush(self.packed / WORD_BYTES - 1);
            }
        }
    }

    /// Stores the last, incomplete word, and tells how many bytes are in the words.
    pub fn finish(mut self) -> usize {
        if !self.packed.is_multiple_of(WORD_BYTES) {
            self.flush(self.packed / WORD_BYTES);
        }
        self.packed.min(self.words.len() * WORD_BYTES)
    }

    fn flush(&mut self, index: usize) {
        if let Some(word) = self.words.get(index) {
            word.store(self.pending, Relaxed);
        }
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(count: usize) -> Vec<AtomicU64> {
        (0..count).map(|_| AtomicU64::new(u64::MAX)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn bytes_come_back_whatever_their_number(
            bytes in proptest::collection::vec(any::<u8>(), 0..70),
            room in 0_usize..10,
        ) {
            let words = words(room);
            store_bytes(&words, &bytes);
            let mut read = vec![0xaa; bytes.len()];
            load_bytes(&words, &mut read);
            let held = bytes.len().min(room * WORD_BYTES);
            prop_assert_eq!(&read[..held], &bytes[..held]);
            prop_assert!(read[held..].iter().all(|byte| *byte == 0xaa));
        }

        #[test]
        fn runs_are_packed_as_one(
            runs in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..13), 0..9),
            room in 0_usize..10,
        ) {
            let words = words(room);
            let mut packer = Packer::new(&words);
            for run in &runs {
                packer.push(run);
            }
            let packed = packer.finish();
            let all = runs.concat();
            prop_assert_eq!(packed, all.len().min(room * WORD_BYTES));
            let mut read = vec![0; packed];
            load_bytes(&words, &mut read);
            prop_assert_eq!(&read[..], &all[..packed]);
        }
    }

    #[test]
    fn masks_cover_the_bytes_of_a_value() {
        assert_eq!([1, 2, 4, 8].map(mask_of), [0xff, 0xffff, 0xffff_ffff, u64::MAX]);
        assert_eq!(value_of(&[1, 2, 3]), 0x03_0201);
    }
}
