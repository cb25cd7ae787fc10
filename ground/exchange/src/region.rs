//! The region as a whole: its header, and how to come to a task's statistics.
//!
//! | offset | size | field | written by |
//! |-------:|-----:|-------|------------|
//! | 0 | 8 | magic, `QUIETCOR` | host, last of all |
//! | 8 | 4 | version of the layout, [`VERSION`] | host |
//! | 12 | 4 | task count | host |
//! | 16 | 8 | layout hash, [`LAYOUT_HASH`] | host |
//! | 24 | 8 | size of the region in bytes | host |
//! | 32 | 4 | stop: not zero asks all tasks to end | host |
//!
// UNSAFETY: the region is raw memory that another process writes too; the two constructors turn it
// into references to atomics, which is sound whatever the other side does.

#![expect(unsafe_code, reason = "the region is raw memory shared with another process")]

use core::fmt;
use core::marker::PhantomData;
use core::mem::{offset_of, size_of};
use core::ptr::NonNull;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::bins::BIN_COUNT;
use crate::histogram::Histogram;
use crate::statistics::TaskStatistics;

/// The most tasks a partition can have.
pub const TASK_LIMIT: u32 = 256;

const MAGIC: u64 = u64::from_le_bytes(*b"QUIETCOR");
/// Raised with every change of meaning.
const VERSION: u32 = 1;
/// Changes with every change of layout.
const LAYOUT_HASH: u64 = layout_hash();

#[repr(C, align(4096))]
struct Header {
    magic: AtomicU64,
    version: AtomicU32,
    task_count: AtomicU32,
    layout_hash: AtomicU64,
    size: AtomicU64,
    stop: AtomicU32,
}

const _: () = assert!(size_of::<Header>() == 4096);
const _: () = assert!(size_of::<TaskStatistics>().is_multiple_of(4096));

const fn layout_hash() -> u64 {
    // FNV-1a over all that both sides must agree on.
    let words = [
        size_of::<Header>(),
        size_of::<TaskStatistics>(),
        size_of::<Histogram>(),
        BIN_COUNT,
        offset_of!(TaskStatistics, sequence),
        offset_of!(TaskStatistics, counters),
        offset_of!(TaskStatistics, spikes),
        offset_of!(TaskStatistics, slots),
        offset_of!(TaskStatistics, release),
        offset_of!(TaskStatistics, wakeup),
    ];
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < words.len() {
        hash = (hash ^ words[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}

/// Why memory can't be used as an exchange. Each difference names both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// Not aligned to a page of 4096 bytes.
    Misaligned,
    /// Smaller than its contents need.
    TooSmall {
        /// Bytes there are.
        is: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// No exchange, or one that is not complete yet.
    NoExchange {
        /// What stands where the magic number belongs.
        found: u64,
    },
    /// Made by another version of Quietcore.
    OtherVersion {
        /// The version found.
        found: u32,
        /// The version of this program.
        own: u32,
    },
    /// The same version, but laid out differently: built with other sizes.
    OtherLayout {
        /// The hash found.
        found: u64,
        /// The hash of this program.
        own: u64,
    },
    /// The header says another size than the memory has.
    OtherSize {
        /// The size in the header.
        found: u64,
        /// The size of the memory.
        own: u64,
    },
    /// More tasks than allowed, or none.
    TaskCount {
        /// The number found.
        found: u32,
    },
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
                write!(f, "the exchange says it has {found} bytes, but the memory has {own}")
            }
            Self::TaskCount { found } => {
                write!(f, "the exchange has {found} tasks; 1 to {TASK_LIMIT} are possible")
            }
        }
    }
}

impl core::error::Error for AttachError {}

/// A mapped exchange.
#[derive(Clone, Copy, Debug)]
pub struct Region<'map> {
    base: NonNull<u8>,
    task_count: u32,
    mapped: PhantomData<&'map TaskStatistics>,
}

// SAFETY: a region gives out shared references to atomics only.
unsafe impl Send for Region<'_> {}
// SAFETY: as above.
unsafe impl Sync for Region<'_> {}

