//! All statistics of a task, of one cycle, while it runs.
//!
//! A histogram has 27 648 bins, of which a task fills a small part. Its smallest and largest value
//! tell which: the reader copies the bins between the two and takes all others for empty. That
//! keeps a reading in the range of microseconds, so that it finds room between two cycles.
//!
//! A reading takes some 0.2 ns a bin in cache and some 1 ns out of it: for latencies between 5 µs
//! and 2 ms, some 9000 bins a histogram, 10 µs to 40 µs in all. A task with a cycle below that may
//! write at every try; then the reading is refused, and [`TaskStatistics::counters`] still works.

use crate::primitive::sequence::{self, READ_TRIES, TornRead};
use crate::statistics::bins::{BIN_COUNT, index_of};
use crate::statistics::counters::{self, Counters, ScanCounters};
use crate::statistics::histogram::{Histogram, HistogramTotals};
use crate::statistics::spikes::{SPIKE_COUNT, Spike, TimelineSlot};
use crate::statistics::{SharedSlot, SharedSpike, TaskStatistics};

/// Memory for the larger parts of a snapshot. What is empty is not read; bins or stretches beyond
/// the end of a slice are left out.
#[derive(Debug, Default)]
pub struct SnapshotBuffers<'a> {
    /// For the bins of the release latency: [`BIN_COUNT`] of them.
    pub release: &'a mut [u64],
    /// For the bins of the wake-up latency.
    pub wakeup: &'a mut [u64],
    /// For the bins of the execution time.
    pub execution: &'a mut [u64],
    /// For the bins of the response time.
    pub response: &'a mut [u64],
    /// For the time line: [`SLOT_COUNT`](crate::SLOT_COUNT) stretches.
    pub slots: &'a mut [TimelineSlot],
}

/// The statistics of a task, all of one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskSnapshot {
    /// The counters of every task.
    pub counters: Counters,
    /// The counters of a task that runs a program; all zero for others.
    pub scan: ScanCounters,
    /// Totals of the release latency.
    pub release: HistogramTotals,
    /// Totals of the wake-up latency.
    pub wakeup: HistogramTotals,
    /// Totals of the execution time.
    pub execution: HistogramTotals,
    /// Totals of the response time.
    pub response: HistogramTotals,
    /// The worst cycles, the worst first; unused places are zero.
    pub spikes: [Spike; SPIKE_COUNT],
}

/// The figures that tell if a task is on time, all of one cycle: some twenty words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The counters of every task.
    pub counters: Counters,
    /// Jobs that were not done at their deadline.
    pub overruns: u64,
    /// Totals of the release latency.
    pub release: HistogramTotals,
}

impl TaskStatistics {
    /// Reads what tells whether the task is on time, for those who look many times a second.
    ///
    /// # Errors
    /// As for [`counters`](Self::counters).
    pub fn pulse(&self) -> Result<Pulse, TornRead> {
        sequence::read(&self.sequence, READ_TRIES, || Pulse {
            counters: Counters::from_words(counters::load(&self.counters)),
            overruns: ScanCounters::from_words(counters::load(&self.scan_counters)).overruns,
            release: self.release.totals(),
        })
    }

    /// Reads everything as it was after one and the same cycle. What the task writes meanwhile
    /// costs another try, and the task nothing.
    ///
    /// # Errors
    /// [`TornRead`] when the writer was at it at every try: its cycle is shorter than the reading
    /// takes, it died in the middle, or it is hostile. The buffers then hold nothing of use.
    pub fn snapshot(&self, buffers: &mut SnapshotBuffers<'_>) -> Result<TaskSnapshot, TornRead> {
        sequence::read(&self.sequence, READ_TRIES, || self.read_all(buffers))
    }

    fn read_all(&self, buffers: &mut SnapshotBuffers<'_>) -> TaskSnapshot {
        for (slot, shared) in buffers.slots.iter_mut().zip(&self.slots) {
            *slot = SharedSlot::load(shared);
        }
        TaskSnapshot {
            counters: Counters::from_words(counters::load(&self.counters)),
            scan: ScanCounters::from_words(counters::load(&self.scan_counters)),
            release: copy(&self.release, buffers.release),
            wakeup: copy(&self.wakeup, buffers.wakeup),
            execution: copy(&self.execution, buffers.execution),
            response: copy(&self.response, buffers.response),
            spikes: core::array::from_fn(|index| SharedSpike::load(&self.spikes[index])),
        }
    }
}

/// The totals, and the bins that can be other than zero.
fn copy(shared: &Histogram, bins: &mut [u64]) -> HistogramTotals {
    let totals = shared.totals();
    bins.fill(0);
    let first = index_of(totals.min_ns).unwrap_or(BIN_COUNT);
    let last = index_of(totals.max_ns).unwrap_or(BIN_COUNT - 1);
    let room = bins.len();
    if let Some(used) = bins.get_mut(first..room.min(last + 1)) {
        shared.copy_bins(first, used);
    }
    totals
}
