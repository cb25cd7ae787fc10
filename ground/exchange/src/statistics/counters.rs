//! Counters of a task, updated each cycle: those of every task, and those of tasks of a program.

use crate::sync::{AtomicU64, Relaxed};

pub(crate) const COUNTER_COUNT: usize = 9;
pub(crate) const SCAN_COUNTER_COUNT: usize = 11;

/// A consistent reading of the counters of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Releases so far, those recorded late included.
    pub cycles: u64,
    /// Releases that came a whole period late or more.
    pub missed_cycles: u64,
    /// The misses in a row that the last release belongs to.
    pub miss_run: u64,
    /// The longest run of misses so far.
    pub longest_miss_run: u64,
    /// Releases that came before they were due; anything but zero says that the clock is broken.
    pub early: u64,
    /// Time spent spinning until the release, in ns.
    pub spin_ns: u64,
    /// Sum of absolute differences of successive release latencies, in ns.
    pub difference_sum_ns: u64,
    /// Cycles that began on another CPU than the one before.
    pub migrations: u64,
    /// The wake-up margin used last, in ns; zero in mode `sleep`.
    pub margin_ns: u64,
}

/// The largest value so far, and when it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worst {
    /// The value, in ns; zero where there was none.
    pub value_ns: u64,
    /// The number of the release, from 0.
    pub release: u64,
    /// When that release was due, on the monotonic clock, in ns.
    pub due_ns: u64,
}

/// A consistent reading of what a task that runs a program counts besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounters {
    /// Jobs that were not done at their deadline.
    pub overruns: u64,
    /// The overruns in a row that the last job belongs to.
    pub overrun_run: u64,
    /// The longest run of overruns so far.
    pub longest_overrun_run: u64,
    /// Jobs that took longer than their watchdog time.
    pub watchdog_hits: u64,
    /// Releases that were left out, because the job before took until after them.
    pub skipped_releases: u64,
    /// The longest execution time.
    pub worst_execution: Worst,
    /// The longest response time: release to completion.
    pub worst_response: Worst,
}

/// Loads words that must be of one write; the caller sees to that.
pub(super) fn load<const COUNT: usize>(shared: &[AtomicU64; COUNT]) -> [u64; COUNT] {
    core::array::from_fn(|index| shared[index].load(Relaxed))
}

impl Counters {
    pub(crate) const fn to_words(self) -> [u64; COUNTER_COUNT] {
        [
            self.cycles,
            self.missed_cycles,
            self.miss_run,
            self.longest_miss_run,
            self.early,
            self.spin_ns,
            self.difference_sum_ns,
            self.migrations,
            self.margin_ns,
        ]
    }

    pub(super) const fn from_words(words: [u64; COUNTER_COUNT]) -> Self {
        let [
            cycles,
            missed_cycles,
            miss_run,
            longest_miss_run,
            early,
            spin_ns,
            difference_sum_ns,
            migrations,
            margin_ns,
        ] = words;
        Self {
            cycles,
            missed_cycles,
            miss_run,
            longest_miss_run,
            early,
            spin_ns,
            difference_sum_ns,
            migrations,
            margin_ns,
        }
    }
}

impl Worst {
    /// Takes over a larger value.
    #[inline]
    pub(super) fn note(&mut self, value_ns: u64, release: u64, due_ns: u64) {
        if value_ns > self.value_ns {
            *self = Self { value_ns, release, due_ns };
        }
    }
}

impl ScanCounters {
    pub(crate) const fn to_words(self) -> [u64; SCAN_COUNTER_COUNT] {
        [
            self.overruns,
            self.overrun_run,
            self.longest_overrun_run,
            self.watchdog_hits,
            self.skipped_releases,
            self.worst_execution.value_ns,
            self.worst_execution.release,
            self.worst_execution.due_ns,
            self.worst_response.value_ns,
            self.worst_response.release,
            self.worst_response.due_ns,
        ]
    }

    pub(super) const fn from_words(words: [u64; SCAN_COUNTER_COUNT]) -> Self {
        let [overruns, overrun_run, longest_overrun_run, watchdog_hits, skipped_releases, ..] =
            words;
        let [.., value_ns, release, due_ns, _, _, _] = words;
        let worst_execution = Worst { value_ns, release, due_ns };
        let [.., value_ns, release, due_ns] = words;
        let worst_response = Worst { value_ns, release, due_ns };
        Self {
            overruns,
            overrun_run,
            longest_overrun_run,
            watchdog_hits,
            skipped_releases,
            worst_execution,
            worst_response,
        }
    }
}
