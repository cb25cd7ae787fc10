//! The first page of the region, and what it takes to attach to it.
//!
//! | offset | size | field | written by |
//! |-------:|-----:|-------|------------|
//! | 0 | 8 | magic, `QUIETCOR` | host, last of all |
//! | 8 | 4 | version of the layout, [`VERSION`] | host |
//! | 12 | 4 | task count | host |
//! | 16 | 8 | layout hash, [`LAYOUT_HASH`] | host |
//! | 24 | 8 | size of the region in bytes | host |
//! | 32 | 4 | wishes, added up: 1 asks all tasks to end, 2 and 4 to pause, 4 for another's sake | host |
//! | 36 | 28 | the rest of the [`Shape`], four bytes each, in its order | host |
//! | 64 | 8 | for how long the partition was stopped from outside, in ns, all told | host |

use core::fmt;
use core::mem::offset_of;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::region::layout::Layout;
use crate::region::shape::{Shape, ShapeError};
use crate::statistics::{BIN_COUNT, Histogram, TaskStatistics};
use crate::{commands, control, events, forces, image, primitive, retain, trace};

const MAGIC: u64 = u64::from_le_bytes(*b"QUIETCOR");
/// Raised with every change of meaning.
pub(crate) const VERSION: u32 = 5;
/// Changes with every change of layout.
pub(crate) const LAYOUT_HASH: u64 = layout_hash();

/// Requests of the host to the tasks, one bit each.
const STOP: u32 = 1;
const PAUSE: u32 = 2;
const HOLD: u32 = 4;

/// Bytes of the header: one page.
pub(crate) const HEADER_BYTES: usize = 4096;

#[repr(C, align(4096))]
pub(crate) struct Header {
    magic: AtomicU64,
    version: AtomicU32,
    task_count: AtomicU32,
    layout_hash: AtomicU64,
    size: AtomicU64,
    wishes: AtomicU32,
    shape: [AtomicU32; 7],
    stopped_ns: AtomicU64,
}

const _: () = assert!(size_of::<Header>() == HEADER_BYTES);
const _: () = assert!(size_of::<TaskStatistics>().is_multiple_of(HEADER_BYTES));
const _: () = assert!(offset_of!(Header, shape) == 36);
const _: () = assert!(offset_of!(Header, stopped_ns) == 64);

const fn layout_hash() -> u64 {
    // All that both sides must agree on.
    fnv(&[
        size_of::<Header>(),
        size_of::<TaskStatistics>(),
        size_of::<Histogram>(),
        BIN_COUNT,
        offset_of!(TaskStatistics, scan),
        offset_of!(TaskStatistics, sequence),
        offset_of!(TaskStatistics, counters),
        offset_of!(TaskStatistics, scan_counters),
        offset_of!(TaskStatistics, spikes),
        offset_of!(TaskStatistics, slots),
        offset_of!(TaskStatistics, release),
        offset_of!(TaskStatistics, wakeup),
        offset_of!(TaskStatistics, execution),
        offset_of!(TaskStatistics, response),
        control::CONTROL_WORDS,
        image::HEADER_WORDS,
        retain::HALF_HEADER_WORDS,
        forces::FORCES_WORDS,
        commands::COMMAND_WORDS,
        commands::OUTCOME_WORDS,
        events::EVENT_WORDS,
        trace::CONFIGURATION_WORDS,
        primitive::queue::HEADER_WORDS,
        primitive::broadcast::HEADER_WORDS,
    ])
}

