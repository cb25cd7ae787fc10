//! A record for the tests of this crate.

use crate::histogram::Histogram;
use crate::record::{
    Conditions, Measured, Record, Scan, ScanCounters, ScanTerms, Spike, Timeline, Worst,
};

/// The time between two releases of the test's records.
const PERIOD_NS: u64 = 1_000_000;

/// A valid record of these values, each as often as said, measured every 1 ms on CPU 1.
pub(crate) fn test_record(values: &[(u64, u64)]) -> Record {
    let mut release = Histogram::new();
    let mut worst: Vec<u64> = Vec::new();
    for (value, times) in values {
        release.record_many(*value, *times);
        worst.extend((0..(*times).min(16)).map(|_| *value));
    }
    worst.sort_unstable_by_key(|latency| std::cmp::Reverse(*latency));
    worst.retain(|latency| *latency > 0);
    worst.truncate(16);
    let spike = |(release, latency_ns): (u64, &u64)| Spike {
        release,
        at_ns: release * PERIOD_NS,
        latency_ns: *latency_ns,
        wakeup_ns: *latency_ns,
        cpu: 1,
        conditions: Vec::new(),
    };
    let stretch = (release.count(), release.max_ns(), release.sum_ns());
    let timeline = Timeline {
        slot_cycles: release.count(),
        slots: Some(stretch).filter(|(count, ..)| *count > 0).into_iter().collect(),
    };
    let duration_ns = release.count() * PERIOD_NS;
    Record {
        reserved: true,
        cpu: Some(1),
        period_ns: Some(PERIOD_NS),
        release,
        spikes: (0..).zip(&worst).map(spike).collect(),
        timeline,
        conditions: Conditions { duration_ns, ..Conditions::default() },
        ..Record::empty("axis.tp2.cpu1".to_owned(), "latency", "axis", "tp2")
    }
}

/// A valid record of 30 000 cycles of a program: 120 µs of execution, released 4 µs late.
pub(crate) fn test_scan_record() -> Record {
    const CYCLES: u64 = 30_000;
    let mut record = test_record(&[(4_000, CYCLES)]);
    let of = |value_ns| {
        let mut histogram = Histogram::new();
        histogram.record_many(value_ns, CYCLES);
        histogram
    };
    let worst = |value_ns| Some(Worst { value_ns, release: 5, at_ns: 5_000_000 });
    record.measured = Measured::releases(Some(Scan {
        terms: ScanTerms {
            program_period_ns: 1_000_000,
            deadline_ns: Some(800_000),
            watchdog_ns: Some(500_000),
            by_kernel: false,
        },
        execution: of(120_000),
        response: of(124_000),
        counters: ScanCounters::default(),
        worst_execution: worst(120_000),
        worst_response: worst(124_000),
        faults: Vec::new(),
        kernel_errors: Vec::new(),
    }));
    record
}
