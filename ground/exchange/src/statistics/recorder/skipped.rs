//! Releases that were left out, recorded many at a time.
//!
//! Whoever was stopped for an hour at a period of 100 µs has left out 36 million releases. They
//! count like all others, each as late as it is, but nobody has the time to record them one by
//! one. Their latencies fall by a period from each to the next, so all in one bin and one stretch
//! of the time line are recorded in one step: no more steps than there are bins and stretches.

use quietcore_units::Nanos;

use super::Recorder;
use crate::statistics::histogram::Many;
use crate::statistics::{SLOT_COUNT, SPIKE_COUNT, Spike, TimelineSlot, bins};

impl Recorder<'_> {
    /// Records `count` releases that were left out, the first of which was due at `due`, and the
    /// last one a period before the release that is run next: each as if it had been run together
    /// with that one, without a sleep. The same as so many calls of [`record`](Self::record) with
    /// the margin of the cycle before; no allocation, lock or system call.
    pub fn record_skipped(&mut self, due: Nanos, cpu: u32, count: u64) {
        let mut left = count;
        while left > 0 {
            let due = due + self.period * (count - left);
            left -= self.record_some_skipped(due, cpu, left);
        }
    }

    /// Records the first of `left` releases, as many as go into one bin and one stretch of the time
    /// line. Returns how many.
    fn record_some_skipped(&mut self, due: Nanos, cpu: u32, left: u64) -> u64 {
        let period = self.period.get();
        let highest = period.saturating_mul(left);
        let bin_begins = bins::index_of(highest).map_or(bins::RANGE_END, bins::lowest_of);
        let in_bin = (highest - bin_begins) / period.max(1) + 1;
        if self.slot.count == self.slot_cycles && self.slot_index + 1 < SLOT_COUNT {
            self.slot_index += 1;
            self.slot = TimelineSlot::default();
        }
        let in_slot = match self.slot_index + 1 {
            SLOT_COUNT => u64::MAX,
            _ => self.slot_cycles - self.slot.count,
        };
        let count = in_bin.min(in_slot).min(left);
        let many = Many::falling(highest, period, count);

        self.sequence.begin();
        self.count_skipped(&many, cpu);
        let shared = self.shared;
        shared.release.record_many(&mut self.release, &many);
        shared.wakeup.record_many(&mut self.wakeup, &Many::falling(0, 0, count));
        self.slot.count += count;
        self.slot.max_ns = self.slot.max_ns.max(highest);
        self.slot.sum_ns = self.slot.sum_ns.wrapping_add(many.sum);
        shared.slots[self.slot_index].store(&self.slot);
        let first = self.counters.cycles - count;
        for place in 0..count.min(SPIKE_COUNT as u64) {
            let latency_ns = highest - period * place;
            if latency_ns <= self.worst[SPIKE_COUNT - 1] {
                break;
            }
            let due_ns = (due + self.period * place).get();
            let (release, cpu) = (first + place, u64::from(cpu));
            self.note_spike(&Spike { release, due_ns, latency_ns, wakeup_ns: 0, cpu });
        }
        self.sequence.end();
        count
    }

    /// All of them came a period late or more.
    fn count_skipped(&mut self, many: &Many, cpu: u32) {
        let counters = &mut self.counters;
        counters.cycles += many.count;
        counters.missed_cycles += many.count;
        counters.miss_run += many.count;
        counters.longest_miss_run = counters.longest_miss_run.max(counters.miss_run);
        let mut differences = many.highest - many.lowest;
        if let Some((previous, previous_cpu)) = self.previous {
            differences = differences.wrapping_add(previous.abs_diff(many.highest));
            counters.migrations += u64::from(previous_cpu != cpu);
        }
        counters.difference_sum_ns = counters.difference_sum_ns.wrapping_add(differences);
        self.previous = Some((many.lowest, cpu));
        for (place, word) in self.shared.counters.iter().zip(self.counters.to_words()) {
            place.store(word, crate::sync::Relaxed);
        }
    }
}
