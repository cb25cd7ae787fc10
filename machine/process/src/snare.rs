//! The snare: what a late cycle springs, so that the trace stops within it.
//!
//! ```text
//! observer          armed ────────────────────────────► reads, explains, clears ─► armed
//!                     │                                  ▲
//! task    late cycle ─┴─ claimed ─ tracing off ─ sprung ─┘      late again: counted only
//! ```
//!
//! It is a page of memory that the partition's tasks and the observer share. A task whose cycle is
//! later than the limit counts it; if the snare is armed, it switches the trace off with one system
//! call, and leaves which cycle that was. Cycles that are not late cost one comparison. No
//! allocation, no lock, no waiting (promise P93 of SPECIFICATION.md).
//!
//! The observer believes no word of it: what it reads are numbers, of which a wrong one makes a
//! wrong ledger and nothing else.
//!
// UNSAFETY: mapping a file is unsafe because others may change or shorten it. Changing is what it
// is for, and all access is atomic; shortening is prevented by a seal, without which mapping is
// refused.
#![expect(unsafe_code, reason = "memory shared with another process is accessed here")]

use std::fs::{File, OpenOptions};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use quietcore_exchange::{LateLimit, Release};
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::descriptors;
use crate::memory::{MemoryError, SharedMemory};

/// The most tasks of one partition that a snare has room for.
pub const TASKS_MAX: u32 = 256;

/// Its first word; another version has another one.
const MARK: u64 = 0x5143_534e_4152_4501;
const WORDS: usize = 512;
const STATE: usize = 1;
const CAUGHT: usize = 2;
const COUNTS: usize = 64;

const DISARMED: u64 = 0;
const ARMED: u64 = 1;
const CLAIMED: u64 = 2;
const SPRUNG: u64 = 3;

const _: () = assert!(COUNTS + TASKS_MAX as usize <= WORDS);
const _: () = assert!(CAUGHT + 6 <= COUNTS);

/// The snare of a partition, as its process is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnareJob {
    /// Releases later than this spring it.
    pub limit: Nanos,
    /// The descriptor of its memory.
    pub memory: i32,
    /// The descriptor of the file that switches the trace off; none where nothing is traced.
    pub tracing_on: Option<i32>,
}

/// A late cycle that sprang the snare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caught {
    /// The task, by its place in the exchange.
    pub task: u32,
    /// The number of the release, from 0.
    pub release: u64,
    /// When it was due, on the monotonic clock.
    pub due: Nanos,
    /// When it was started.
    pub started: Nanos,
    /// The CPU that the task ran on.
    pub cpu: u32,
}

/// The memory of a snare.
#[derive(Debug)]
pub struct Snare {
    memory: SharedMemory,
}

