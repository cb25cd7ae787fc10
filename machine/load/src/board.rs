//! The board: shared memory in which each worker counts what it does.
//!
//! | offset | size | field | written by |
//! |-------:|-----:|-------|------------|
//! | 0 | 8 | magic, `QCLOAD` and the version of the layout | parent |
//! | 8 | 4 | number of slots | parent |
//! | 128 × (1 + i) | 4 | state of worker i | its worker |
//! | + 4 | 4 | its pace: 0 for none, all ones for rest, else the most operations a second | parent |
//! | + 8 | 8 | operations since the start | its worker |
//! | + 16 | 8 | bytes since the start | its worker |
//! | + 24 | 8 | start of the work, monotonic, in ns | its worker |
//! | + 32 | 8 | last sign of progress, monotonic, in ns | its worker |
//!
//! A slot fills two cache lines, because processors fetch lines in pairs: counting in one worker
//! does not slow down another. The size is sealed, so no worker can cut the memory away under the
//! parent. Each word has one writer; reading a slot is not atomic as a whole and need not be.
//! A worker that rests sleeps on the word of its pace until the parent changes it.
//!
// UNSAFETY: the board is raw memory that other processes write too; two places turn it into
// references to atomics, which is sound whatever the other side does.

#![expect(unsafe_code, reason = "the board is raw memory shared with other processes")]

use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::OwnedFd;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use memmap2::{MmapOptions, MmapRaw};
use quietcore_units::Nanos;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::pace::{Pace, Window};
use crate::request::WORKER_LIMIT;

/// The last two bytes are the version: programs of two builds don't mix.
const MAGIC: u64 = u64::from_le_bytes(*b"QCLOAD02");

/// Values of a slot's state.
const WORKING: u32 = 2;
const RESTING: u32 = 3;

#[repr(C, align(128))]
struct Header {
    magic: AtomicU64,
    slot_count: AtomicU32,
}

/// The part of the board in which one worker tells of itself.
#[repr(C, align(128))]
pub(crate) struct Slot {
    state: AtomicU32,
    pace: AtomicU32,
    operations: AtomicU64,
    bytes: AtomicU64,
    started_at: AtomicU64,
    last_beat: AtomicU64,
}

const _: () = assert!(size_of::<Header>() == 128);
const _: () = assert!(size_of::<Slot>() == 128);

/// The progress of a worker's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotState {
    /// No worker has reached the slot yet.
    Empty,
    /// The worker sets itself up.
    Preparing,
    /// The work has begun.
    Working,
    /// The worker was told to rest, and does.
    Resting,
    /// A value that no worker of this version writes.
    Unknown(u32),
}

/// The content of a slot at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) last_beat: Nanos,
}

impl Counters {
    /// All that a worker did: an operation may take long on a slow machine, its parts do not.
    pub(crate) fn done(self) -> (u64, u64) {
        (self.operations, self.bytes)
    }
}

impl Slot {
    pub(crate) fn state(&self) -> SlotState {
        match self.state.load(Acquire) {
            0 => SlotState::Empty,
            1 => SlotState::Preparing,
            WORKING => SlotState::Working,
            RESTING => SlotState::Resting,
            other => SlotState::Unknown(other),
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            operations: self.operations.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            last_beat: Nanos::new(self.last_beat.load(Relaxed)),
        }
    }

    /// When the work began, or `None` before.
    pub(crate) fn started_at(&self) -> Option<Nanos> {
        match self.started_at.load(Relaxed) {
            0 => None,
            nanos => Some(Nanos::new(nanos)),
        }
    }

    /// Says that a worker is here and sets itself up.
    pub(crate) fn prepare(&self) {
        self.state.store(1, Release);
    }

    /// Tells the worker its pace, and wakes it where it rests.
    pub(crate) fn set_pace(&self, pace: Pace) {
        self.pace.store(pace.word(), Release);
        // It fails only for an address that is none; the worker looks now and then by itself.
        let _ = futex::wake(&self.pace, futex::Flags::empty(), 1);
    }
}

