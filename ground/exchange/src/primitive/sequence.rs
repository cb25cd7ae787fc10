//! The sequence lock: one writer that never waits, readers that look again if it wrote meanwhile.
//!
//! ```text
//! writer sequence = odd (relaxed) │ release fence │ words (relaxed) … │ sequence = even (release)
//! reader before = sequence (acquire) │ words (relaxed) … │ acquire fence │ after = sequence
//! ```
//!
//! A reader accepts when `before` is even and equals `after`. If it saw any word of a later write,
//! the fences pair: that word was stored after the writer's release fence and loaded before the
//! reader's acquire fence, so `after` is at least the odd number stored before the writer's fence.
//! If it saw a word older than `before` says, the acquire load of `before` would not have paired
//! with the release store that ended that write. Hence all words are of the write that `before`
//! names.

use core::fmt;

use crate::sync::{Acquire, AtomicU64, Relaxed, Release, fence, spin_hint};

/// Tries of a reader to get words of one write before it gives up.
pub const READ_TRIES: usize = 1000;

/// The words could not be read within one write of their writer, however often it was tried: it
/// writes faster than they can be read, it died in the middle, or it is hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornRead;

impl fmt::Display for TornRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no reading of one cycle came about; its writer was at it at every try")
    }
}

impl core::error::Error for TornRead {}

/// The writing side, of which there is one.
#[derive(Debug)]
pub struct SequenceWriter<'m> {
    shared: &'m AtomicU64,
    sequence: u64,
}

impl<'m> SequenceWriter<'m> {
    /// Takes over from whoever wrote before, and may have died while it did.
    pub fn resume(shared: &'m AtomicU64) -> Self {
        let found = shared.load(Relaxed);
        // Up to even, so that the next write has another odd number than the one that was broken
        // off. Any number is as good as any other: it is compared and never used as an index.
        Self { shared, sequence: found.wrapping_add(found & 1) }
    }

    /// Makes the sequence odd before anything that a reader must not see in part.
    #[inline]
    pub fn begin(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
        self.shared.store(self.sequence, Relaxed);
        fence(Release);
    }

    /// Makes the sequence even: what was written since [`begin`](Self::begin) is whole.
    #[inline]
    pub fn end(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
        self.shared.store(self.sequence, Release);
    }

    /// The writes that were ended so far, as readers see them.
    #[inline]
    pub fn ended(&self) -> u64 {
        self.sequence / 2
    }
}

/// Reads once; `None` when the writer was at it.
#[inline]
pub fn try_read<T>(sequence: &AtomicU64, read: impl FnOnce() -> T) -> Option<T> {
    let before = sequence.load(Acquire);
    if !before.is_multiple_of(2) {
        return None;
    }
    let words = read();
    fence(Acquire);
    (sequence.load(Relaxed) == before).then_some(words)
}

/// Reads words of one write.
///
/// # Errors
/// [`TornRead`] after `tries` tries.
#[inline]
pub fn read<T>(
    sequence: &AtomicU64,
    tries: usize,
    mut read: impl FnMut() -> T,
) -> Result<T, TornRead> {
    for _ in 0..tries {
        if let Some(words) = try_read(sequence, &mut read) {
            return Ok(words);
        }
        spin_hint();
    }
    Err(TornRead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_was_broken_off_is_seen_as_such_until_the_next_one() {
        let sequence = AtomicU64::new(0);
        let mut writer = SequenceWriter::resume(&sequence);
        writer.begin();
        assert_eq!(read(&sequence, 3, || ()), Err(TornRead));
        let mut heir = SequenceWriter::resume(&sequence);
        heir.begin();
        assert_eq!(sequence.load(Relaxed), 3);
        heir.end();
        assert_eq!(read(&sequence, 3, || 7), Ok(7));
        assert_eq!(heir.ended(), 2);
    }

    #[test]
    fn a_write_in_the_middle_of_a_reading_is_noticed() {
        let sequence = AtomicU64::new(0);
        let mut writer = SequenceWriter::resume(&sequence);
        let torn = try_read(&sequence, || {
            writer.begin();
            writer.end();
        });
        assert_eq!(torn, None);
    }
}
