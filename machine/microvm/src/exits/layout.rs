//! The layout of a ledger of exits, in words of 64 bits.
//!
//! | words | what |
//! |---|---|
//! | 0 | magic and version |
//! | 1 | the guest's counter: counts a second |
//! | 2 | how far it is ahead of the host's |
//! | 3 | exits that the ring has taken |
//! | 8 to 43 | a row for each reason: count, total ns, longest ns, free |
//! | 64 to 95 | KVM's own count: a sequence, odd while it is written, then the sample |
//! | 512 and up | the ring: four words an exit |

use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::ring::{RECENT, WORDS_PER_EXIT};
use super::statistics::{SAMPLE_WORDS, Sample};
use super::{REASONS, Reason};

/// "exits", and the version of the layout.
const MAGIC: u64 = u64::from_le_bytes(*b"exits\x00\x00\x01");

const HERTZ: usize = 1;
const AHEAD: usize = 2;
pub(super) const RECORDED: usize = 3;
const ROWS: usize = 8;
const ROW_WORDS: usize = 4;
const SAMPLE: usize = 64;
/// First word of the ring: a page of its own.
pub(super) const RING: usize = 512;

/// The size of a ledger, in bytes: whole pages.
pub const LEDGER_BYTES: u64 = ((RING + RECENT * WORDS_PER_EXIT) * size_of::<u64>()) as u64;

const _: () = assert!(ROWS + REASONS.len() * ROW_WORDS <= SAMPLE, "rows end before the sample");
const _: () = assert!(SAMPLE + 1 + SAMPLE_WORDS <= RING, "the sample ends before the ring");
const _: () = assert!(LEDGER_BYTES.is_multiple_of(4096), "a ledger is whole pages");

pub(super) fn sign(words: &[AtomicU64]) {
    words[0].store(MAGIC, Ordering::Release);
}

pub(super) fn is_signed(words: &[AtomicU64]) -> bool {
    words[0].load(Ordering::Acquire) == MAGIC
}

pub(super) fn date(words: &[AtomicU64], hertz: u64, ahead: i64) {
    words[HERTZ].store(hertz, Ordering::Relaxed);
    words[AHEAD].store(ahead.cast_unsigned(), Ordering::Relaxed);
}

pub(super) fn hertz(words: &[AtomicU64]) -> u64 {
    words[HERTZ].load(Ordering::Relaxed)
}

pub(super) fn ahead(words: &[AtomicU64]) -> i64 {
    words[AHEAD].load(Ordering::Relaxed).cast_signed()
}

/// Count, total and longest time.
pub(super) fn row(words: &[AtomicU64], reason: Reason) -> [&AtomicU64; 3] {
    let first = ROWS + reason as usize * ROW_WORDS;
    [&words[first], &words[first + 1], &words[first + 2]]
}

pub(super) fn publish(words: &[AtomicU64], sample: &Sample) {
    let sequence = &words[SAMPLE];
    let before = sequence.load(Ordering::Relaxed) & !1;
    sequence.store(before.wrapping_add(1), Ordering::Relaxed);
    fence(Ordering::Release);
    for (word, value) in words[SAMPLE + 1..].iter().zip(sample.to_words()) {
        word.store(value, Ordering::Relaxed);
    }
    sequence.store(before.wrapping_add(2), Ordering::Release);
}

pub(super) fn sample(words: &[AtomicU64]) -> Option<Sample> {
    let sequence = &words[SAMPLE];
    let before = sequence.load(Ordering::Acquire);
    if before == 0 || before & 1 == 1 {
        return None;
    }
    let mut values = [0; SAMPLE_WORDS];
    for (value, word) in values.iter_mut().zip(&words[SAMPLE + 1..]) {
        *value = word.load(Ordering::Relaxed);
    }
    fence(Ordering::Acquire);
    (sequence.load(Ordering::Relaxed) == before).then(|| Sample::from_words(&values))
}
