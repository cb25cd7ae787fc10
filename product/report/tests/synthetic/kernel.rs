//! A kernel whose routines were never measured.

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{
    Counters, Measured, Record, ReleaseMode, Routine, RoutineRun, Timeline, Trigger,
};

use super::{ASLEEP, Random, evidence, record};

/// Median and largest value of each routine, in ns; those of an interrupt by software.
const TIMES: [(Routine, f64, f64); 11] = [
    (Routine::Empty, 22.0, 900.0),
    (Routine::Act, 61.0, 21_000.0),
    (Routine::Actl, 14.0, 9_000.0),
    (Routine::Intdisable, 1.6, 4_000.0),
    (Routine::Intenable, 2.1, 4_200.0),
    (Routine::Isrentry, 12.0, 8_000.0),
    (Routine::Isr2entry, 24.0, 8_100.0),
    (Routine::Isrexit, 5.0, 7_600.0),
    (Routine::Istentry, 44.0, 19_000.0),
    (Routine::Istexit, 38.0, 12_000.0),
    (Routine::Terml, 42.0, 14_000.0),
];

/// Time that a signal adds, in ns.
const SIGNAL_NS: f64 = 1_100.0;
/// Counts of the clock a nanosecond.
const COUNTS: f64 = 2.45;

fn routine(routine: Routine, trigger: Option<Trigger>, loops: u64, seed: u64) -> Record {
    let (_, median, most) = TIMES.into_iter().find(|it| it.0 == routine).expect("all are there");
    let more = if trigger == Some(Trigger::Signal) { SIGNAL_NS } else { 0.0 };
    let offset = if routine == Routine::Empty { 0.0 } else { 22.0 };
    let mut random = Random::new(seed);
    let (mut raw, mut release) = (Histogram::new(), Histogram::new());
    let mut clamped = 0;
    for index in 0..loops {
        let mut net = (median + more) * (0.06 * random.normal()).exp() + 0.6 * random.normal();
        if index == loops / 2 && loops > 100 {
            net = most + more;
        }
        raw.record(((net + offset) * COUNTS) as u64);
        release.record(net.max(0.0).round() as u64);
        clamped += u64::from(net < 0.0);
    }
    let name = match trigger {
        Some(Trigger::Signal) => format!("{}-signal", routine.name()),
        _ => routine.name().to_owned(),
    };
    let mut record = record("tp2", 1, 1, ASLEEP, 1);
    record.name = format!("hosted.loops-{loops}.{name}");
    record.probe = "osek".to_owned();
    record.partition = "hosted".to_owned();
    record.profile = format!("loops-{loops}");
    record.period_ns = None;
    record.release = release;
    record.wakeup = None;
    record.spikes.clear();
    record.timeline = Timeline::default();
    record.counters = Counters { planned_cycles: loops, ..Counters::default() };
    record.measured = Measured::Routine(RoutineRun {
        routine,
        trigger,
        kernel: "hosted port, class ECC1, synthetic".to_owned(),
        hertz: (COUNTS * 1e9) as u64,
        offset: (offset * COUNTS) as u64,
        offset_mean: offset * COUNTS,
        clamped,
        raw,
        block_means_ns: Vec::new(),
    });
    let clock = "time stamp counter, synthetic".to_owned();
    record.conditions.machine.insert("clock_of_routines".to_owned(), clock);
    record.conditions.mode = ReleaseMode::not_timed("hosted port, class ECC1, synthetic");
    record
}

/// Makes the routines of a kernel, a run for each number of loops.
pub(crate) fn kernel(loops: &[u64]) -> Evidence {
    let mut records = Vec::new();
    for loops in loops {
        for (kind, seed) in Routine::ALL.into_iter().zip(1..) {
            let triggers: &[Option<Trigger>] = if kind.has_interrupt() {
                &[Some(Trigger::Software), Some(Trigger::Signal)]
            } else {
                &[None]
            };
            for trigger in triggers {
                let seed = seed + loops + u64::from(trigger.is_some());
                records.push(routine(kind, *trigger, *loops, seed));
            }
        }
    }
    let mut evidence = evidence(Vec::new(), 1e-6);
    evidence.manifest.name = "probe osek (synthetic)".to_owned();
    evidence.manifest.origin = Origin::Probe;
    evidence.manifest.classes.clear();
    evidence.manifest.declared.clear();
    evidence.manifest.profiles.clear();
    evidence.records = records;
    evidence
}
