//! The worst cycles and the time line, compared with the histogram: they were written with the same
//! values.

use crate::reason::Inconsistency;
use crate::record::{Record, Spike};

/// The most spikes that a record keeps, as many as the exchange.
const SPIKES_MAX: usize = 16;
/// The most stretches of a time line, as many as the exchange has.
const SLOTS_MAX: usize = 1024;

/// Lists contradictions to the histogram; only of what our own recorder has written.
pub(super) fn contradictions(record: &Record) -> Vec<Inconsistency> {
    if !record.is_measured_by_us() {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    wrong.extend(spikes(record));
    if record.trial.is_none() {
        wrong.extend(timeline(record));
    }
    wrong
}

fn spikes(record: &Record) -> Option<Inconsistency> {
    let (spikes, release) = (&record.spikes, &record.release);
    let worst = spikes.iter().map(|spike| spike.latency_ns);
    if spikes.len() > SPIKES_MAX || !worst.clone().is_sorted_by(|a, b| a >= b) {
        return Some(Inconsistency::SpikeOrder);
    }
    // What was late at all is among them until they are full.
    let late = release.count_surely_above(0).min(SPIKES_MAX as u64);
    if (spikes.len() as u64) < late {
        return Some(Inconsistency::SpikesMissing);
    }
    if worst.clone().next().is_some_and(|worst| worst != release.max_ns()) {
        return Some(Inconsistency::SpikeNotLargest);
    }
    for (rank, latency_ns) in worst.enumerate() {
        let at_least = release.count_above(latency_ns.saturating_sub(1));
        let above = release.count_surely_above(latency_ns);
        if at_least <= rank as u64 || above > rank as u64 {
            return Some(Inconsistency::SpikesNotLargest);
        }
    }
    let is_one_cycle = |index: usize| {
        let spike = &spikes[index];
        // The numbers of an earlier part begin at 0 as well.
        !record.is_of_one_part()
            || record.trial.is_some()
            || spikes[..index].iter().all(|other| other.release != spike.release)
    };
    let runs = |release_number: u64| release_number < release.count();
    if !(0..spikes.len()).all(|index| is_one_cycle(index) && runs(spikes[index].release)) {
        return Some(Inconsistency::SpikeBeyondRun);
    }
    let is_due = |spike: &Spike| match record.period_ns.filter(|_| record.is_of_one_part()) {
        Some(period_ns) => spike.release.checked_mul(period_ns) == Some(spike.at_ns),
        None => true,
    };
    (!spikes.iter().all(is_due)).then_some(Inconsistency::SpikeNotDue)
}

fn timeline(record: &Record) -> Option<Inconsistency> {
    let (timeline, release) = (&record.timeline, &record.release);
    let slots = &timeline.slots;
    let (count, sum) = slots.iter().fold((0_u128, 0_u128), |(count, sum), slot| {
        (count + u128::from(slot.0), sum + u128::from(slot.2))
    });
    let (all, all_ns) = (u128::from(release.count()), u128::from(release.sum_ns()));
    let max_ns = slots.iter().map(|slot| slot.1).max().unwrap_or(0);
    let part = record.conditions.earlier_part.as_ref();
    let is_part = all > count && part.is_some_and(|part| u128::from(part.cycles) == all - count);
    let is_whole = count == all && sum == all_ns && max_ns == release.max_ns();
    let fits = is_whole || (is_part && sum <= all_ns && max_ns <= release.max_ns());
    if !fits || slots.len() > SLOTS_MAX {
        return Some(Inconsistency::TimelineTotals);
    }
    let is_even = |index: usize| {
        let full = slots[index].0 == timeline.slot_cycles;
        full || index + 1 == slots.len()
    };
    let is_slot = |slot: &(u64, u64, u64)| {
        slot.1 <= slot.2 && u128::from(slot.2) <= u128::from(slot.1) * u128::from(slot.0)
    };
    if !(0..slots.len()).all(is_even) || !slots.iter().all(is_slot) {
        return Some(Inconsistency::TimelineSlot);
    }
    None
}