/// The pen of the one worker that writes a slot. Costs one reading of the clock and three stores.
pub(crate) struct Beat<'board> {
    slot: &'board Slot,
    operations: u64,
    bytes: u64,
    window: Window,
}

impl<'board> Beat<'board> {
    pub(crate) fn new(slot: &'board Slot) -> Self {
        Self { slot, operations: 0, bytes: 0, window: Window::default() }
    }

    /// Says that the preparations are over.
    pub(crate) fn start(&self) {
        let now = monotonic_now().get();
        self.slot.started_at.store(now, Relaxed);
        self.slot.last_beat.store(now, Relaxed);
        self.slot.state.store(WORKING, Release);
    }

    /// Counts finished work; both may be 0 when a long operation is still on its way. Returns when
    /// the pace lets the worker go on.
    pub(crate) fn add(&mut self, operations: u64, bytes: u64) {
        self.operations = self.operations.wrapping_add(operations);
        self.bytes = self.bytes.wrapping_add(bytes);
        self.slot.operations.store(self.operations, Relaxed);
        self.slot.bytes.store(self.bytes, Relaxed);
        self.slot.last_beat.store(monotonic_now().get(), Relaxed);
        if self.slot.pace.load(Relaxed) != Pace::Full.word() {
            self.keep_pace();
        }
    }

    #[cold]
    fn keep_pace(&mut self) {
        loop {
            let word = self.slot.pace.load(Acquire);
            let pace = Pace::of_word(word);
            let now = monotonic_now();
            let Some(rest) = self.window.rest(pace, now, self.operations) else { break };
            if pace == Pace::Rest {
                self.slot.state.store(RESTING, Release);
            }
            self.slot.last_beat.store(now.get(), Relaxed);
            let rest = rest.get();
            let timeout = Timespec {
                tv_sec: (rest / 1_000_000_000) as i64,
                tv_nsec: (rest % 1_000_000_000) as i64,
            };
            // Another pace, a signal or the end of the rest: whichever came, the loop looks.
            let _ = futex::wait(&self.slot.pace, futex::Flags::empty(), word, Some(&timeout));
        }
        self.slot.state.store(WORKING, Release);
    }
}

