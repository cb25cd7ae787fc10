//! The trace: any variables of a task, sampled after each k-th of its cycles.
//!
//! ```text
//! host   TraceRequester ──► request ──► TraceWriter (the task) ──► accepted, ring ──► TraceReader
//! ```
//!
//! The host writes what it wants into the request, at any time; the task looks at one word each
//! cycle, and where that changed it checks the request, publishes what it accepted, and samples. So
//! a trace that is off costs one relaxed load. Triggers are the reader's affair: the ring holds
//! what was before.
//!
//! Each task has a trace of its own, so that each word has one writer:
//!
//! | words | meaning | written by |
//! |-------|---------|------------|
//! | 0 … 79 | request: sequence, number of variables (0 is off), every, generation, 4 zeros, places | host |
//! | 80 … 159 | accepted: sequence, number of variables, every, generation, first sample, answered request, why refused, zero, places | task |
//! | 160 … | a [`broadcast`](crate::primitive::broadcast) ring of samples: cycle, instant in ns, values | task |
//!
//! A place is its offset, with its bytes in bits 32 to 39. Samples are as long as there are
//! variables; whoever reads the ring must do so by the accepted configuration, and a reading counts
//! only if that did not change meanwhile.

mod reader;
mod request;
mod writer;

pub use reader::{TraceReader, TraceStep};
pub use request::{TraceRequestError, TraceRequester};
pub use writer::TraceWriter;

/// The most variables of a trace.
pub const TRACE_VARIABLES_MAX: usize = 64;

/// Words in front of the ring: request and acceptance.
pub(crate) const CONFIGURATION_WORDS: usize = 2 * BLOCK_WORDS;
/// Words of each of them; what is left over keeps them on cache lines of their own.
const BLOCK_WORDS: usize = 80;
/// Words in front of the places.
const PLACES: usize = 8;
/// Words of a sample in front of its values.
const SAMPLE_HEADER_WORDS: usize = 2;

const COUNT: usize = 1;
const EVERY: usize = 2;
const GENERATION: usize = 3;
const FIRST_SAMPLE: usize = 4;
const ANSWERED: usize = 5;
const REFUSED: usize = 6;

/// A variable that is traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracePlace {
    /// Bytes from the start of the data slot.
    pub offset: u32,
    /// 1, 2, 4 or 8 bytes; of a bit-field those of the unit that holds it.
    pub bytes: u8,
}

impl TracePlace {
    fn to_word(self) -> u64 {
        u64::from(self.offset) | u64::from(self.bytes) << 32
    }

    fn from_word(word: u64) -> Self {
        Self { offset: word as u32, bytes: (word >> 32) as u8 }
    }
}

/// The variables and the rate of a trace, as asked for and as accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceConfiguration {
    places: [TracePlace; TRACE_VARIABLES_MAX],
    count: usize,
    every: u64,
    generation: u32,
}

impl TraceConfiguration {
    /// A configuration that traces nothing.
    pub const OFF: Self = Self {
        places: [TracePlace { offset: 0, bytes: 0 }; TRACE_VARIABLES_MAX],
        count: 0,
        every: 1,
        generation: 0,
    };

    /// Traces `places` after each `every`-th cycle; their offsets belong to build `generation`.
    ///
    /// # Errors
    /// [`TraceRequestError`] when there are too many places or `every` is zero.
    pub fn new(
        places: &[TracePlace],
        every: u64,
        generation: u32,
    ) -> Result<Self, TraceRequestError> {
        let count = places.len();
        if count > TRACE_VARIABLES_MAX {
            return Err(TraceRequestError::TooMany { count });
        }
        if every == 0 {
            return Err(TraceRequestError::EveryZero);
        }
        let mut configuration = Self { count, every, generation, ..Self::OFF };
        configuration.places[..count].copy_from_slice(places);
        Ok(configuration)
    }

    /// The variables; none when the trace is off.
    pub fn places(&self) -> &[TracePlace] {
        &self.places[..self.count]
    }

    /// Cycles from one sample to the next.
    pub fn every(&self) -> u64 {
        self.every
    }

    /// The build that the places belong to.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    fn store(&self, block: &[crate::sync::AtomicU64]) {
        use crate::sync::Relaxed;
        block[COUNT].store(self.count as u64, Relaxed);
        block[EVERY].store(self.every, Relaxed);
        block[GENERATION].store(u64::from(self.generation), Relaxed);
        for (word, place) in block[PLACES..].iter().zip(self.places()) {
            word.store(place.to_word(), Relaxed);
        }
    }

    /// Decodes a block; numbers beyond their limits are cut to them.
    fn load(block: &[crate::sync::AtomicU64]) -> Self {
        use crate::sync::Relaxed;
        let word = |index: usize| block[index].load(Relaxed);
        let count = usize::try_from(word(COUNT)).unwrap_or(usize::MAX).min(TRACE_VARIABLES_MAX);
        let mut configuration = Self {
            count,
            every: word(EVERY).max(1),
            generation: word(GENERATION) as u32,
            ..Self::OFF
        };
        for (place, word) in configuration.places[..count].iter_mut().zip(&block[PLACES..]) {
            *place = TracePlace::from_word(word.load(Relaxed));
        }
        configuration
    }

    fn record_words(&self) -> usize {
        SAMPLE_HEADER_WORDS + self.count
    }
}
