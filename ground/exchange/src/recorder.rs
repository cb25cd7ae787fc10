//! The one writer of a task's statistics.
//!
//! A recorder keeps the truth in its own memory and publishes it, so that recording a cycle is some
//! twenty plain stores and a reader can never disturb it.

use core::sync::atomic::{
    Ordering::{Relaxed, Release},
    fence,
};

use quietcore_units::Nanos;

use crate::histogram::HistogramTotals;
use crate::statistics::{
    Counters, SLOT_COUNT, SPIKE_COUNT, Setting, Slot, Spike, TaskState, TaskStatistics,
};

/// What happened at one release.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// When the release was due.
    pub due: Nanos,
    /// When the work did start.
    pub started: Nanos,
    /// How late the kernel woke the task, against the instant it had asked for.
    pub wakeup_latency: Nanos,
    /// The margin by which it had asked to be woken before `due`.
    pub margin: Nanos,
    /// The time it spun until `due`.
    pub spin: Nanos,
    /// The CPU it ran on.
    pub cpu: u32,
}

/// Writes the statistics of one task. There must be one for each task, not more.
pub struct Recorder<'region> {
    shared: &'region TaskStatistics,
    period: Nanos,
    slot_cycles: u64,
    sequence: u64,
    counters: Counters,
    release: HistogramTotals,
    wakeup: HistogramTotals,
    previous: Option<(u64, u32)>,
    worst: [u64; SPIKE_COUNT],
    slot: Slot,
    slot_index: usize,
}

impl<'region> Recorder<'region> {
    /// Takes over a task's statistics: clears them, which makes their pages present, and says that
    /// the task is starting.
    ///
    /// `slot_cycles` releases make one stretch of the time line; after [`SLOT_COUNT`] stretches the
    /// last one takes all that still come.
    pub fn new(shared: &'region TaskStatistics, period: Nanos, slot_cycles: u64) -> Self {
        let mut recorder = Self {
            shared,
            period,
            slot_cycles: slot_cycles.max(1),
            sequence: 0,
            counters: Counters::default(),
            release: HistogramTotals::default(),
            wakeup: HistogramTotals::default(),
            previous: None,
            worst: [0; SPIKE_COUNT],
            slot: Slot::default(),
            slot_index: 0,
        };
        recorder.clear();
        recorder.set_state(TaskState::Starting);
        recorder
    }

    /// Forgets all cycles so far, as after a warm-up.
    pub fn clear(&mut self) {
        self.counters = Counters::default();
        self.release = HistogramTotals::default();
        self.wakeup = HistogramTotals::default();
        self.previous = None;
        self.worst = [0; SPIKE_COUNT];
        self.slot = Slot::default();
        self.slot_index = 0;
        let shared = self.shared;
        self.begin_writing();
        for word in &shared.counters {
            word.store(0, Relaxed);
        }
        let spikes = shared.spikes.iter().flat_map(|spike| &spike.words);
        let slots = shared.slots.iter().flat_map(|slot| &slot.words);
        for word in spikes.chain(slots) {
            word.store(0, Relaxed);
        }
        shared.slot_cycles.store(self.slot_cycles, Relaxed);
        shared.release.clear();
        shared.wakeup.clear();
        self.end_writing();
    }

    /// Makes the sequence odd before anything that a reader must not see in part. Pairs with the
    /// acquire fence of [`TaskStatistics::counters`].
    #[inline]
    fn begin_writing(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
        self.shared.sequence.store(self.sequence, Relaxed);
        fence(Release);
    }

    /// Makes the sequence even: what was written before is whole.
    #[inline]
    fn end_writing(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
        self.shared.sequence.store(self.sequence, Release);
    }

    /// Says what the task is doing.
    pub fn set_state(&mut self, state: TaskState) {
        self.shared.state.store(state.code(), Release);
    }

    /// Says which thread the task is.
    pub fn set_thread_id(&mut self, thread_id: u32) {
        self.shared.thread_id.store(thread_id, Relaxed);
    }

    /// Says that the kernel refused a setting, and with which error number.
    pub fn refuse(&mut self, setting: Setting, error_number: i32) {
        let refused = self.shared.refused.load(Relaxed) | setting.bit();
        self.shared.refused.store(refused, Relaxed);
        self.shared.error_number.store(u64::from(error_number.unsigned_abs()), Relaxed);
    }