/// The time of the monotonic clock, which all processes of the machine share.
pub(crate) fn monotonic_now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos::new(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The mapped board, in the parent or in a worker.
#[derive(Debug)]
pub(crate) struct Board {
    map: MmapRaw,
    slot_count: u32,
    file: File,
}

impl Board {
    /// Makes a board of empty slots.
    pub(crate) fn create(slot_count: u32) -> io::Result<Self> {
        assert!(slot_count <= WORKER_LIMIT, "the requests were checked");
        let file = File::from(memfd_create(
            "quietcore-load",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )?);
        ftruncate(&file, size_for(slot_count) as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let board = Self { map: MmapOptions::new().map_raw(&file)?, slot_count, file };
        board.header().slot_count.store(slot_count, Relaxed);
        board.header().magic.store(MAGIC, Release);
        Ok(board)
    }

    /// Maps the board that the parent left open as `descriptor`.
    ///
    /// # Errors
    /// When there is no such descriptor or what it refers to is no board of this version.
    pub(crate) fn open(descriptor: u32) -> io::Result<Self> {
        // Opened anew through /proc, because a number from a command line proves no ownership.
        let file =
            File::options().read(true).write(true).open(format!("/proc/self/fd/{descriptor}"))?;
        let size = file.metadata()?.len();
        if size < size_for(0) as u64 || size > size_for(WORKER_LIMIT) as u64 {
            return Err(io::Error::other(format!("{size} bytes are no board of a load")));
        }
        let mut board = Self { map: MmapOptions::new().map_raw(&file)?, slot_count: 0, file };
        let magic = board.header().magic.load(Acquire);
        if magic != MAGIC {
            return Err(io::Error::other(format!(
                "magic {magic:#018x} instead of {MAGIC:#018x}; use programs of one build"
            )));
        }
        let slot_count = board.header().slot_count.load(Relaxed);
        if slot_count > WORKER_LIMIT || size_for(slot_count) as u64 != size {
            return Err(io::Error::other(format!("{slot_count} slots do not fit {size} bytes")));
        }
        board.slot_count = slot_count;
        Ok(board)
    }

    /// A second descriptor that survives `exec`, to be held only while workers are started.
    pub(crate) fn inheritable(&self) -> io::Result<OwnedFd> {
        Ok(rustix::io::dup(&self.file)?)
    }

    /// The slot of worker `index`, or `None` beyond the last.
    pub(crate) fn slot(&self, index: u32) -> Option<&Slot> {
        if index >= self.slot_count {
            return None;
        }
        let offset = size_for(index);
        // The map holds `size_for(slot_count)` bytes, checked when it was made or opened.
        let place = self.map.as_mut_ptr().wrapping_add(offset).cast::<Slot>();
        // SAFETY: inside the map and aligned, because the map begins at a page and header and slots
        // are multiples of 128 bytes; mapped as long as `self` lives; every bit pattern is a valid
        // atomic, and no process makes anything but atomics of it.
        Some(unsafe { &*place })
    }

    fn header(&self) -> &Header {
        // SAFETY: both constructors map at least a header; otherwise as for a slot.
        unsafe { &*self.map.as_mut_ptr().cast::<Header>() }
    }
}

const fn size_for(slot_count: u32) -> usize {
    size_of::<Header>() + slot_count as usize * size_of::<Slot>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn what_a_worker_counts_is_seen_through_another_mapping() {
        let parent = Board::create(3).unwrap();
        let descriptor = parent.inheritable().unwrap();
        let worker = Board::open(descriptor.as_raw_fd() as u32).unwrap();
        let slot = worker.slot(2).unwrap();
        assert_eq!(parent.slot(2).unwrap().state(), SlotState::Empty);
        slot.prepare();
        assert_eq!(parent.slot(2).unwrap().state(), SlotState::Preparing);
        assert_eq!(parent.slot(2).unwrap().started_at(), None);

        let mut beat = Beat::new(slot);
        beat.start();
        beat.add(3, 100);
        beat.add(4, 50);
        let seen = parent.slot(2).unwrap();
        assert_eq!(seen.state(), SlotState::Working);
        assert_eq!(seen.counters().operations, 7);
        assert_eq!(seen.counters().bytes, 150);
        assert!(seen.started_at().unwrap() <= seen.counters().last_beat);
        assert_eq!(parent.slot(1).unwrap().counters(), Counters::default());
        assert!(parent.slot(3).is_none());
    }

    #[test]
    fn a_worker_rests_when_it_is_told_to_and_goes_on_when_it_is_woken() {
        let parent = Board::create(1).unwrap();
        let descriptor = parent.inheritable().unwrap();
        let worker = Board::open(descriptor.as_raw_fd() as u32).unwrap();
        let slot = parent.slot(0).unwrap();
        slot.set_pace(Pace::Rest);
        std::thread::scope(|scope| {
            let work = scope.spawn(|| Beat::new(worker.slot(0).unwrap()).add(1, 0));
            while slot.state() != SlotState::Resting {
                std::thread::yield_now();
            }
            assert!(!work.is_finished(), "it rests");
            slot.set_pace(Pace::Full);
            work.join().unwrap();
        });
        assert_eq!((slot.state(), slot.counters().operations), (SlotState::Working, 1));
    }

    #[test]
    fn a_board_cannot_be_cut_away_by_a_worker() {
        let parent = Board::create(1).unwrap();
        assert!(ftruncate(&parent.file, 0).is_err());
    }

    #[test]
    fn a_file_that_is_no_board_is_refused() {
        let file = tempfile::tempfile().unwrap();
        let descriptor = file.as_raw_fd() as u32;
        assert!(Board::open(descriptor).is_err());
        file.set_len(size_for(2) as u64).unwrap();
        let error = Board::open(descriptor).err().unwrap();
        assert!(error.to_string().contains("use programs of one build"));
        assert!(Board::open(9_999).is_err());
    }
}
