//! The post: a mailbox by which the job and the orders reach a guest.
//!
//! One letter at a time: the host writes it and its number, and the guest says by that number that
//! it has taken it. The job is number 1; orders follow.
//!
//! | word | what | who writes |
//! |---:|---|---|
//! | 0 | number of the letter that was posted last | the host |
//! | 1 | its bytes | the host |
//! | 2 | number of the letter that was taken last | the guest |
//! | 3 | until when the leading task's call into the program may run, in ns; zero while none runs | the guest |
//! | 4 | 1 while the guest may go back to the program in the free slot, so that nothing new is put there | the guest |
//! | 512 … | the letter, from the second page on | the host |
//!
//! Each side keeps its own number. What the other one says is compared and checked, and never
//! counts as an index or a length unchecked.

use core::fmt;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// The first word of a letter.
const LETTER: usize = 512;
const WORD_BYTES: usize = 8;
const POSTED: usize = 0;
const BYTES: usize = 1;
const TAKEN: usize = 2;
const CALL_UNTIL: usize = 3;
const KEEPS: usize = 4;

/// Bytes of memory that letters of so many bytes need.
pub const fn bytes_for(letter_bytes: usize) -> usize {
    (LETTER * WORD_BYTES).saturating_add(letter_bytes.next_multiple_of(WORD_BYTES))
}

/// Why a letter is not posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPosted {
    /// The one before has not been taken.
    Full,
    /// It is longer than there is room for.
    TooLong {
        /// Size of the letter, in bytes.
        is: usize,
        /// The room, in bytes.
        room: usize,
    },
}

impl fmt::Display for NotPosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the guest has not taken the order before"),
            Self::TooLong { is, room } => {
                write!(f, "{is} bytes for the guest; there is room for {room}")
            }
        }
    }
}

impl core::error::Error for NotPosted {}

/// Why a letter is not taken. It counts as taken: the host may post the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// The host says that it is longer than there is room for.
    Impossible,
    /// It is longer than the place it should go to.
    TooLong,
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Impossible => "the host posted more bytes than there is room for",
            Self::TooLong => "the host posted more bytes than this guest has room for",
        })
    }
}

impl core::error::Error for NotTaken {}

/// The host's side, which puts letters in.
#[derive(Debug)]
pub struct Poster<'a> {
    words: &'a [AtomicU64],
    posted: u64,
}

/// The guest's side, which takes letters out.
#[derive(Debug)]
pub struct Taker<'a> {
    words: &'a [AtomicU64],
    taken: u64,
}

/// Says whether a letter waits, beside the [`Taker`].
#[derive(Clone, Copy, Debug)]
pub struct Bell<'a> {
    words: &'a [AtomicU64],
}

impl Bell<'_> {
    /// Returns `true` if a letter waits. Costs two loads.
    #[inline]
    pub fn rings(&self) -> bool {
        self.words[POSTED].load(Relaxed) != self.words[TAKEN].load(Relaxed)
    }
}

/// Bytes that a letter may have in this memory; `None` where it is too small for one.
fn room(words: &[AtomicU64]) -> Option<usize> {
    words.len().checked_sub(LETTER).filter(|words| *words > 0).map(|words| words * WORD_BYTES)
}

impl<'a> Poster<'a> {
    /// The side that posts, in memory that is all zero; `None` where that is too small.
    pub fn new(words: &'a [AtomicU64]) -> Option<Self> {
        room(words).map(|_| Self { words, posted: 0 })
    }

    /// Returns `true` if the guest took the last letter.
    pub fn is_taken(&self) -> bool {
        self.words[TAKEN].load(Acquire) == self.posted
    }

    /// Returns `true` if the guest may go back to the program in the free slot; the host then puts
    /// nothing there.
    pub fn is_kept(&self) -> bool {
        self.words[KEEPS].load(Relaxed) != 0
    }

    /// Until when the leading task's call into the program may run, in ns of the monotonic clock;
    /// `None` while none runs. A guest that never leaves its processor is told by an interrupt that
    /// this is over, and ends the call.
    pub fn call_until(&self) -> Option<u64> {
        Some(self.words[CALL_UNTIL].load(Relaxed)).filter(|until| *until != 0)
    }

    /// Posts a letter and returns its number.
    ///
    /// # Errors
    /// [`NotPosted`]; then nothing was posted.
    pub fn post(&mut self, letter: &[u8]) -> Result<u64, NotPosted> {
        let room = room(self.words).unwrap_or(0);
        if letter.len() > room {
            return Err(NotPosted::TooLong { is: letter.len(), room });
        }
        if !self.is_taken() {
            return Err(NotPosted::Full);
        }
        for (bytes, place) in letter.chunks(WORD_BYTES).zip(&self.words[LETTER..]) {
            let mut word = [0; WORD_BYTES];
            word[..bytes.len()].copy_from_slice(bytes);
            place.store(u64::from_le_bytes(word), Relaxed);
        }
        self.words[BYTES].store(letter.len() as u64, Relaxed);
        self.posted += 1;
        // Whoever sees the number sees the letter.
        self.words[POSTED].store(self.posted, Release);
        Ok(self.posted)
    }
}

impl<'a> Taker<'a> {
    /// The side that takes; `None` where the memory is too small.
    pub fn new(words: &'a [AtomicU64]) -> Option<Self> {
        room(words).map(|_| Self { words, taken: 0 })
    }

