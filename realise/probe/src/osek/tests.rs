//! Tests of the program on the hosted port on this machine: that it works, not how fast.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use quietcore_units::{Scheduling, ThreadRequest};

use super::*;

/// Held by each test, because one kernel runs in a process at a time.
pub(crate) static ALONE: Mutex<()> = Mutex::new(());

fn unpinned() -> ThreadRequest {
    ThreadRequest::measuring(Scheduling::Other, None)
}

fn plan(loops: u64, variant: Variant) -> Plan {
    Plan { series: Series::all(loops), warm_up: 5, variant }
}

fn run(plan: &Plan) -> Measured {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    measure(plan, unpinned(), ClockUsed::choose(), &Arc::default()).unwrap()
}

#[test]
fn every_routine_comes_to_its_end_as_often_as_asked_for() {
    let plan = plan(50, Variant::default());
    let measured = run(&plan);
    assert_eq!(measured.samples.len(), 16);
    assert!(!measured.stopped);
    for (series, sample) in plan.series.iter().zip(&measured.samples) {
        assert_eq!((sample.raw.count(), sample.net_ns.count()), (50, 50), "{}", series.name());
        // A routine takes time; a reading that was never made, or made twice, would give none.
        assert!(sample.raw.min_ns() > 0, "{}", series.name());
        assert!(sample.raw.max_ns() < 60_000_000_000, "{}", series.name());
    }
    let offsets: Vec<u64> = measured.samples.iter().map(|sample| sample.offset.median).collect();
    assert_eq!(offsets[0], 0, "nothing is taken off the empty measurement");
    assert!(offsets[1] > 0 && offsets[1..].iter().all(|offset| *offset == offsets[1]));
}

/// Goal: whatever the kernel is set to, the program works, and works again after its end.
#[test]
fn every_variant_of_the_kernel_can_be_measured() {
    for others in [0, 4, 60, OTHERS_MAX] {
        for (extended, accounting) in [(false, false), (true, false), (false, true), (true, true)] {
            let variant = Variant { others, extended, accounting };
            let measured = run(&plan(3, variant));
            assert_eq!(measured.samples.len(), 16, "{}", variant.words());
        }
    }
}

/// Goal: a stop ends with what there is, and says so.
#[test]
fn a_stop_is_an_answer() {
    let progress = Arc::new(Progress::default());
    progress.stop.store(true, Relaxed);
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let plan = plan(1_000, Variant::default());
    let measured = measure(&plan, unpinned(), ClockUsed::choose(), &progress).unwrap();
    assert!(measured.stopped);
    assert_eq!(measured.samples.len(), 1);
    assert_eq!(measured.samples[0].raw.count(), 0);
}

#[test]
fn progress_counts_every_loop() {
    let progress = Arc::new(Progress::default());
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let plan = plan(700, Variant::default());
    measure(&plan, unpinned(), ClockUsed::choose(), &progress).unwrap();
    assert_eq!(progress.done.load(Relaxed), plan.loops());
}

#[test]
fn series_have_names_of_their_own() {
    let mut names: Vec<String> = Series::all(1).iter().map(Series::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 16);
}
