//! Two parts of one run as one record.
//!
//! A run that was interrupted and measured again keeps what it had seen: a late release must not
//! vanish because somebody pressed Ctrl-C after it.

use super::{EarlierPart, Observation, Record, Timeline};
use crate::reason::Reason;

/// The most spikes that a record keeps, as many as the exchange.
const SPIKES_MAX: usize = 16;

impl Record {
    /// Adds an earlier part of the same run. The conditions stay those of the later part, with a
    /// remark; what is wrong with either is wrong with both. The time line is that of the later
    /// part, whose spikes alone have their place in it.
    pub fn absorb(&mut self, earlier: Self) {
        let part = EarlierPart {
            cycles: earlier.release.count(),
            started_at: earlier.conditions.started_at.clone(),
        };
        let mut earlier = earlier;
        for spike in &mut earlier.spikes {
            spike.conditions.push(Observation::InEarlierPart.into());
        }
        self.join(earlier);
        self.conditions.earlier_part = Some(part);
    }

    /// Adds an earlier block of the same variant of an experiment. The conditions and the time line
    /// stay those of the later one; what is wrong with either is wrong with both.
    pub fn join(&mut self, earlier: Self) {
        self.release.merge(&earlier.release);
        self.wakeup = match (self.wakeup.take(), earlier.wakeup) {
            (Some(mut later), Some(earlier)) => {
                later.merge(&earlier);
                Some(later)
            }
            _ => None,
        };
        self.measured.join(earlier.measured);
        if let (Some(later), Some(earlier)) = (&mut self.trial, earlier.trial) {
            later.blocks.splice(0..0, earlier.blocks);
        }
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let (counters, before) = (&mut self.counters, earlier.counters);
        counters.planned_cycles = counters.planned_cycles.saturating_add(before.planned_cycles);
        counters.missed_cycles = sum(counters.missed_cycles, before.missed_cycles);
        counters.longest_miss_run =
            counters.longest_miss_run.zip(before.longest_miss_run).map(|(a, b)| a.max(b));
        counters.early = counters.early.saturating_add(before.early);
        counters.difference_sum_ns = sum(counters.difference_sum_ns, before.difference_sum_ns);
        counters.migrations = counters.migrations.saturating_add(before.migrations);
        counters.spin_ns = counters.spin_ns.saturating_add(before.spin_ns);
        self.spikes.extend(earlier.spikes);
        self.spikes.sort_by_key(|spike| std::cmp::Reverse(spike.latency_ns));
        self.spikes.truncate(SPIKES_MAX);
        self.ledgers = match (self.ledgers.take(), earlier.ledgers) {
            (Some(mut later), Some(earlier)) => {
                later.absorb(earlier);
                Some(later)
            }
            (later, earlier) => later.or(earlier),
        };
        if self.timeline.slots.is_empty() {
            self.timeline = Timeline { ..earlier.timeline };
        }
        // The time between the parts is not known.
        self.stretches = None;
        let duration = &mut self.conditions.duration_ns;
        *duration = duration.saturating_add(earlier.conditions.duration_ns);
        for (own, more) in [
            (&mut self.degraded, earlier.degraded),
            (&mut self.invalid_because, earlier.invalid_because),
        ] {
            let new: Vec<Reason> =
                more.into_iter().filter(|reason| !own.contains(reason)).collect();
            own.extend(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use quietcore_units::Nanos;

    use crate::reason::{Stated, sentences};
    use crate::record::check::self_check;
    use crate::record::{Counters, Stretches};
    use crate::test_record;

    #[test]
    fn what_an_interrupted_part_has_seen_stays() {
        let mut earlier = test_record(&[(10_000, 99), (1_900_000, 2)]);
        earlier.counters = Counters {
            planned_cycles: 5_000,
            missed_cycles: Some(2),
            longest_miss_run: Some(2),
            ..Counters::default()
        };
        (earlier.spikes[0].release, earlier.spikes[0].at_ns) = (7, 7_000_000);
        earlier.degraded.push(Stated::from("no lock").into());
        let mut later = test_record(&[(20_000, 4_999), (1_200_000, 1)]);
        later.counters.planned_cycles = 5_000;
        later.counters.missed_cycles = Some(1);
        later.counters.longest_miss_run = Some(1);
        later.stretches = Stretches::planned(Nanos::from_secs(20));
        later.absorb(earlier);
        assert_eq!(later.stretches, None, "nobody knows how long nothing ran between the parts");
        assert_eq!((later.release.count(), later.release.max_ns()), (5_101, 1_900_000));
        assert_eq!(later.counters.missed_cycles, Some(3));
        assert_eq!(later.counters.longest_miss_run, Some(2));
        assert_eq!((later.spikes[0].release, later.spikes[0].latency_ns), (7, 1_900_000));
        assert_eq!(sentences(&later.degraded), "no lock");
        assert_eq!(self_check(&later, None), []);
        assert_eq!(later.conditions.earlier_part.unwrap().cycles, 101);
    }
}