    /// Says that the task ends because of a fault with this error number.
    pub fn fail(&mut self, error_number: i32) {
        self.shared.error_number.store(u64::from(error_number.unsigned_abs()), Relaxed);
        self.set_state(TaskState::Failed);
    }

    /// Says what one cycle of the probe itself costs.
    pub fn set_own_cost(&mut self, cost: Nanos) {
        self.shared.own_cost_ns.store(cost.get(), Relaxed);
    }

    /// Says when the first release is due.
    pub fn set_first_release(&mut self, due: Nanos) {
        self.shared.first_release_ns.store(due.get(), Relaxed);
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Records one cycle. Constant time; no allocation, lock or system call.
    #[inline]
    pub fn record(&mut self, cycle: &Cycle) {
        let shared = self.shared;
        let latency = match cycle.started.checked_sub(cycle.due) {
            Some(latency) => latency.get(),
            None => {
                self.counters.early += 1;
                0
            }
        };
        self.count(cycle, latency);

        self.begin_writing();
        for (word, value) in shared.counters.iter().zip(self.counters.to_words()) {
            word.store(value, Relaxed);
        }
        shared.release.record(&mut self.release, latency);
        shared.wakeup.record(&mut self.wakeup, cycle.wakeup_latency.get());
        self.end_writing();

        self.note_slot(latency);
        if latency > self.worst[SPIKE_COUNT - 1] {
            self.note_spike(cycle, latency);
        }
    }

    #[inline]
    fn count(&mut self, cycle: &Cycle, latency: u64) {
        let counters = &mut self.counters;
        counters.cycles += 1;
        if latency >= self.period.get() {
            counters.missed_cycles += 1;
            counters.miss_run += 1;
            counters.longest_miss_run = counters.longest_miss_run.max(counters.miss_run);
        } else {
            counters.miss_run = 0;
        }
        counters.spin_ns = counters.spin_ns.wrapping_add(cycle.spin.get());
        counters.margin_ns = cycle.margin.get();
        if let Some((previous, cpu)) = self.previous {
            counters.difference_sum_ns =
                counters.difference_sum_ns.wrapping_add(previous.abs_diff(latency));
            counters.migrations += u64::from(cpu != cycle.cpu);
        }
        self.previous = Some((latency, cycle.cpu));
    }

    #[inline]
    fn note_slot(&mut self, latency: u64) {
        if self.slot.count == self.slot_cycles && self.slot_index + 1 < SLOT_COUNT {
            self.slot_index += 1;
            self.slot = Slot::default();
        }
        self.slot.count += 1;
        self.slot.max_ns = self.slot.max_ns.max(latency);
        self.slot.sum_ns = self.slot.sum_ns.wrapping_add(latency);
        let words = [self.slot.count, self.slot.max_ns, self.slot.sum_ns];
        for (place, word) in self.shared.slots[self.slot_index].words.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }

    /// Replaces the smallest of the worst; `worst` stays sorted, and place `i` of the shared list
    /// holds the spike of rank `i`.
    #[cold]
    fn note_spike(&mut self, cycle: &Cycle, latency: u64) {
        let rank = self.worst.iter().position(|kept| latency > *kept).unwrap_or(SPIKE_COUNT - 1);
        for place in (rank + 1..SPIKE_COUNT).rev() {
            self.worst[place] = self.worst[place - 1];
            let (above, below) = self.shared.spikes.split_at(place);
            for (from, to) in above[place - 1].words.iter().zip(&below[0].words) {
                to.store(from.load(Relaxed), Relaxed);
            }
        }
        self.worst[rank] = latency;
        let spike = Spike {
            release: self.counters.cycles - 1,
            due_ns: cycle.due.get(),
            latency_ns: latency,
            wakeup_ns: cycle.wakeup_latency.get(),
            cpu: u64::from(cycle.cpu),
        };
        let words = [spike.release, spike.due_ns, spike.latency_ns, spike.wakeup_ns, spike.cpu];
        for (place, word) in self.shared.spikes[rank].words.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }
}
