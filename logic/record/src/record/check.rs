//! The self-check of a record (rules of evidence 3, 4 and 7).
//!
//! A record is checked when it is made and again each time it is read: whoever changes a number has
//! to change all others that follow from it. One that fails a check stays readable, and proves
//! nothing.

mod counted;
mod kept;

use quietcore_units::Nanos;

use crate::ledger::Ledger;
pub use crate::record::Injected;
use crate::record::Record;
use crate::statistics::Statistics;

/// What is wrong with a record's numbers, in words. An injected delay that is seen makes the record
/// a test of the probe, which is said too.
pub fn self_check(record: &Record, injected: Option<Injected>) -> Vec<String> {
    let mut wrong = Vec::new();
    let histograms = [Some(&record.release), record.wakeup.as_ref()];
    if !histograms.iter().flatten().all(|histogram| histogram.is_consistent()) {
        wrong.push("the histogram's bins do not add up to its count".to_owned());
    }
    if record.wakeup.as_ref().is_some_and(|wakeup| wakeup.count() != record.release.count()) {
        wrong.push("release and wake-up latency have different counts".to_owned());
    }
    if !Statistics::of(record).is_ordered() {
        wrong.push("minimum, median and maximum are out of order".to_owned());
    }
    if record.counters.early > 0 {
        wrong.push(format!(
            "{} releases came before they were due: the clock is broken",
            record.counters.early
        ));
    }
    if record.counters.missed_cycles.is_some_and(|missed| missed > record.release.count()) {
        wrong.push("more cycles were missed than run".to_owned());
    }
    wrong.extend(counted::contradictions(record));
    wrong.extend(kept::contradictions(record));
    if let Some(scan) = &record.scan {
        wrong.extend(scan.self_check(record));
        wrong.extend(counted::scan_contradictions(record, scan));
    }
    if let Some(routine) = &record.routine {
        wrong.extend(routine.self_check(record));
    }
    if let Some(interrupt) = &record.interrupt {
        wrong.extend(interrupt.self_check(record));
    }
    if let Some(round_trip) = &record.round_trip {
        wrong.extend(round_trip.self_check(record));
    }
    if let Some(ledgers) = &record.ledgers {
        if !ledgers.kept.iter().all(Ledger::adds_up) {
            wrong.push("the shares of a spike ledger do not add up to its latency".to_owned());
        }
        if ledgers.ledgered > ledgers.above {
            wrong.push("more releases have a ledger than were late".to_owned());
        }
    }
    if let Some(memory) = &record.memory {
        wrong.extend(memory.self_check(record));
    }
    match injected {
        Some(injected) => wrong.push(injection_finding(record, injected)),
        None => wrong.extend(counted::hidden_injection(record)),
    }
    wrong
}

pub(super) fn injection_finding(record: &Record, injected: Injected) -> String {
    let delay = Nanos::new(injected.delay_ns);
    let release = injected.release;
    match injected.found(record).map(Nanos::new) {
        Some(latency) if injected.is_seen(record) => format!(
            "a delay of {delay} was injected at release {release} and was seen there as {latency}"
        ),
        Some(latency) => format!(
            "a delay of {delay} was injected at release {release} and was NOT seen there: that \
             release was {latency} late"
        ),
        None => format!(
            "a delay of {delay} was injected at release {release} and was NOT seen: the record \
             doesn't have that release"
        ),
    }
}

#[cfg(test)]
mod forged;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Spike;
    use crate::test_record;

    fn spike(release: u64, latency_ns: u64) -> Spike {
        Spike { release, at_ns: 0, latency_ns, wakeup_ns: 0, cpu: 1, conditions: Vec::new() }
    }

    #[test]
    fn a_sound_record_has_no_findings() {
        assert_eq!(self_check(&test_record(&[(5, 10), (70_000, 2)]), None), Vec::<String>::new());
        assert_eq!(self_check(&test_record(&[]), None), Vec::<String>::new());
    }

    /// The last finding of a record whose worst cycle is replaced by this one.
    fn with_spike(spike: Spike) -> String {
        let mut record = test_record(&[(5, 2000), (500_200, 1)]);
        record.spikes[0] = spike;
        let injected = Some(Injected { delay_ns: 500_000, release: 1000 });
        self_check(&record, injected).pop().unwrap()
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
        let wrong = self_check(&record, None).join("; ");
        for expected in ["before they were due", "more cycles were missed", "different counts"] {
            assert!(wrong.contains(expected), "{expected}: {wrong}");
        }
    }
}
