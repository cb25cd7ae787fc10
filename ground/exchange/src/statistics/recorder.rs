//! The one writer of a task's statistics.
//!
//! A recorder keeps the truth in its own memory and publishes it, so that recording a cycle is some
//! twenty plain stores and a reader can never disturb it.

mod skipped;

use quietcore_units::{Nanos, ThreadSetting};

use crate::primitive::sequence::SequenceWriter;
use crate::statistics::{
    Counters, HistogramTotals, Release, SLOT_COUNT, SPIKE_COUNT, ScanCounters, SharedSpike, Spike,
    TaskState, TaskStatistics, TimelineSlot, WritableTask, bit_of,
};
use crate::sync::{Relaxed, Release as Published};

/// Writes the statistics of one task. There must be one for each task, not more.
pub struct Recorder<'region> {
    shared: &'region TaskStatistics,
    period: Nanos,
    slot_cycles: u64,
    sequence: SequenceWriter<'region>,
    scan: SequenceWriter<'region>,
    counters: Counters,
    scan_counters: ScanCounters,
    release: HistogramTotals,
    wakeup: HistogramTotals,
    execution: HistogramTotals,
    response: HistogramTotals,
    previous: Option<(u64, u32)>,
    worst: [u64; SPIKE_COUNT],
    /// The release that stays among the worst whatever its latency; [`NOT_WATCHED`] for none.
    watched: u64,
    /// Its rank among them, once it came.
    watched_rank: Option<usize>,
    slot: TimelineSlot,
    slot_index: usize,
}

/// No release has this number.
const NOT_WATCHED: u64 = u64::MAX;

impl<'region> Recorder<'region> {
    /// Takes over a task's statistics: clears them, which makes their pages present, and says that
    /// the task is starting.
    ///
    /// `slot_cycles` releases make one stretch of the time line; after [`SLOT_COUNT`] stretches the
    /// last one takes all that still come.
    pub fn new(task: WritableTask<'region>, period: Nanos, slot_cycles: u64) -> Self {
        let mut recorder = Self::of_clear(task, period, slot_cycles);
        recorder.clear();
        recorder
    }

    /// As [`new`](Self::new), for statistics that are clear and present already: those of a new
    /// exchange, or those that somebody else has just cleared. It writes a dozen words.
    pub fn of_clear(task: WritableTask<'region>, period: Nanos, slot_cycles: u64) -> Self {
        let shared = task.statistics();
        let mut recorder = Self {
            shared,
            period,
            slot_cycles: slot_cycles.max(1),
            sequence: SequenceWriter::resume(&shared.sequence),
            scan: SequenceWriter::resume(&shared.scan),
            counters: Counters::default(),
            scan_counters: ScanCounters::default(),
            release: HistogramTotals::default(),
            wakeup: HistogramTotals::default(),
            execution: HistogramTotals::default(),
            response: HistogramTotals::default(),
            previous: None,
            worst: [0; SPIKE_COUNT],
            watched: NOT_WATCHED,
            watched_rank: None,
            slot: TimelineSlot::default(),
            slot_index: 0,
        };
        // A predecessor that died in the middle of a step left the sequence odd.
        recorder.begin_scan(0);
        recorder.end_scan();
        shared.period_ns.store(period.get(), Relaxed);
        shared.slot_cycles.store(recorder.slot_cycles, Relaxed);
        recorder.set_state(TaskState::Starting);
        recorder
    }

    /// Forgets all cycles so far, as after a warm-up. Writes some megabyte: not between release and
    /// completion.
    pub fn clear(&mut self) {
        self.counters = Counters::default();
        self.scan_counters = ScanCounters::default();
        self.release = HistogramTotals::default();
        self.wakeup = HistogramTotals::default();
        self.execution = HistogramTotals::default();
        self.response = HistogramTotals::default();
        self.previous = None;
        self.worst = [0; SPIKE_COUNT];
        self.watched_rank = None;
        self.slot = TimelineSlot::default();
        self.slot_index = 0;
        let shared = self.shared;
        self.sequence.begin();
        let counters = shared.counters.iter().chain(&shared.scan_counters);
        let spikes = shared.spikes.iter().flat_map(|spike| &spike.words);
        let slots = shared.slots.iter().flat_map(|slot| &slot.words);
        for word in counters.chain(spikes).chain(slots) {
            word.store(0, Relaxed);
        }
        shared.slot_cycles.store(self.slot_cycles, Relaxed);
        for histogram in [&shared.release, &shared.wakeup, &shared.execution, &shared.response] {
            histogram.clear();
        }
        self.sequence.end();
    }

