//! The cycle statistics of one task, as they lie in the region.
//!
//! | part | written | meaning |
//! |------|---------|---------|
//! | state, settings refused | by the partition at start and end | what became of the task |
//! | scan sequence | before and after each step of a program | whether the data are being written |
//! | counters | each cycle | cycles, misses, spin time |
//! | scan counters | each cycle of a program | overruns, watchdog, worst cases |
//! | `release` | each cycle | release latency: due instant to start of the work |
//! | `wakeup` | each cycle | wake-up latency: requested wake-up to running, what `cyclictest` measures |
//! | `execution` | each cycle of a program | start of the work to its end |
//! | `response` | each cycle of a program | due instant to end of the work |
//! | spikes | when a cycle is among the worst | instant, size, CPU |
//! | time line | each cycle | maximum and mean over equal stretches of the run |
//!
//! All but the first two are written under one sequence lock, so that a reader gets them of one
//! cycle: the counters with [`TaskStatistics::counters`], all of it with
//! [`TaskStatistics::snapshot`].

pub mod bins;
mod counters;
mod histogram;
mod recorder;
mod release;
mod snapshot;
mod spikes;
mod state;

use core::ops::Deref;
use core::sync::atomic::AtomicU32;

use quietcore_units::ThreadSetting;

use crate::primitive::sequence::{self, READ_TRIES, TornRead};
use crate::sync::{Acquire, AtomicU64, Relaxed};

pub(crate) use bins::BIN_COUNT;
pub(crate) use counters::{COUNTER_COUNT, SCAN_COUNTER_COUNT};
pub use counters::{Counters, ScanCounters, Worst};
pub use histogram::{Histogram, HistogramTotals};
pub use recorder::Recorder;
pub use release::{LateLimit, Release};
pub use snapshot::{Pulse, SnapshotBuffers, TaskSnapshot};
pub use spikes::{SLOT_COUNT, SPIKE_COUNT, Spike, TimelineSlot};
pub(crate) use spikes::{SharedSlot, SharedSpike};
pub(crate) use state::bit_of;
pub use state::{TASK_SETTINGS, TaskState};

/// The statistics of one task. All zero is a valid, unused block.
#[repr(C, align(4096))]
pub struct TaskStatistics {
    pub(crate) state: AtomicU32,
    pub(crate) thread_id: AtomicU32,
    pub(crate) refused: AtomicU64,
    pub(crate) error_number: AtomicU64,
    pub(crate) own_cost_ns: AtomicU64,
    pub(crate) first_release_ns: AtomicU64,
    pub(crate) slot_cycles: AtomicU64,
    pub(crate) period_ns: AtomicU64,
    /// Fills the cache line, so that those who wait for the scan sequence don't touch the rest.
    _reserved: AtomicU64,
    /// Odd while the task may write to the data of its program.
    pub(crate) scan: AtomicU64,
    /// The number of the cycle that began last.
    pub(crate) scan_cycle: AtomicU64,
    _line: [AtomicU64; 6],
    /// Odd while what follows is being written.
    pub(crate) sequence: AtomicU64,
    pub(crate) counters: [AtomicU64; COUNTER_COUNT],
    pub(crate) scan_counters: [AtomicU64; SCAN_COUNTER_COUNT],
    pub(crate) spikes: [SharedSpike; SPIKE_COUNT],
    pub(crate) slots: [SharedSlot; SLOT_COUNT],
    pub(crate) release: Histogram,
    pub(crate) wakeup: Histogram,
    pub(crate) execution: Histogram,
    pub(crate) response: Histogram,
}

/// The statistics of one task, as its [`Recorder`] gets them. Everybody else only reads.
#[derive(Clone, Copy)]
pub struct WritableTask<'map> {
    shared: &'map TaskStatistics,
}

impl<'map> WritableTask<'map> {
    pub(crate) fn new(shared: &'map TaskStatistics) -> Self {
        Self { shared }
    }

    /// The same statistics for those who only read.
    pub fn statistics(&self) -> &'map TaskStatistics {
        self.shared
    }
}

