//! The cycle statistics of one task, as they lie in the region.
//!
//! | part | written | meaning |
//! |------|---------|---------|
//! | state, settings refused | by the partition at start and end | what became of the task |
//! | counters | each cycle, under the seqlock | cycles, misses, spin time |
//! | `release` | each cycle | release latency: due instant to start of the work |
//! | `wakeup` | each cycle | wake-up latency: requested wake-up to running, what `cyclictest` measures |
//! | spikes | when a cycle is among the worst | instant, size, CPU |
//! | time line | each cycle | maximum and mean over equal stretches of the run |

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed},
    fence,
};

use crate::histogram::Histogram;

/// The number of worst cycles that are kept.
pub const SPIKE_COUNT: usize = 16;
/// The number of stretches into which the run is divided for its time line.
pub const SLOT_COUNT: usize = 1024;
/// How often a reader tries to get counters of one cycle before it gives up.
const READ_TRIES: usize = 1000;

/// The statistics of one task. All zero is a valid, unused block.
#[repr(C, align(4096))]
pub struct TaskStatistics {
    pub(crate) state: AtomicU32,
    pub(crate) thread_id: AtomicU32,
    pub(crate) refused: AtomicU64,
    pub(crate) error_number: AtomicU64,
    pub(crate) own_cost_ns: AtomicU64,
    pub(crate) first_release_ns: AtomicU64,
    /// Odd while the counters are being written.
    pub(crate) sequence: AtomicU64,
    pub(crate) counters: [AtomicU64; COUNTER_COUNT],
    pub(crate) slot_cycles: AtomicU64,
    pub(crate) spikes: [SharedSpike; SPIKE_COUNT],
    pub(crate) slots: [SharedSlot; SLOT_COUNT],
    pub(crate) release: Histogram,
    pub(crate) wakeup: Histogram,
}

pub(crate) const COUNTER_COUNT: usize = 9;

#[repr(C)]
pub(crate) struct SharedSpike {
    pub(crate) words: [AtomicU64; 5],
}

#[repr(C)]
pub(crate) struct SharedSlot {
    pub(crate) words: [AtomicU64; 3],
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Nobody has written to the block yet.
    Unused,
    /// The task prepares itself: priority, memory, first release.
    Starting,
    /// Cycles are being run.
    Running,
    /// All cycles that were asked for have been run.
    Finished,
    /// The task ended early because it was told to.
    Stopped,
    /// The task ended because of a fault.
    Failed,
    /// The number is none of these; the other side is of another kind or broken.
    Unknown(u32),
}

impl TaskState {
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Unused => 0,
            Self::Starting => 1,
            Self::Running => 2,
            Self::Finished => 3,
            Self::Stopped => 4,
            Self::Failed => 5,
            Self::Unknown(code) => code,
        }
    }

    const fn from_code(code: u32) -> Self {
        match code {
            0 => Self::Unused,
            1 => Self::Starting,
            2 => Self::Running,
            3 => Self::Finished,
            4 => Self::Stopped,
            5 => Self::Failed,
            other => Self::Unknown(other),
        }
    }

    /// Whether no further cycle will come.
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Stopped | Self::Failed | Self::Unknown(_))
    }
}

/// Something that a task asks of the kernel for itself before its first cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// To run on its CPU only.
    Affinity,
    /// Its scheduling policy and priority.
    Policy,
    /// Its memory locked.
    MemoryLock,
    /// Timers without slack.
    TimerSlack,
}

impl Setting {
    /// All settings.
    pub const ALL: [Self; 4] = [Self::Affinity, Self::Policy, Self::MemoryLock, Self::TimerSlack];

    pub(crate) const fn bit(self) -> u64 {
        1 << self as u32
    }
}

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
    /// How often the CPU differed from that of the cycle before.
    pub migrations: u64,
    /// The wake-up margin used last, in ns; zero in mode `sleep`.
    pub margin_ns: u64,
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
pub struct Slot {
    /// Releases in the stretch.
    pub count: u64,
    /// Their largest release latency, in ns.
    pub max_ns: u64,
    /// The sum of their release latencies, in ns.
    pub sum_ns: u64,
}

/// The counters could not be read within one cycle, however often it was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornRead;

impl TaskStatistics {
    /// What the task is doing.
    pub fn state(&self) -> TaskState {
        TaskState::from_code(self.state.load(Acquire))
    }

    /// The kernel's number of the task's thread; zero before it started.
    pub fn thread_id(&self) -> u32 {
        self.thread_id.load(Relaxed)
    }

    /// Whether the kernel refused a setting.
    pub fn refused(&self, setting: Setting) -> bool {
        self.refused.load(Relaxed) & setting.bit() != 0
    }

    /// The error number of the last refusal or fault; zero where there was none.
    pub fn error_number(&self) -> i32 {
        i32::try_from(self.error_number.load(Relaxed)).unwrap_or(i32::MAX)
    }

    /// What one cycle of the probe itself costs, in ns: its clock readings and its recording.
    pub fn own_cost_ns(&self) -> u64 {
        self.own_cost_ns.load(Relaxed)
    }

    /// When the first release was due, on the monotonic clock, in ns.
    pub fn first_release_ns(&self) -> u64 {
        self.first_release_ns.load(Relaxed)
    }

    /// Releases that each [`Slot`] of the time line stands for.
    pub fn slot_cycles(&self) -> u64 {
        self.slot_cycles.load(Relaxed)
    }

    /// Reads all counters as they were after one and the same cycle.
    ///
    /// # Errors
    /// [`TornRead`] when the writer was in the middle of a cycle at every try: it died there, or it
    /// is hostile.
    pub fn counters(&self) -> Result<Counters, TornRead> {
        for _ in 0..READ_TRIES {
            let before = self.sequence.load(Acquire);
            let read = self.read_counters();
            fence(Acquire);
            if before.is_multiple_of(2) && self.sequence.load(Relaxed) == before {
                return Ok(read);
            }
            core::hint::spin_loop();
        }
        Err(TornRead)
    }

    fn read_counters(&self) -> Counters {
        let mut words = [0; COUNTER_COUNT];
        for (word, shared) in words.iter_mut().zip(&self.counters) {
            *word = shared.load(Relaxed);
        }
        Counters::from_words(words)
    }

    /// The release latency.
    pub fn release(&self) -> &Histogram {
        &self.release
    }

    /// The wake-up latency.
    pub fn wakeup(&self) -> &Histogram {
        &self.wakeup
    }

    /// The worst cycles so far, in no order; unused places are left out.
    pub fn spikes(&self) -> impl Iterator<Item = Spike> + '_ {
        self.spikes
            .iter()
            .map(|spike| {
                let [release, due_ns, latency_ns, wakeup_ns, cpu] =
                    [0, 1, 2, 3, 4].map(|index: usize| spike.words[index].load(Relaxed));
                Spike { release, due_ns, latency_ns, wakeup_ns, cpu }
            })
            .filter(|spike| spike.due_ns != 0)
    }

    /// The time line; stretches that were not reached have a count of zero.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.slots.iter().map(|slot| {
            let [count, max_ns, sum_ns] =
                [0, 1, 2].map(|index: usize| slot.words[index].load(Relaxed));
            Slot { count, max_ns, sum_ns }
        })
    }
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

    const fn from_words(words: [u64; COUNTER_COUNT]) -> Self {
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