/// FNV-1a over words.
pub(crate) const fn fnv(words: &[usize]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < words.len() {
        hash = (hash ^ words[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}

impl Header {
    /// Says what the region holds; the magic number comes last.
    pub(crate) fn write(&self, layout: &Layout) {
        let shape = &layout.shape;
        self.version.store(VERSION, Relaxed);
        self.task_count.store(shape.task_count, Relaxed);
        self.layout_hash.store(LAYOUT_HASH, Relaxed);
        self.size.store(layout.bytes as u64, Relaxed);
        let words = [
            shape.input_bytes,
            shape.output_bytes,
            shape.data_bytes,
            shape.retain_bytes,
            shape.command_slots,
            shape.event_slots,
            shape.trace_bytes,
        ];
        for (place, word) in self.shape.iter().zip(words) {
            place.store(word, Relaxed);
        }
        self.magic.store(MAGIC, Release);
    }

    /// Reads each word once and returns what follows from them. `size` is the size of the memory.
    pub(crate) fn read(&self, size: usize) -> Result<Layout, AttachError> {
        let magic = self.magic.load(Acquire);
        if magic != MAGIC {
            return Err(AttachError::NoExchange { found: magic });
        }
        let version = self.version.load(Relaxed);
        if version != VERSION {
            return Err(AttachError::OtherVersion { found: version, own: VERSION });
        }
        let layout_hash = self.layout_hash.load(Relaxed);
        if layout_hash != LAYOUT_HASH {
            return Err(AttachError::OtherLayout { found: layout_hash, own: LAYOUT_HASH });
        }
        let [
            input_bytes,
            output_bytes,
            data_bytes,
            retain_bytes,
            command_slots,
            event_slots,
            trace_bytes,
        ] = core::array::from_fn(|index| self.shape[index].load(Relaxed));
        let shape = Shape {
            task_count: self.task_count.load(Relaxed),
            input_bytes,
            output_bytes,
            data_bytes,
            retain_bytes,
            command_slots,
            event_slots,
            trace_bytes,
        };
        let layout = shape.layout()?;
        let found = self.size.load(Relaxed);
        if found != layout.bytes as u64 {
            return Err(AttachError::OtherSize { found, own: layout.bytes as u64 });
        }
        if size < layout.bytes {
            return Err(AttachError::TooSmall { is: size, needed: layout.bytes });
        }
        Ok(layout)
    }

    pub(crate) fn request_stop(&self) {
        self.wishes.fetch_or(STOP, Release);
    }

    pub(crate) fn request_pause(&self, pause: bool) {
        self.wish(PAUSE, pause);
    }

    pub(crate) fn request_hold(&self, hold: bool) {
        self.wish(HOLD, hold);
    }

    fn wish(&self, wish: u32, is_wished: bool) {
        if is_wished {
            self.wishes.fetch_or(wish, Release);
        } else {
            self.wishes.fetch_and(!wish, Release);
        }
    }

    pub(crate) fn add_stopped(&self, stopped_ns: u64) {
        self.stopped_ns.fetch_add(stopped_ns, Release);
    }

    #[inline]
    pub(crate) fn stopped_ns(&self) -> u64 {
        self.stopped_ns.load(Relaxed)
    }

    #[inline]
    pub(crate) fn stop_requested(&self) -> bool {
        self.wishes.load(Relaxed) & STOP != 0
    }

    #[inline]
    pub(crate) fn pause_requested(&self) -> bool {
        self.wishes.load(Relaxed) & (PAUSE | HOLD) != 0
    }
}

/// Why memory can't be used as an exchange. Each difference names both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// Not aligned to a page of 4096 bytes.
    Misaligned,
    /// Smaller than its contents need.
    TooSmall {
        /// Size of the memory, in bytes.
        is: usize,
        /// Size that the layout needs, in bytes.
        needed: usize,
    },
    /// No exchange, or one that is not complete yet.
    NoExchange {
        /// The word at the place of the magic number.
        found: u64,
    },
    /// Made by another version of Quietcore.
    OtherVersion {
        /// The version in the header.
        found: u32,
        /// The version of this program.
        own: u32,
    },
    /// The same version, but laid out differently: built with other sizes.
    OtherLayout {
        /// The layout's hash in the header.
        found: u64,
        /// The hash of this program.
        own: u64,
    },
    /// The header says another size than its contents have.
    OtherSize {
        /// The size in the header.
        found: u64,
        /// The size of what the header says is in it.
        own: u64,
    },
    /// A part is out of range.
    Shape(ShapeError),
}

impl From<ShapeError> for AttachError {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misaligned => f.write_str("the exchange is not aligned to a page"),
            Self::TooSmall { is, needed } => {
                write!(f, "the exchange has {is} bytes and needs {needed}")
            }
            Self::NoExchange { found } => {
                write!(f, "there is no exchange here: magic {found:#018x}, expected {MAGIC:#018x}")
            }
            Self::OtherVersion { found, own } => write!(
                f,
                "the exchange has version {found}, this program version {own}; use programs of \
                 one build"
            ),
            Self::OtherLayout { found, own } => write!(
                f,
                "the exchange has layout {found:#018x}, this program layout {own:#018x}; use \
                 programs of one build"
            ),
            Self::OtherSize { found, own } => {
                write!(f, "the exchange says it has {found} bytes, but its contents need {own}")
            }
            Self::Shape(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for AttachError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs of two builds meet in one region. Whoever changes the layout must raise `VERSION`
    /// if a word changes its meaning, and write the new hash here in any case.
    #[test]
    fn the_layout_is_the_one_that_was_agreed_on() {
        let pinned = (5, 11_408_137_245_395_697_441);
        assert_eq!(
            (VERSION, LAYOUT_HASH),
            pinned,
            "the layout of the exchange has changed: write the new hash here, and raise VERSION \
             if a word has changed its meaning; programs of older builds will then be refused"
        );
    }
}