impl Snare {
    /// Makes a snare, which is not armed.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn create() -> Result<Self, MemoryError> {
        let memory = SharedMemory::create("quietcore-snare", WORDS * 8)?;
        let snare = Self { memory };
        snare.word(0).store(MARK, Ordering::Release);
        Ok(snare)
    }

    /// Maps a snare that another process made, behind a descriptor of this one.
    ///
    /// # Errors
    /// When there is no such descriptor, or there is something else behind it.
    pub fn inherited(descriptor: i32) -> Result<Self, MemoryError> {
        let own = format!("/proc/self/fd/{descriptor}");
        let file = OpenOptions::new().read(true).write(true).open(own);
        let memory = SharedMemory::open(&file.map_err(MemoryError::Unmapped)?.into())?;
        let is_snare = memory.bytes() == WORDS * 8;
        let snare = Self { memory };
        if is_snare && snare.word(0).load(Ordering::Acquire) == MARK {
            return Ok(snare);
        }
        Err(MemoryError::Unmapped(io::Error::new(io::ErrorKind::InvalidData, "it is no snare")))
    }

    /// Another handle of the file, to be passed to a partition.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn file(&self) -> io::Result<File> {
        self.memory.file()
    }

    /// Arms it again for the next late cycle.
    pub fn arm(&self) {
        self.word(STATE).store(ARMED, Ordering::Release);
    }

    /// Disarms it. A task that springs it at this moment is seen by [`caught`](Self::caught) still.
    pub fn disarm(&self) {
        let state = self.word(STATE);
        let _ = state.compare_exchange(ARMED, DISARMED, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// The cycle that sprang it, until it is armed again.
    pub fn caught(&self) -> Option<Caught> {
        if self.word(STATE).load(Ordering::Acquire) != SPRUNG {
            return None;
        }
        let word = |index: usize| self.word(CAUGHT + index).load(Ordering::Relaxed);
        let small = |index: usize| u32::try_from(word(index)).unwrap_or(u32::MAX);
        Some(Caught {
            task: small(0),
            release: word(1),
            due: Nanos::new(word(2)),
            started: Nanos::new(word(3)),
            cpu: small(4),
        })
    }

    /// Returns how many cycles of a task were late so far.
    pub fn late(&self, task: u32) -> u64 {
        if task >= TASKS_MAX { 0 } else { self.count(task).load(Ordering::Relaxed) }
    }

    /// If it is armed, switches the trace off and leaves which cycle that was.
    fn spring(&self, tracing_on: Option<&File>, caught: Caught) {
        let state = self.word(STATE);
        if state.compare_exchange(ARMED, CLAIMED, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        if let Some(file) = tracing_on {
            // What it costs if it fails is a trace that runs on, and whose end is looked at.
            let _ = rustix::io::write(file, b"0");
        }
        let Caught { task, release, due, started, cpu } = caught;
        let words = [u64::from(task), release, due.get(), started.get(), u64::from(cpu)];
        for (index, word) in words.into_iter().enumerate() {
            self.word(CAUGHT + index).store(word, Ordering::Relaxed);
        }
        state.store(SPRUNG, Ordering::Release);
    }

    fn count(&self, task: u32) -> &AtomicU64 {
        self.word(COUNTS + task as usize)
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < WORDS);
        let place = self.memory.base().as_ptr().cast::<u64>();
        // SAFETY: the memory is at least `WORDS` words long, which `create` and `inherited` made
        // sure of before any use, so the place is within it.
        let place = unsafe { place.add(index) };
        // SAFETY: a mapping is aligned to a page, and the place to a word in it; it stays mapped as
        // long as `self` lives, and all that share it access it by atomics.
        unsafe { AtomicU64::from_ptr(place) }
    }
}

/// A snare as the process of a partition has it.
#[derive(Debug)]
pub struct Laid {
    memory: Snare,
    tracing_on: Option<File>,
    limit: LateLimit,
}

impl Laid {
    /// Takes over what the host has made.
    ///
    /// # Errors
    /// The files that the job names are no snare, or not there.
    pub fn take_over(job: &SnareJob) -> io::Result<Self> {
        let memory = Snare::inherited(job.memory).map_err(io::Error::other)?;
        let open = |descriptor| {
            let own = format!("/proc/self/fd/{descriptor}");
            io::Result::Ok(File::from(descriptors::raised(
                OpenOptions::new().write(true).open(own)?,
            )?))
        };
        let tracing_on = job.tracing_on.map(open).transpose()?;
        Ok(Self { memory, tracing_on, limit: LateLimit::new(Some(job.limit)) })
    }

    /// The kernel of a guest tells that a task has been late so often, and the last one of these
    /// releases, where that was started.
    pub fn told(&self, task: u32, count: u64, last: Option<Caught>) {
        if task >= TASKS_MAX {
            return;
        }
        self.memory.count(task).store(count, Ordering::Relaxed);
        if let Some(caught) = last {
            self.memory.spring(self.tracing_on.as_ref(), caught);
        }
    }

    /// The hold of a task, by its place in the exchange. `None` where there is no room for it.
    pub fn trap(&self, task: u32) -> Option<Trap<'_>> {
        Trap::new(&self.memory, self.tracing_on.as_ref(), self.limit, task)
    }
}

/// A task's hold of a snare.
#[derive(Debug)]
pub struct Trap<'a> {
    snare: &'a Snare,
    tracing_on: Option<&'a File>,
    limit: LateLimit,
    task: u32,
    late: u64,
}

impl<'a> Trap<'a> {
    /// The hold of `task`, which springs the snare when a release is later than `limit`, and then
    /// switches the trace off through the file `tracing_on`. `None` where the snare has no room for
    /// the task.
    pub fn new(
        snare: &'a Snare,
        tracing_on: Option<&'a File>,
        limit: LateLimit,
        task: u32,
    ) -> Option<Self> {
        (task < TASKS_MAX).then_some(Self { snare, tracing_on, limit, task, late: 0 })
    }

    /// Tells of the release that has this number.
    #[inline]
    pub fn started(&mut self, number: u64, release: &Release) {
        if self.limit.is_exceeded(release) {
            self.spring(number, release);
        }
    }

    /// Tells that so many releases passed unseen, each a period before the next one, the last of
    /// them a period ago. Those that are late by more than the limit are counted.
    pub fn skipped(&mut self, period: Nanos, count: u64) {
        let late = self.limit.late_of_skipped(period, count);
        if late > 0 {
            self.late += late;
            self.snare.count(self.task).store(self.late, Ordering::Relaxed);
        }
    }

    #[cold]
    fn spring(&mut self, number: u64, release: &Release) {
        self.late += 1;
        self.snare.count(self.task).store(self.late, Ordering::Relaxed);
        let Release { due, started, cpu, .. } = *release;
        let caught = Caught { task: self.task, release: number, due, started, cpu };
        self.snare.spring(self.tracing_on, caught);
    }
}

#[cfg(test)]
mod tests;
