//! The worst cycles one by one, and the time line of a run.

use crate::sync::{AtomicU64, Relaxed};

/// The number of worst cycles that are kept.
pub const SPIKE_COUNT: usize = 16;
/// The number of stretches into which the run is divided for its time line.
pub const SLOT_COUNT: usize = 1024;

#[repr(C)]
pub(crate) struct SharedSpike {
    pub(crate) words: [AtomicU64; 5],
}

#[repr(C)]
pub(crate) struct SharedSlot {
    pub(crate) words: [AtomicU64; 3],
}

/// One of the worst cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spike {
    /// Number of the release, from 0.
    pub release: u64,
    /// When it was due, on the monotonic clock, in ns.
    pub due_ns: u64,
    /// Release latency, in ns.
    pub latency_ns: u64,
    /// Wake-up latency of the same cycle, in ns.
    pub wakeup_ns: u64,
    /// The CPU on which the cycle ran.
    pub cpu: u64,
}

/// One stretch of the time line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelineSlot {
    /// Releases in the stretch.
    pub count: u64,
    /// Their largest release latency, in ns.
    pub max_ns: u64,
    /// The sum of their release latencies, in ns.
    pub sum_ns: u64,
}

impl SharedSpike {
    pub(super) fn store(&self, spike: &Spike) {
        let words = [spike.release, spike.due_ns, spike.latency_ns, spike.wakeup_ns, spike.cpu];
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }

    pub(super) fn load(&self) -> Spike {
        let [release, due_ns, latency_ns, wakeup_ns, cpu] = super::counters::load(&self.words);
        Spike { release, due_ns, latency_ns, wakeup_ns, cpu }
    }
}

impl SharedSlot {
    #[inline]
    pub(super) fn store(&self, slot: &TimelineSlot) {
        for (place, word) in self.words.iter().zip([slot.count, slot.max_ns, slot.sum_ns]) {
            place.store(word, Relaxed);
        }
    }

    pub(super) fn load(&self) -> TimelineSlot {
        let [count, max_ns, sum_ns] = super::counters::load(&self.words);
        TimelineSlot { count, max_ns, sum_ns }
    }
}