impl<'map> Region<'map> {
    /// The number of bytes that a region of `task_count` tasks takes.
    pub const fn size_for(task_count: u32) -> usize {
        size_of::<Header>() + task_count as usize * size_of::<TaskStatistics>()
    }

    /// Makes an exchange of zeroed memory.
    ///
    /// # Errors
    /// When the memory is misaligned or too small, or the number of tasks is not 1 to
    /// [`TASK_LIMIT`].
    ///
    /// # Safety
    /// `base` is mapped, readable and writable for `size` bytes during `'map`, and nothing but
    /// atomic accesses reach it while it is.
    pub unsafe fn initialise(
        base: NonNull<u8>,
        size: usize,
        task_count: u32,
    ) -> Result<Self, AttachError> {
        check_memory(base, size, task_count)?;
        let region = Self { base, task_count, mapped: PhantomData };
        let header = region.header();
        header.version.store(VERSION, Relaxed);
        header.task_count.store(task_count, Relaxed);
        header.layout_hash.store(LAYOUT_HASH, Relaxed);
        header.size.store(size as u64, Relaxed);
        header.magic.store(MAGIC, Release);
        Ok(region)
    }

    /// Attaches to an exchange that another party made.
    ///
    /// # Errors
    /// When the memory holds no exchange, or one of another version, layout or size.
    ///
    /// # Safety
    /// As for [`initialise`](Self::initialise).
    pub unsafe fn attach(base: NonNull<u8>, size: usize) -> Result<Self, AttachError> {
        check_memory(base, size, 1)?;
        let mut region = Self { base, task_count: 0, mapped: PhantomData };
        let header = region.header();
        let magic = header.magic.load(Acquire);
        if magic != MAGIC {
            return Err(AttachError::NoExchange { found: magic });
        }
        let version = header.version.load(Relaxed);
        if version != VERSION {
            return Err(AttachError::OtherVersion { found: version, own: VERSION });
        }
        let layout = header.layout_hash.load(Relaxed);
        if layout != LAYOUT_HASH {
            return Err(AttachError::OtherLayout { found: layout, own: LAYOUT_HASH });
        }
        let own = size as u64;
        let found = header.size.load(Relaxed);
        if found != own {
            return Err(AttachError::OtherSize { found, own });
        }
        // Read once, checked, and never read again: the other side may change it.
        let task_count = header.task_count.load(Relaxed);
        check_memory(base, size, task_count)?;
        region.task_count = task_count;
        Ok(region)
    }

    fn header(&self) -> &'map Header {
        // SAFETY: the constructors checked alignment and size, their caller promised that the
        // memory stays mapped for `'map`, and all bit patterns are valid atomics.
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    /// The number of tasks.
    pub fn task_count(&self) -> u32 {
        self.task_count
    }

    /// The statistics of task `index`, or `None` beyond the last.
    pub fn task(&self, index: u32) -> Option<&'map TaskStatistics> {
        if index >= self.task_count {
            return None;
        }
        let offset = Self::size_for(index);
        // SAFETY: `check_memory` made sure that the region has room for `task_count` tasks, and
        // `index` is below that.
        let place = unsafe { self.base.add(offset) };
        // SAFETY: aligned because base, header and blocks are multiples of a page; mapped for
        // `'map`; all bit patterns are valid atomics.
        Some(unsafe { place.cast::<TaskStatistics>().as_ref() })
    }

    /// The statistics of all tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &'map TaskStatistics> + '_ {
        (0..self.task_count).filter_map(|index| self.task(index))
    }

    /// Asks all tasks to end after their current cycle.
    pub fn request_stop(&self) {
        self.header().stop.store(1, Release);
    }

    /// Whether the tasks shall end. Cheap enough for every cycle.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        self.header().stop.load(Relaxed) != 0
    }
}

fn check_memory(base: NonNull<u8>, size: usize, task_count: u32) -> Result<(), AttachError> {
    if !base.as_ptr().addr().is_multiple_of(4096) {
        return Err(AttachError::Misaligned);
    }
    if task_count == 0 || task_count > TASK_LIMIT {
        return Err(AttachError::TaskCount { found: task_count });
    }
    let needed = Region::size_for(task_count);
    if size < needed {
        return Err(AttachError::TooSmall { is: size, needed });
    }
    Ok(())
}