    /// Keeps a release among the worst, from now on and however small its latency is: one that was
    /// held up on purpose is looked at by its number. Releases count from 0 since [`clear`].
    ///
    /// [`clear`]: Self::clear
    pub fn watch(&mut self, release: u64) {
        self.watched = release;
    }

    /// Says that the task may write to the data of its program from now on, for cycle number
    /// `cycle`: before inputs, commands and forces are written there.
    #[inline]
    pub fn begin_scan(&mut self, cycle: u64) {
        self.scan.begin();
        self.shared.scan_cycle.store(cycle, Published);
    }

    /// Says that the task is through with the data, for this cycle.
    #[inline]
    pub fn end_scan(&mut self) {
        self.scan.end();
    }

    /// Says what the task is doing.
    pub fn set_state(&mut self, state: TaskState) {
        self.shared.state.store(state.code(), Published);
    }

    /// Says which thread the task is.
    pub fn set_thread_id(&mut self, thread_id: u32) {
        self.shared.thread_id.store(thread_id, Relaxed);
    }

    /// Says that the kernel refused a setting, and with which error number.
    pub fn refuse(&mut self, setting: ThreadSetting, error_number: i32) {
        let refused = self.shared.refused.load(Relaxed) | bit_of(setting);
        self.shared.refused.store(refused, Relaxed);
        self.shared.error_number.store(u64::from(error_number.unsigned_abs()), Relaxed);
    }

