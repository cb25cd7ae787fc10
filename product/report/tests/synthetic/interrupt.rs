//! Evidence of interrupts that were never measured.

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{Counters, InterruptRun, Measured, Record, ReleaseMode, Timeline};

use super::{ASLEEP, evidence, record};

/// Makes a histogram of `count` values around `ns`.
fn around(ns: u64, count: u64) -> Histogram {
    let mut histogram = Histogram::new();
    for index in 0..count {
        histogram.record(ns + index % 97 * ns / 500);
    }
    histogram
}

/// Makes a run with a period, in ms, and `count` interrupts.
fn interrupts(period_ms: u64, count: u64) -> Record {
    let mut record = record("tp2", 1, 1, ASLEEP, 1);
    record.name = format!("guest.every-{period_ms}-ms.irq");
    record.probe = "irq".to_owned();
    record.partition = "guest".to_owned();
    record.profile = format!("every-{period_ms}-ms");
    record.period_ns = Some(period_ms * 1_000_000);
    record.release = around(9_000, count);
    record.wakeup = None;
    record.spikes.clear();
    record.timeline = Timeline::default();
    record.counters = Counters { planned_cycles: count, ..Counters::default() };
    record.measured = Measured::Interrupt(InterruptRun {
        path: "clock board on CPU 0, synthetic".to_owned(),
        kernel: "OSEK kernel, synthetic".to_owned(),
        register: around(9_300, count),
        switch: around(700, count),
        until_task: around(10_100, count),
        left_out: 3,
    });
    record.conditions.mode = ReleaseMode::not_timed(format!("an interrupt every {period_ms} ms"));
    record
}

/// Makes evidence of interrupts of two periods.
pub(crate) fn interrupt() -> Evidence {
    let mut evidence = evidence(Vec::new(), 1e-6);
    evidence.manifest.name = "probe irq (synthetic)".to_owned();
    evidence.manifest.origin = Origin::Probe;
    evidence.manifest.classes.clear();
    evidence.manifest.declared.clear();
    evidence.manifest.profiles.clear();
    evidence.records = vec![interrupts(10, 10_000), interrupts(1, 10_000)];
    evidence
}
