//! The cycle statistics: what the partition records is what others read.

use proptest::prelude::*;
use quietcore_exchange::{Recorder, Release, SPIKE_COUNT, Shape, TaskState, Worst, bins};
use quietcore_units::{Nanos, ThreadSetting};

use crate::memory::Memory;

const PERIOD: Nanos = Nanos::from_millis(1);
const ONE: Shape = Shape::of_tasks(1);

pub(crate) fn cycle(due: u64, latency: u64) -> Release {
    Release {
        due: Nanos::new(due),
        started: Nanos::new(due + latency),
        wakeup_latency: Nanos::new(latency * 2),
        margin: Nanos::new(7),
        spin: Nanos::new(3),
        cpu: 1,
    }
}

#[test]
fn what_the_partition_records_is_read_from_outside() {
    let memory = Memory::of_shape(&Shape::of_tasks(2));
    let host = memory.initialise(&Shape::of_tasks(2)).unwrap();
    let partition = memory.attach().unwrap();
    let mut recorder = Recorder::new(partition.task(1).unwrap(), PERIOD, 2);
    recorder.refuse(ThreadSetting::Policy, 1);
    recorder.set_state(TaskState::Running);
    // The third and fourth release come in a stall of 2.5 ms.
    for (index, latency) in [5_000, 7_000, 2_500_000, 1_500_000, 500_000].into_iter().enumerate() {
        recorder.record(&cycle(1_000_000 * (index as u64 + 1), latency));
    }

    let seen = host.task(1).unwrap();
    assert_eq!(seen.state(), TaskState::Running);
    assert!(seen.refused(ThreadSetting::Policy) && !seen.refused(ThreadSetting::Affinity));
    assert_eq!((seen.error_number(), seen.period_ns()), (1, 1_000_000));
    let counters = seen.counters().unwrap();
    assert_eq!(counters.cycles, 5);
    assert_eq!((counters.missed_cycles, counters.longest_miss_run), (2, 2));
    assert_eq!(counters.miss_run, 0);
    assert_eq!(counters.spin_ns, 15);
    assert_eq!(counters.difference_sum_ns, 2_000 + 2_493_000 + 1_000_000 + 1_000_000);
    let totals = seen.release().totals();
    assert_eq!((totals.count, totals.min_ns, totals.max_ns), (5, 5_000, 2_500_000));
    assert_eq!(seen.release().bin(bins::index_of(7_000).unwrap()), 1);
    assert_eq!(seen.wakeup().totals().max_ns, 5_000_000);
    assert_eq!(seen.execution().totals().count, 0);
    let slots: Vec<_> = seen.slots().take_while(|slot| slot.count > 0).collect();
    assert_eq!(slots.iter().map(|slot| slot.count).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(slots[1].max_ns, 2_500_000);
    assert_eq!(
        seen.spikes().next().map(|spike| (spike.release, spike.latency_ns)),
        Some((2, 2_500_000))
    );
    assert_eq!(host.task(0).unwrap().state(), TaskState::Unused);
}

#[test]
fn a_scan_is_recorded_with_execution_response_and_overruns() {
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let task = region.task(0).unwrap();
    let mut recorder = Recorder::new(task, PERIOD, 2);
    let scans = [(100, false), (900, true), (950, true), (200, false), (850, true)];
    for (number, (micros, overrun)) in (1..).zip(scans) {
        let execution = Nanos::from_micros(micros);
        let response = execution + Nanos::from_micros(5);
        recorder.record_scan(&cycle(1_000_000 * number, 5_000), execution, response, overrun);
    }
    recorder.note_watchdog_hit();
    recorder.note_skipped_releases(3);

    let counters = task.scan_counters().unwrap();
    assert_eq!(counters, recorder.scan_counters());
    assert_eq!((counters.overruns, counters.overrun_run, counters.longest_overrun_run), (3, 1, 2));
    assert_eq!((counters.watchdog_hits, counters.skipped_releases), (1, 3));
    let worst = Worst { value_ns: 950_000, release: 2, due_ns: 3_000_000 };
    assert_eq!(counters.worst_execution, worst);
    assert_eq!(counters.worst_response, Worst { value_ns: 955_000, ..worst });
    assert_eq!(task.execution().totals().count, 5);
    assert_eq!(task.response().totals().max_ns, 955_000);
    assert_eq!(task.release().totals().count, 5);
    assert_eq!(task.counters().unwrap().cycles, 5);

    recorder.clear();
    assert_eq!(task.scan_counters().unwrap(), Default::default());
    assert_eq!(task.execution().totals(), Default::default());
}

#[test]
fn a_release_before_its_time_is_counted_and_not_wrapped() {
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let mut recorder = Recorder::new(region.task(0).unwrap(), PERIOD, 1);
    let mut early = cycle(1_000, 0);
    early.started = Nanos::new(900);
    recorder.record(&early);
    assert_eq!(recorder.counters().early, 1);
    assert_eq!(region.task(0).unwrap().release().totals().max_ns, 0);
}

#[test]
fn a_value_beyond_the_range_is_counted_as_overflow_and_kept_as_maximum() {
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let mut recorder = Recorder::new(region.task(0).unwrap(), PERIOD, 1);
    recorder.record(&cycle(1, bins::RANGE_END + 5));
    let totals = region.task(0).unwrap().release().totals();
    assert_eq!((totals.count, totals.overflow, totals.max_ns), (1, 1, bins::RANGE_END + 5));
}

#[test]
fn steps_are_counted_on_over_a_task_that_died_in_one() {
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let task = region.task(0).unwrap();
    let mut first = Recorder::new(task, PERIOD, 1);
    assert_eq!(task.completed_steps(), 1, "taking over counts as one");
    first.begin_scan(0);
    first.end_scan();
    first.begin_scan(1);
    assert_eq!((task.completed_steps(), task.scan_cycle()), (2, 1));
    let mut second = Recorder::new(task, PERIOD, 1);
    assert_eq!(task.scan_cycle(), 0, "which numbers its cycles anew");
    second.begin_scan(0);
    second.end_scan();
    assert_eq!((task.completed_steps(), task.scan_cycle()), (5, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 32 }))]

    #[test]
    fn the_worst_cycles_are_kept_and_the_bins_add_up(
        latencies in proptest::collection::vec(0_u64..5_000_000, 1..200),
    ) {
        let memory = Memory::of_shape(&ONE);
        let region = memory.initialise(&ONE).unwrap();
        let task = region.task(0).unwrap();
        let mut recorder = Recorder::new(task, PERIOD, 3);
        for (index, latency) in latencies.iter().enumerate() {
            recorder.record(&cycle(index as u64 + 1, *latency));
        }
        let kept: Vec<u64> = task.spikes().map(|spike| spike.latency_ns).collect();
        let mut expected = latencies.clone();
        expected.retain(|latency| *latency > 0);
        expected.sort_unstable_by(|a, b| b.cmp(a));
        expected.truncate(SPIKE_COUNT);
        prop_assert_eq!(kept, expected);
        let binned: u64 = (0..bins::BIN_COUNT).map(|index| task.release().bin(index)).sum();
        prop_assert_eq!(binned, latencies.len() as u64);
        prop_assert_eq!(task.slots().map(|slot| slot.count).sum::<u64>(), latencies.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

    /// A release that was held up on purpose is found by its number, however many are worse; the
    /// other places hold the worst.
    #[test]
    fn a_watched_release_stays_among_the_worst(
        latencies in proptest::collection::vec(1_u64..5_000_000, 1..200),
        watched in 0_usize..200,
    ) {
        let memory = Memory::of_shape(&ONE);
        let region = memory.initialise(&ONE).unwrap();
        let task = region.task(0).unwrap();
        let mut recorder = Recorder::new(task, PERIOD, 3);
        recorder.watch(watched as u64);
        for (index, latency) in latencies.iter().enumerate() {
            recorder.record(&cycle(index as u64 + 1, *latency));
        }
        let kept: Vec<_> = task.spikes().map(|spike| (spike.release, spike.latency_ns)).collect();
        prop_assert!(kept.is_sorted_by(|a, b| a.1 >= b.1));
        let mut expected = latencies.clone();
        let held = (watched < expected.len()).then(|| expected.remove(watched));
        expected.sort_unstable_by(|a, b| b.cmp(a));
        expected.truncate(SPIKE_COUNT - usize::from(held.is_some()));
        if let Some(latency) = held {
            prop_assert!(kept.contains(&(watched as u64, latency)), "{kept:?}");
        }
        let others = kept.iter().filter(|it| it.0 != watched as u64).map(|it| it.1);
        prop_assert_eq!(others.collect::<Vec<_>>(), expected);
    }
}

/// All that a task has recorded.
fn all_of(task: &quietcore_exchange::TaskStatistics) -> impl PartialEq + std::fmt::Debug {
    let histogram = |of: &quietcore_exchange::Histogram| {
        let bins = (0..bins::BIN_COUNT).filter(|bin| of.bin(*bin) > 0);
        (of.totals(), bins.map(|bin| (bin, of.bin(bin))).collect::<Vec<_>>())
    };
    (
        task.counters().unwrap(),
        histogram(task.release()),
        histogram(task.wakeup()),
        task.spikes().collect::<Vec<_>>(),
        task.slots().collect::<Vec<_>>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 40 }))]
    #[test]
    fn skipped_releases_count_as_if_recorded_one_by_one(
        period in 1_u64..300_000_000,
        stalls in prop::collection::vec((0_u64..1_000, 1_u64..3_000), 1..4),
        slot_cycles in 1_u64..40,
    ) {
        let two = Shape::of_tasks(2);
        let memory = Memory::of_shape(&two);
        let region = memory.initialise(&two).unwrap();
        let [mut single, mut many] = [0, 1].map(|task| {
            Recorder::new(region.task(task).unwrap(), Nanos::new(period), slot_cycles)
        });
        let mut due = 1_000_000_000;
        for (latency, skipped) in stalls {
            single.record(&cycle(due, latency));
            many.record(&cycle(due, latency));
            due += period;
            many.record_skipped(Nanos::new(due), 2, skipped);
            let next = due + period * skipped;
            for due in (due..next).step_by(period as usize) {
                let none = Nanos::ZERO;
                let late = cycle(due, next - due);
                single.record(&Release { wakeup_latency: none, spin: none, cpu: 2, ..late });
            }
            due = next;
        }
        let [single, many] = [0, 1].map(|task| all_of(region.task(task).unwrap().statistics()));
        prop_assert_eq!(single, many);
    }
}

#[test]
fn an_hour_of_skipped_releases_is_recorded_in_no_time() {
    let releases = 3600 * 50_000;
    // The machine may stand still in one of the times.
    let is_short = (0..5).any(|_| {
        let memory = Memory::of_shape(&ONE);
        let region = memory.initialise(&ONE).unwrap();
        let mut recorder = Recorder::new(region.task(0).unwrap(), Nanos::from_micros(20), 1 << 32);
        let begin = std::time::Instant::now();
        recorder.record_skipped(Nanos::from_secs(1), 0, releases);
        let took = begin.elapsed();
        let totals = region.task(0).unwrap().release().totals();
        let seen = (totals.count, totals.max_ns, totals.min_ns);
        assert_eq!(seen, (releases, 3_600_000_000_000, 20_000));
        // 2³⁶ ns hold 3435973 whole periods of 20 µs.
        assert_eq!(totals.overflow, releases - 3_435_973);
        cfg!(miri) || took < std::time::Duration::from_millis(500)
    });
    assert!(is_short, "each of five took half a second");
}