    /// Returns a handle that tells cheaply if a letter waits.
    pub fn bell(&self) -> Bell<'a> {
        Bell { words: self.words }
    }

    /// The word in which the guest says, by one that is not zero, that it keeps the free slot.
    pub fn keeps(&self) -> &'a AtomicU64 {
        &self.words[KEEPS]
    }

    /// The word in which the guest says until when a call may run.
    pub fn call_until(&self) -> &'a AtomicU64 {
        &self.words[CALL_UNTIL]
    }

    /// Returns `true` if a letter waits. Costs one load, without a barrier on x86.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.words[POSTED].load(Acquire) != self.taken
    }

    /// The bytes of the letter that waits; `None` where there is none.
    ///
    /// # Errors
    /// [`NotTaken::Impossible`]; the letter is thrown away.
    pub fn waiting(&mut self) -> Result<Option<usize>, NotTaken> {
        if !self.is_waiting() {
            return Ok(None);
        }
        let room = room(self.words).unwrap_or(0);
        let bytes = usize::try_from(self.words[BYTES].load(Relaxed)).ok();
        match bytes.filter(|bytes| *bytes <= room) {
            Some(bytes) => Ok(Some(bytes)),
            None => {
                self.acknowledge();
                Err(NotTaken::Impossible)
            }
        }
    }

    /// Takes the letter that waits into `place` and returns its bytes there; `None` where there is
    /// none.
    ///
    /// # Errors
    /// [`NotTaken`]; the letter is thrown away.
    pub fn take<'p>(&mut self, place: &'p mut [u8]) -> Result<Option<&'p [u8]>, NotTaken> {
        let Some(bytes) = self.waiting()? else { return Ok(None) };
        let Some(place) = place.get_mut(..bytes) else {
            self.acknowledge();
            return Err(NotTaken::TooLong);
        };
        for (bytes, word) in place.chunks_mut(WORD_BYTES).zip(&self.words[LETTER..]) {
            let word = word.load(Relaxed).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        self.acknowledge();
        Ok(Some(place))
    }

    /// Says that the letter was taken: the host may write the next one.
    fn acknowledge(&mut self) {
        self.taken = self.words[POSTED].load(Relaxed);
        self.words[TAKEN].store(self.taken, Release);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn memory(letter_bytes: usize) -> Vec<AtomicU64> {
        (0..bytes_for(letter_bytes) / WORD_BYTES).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn the_next_letter_waits_until_the_one_before_was_taken() {
        let words = memory(16);
        let (mut host, mut guest) = (Poster::new(&words).unwrap(), Taker::new(&words).unwrap());
        let mut place = [0; 16];
        assert_eq!(guest.take(&mut place), Ok(None));
        assert_eq!(host.post(b"the job"), Ok(1));
        assert_eq!(host.post(b"an order"), Err(NotPosted::Full));
        assert!(guest.bell().rings());
        assert_eq!(guest.waiting(), Ok(Some(7)));
        assert_eq!(guest.take(&mut place), Ok(Some(&b"the job"[..])));
        assert_eq!(guest.take(&mut place), Ok(None));
        assert_eq!(host.post(b"an order"), Ok(2));
        assert_eq!(guest.take(&mut place), Ok(Some(&b"an order"[..])));
        assert!(host.is_taken() && !guest.bell().rings());
        assert_eq!(host.call_until(), None);
        guest.call_until().store(7, Relaxed);
        assert_eq!(host.call_until(), Some(7));
        guest.keeps().store(1, Relaxed);
        assert!(host.is_kept());
    }

    #[test]
    fn what_is_too_long_is_refused_on_both_sides() {
        let words = memory(16);
        let (mut host, mut guest) = (Poster::new(&words).unwrap(), Taker::new(&words).unwrap());
        assert_eq!(host.post(&[1; 17]), Err(NotPosted::TooLong { is: 17, room: 16 }));
        assert_eq!(host.post(&[1; 16]), Ok(1));
        assert_eq!(guest.take(&mut [0; 15]), Err(NotTaken::TooLong));
        assert_eq!(host.post(&[1; 16]), Ok(2), "the host is not held up by it");
        words[BYTES].store(17, Relaxed);
        assert_eq!(guest.waiting(), Err(NotTaken::Impossible));
        assert!(Poster::new(&words[..LETTER]).is_none() && Taker::new(&words[..LETTER]).is_none());
    }

    proptest! {
        #[test]
        fn letters_arrive_as_they_were_posted(letters in vec(vec(any::<u8>(), 0..70), 1..20)) {
            let words = memory(72);
            let (mut host, mut guest) = (Poster::new(&words).unwrap(), Taker::new(&words).unwrap());
            for letter in &letters {
                host.post(letter).unwrap();
                let mut place = [0xAA; 80];
                prop_assert_eq!(guest.take(&mut place), Ok(Some(&letter[..])));
            }
        }

        #[test]
        fn whatever_the_other_side_writes_is_taken_or_refused(
            wild in vec((0..3_usize, any::<u64>()), 0..20), letter in vec(any::<u8>(), 0..16),
        ) {
            let words = memory(16);
            let (mut host, mut guest) = (Poster::new(&words).unwrap(), Taker::new(&words).unwrap());
            for (word, value) in wild {
                words[word].store(value, Relaxed);
                let _ = host.post(&letter);
                let mut place = [0; 16];
                if let Ok(Some(taken)) = guest.take(&mut place) {
                    prop_assert!(taken.len() <= 16);
                }
            }
        }
    }
}