impl Deref for WritableTask<'_> {
    type Target = TaskStatistics;

    fn deref(&self) -> &TaskStatistics {
        self.shared
    }
}

impl TaskStatistics {
    /// Returns the state that the task wrote last.
    pub fn state(&self) -> TaskState {
        TaskState::from_code(self.state.load(Acquire))
    }

    /// The kernel's number of the task's thread; zero before it started.
    pub fn thread_id(&self) -> u32 {
        self.thread_id.load(Relaxed)
    }

    /// Returns `true` if the kernel refused the setting.
    pub fn refused(&self, setting: ThreadSetting) -> bool {
        self.refused.load(Relaxed) & bit_of(setting) != 0
    }

    /// The error number of the last refusal; zero where there was none.
    pub fn error_number(&self) -> i32 {
        i32::try_from(self.error_number.load(Relaxed)).unwrap_or(i32::MAX)
    }

    /// Returns the probe's own cost of one cycle in ns: its clock readings and its recording.
    pub fn own_cost_ns(&self) -> u64 {
        self.own_cost_ns.load(Relaxed)
    }

    /// When the first release was due, on the monotonic clock, in ns.
    pub fn first_release_ns(&self) -> u64 {
        self.first_release_ns.load(Relaxed)
    }

    /// The time between two releases, in ns; zero before the task started.
    pub fn period_ns(&self) -> u64 {
        self.period_ns.load(Relaxed)
    }

    /// Releases that each [`TimelineSlot`] of the time line stands for.
    pub fn slot_cycles(&self) -> u64 {
        self.slot_cycles.load(Relaxed)
    }

    /// Rises with each step of the program that the task completes, and by one more where a task
    /// takes over. Unlike the counters it is never begun anew.
    pub fn completed_steps(&self) -> u64 {
        self.scan.load(Acquire) / 2
    }

    /// The cycle that the task began last, as trace and events number it; 0 before the first.
    pub fn scan_cycle(&self) -> u64 {
        self.scan_cycle.load(Acquire)
    }

    /// Reads all counters as they were after one and the same cycle.
    ///
    /// # Errors
    /// [`TornRead`] when the writer was in the middle of a cycle at every try: it died there, or it
    /// is hostile.
    pub fn counters(&self) -> Result<Counters, TornRead> {
        let words = sequence::read(&self.sequence, READ_TRIES, || counters::load(&self.counters))?;
        Ok(Counters::from_words(words))
    }

    /// Reads what a task that runs a program counts besides, as it was after one and the same
    /// cycle.
    ///
    /// # Errors
    /// As for [`counters`](Self::counters).
    pub fn scan_counters(&self) -> Result<ScanCounters, TornRead> {
        let words =
            sequence::read(&self.sequence, READ_TRIES, || counters::load(&self.scan_counters))?;
        Ok(ScanCounters::from_words(words))
    }

    /// Returns the histogram of release latencies, in ns.
    pub fn release(&self) -> &Histogram {
        &self.release
    }

    /// Returns the histogram of wake-up latencies, in ns.
    pub fn wakeup(&self) -> &Histogram {
        &self.wakeup
    }

    /// The execution time: start of the work to its end. Empty where no program runs.
    pub fn execution(&self) -> &Histogram {
        &self.execution
    }

    /// The response time: due instant to end of the work. Empty where no program runs.
    pub fn response(&self) -> &Histogram {
        &self.response
    }

    /// The worst cycles so far, the worst first; unused places are left out. While the task runs
    /// they may be of different cycles; a [`snapshot`](Self::snapshot) is of one.
    pub fn spikes(&self) -> impl Iterator<Item = Spike> + '_ {
        self.spikes.iter().map(SharedSpike::load).filter(|spike| spike.due_ns != 0)
    }

    /// The time line; stretches that were not reached have a count of zero. While the task runs
    /// they may be of different cycles; a [`snapshot`](Self::snapshot) is of one.
    pub fn slots(&self) -> impl Iterator<Item = TimelineSlot> + '_ {
        self.slots.iter().map(SharedSlot::load)
    }
}
