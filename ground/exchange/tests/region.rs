//! The exchange through its public face: what is written is read, and nothing else is attached to.
// UNSAFETY: the tests make regions of their own memory.
#![expect(unsafe_code, reason = "a region is made of raw memory")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use proptest::prelude::*;
use quietcore_exchange::{
    AttachError, Cycle, Recorder, Region, SPIKE_COUNT, Setting, Shape, ShapeError, TaskState, bins,
};
use quietcore_units::Nanos;

fn size_of_tasks(task_count: u32) -> usize {
    Shape::of_tasks(task_count).layout().expect("a possible number of tasks").bytes
}

struct Memory {
    base: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    fn new(size: usize) -> Self {
        let layout = Layout::from_size_align(size, 4096).expect("a size below the address space");
        // SAFETY: the size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).expect("memory for a region");
        Self { base, layout }
    }

    fn initialise(&self, task_count: u32) -> Result<Region<'_>, AttachError> {
        // SAFETY: allocated for the life of `self`, and only regions touch it.
        unsafe { Region::initialise(self.base, self.layout.size(), &Shape::of_tasks(task_count)) }
    }

    fn attach(&self) -> Result<Region<'_>, AttachError> {
        // SAFETY: as above.
        unsafe { Region::attach(self.base, self.layout.size()) }
    }

    fn poke(&self, offset: usize, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            // SAFETY: inside the allocation, and no region is alive.
            unsafe { self.base.add(offset + index).write(*byte) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

fn cycle(due: u64, latency: u64) -> Cycle {
    Cycle {
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
    let memory = Memory::new(size_of_tasks(2));
    let host = memory.initialise(2).unwrap();
    let partition = memory.attach().unwrap();
    let period = Nanos::from_millis(1);
    let mut recorder = Recorder::new(partition.task(1).unwrap(), period, 2);
    recorder.refuse(Setting::Policy, 1);
    recorder.set_state(TaskState::Running);
    // The third and fourth release come in a stall of 2.5 ms.
    for (index, latency) in [5_000, 7_000, 2_500_000, 1_500_000, 500_000].into_iter().enumerate() {
        recorder.record(&cycle(1_000_000 * (index as u64 + 1), latency));
    }

    let seen = host.task(1).unwrap();
    assert_eq!(seen.state(), TaskState::Running);
    assert!(seen.refused(Setting::Policy) && !seen.refused(Setting::Affinity));
    assert_eq!(seen.error_number(), 1);
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
fn a_stop_request_reaches_the_partition() {
    let memory = Memory::new(size_of_tasks(1));
    let host = memory.initialise(1).unwrap();
    let partition = memory.attach().unwrap();
    assert!(!partition.stop_requested());
    host.request_stop();
    assert!(partition.stop_requested());
}

#[test]
fn a_release_before_its_time_is_counted_and_not_wrapped() {
    let memory = Memory::new(size_of_tasks(1));
    let region = memory.initialise(1).unwrap();
    let mut recorder = Recorder::new(region.task(0).unwrap(), Nanos::from_millis(1), 1);
    let mut early = cycle(1_000, 0);
    early.started = Nanos::new(900);
    recorder.record(&early);
    assert_eq!(recorder.counters().early, 1);
    assert_eq!(region.task(0).unwrap().release().totals().max_ns, 0);
}

#[test]
fn a_value_beyond_the_range_is_counted_as_overflow_and_kept_as_maximum() {
    let memory = Memory::new(size_of_tasks(1));
    let region = memory.initialise(1).unwrap();
    let mut recorder = Recorder::new(region.task(0).unwrap(), Nanos::from_millis(1), 1);
    recorder.record(&cycle(1, bins::RANGE_END + 5));
    let totals = region.task(0).unwrap().release().totals();
    assert_eq!((totals.count, totals.overflow, totals.max_ns), (1, 1, bins::RANGE_END + 5));
}

#[test]
fn what_is_no_exchange_of_ours_is_refused_with_both_sides_named() {
    let size = size_of_tasks(1);
    let memory = Memory::new(size);
    assert_eq!(memory.attach().err(), Some(AttachError::NoExchange { found: 0 }));
    assert_eq!(memory.initialise(0).err(), Some(AttachError::Shape(ShapeError::NoTask)));
    assert!(matches!(memory.initialise(2), Err(AttachError::TooSmall { .. })));

    let refused = |offset: usize, bytes: &[u8]| {
        memory.initialise(1).unwrap();
        memory.poke(offset, bytes);
        memory.attach().err().unwrap().to_string()
    };
    assert!(refused(8, &9_u32.to_le_bytes()).contains("version 9, this program version 2"));
    assert!(refused(12, &257_u32.to_le_bytes()).contains("257 tasks"));
    assert!(refused(12, &2_u32.to_le_bytes()).contains("but its contents need"));
    assert!(refused(16, &7_u64.to_le_bytes()).contains("layout 0x0000000000000007"));
    assert!(refused(24, &99_u64.to_le_bytes()).contains("says it has 99 bytes"));
}

/// Goal: counters read together belong to one cycle while a writer runs and clears.
/// Method: all counters of a cycle follow from its number; a second thread looks until it has seen
/// enough.
#[test]
fn counters_read_beside_a_writer_are_of_one_cycle() {
    // Miri takes some thousand times as long, and sees a race in far fewer.
    const READINGS: usize = if cfg!(miri) { 20 } else { 100_000 };
    const CYCLES_BETWEEN_CLEARS: u64 = if cfg!(miri) { 5 } else { 5_000 };
    let memory = Memory::new(size_of_tasks(1));
    let region = memory.initialise(1).unwrap();
    let task = region.task(0).unwrap();
    let mut recorder = Recorder::new(task, Nanos::from_millis(1), 1);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 32 }))]

    #[test]
    fn the_worst_cycles_are_kept_and_the_bins_add_up(
        latencies in proptest::collection::vec(0_u64..5_000_000, 1..200),
    ) {
        let memory = Memory::new(size_of_tasks(1));
        let region = memory.initialise(1).unwrap();
        let task = region.task(0).unwrap();
        let mut recorder = Recorder::new(task, Nanos::from_millis(1), 3);
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

    /// Whatever stands in the header, attaching either refuses or stays inside the memory.
    #[test]
    fn a_hostile_header_cannot_lead_outside(bytes in proptest::collection::vec(any::<u8>(), 32)) {
        let memory = Memory::new(size_of_tasks(1));
        memory.initialise(1).unwrap();
        memory.poke(8, &bytes[8..]);
        if let Ok(region) = memory.attach() {
            prop_assert_eq!(region.task_count(), 1);
            prop_assert!(region.task(1).is_none());
        }
    }
}
