//! The process image: the cyclic inputs, and the outputs, each whole and of one cycle.
//!
//! | word | meaning |
//! |-----:|---------|
//! | 0 | sequence: odd while it is being written |
//! | 1 | the cycle it belongs to |
//! | 2 | when it was written, on the monotonic clock, in ns |
//! | 3 … 7 | zero |
//! | 8 … | the bytes |

use crate::primitive::sequence::{self, READ_TRIES, SequenceWriter, TornRead};
use crate::primitive::words::{load_bytes, store_bytes, words_for};
use crate::sync::{AtomicU64, Relaxed};
use quietcore_units::Nanos;

pub(crate) const HEADER_WORDS: usize = 8;

/// The cycle that an image belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the cycle.
    pub cycle: u64,
    /// When it was written, on the monotonic clock; zero before the first time.
    pub time: Nanos,
}

fn parts(words: &[AtomicU64], bytes: u32) -> Option<(&[AtomicU64], &[AtomicU64])> {
    if bytes == 0 {
        return None;
    }
    let (header, payload) = words.split_at_checked(HEADER_WORDS)?;
    Some((header, payload.get(..words_for(bytes as usize))?))
}

/// The writing side of an image. There must be one, not more.
#[derive(Debug)]
pub struct ImageWriter<'map> {
    sequence: SequenceWriter<'map>,
    header: &'map [AtomicU64],
    payload: &'map [AtomicU64],
    bytes: usize,
}

impl<'map> ImageWriter<'map> {
    /// Takes over an image of `bytes` bytes in `words`; `None` when they don't hold it.
    pub fn resume(words: &'map [AtomicU64], bytes: u32) -> Option<Self> {
        let (header, payload) = parts(words, bytes)?;
        let sequence = SequenceWriter::resume(&header[0]);
        Some(Self { sequence, header, payload, bytes: bytes as usize })
    }

    /// Bytes of the image.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes the image of a cycle. Never waits.
    ///
    /// # Panics
    /// When `image` has another size.
    #[inline]
    pub fn write(&mut self, cycle: u64, time: Nanos, image: &[u8]) {
        assert!(image.len() == self.bytes, "an image is written whole");
        self.sequence.begin();
        self.header[1].store(cycle, Relaxed);
        self.header[2].store(time.get(), Relaxed);
        store_bytes(self.payload, image);
        self.sequence.end();
    }
}

/// A reading side of an image.
#[derive(Clone, Copy, Debug)]
pub struct ImageReader<'map> {
    header: &'map [AtomicU64],
    payload: &'map [AtomicU64],
    bytes: usize,
}

impl<'map> ImageReader<'map> {
    /// Reads an image of `bytes` bytes in `words`; `None` when they don't hold it.
    pub fn new(words: &'map [AtomicU64], bytes: u32) -> Option<Self> {
        let (header, payload) = parts(words, bytes)?;
        Some(Self { header, payload, bytes: bytes as usize })
    }

    /// Bytes of the image.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies the newest image, or as much of it as `image` holds.
    ///
    /// # Errors
    /// [`TornRead`] when the writer was at it at every try.
    pub fn read(&self, image: &mut [u8]) -> Result<Stamp, TornRead> {
        let length = image.len().min(self.bytes);
        let image = &mut image[..length];
        sequence::read(&self.header[0], READ_TRIES, || {
            load_bytes(self.payload, image);
            Stamp {
                cycle: self.header[1].load(Relaxed),
                time: Nanos::new(self.header[2].load(Relaxed)),
            }
        })
    }
}
