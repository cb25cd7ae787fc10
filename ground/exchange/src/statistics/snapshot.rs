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
use crate::statistics::bins::{self, BIN_COUNT};
use crate::statistics::counters::{self, Counters, ScanCounters};
use crate::statistics::histogram::{Histogram, HistogramTotals};
use crate::statistics::spikes::{SLOT_COUNT, SPIKE_COUNT, Spike, TimelineSlot};
use crate::statistics::{SharedSlot, SharedSpike, TaskStatistics};

/// Memory for the copy of one histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramCopy {
    /// The exact totals.
    pub totals: HistogramTotals,
    /// The count of each bin.
    pub bins: [u64; BIN_COUNT],
}

impl Default for HistogramCopy {
    fn default() -> Self {
        Self { totals: HistogramTotals::default(), bins: [0; BIN_COUNT] }
    }
}

/// Memory for the larger parts of a snapshot. What is `None` is not read.
#[derive(Debug, Default)]
pub struct SnapshotBuffers<'a> {
    /// For the release latency.
    pub release: Option<&'a mut HistogramCopy>,
    /// For the wake-up latency.
    pub wakeup: Option<&'a mut HistogramCopy>,
    /// For the execution time.
    pub execution: Option<&'a mut HistogramCopy>,
    /// For the response time.
    pub response: Option<&'a mut HistogramCopy>,
    /// For the time line.
    pub slots: Option<&'a mut [TimelineSlot; SLOT_COUNT]>,
}

/// The statistics of a task, all of one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskSnapshot {
    /// The counters.
    pub counters: Counters,
    /// What is counted besides where a program runs.
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

impl TaskStatistics {
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
        if let Some(slots) = &mut buffers.slots {
            for (slot, shared) in slots.iter_mut().zip(&self.slots) {
                *slot = SharedSlot::load(shared);
            }
        }
        TaskSnapshot {
            counters: Counters::from_words(counters::load(&self.counters)),
            scan: ScanCounters::from_words(counters::load(&self.scan_counters)),
            release: copy(&self.release, &mut buffers.release),
            wakeup: copy(&self.wakeup, &mut buffers.wakeup),
            execution: copy(&self.execution, &mut buffers.execution),
            response: copy(&self.response, &mut buffers.response),
            spikes: core::array::from_fn(|index| SharedSpike::load(&self.spikes[index])),
        }
    }
}

fn copy(shared: &Histogram, buffer: &mut Option<&mut HistogramCopy>) -> HistogramTotals {
    let totals = shared.totals();
    if let Some(buffer) = buffer {
        buffer.totals = totals;
        buffer.bins.fill(0);
        let first = bins::index_of(totals.min_ns).unwrap_or(BIN_COUNT);
        let last = bins::index_of(totals.max_ns).unwrap_or(BIN_COUNT - 1);
        if totals.count > 0 && first <= last {
            shared.copy_bins(first, &mut buffer.bins[first..=last]);
        }
    }
    totals
}
