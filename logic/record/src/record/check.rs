//! The self-check of a record (rules of evidence 3, 4 and 7).
//!
//! A record is checked when it is made and again each time it is read: whoever changes a number has
//! to change all others that follow from it. One that fails a check stays readable, and proves
//! nothing.

mod counted;
mod kept;

use crate::ledger::Ledger;
use crate::reason::{Inconsistency, InjectionFinding, Reason};
pub use crate::record::Injected;
use crate::record::Record;
use crate::statistics::Statistics;

/// Lists which numbers of a record exclude each other. An injected delay that is seen makes the
/// record a test of the probe, which is said too.
pub fn self_check(record: &Record, injected: Option<Injected>) -> Vec<Reason> {
    let mut wrong = of_latencies(record);
    wrong.extend(counted::contradictions(record));
    wrong.extend(kept::contradictions(record).into_iter().map(Reason::from));
    wrong.extend(of_what_was_measured(record).into_iter().map(Reason::from));
    match injected {
        Some(injected) => wrong.push(InjectionFinding::of(record, injected).into()),
        None => wrong.extend(counted::hidden_injection(record).map(Reason::from)),
    }
    wrong
}

fn of_latencies(record: &Record) -> Vec<Reason> {
    let release = &record.release;
    let histograms = [Some(release), record.wakeup.as_ref()];
    let mut wrong = Vec::new();
    if !histograms.iter().flatten().all(|histogram| histogram.is_consistent()) {
        wrong.push(Inconsistency::Bins);
    }
    if record.wakeup.as_ref().is_some_and(|wakeup| wakeup.count() != release.count()) {
        wrong.push(Inconsistency::WakeupCount);
    }
    if !Statistics::of(record).is_ordered() {
        wrong.push(Inconsistency::QuantileOrder);
    }
    if record.stretches.as_ref().is_some_and(|it| it.whole() != *release) {
        wrong.push(Inconsistency::Stretches);
    }
    if record.counters.early > 0 {
        wrong.push(Inconsistency::EarlyReleases { count: record.counters.early });
    }
    if record.counters.missed_cycles.is_some_and(|missed| missed > release.count()) {
        wrong.push(Inconsistency::MissesBeyondReleases);
    }
    wrong.into_iter().map(Reason::from).collect()
}

fn of_what_was_measured(record: &Record) -> Vec<Inconsistency> {
    let mut wrong = Vec::new();
    if let Some(scan) = record.scan() {
        wrong.extend(scan.self_check(record));
        wrong.extend(counted::scan_contradictions(record, scan));
    }
    if let Some(routine) = record.routine() {
        wrong.extend(routine.self_check(record));
    }
    if let Some(interrupt) = record.interrupt() {
        wrong.extend(interrupt.self_check(record));
    }
    if let Some(round_trip) = record.round_trip() {
        wrong.extend(round_trip.self_check(record));
    }
    if let Some(ledgers) = &record.ledgers {
        if !ledgers.kept.iter().all(Ledger::adds_up) {
            wrong.push(Inconsistency::LedgerShares);
        }
        if ledgers.ledgered > ledgers.above {
            wrong.push(Inconsistency::LedgersBeyondLate);
        }
    }
    if let Some(memory) = record.memory() {
        wrong.extend(memory.self_check(record));
    }
    wrong
}

#[cfg(test)]
mod forged;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::sentences;
    use crate::record::Spike;
    use crate::test_record;

    fn spike(release: u64, latency_ns: u64) -> Spike {
        Spike { release, at_ns: 0, latency_ns, wakeup_ns: 0, cpu: 1, conditions: Vec::new() }
    }

    #[test]
    fn a_sound_record_has_no_findings() {
        assert_eq!(self_check(&test_record(&[(5, 10), (70_000, 2)]), None), []);
        assert_eq!(self_check(&test_record(&[]), None), []);
    }

    /// The last finding of a record whose worst cycle is replaced by this one.
    fn with_spike(spike: Spike) -> String {
        let mut record = test_record(&[(5, 2000), (500_200, 1)]);
        record.spikes[0] = spike;
        let injected = Some(Injected { delay_ns: 500_000, release: 1000 });
        self_check(&record, injected).pop().unwrap().to_string()
    }

    #[test]
    fn an_injected_delay_is_found_or_missed_by_name() {
        assert!(with_spike(spike(1000, 500_200)).contains("was seen there as 500 µs"));
        assert!(with_spike(spike(999, 500_200)).contains("NOT seen"));
        assert!(with_spike(spike(1000, 499_999)).contains("NOT seen there: that release was 500"));
    }

    #[test]
    fn a_broken_clock_and_contradicting_counters_are_found() {
        let mut record = test_record(&[(5, 10)]);
        record.counters.early = 3;
        record.counters.missed_cycles = Some(11);
        record.wakeup = Some(test_record(&[(5, 9)]).release);
        let wrong = sentences(&self_check(&record, None));
        for expected in ["before they were due", "more cycles were missed", "different counts"] {
            assert!(wrong.contains(expected), "{expected}: {wrong}");
        }
    }
}