    /// Says that the kernel refused the settings that it refused another task, whose thread runs
    /// this one, too.
    pub fn refuse_as_to(&mut self, other: &TaskStatistics) {
        self.shared.refused.store(other.refused.load(Relaxed), Relaxed);
        self.shared.error_number.store(other.error_number.load(Relaxed), Relaxed);
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

    /// Returns the counters of a program's task so far.
    pub fn scan_counters(&self) -> ScanCounters {
        self.scan_counters
    }

    /// Records one release. Constant time; no allocation, lock or system call.
    #[inline]
    pub fn record(&mut self, release: &Release) {
        let latency = self.latency(release);
        self.sequence.begin();
        self.record_release(release, latency);
        self.sequence.end();
    }

    /// Records one release at which a program ran: its execution time, its response time from the
    /// instant at which the release was due, and whether that was beyond the deadline. Constant
    /// time; no allocation, lock or system call.
    #[inline]
    pub fn record_scan(
        &mut self,
        release: &Release,
        execution: Nanos,
        response: Nanos,
        overrun: bool,
    ) {
        let latency = self.latency(release);
        let number = self.counters.cycles;
        let due = release.due.get();
        let counters = &mut self.scan_counters;
        if overrun {
            counters.overruns += 1;
            counters.overrun_run += 1;
            counters.longest_overrun_run = counters.longest_overrun_run.max(counters.overrun_run);
        } else {
            counters.overrun_run = 0;
        }
        counters.worst_execution.note(execution.get(), number, due);
        counters.worst_response.note(response.get(), number, due);

        self.sequence.begin();
        self.record_release(release, latency);
        self.shared.execution.record(&mut self.execution, execution.get());
        self.shared.response.record(&mut self.response, response.get());
        self.publish_scan_counters();
        self.sequence.end();
    }

    /// Counts that the watchdog fired, at once: there may be no further cycle.
    pub fn note_watchdog_hit(&mut self) {
        self.scan_counters.watchdog_hits += 1;
        self.sequence.begin();
        self.publish_scan_counters();
        self.sequence.end();
    }

    /// Counts releases that were left out, at once.
    pub fn note_skipped_releases(&mut self, releases: u64) {
        let skipped = &mut self.scan_counters.skipped_releases;
        *skipped = skipped.saturating_add(releases);
        self.sequence.begin();
        self.publish_scan_counters();
        self.sequence.end();
    }

    #[inline]
    fn publish_scan_counters(&self) {
        let words = self.scan_counters.to_words();
        for (place, word) in self.shared.scan_counters.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }

    #[inline]
    fn latency(&mut self, release: &Release) -> u64 {
        match release.latency() {
            Some(latency) => latency.get(),
            None => {
                self.counters.early += 1;
                0
            }
        }
    }

    /// Records a release, which every cycle has; within the sequence.
    #[inline]
    fn record_release(&mut self, release: &Release, latency: u64) {
        self.count(release, latency);
        let shared = self.shared;
        for (place, word) in shared.counters.iter().zip(self.counters.to_words()) {
            place.store(word, Relaxed);
        }
        shared.release.record(&mut self.release, latency);
        shared.wakeup.record(&mut self.wakeup, release.wakeup_latency.get());
        self.note_slot(latency);
        let number = self.counters.cycles - 1;
        if latency > self.worst[SPIKE_COUNT - 1] || number == self.watched {
            self.note_spike(&Spike {
                release: number,
                due_ns: release.due.get(),
                latency_ns: latency,
                wakeup_ns: release.wakeup_latency.get(),
                cpu: u64::from(release.cpu),
            });
        }
    }

    #[inline]
    fn count(&mut self, release: &Release, latency: u64) {
        let counters = &mut self.counters;
        counters.cycles += 1;
        if latency >= self.period.get() {
            counters.missed_cycles += 1;
            counters.miss_run += 1;
            counters.longest_miss_run = counters.longest_miss_run.max(counters.miss_run);
        } else {
            counters.miss_run = 0;
        }
        counters.spin_ns = counters.spin_ns.wrapping_add(release.spin.get());
        counters.margin_ns = release.margin.get();
        if let Some((previous, cpu)) = self.previous {
            counters.difference_sum_ns =
                counters.difference_sum_ns.wrapping_add(previous.abs_diff(latency));
            counters.migrations += u64::from(cpu != release.cpu);
        }
        self.previous = Some((latency, release.cpu));
    }

    #[inline]
    fn note_slot(&mut self, latency: u64) {
        if self.slot.count == self.slot_cycles && self.slot_index + 1 < SLOT_COUNT {
            self.slot_index += 1;
            self.slot = TimelineSlot::default();
        }
        self.slot.count += 1;
        self.slot.max_ns = self.slot.max_ns.max(latency);
        self.slot.sum_ns = self.slot.sum_ns.wrapping_add(latency);
        self.shared.slots[self.slot_index].store(&self.slot);
    }

    /// Replaces the smallest of the worst but the watched one; `worst` stays sorted, and place `i`
    /// of the shared list holds the spike of rank `i`.
    #[cold]
    fn note_spike(&mut self, spike: &Spike) {
        const LAST: usize = SPIKE_COUNT - 1;
        let latency = spike.latency_ns;
        let is_watched = spike.release == self.watched;
        let places = if self.watched_rank == Some(LAST) { LAST } else { SPIKE_COUNT };
        let rank = match self.worst[..places].iter().position(|kept| latency > *kept) {
            Some(rank) => rank,
            None if is_watched => LAST,
            None => return,
        };
        match &mut self.watched_rank {
            held if is_watched => *held = Some(rank),
            Some(held) if (rank..LAST).contains(held) => *held += 1,
            _ => {}
        }
        for place in (rank + 1..places).rev() {
            self.worst[place] = self.worst[place - 1];
            let above = SharedSpike::load(&self.shared.spikes[place - 1]);
            self.shared.spikes[place].store(&above);
        }
        self.worst[rank] = latency;
        self.shared.spikes[rank].store(spike);
    }
}
