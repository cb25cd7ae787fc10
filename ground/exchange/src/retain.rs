//! The retained variables: what a program must still know after it was ended in the middle.
//!
//! There are two halves, written in turn. Whoever dies while it writes one leaves the other whole.
//! Checksum and layout hash are added when they go to disk, by the host.
//!
//! | word of a half | meaning |
//! |---------------:|---------|
//! | 0 | sequence: odd while the half is being written |
//! | 1 | number of the writing: the half with the larger one is the newer |
//! | 2 | the cycle after which it was written |
//! | 3 | its bytes |
//! | 4 | generation of the build that its places belong to |
//! | 5 … 7 | zero |
//! | 8 … | the bytes |

use crate::primitive::sequence::{self, SequenceWriter, TornRead, try_read};
use crate::primitive::words::{Packer, WORD_BYTES, load_bytes};
use crate::sync::{AtomicU64, Relaxed, spin_hint};

pub(crate) const HALF_HEADER_WORDS: usize = 8;

/// Looks of a reader at both halves before it gives up.
const READ_TRIES: usize = 100;

/// The header of a half: its number, build and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retained {
    /// Writings so far, this one included.
    pub number: u64,
    /// The cycle after which they were written.
    pub cycle: u64,
    /// The build that they belong to.
    pub generation: u32,
    /// Size of the retained values.
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Half<'map> {
    header: &'map [AtomicU64],
    payload: &'map [AtomicU64],
}

impl<'map> Half<'map> {
    fn new(words: &'map [AtomicU64], bytes: u32) -> Option<Self> {
        let (header, rest) = words.split_at_checked(HALF_HEADER_WORDS)?;
        let payload = rest.get(..crate::primitive::words::words_for(bytes as usize))?;
        Some(Self { header, payload })
    }

    /// Reads the header; returns `None` while it is being written, and if it never was.
    fn describe(&self) -> Option<Retained> {
        let retained = try_read(&self.header[0], || self.load())?;
        (retained.number > 0).then_some(retained)
    }

    fn load(&self) -> Retained {
        let word = |index: usize| self.header[index].load(Relaxed);
        // Cut to what the half can hold: another side wrote it.
        let room = self.payload.len() * WORD_BYTES;
        let bytes = usize::try_from(word(3)).unwrap_or(usize::MAX).min(room);
        Retained { number: word(1), cycle: word(2), generation: word(4) as u32, bytes }
    }
}

fn halves<'map>(words: [&'map [AtomicU64]; 2], bytes: u32) -> Option<[Half<'map>; 2]> {
    let [first, second] = words;
    (bytes > 0).then_some([Half::new(first, bytes)?, Half::new(second, bytes)?])
}

/// The writing side. There must be one, not more.
#[derive(Debug)]
pub struct RetainWriter<'map> {
    halves: [Half<'map>; 2],
    sequences: [SequenceWriter<'map>; 2],
    /// Number of the last writing.
    number: u64,
    bytes: usize,
}

impl<'map> RetainWriter<'map> {
    /// Takes over both halves and goes on after the newer one; `None` when they don't hold `bytes`
    /// bytes.
    pub fn resume(words: [&'map [AtomicU64]; 2], bytes: u32) -> Option<Self> {
        let halves = halves(words, bytes)?;
        let newest = halves.iter().filter_map(Half::describe).map(|half| half.number).max();
        let sequences = halves.map(|half| SequenceWriter::resume(&half.header[0]));
        let number = newest.unwrap_or(0);
        Some(Self { halves, sequences, number, bytes: bytes as usize })
    }

    /// The most bytes that can be retained.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes the older half: `fill` pushes the bytes, of which at most [`bytes`](Self::bytes) are
    /// kept. Never waits.
    pub fn write(&mut self, cycle: u64, generation: u32, fill: impl FnOnce(&mut Packer<'_>)) {
        self.number = self.number.wrapping_add(1);
        let index = (self.number & 1) as usize;
        let half = self.halves[index];
        self.sequences[index].begin();
        half.header[1].store(self.number, Relaxed);
        half.header[2].store(cycle, Relaxed);
        half.header[4].store(u64::from(generation), Relaxed);
        let mut packer = Packer::new(half.payload);
        fill(&mut packer);
        let packed = packer.finish().min(self.bytes);
        half.header[3].store(packed as u64, Relaxed);
        self.sequences[index].end();
    }
}

/// A reading side; it tries again while a half is being written.
#[derive(Clone, Copy, Debug)]
pub struct RetainReader<'map> {
    halves: [Half<'map>; 2],
}

impl<'map> RetainReader<'map> {
    /// Reads halves of `bytes` bytes; `None` when `words` don't hold them.
    pub fn new(words: [&'map [AtomicU64]; 2], bytes: u32) -> Option<Self> {
        Some(Self { halves: halves(words, bytes)? })
    }

    /// Copies the newest whole half, or as much of it as `bytes` holds; `Ok(None)` when none was
    /// ever written.
    ///
    /// # Errors
    /// [`TornRead`] when the writer was at both halves at every try.
    pub fn read(&self, bytes: &mut [u8]) -> Result<Option<Retained>, TornRead> {
        for _ in 0..READ_TRIES {
            let described = self.halves.map(|half| half.describe());
            let newest = match described {
                [None, None] if self.is_untouched() => return Ok(None),
                [None, None] => None,
                [Some(first), Some(second)] if second.number > first.number => Some(1),
                [Some(_), _] => Some(0),
                [None, Some(_)] => Some(1),
            };
            if let Some(retained) = newest.and_then(|index: usize| self.copy(index, bytes)) {
                return Ok(Some(retained));
            }
            spin_hint();
        }
        Err(TornRead)
    }

    fn is_untouched(&self) -> bool {
        self.halves.iter().all(|half| half.header[0].load(Relaxed) == 0)
    }

    fn copy(&self, index: usize, bytes: &mut [u8]) -> Option<Retained> {
        let half = &self.halves[index];
        sequence::try_read(&half.header[0], || {
            let retained = half.load();
            let length = retained.bytes.min(bytes.len());
            load_bytes(half.payload, &mut bytes[..length]);
            retained
        })
        .filter(|retained| retained.number > 0)
    }
}
