//! Readings of several words beside a writer: of one cycle, or refused.

use std::sync::atomic::{AtomicU64, Ordering};

use quietcore_exchange::{
    Recorder, Release, SLOT_COUNT, Shape, SnapshotBuffers, TaskSnapshot, TaskStatistics,
    TimelineSlot, TornRead, bins,
};
use quietcore_units::Nanos;

use crate::memory::Memory;
use crate::statistics::cycle;

const PERIOD: Nanos = Nanos::from_millis(1);
const ONE: Shape = Shape::of_tasks(1);

/// Goal: counters read together belong to one cycle while a writer runs and clears.
/// Method: all counters of a cycle follow from its number; a second thread looks until it has seen
/// enough.
#[test]
fn counters_read_beside_a_writer_are_of_one_cycle() {
    // Miri takes some thousand times as long, and sees a race in far fewer.
    const READINGS: usize = if cfg!(miri) { 20 } else { 20_000 };
    const CYCLES_BETWEEN_CLEARS: u64 = if cfg!(miri) { 5 } else { 50_000 };
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let task = region.task(0).unwrap();
    let mut recorder = Recorder::new(task, PERIOD, 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !region.stop_requested() {
                recorder.clear();
                for number in 1..=CYCLES_BETWEEN_CLEARS {
                    recorder.record(&cycle(number, 2_000_000));
                }
            }
        });
        let readings = std::iter::repeat_with(|| task.counters()).flatten().take(READINGS);
        let torn = readings
            .filter(|read| {
                [read.spin_ns / 3, read.missed_cycles, read.miss_run, read.longest_miss_run]
                    != [read.cycles; 4]
            })
            .count();
        region.request_stop();
        assert_eq!(torn, 0);
    });
}

struct Memories {
    histograms: [Vec<u64>; 4],
    slots: Vec<TimelineSlot>,
}

impl Memories {
    fn new() -> Self {
        let histograms = std::array::from_fn(|_| vec![9; bins::BIN_COUNT]);
        Self { histograms, slots: vec![TimelineSlot::default(); SLOT_COUNT] }
    }

    fn read(&mut self, task: &TaskStatistics) -> Result<TaskSnapshot, TornRead> {
        let [release, wakeup, execution, response] = &mut self.histograms;
        let slots = &mut self.slots;
        task.snapshot(&mut SnapshotBuffers { release, wakeup, execution, response, slots })
    }

    /// Everything says the same number of cycles and the same worst one.
    fn check(&self, seen: &TaskSnapshot) {
        let cycles = seen.counters.cycles;
        let totals = [seen.release, seen.wakeup, seen.execution, seen.response];
        for (bins, totals) in self.histograms.iter().zip(totals) {
            assert_eq!(totals.count, cycles);
            assert_eq!(bins.iter().sum::<u64>() + totals.overflow, cycles);
        }
        assert_eq!(self.slots.iter().map(|slot| slot.count).sum::<u64>(), cycles);
        assert_eq!(seen.spikes[0].latency_ns, seen.release.max_ns);
        assert_eq!(seen.scan.worst_execution.value_ns, seen.execution.max_ns);
        assert!(seen.spikes.is_sorted_by_key(|spike| std::cmp::Reverse(spike.latency_ns)));
    }
}

fn record(recorder: &mut Recorder<'_>, number: u64) {
    // Between 5 µs and 70 µs, so that the worst cycles change for a long time.
    let latency = 5_000 + number * 7_919 % 65_000;
    let cycle = Release { cpu: 0, ..cycle(number, latency) };
    recorder.record_scan(&cycle, Nanos::new(latency * 2), Nanos::new(latency * 3), false);
}

#[test]
fn a_snapshot_holds_all_there_is() {
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let task = region.task(0).unwrap();
    let mut memories = Memories::new();
    assert_eq!(memories.read(&task), Ok(TaskSnapshot::default()));
    let mut recorder = Recorder::new(task, PERIOD, 3);
    (1..=100).for_each(|number| record(&mut recorder, number));
    let seen = memories.read(&task).unwrap();
    memories.check(&seen);
    assert_eq!((seen.counters, seen.scan), (recorder.counters(), recorder.scan_counters()));
    assert_eq!(seen.release, task.release().totals());
    let shared = [task.release(), task.wakeup(), task.execution(), task.response()];
    for (copy, shared) in memories.histograms.iter().zip(shared) {
        let same = (0..bins::BIN_COUNT).all(|index| copy[index] == shared.bin(index));
        assert!(same, "all bins are copied");
    }
}

/// Goal: a snapshot of a running task is of one cycle in all its parts: bins, worst cycles, time
/// line. Method: a task with pauses as long as some readings; the parts of each snapshot must
/// agree.
#[test]
fn a_snapshot_beside_a_writer_is_of_one_cycle() {
    const SNAPSHOTS: usize = if cfg!(miri) { 2 } else { 300 };
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let task = region.task(0).unwrap();
    let mut recorder = Recorder::new(task, PERIOD, 50);
    let pace = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1.. {
                record(&mut recorder, number);
                // As a cycle leaves time between two writings: until the reader has tried once
                // more, at most.
                let seen = pace.load(Ordering::Relaxed);
                for _ in 0..20_000 {
                    if pace.load(Ordering::Relaxed) != seen || region.stop_requested() {
                        break;
                    }
                    std::hint::spin_loop();
                }
                if region.stop_requested() {
                    break;
                }
            }
        });
        let mut memories = Memories::new();
        let mut whole = 0;
        while whole < SNAPSHOTS {
            if let Ok(seen) = memories.read(&task)
                && seen.counters.cycles > 0
            {
                memories.check(&seen);
                whole += 1;
            }
            pace.fetch_add(1, Ordering::Relaxed);
        }
        region.request_stop();
    });
}

#[test]
fn a_task_that_died_while_it_wrote_gives_no_snapshot() {
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    let task = region.task(0).unwrap();
    // The sequence lies behind the state and the scan sequence, one cache line each.
    memory.poke(4096 + 128, &[7]);
    assert_eq!(task.snapshot(&mut SnapshotBuffers::default()), Err(TornRead));
    assert_eq!(task.counters(), Err(TornRead));
    Recorder::new(task, PERIOD, 1);
    assert!(task.snapshot(&mut SnapshotBuffers::default()).is_ok());
}
