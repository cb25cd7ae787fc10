//! Calls that a timer interrupts.

// UNSAFETY: functions are called beneath the guard, which may jump out of them.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::*;
use crate::guard::Guard;

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static ENOUGH: AtomicU32 = AtomicU32::new(1);
/// Instant of the interrupt that is meant for the next call, in ns.
static MEANT: AtomicU64 = AtomicU64::new(0);
/// Set by a call that has begun before that instant.
static IN_TIME: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupt() {
    INTERRUPTS.fetch_add(1, Relaxed);
}

/// Returns `true` if a call begins before its interrupt is due, and notes it.
fn is_in_time() -> bool {
    let is = now() < Nanos::new(MEANT.load(Relaxed));
    IN_TIME.store(is, Relaxed);
    is
}

extern "C" fn until_interrupted(_: u32) {
    if !is_in_time() {
        return;
    }
    let end = Instant::now() + Duration::from_secs(10);
    while INTERRUPTS.load(Relaxed) < ENOUGH.load(Relaxed) && Instant::now() < end {}
}

extern "C" fn in_shelter(_: u32) {
    if !is_in_time() {
        return;
    }
    guard::enter_shelter();
    let end = Instant::now() + Duration::from_millis(30);
    while Instant::now() < end {
        assert_eq!(INTERRUPTS.load(Relaxed), 0, "it is in shelter");
    }
    guard::leave_shelter();
    ENOUGH.store(0, Relaxed);
}

extern "C" fn briefly(_: u32) {
    std::thread::sleep(Duration::from_millis(30));
}

fn now() -> Nanos {
    let now = clock_gettime(ClockId::Monotonic);
    Nanos::new(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// Makes a call that is to be interrupted 5 ms from now. Makes it again if it began later than
/// that, because the machine stood still. Returns the instant.
fn call_in_time(guard: &Guard, timer: &ThreadTimer, function: extern "C" fn(u32)) -> Nanos {
    for _ in 0..100 {
        let at = now() + Nanos::from_millis(5);
        MEANT.store(at.get(), Relaxed);
        timer.set(Some(at));
        // SAFETY: none of these functions has a frame that would need cleaning up.
        unsafe { guard.call(function, 0, Some(interrupt)) }.unwrap();
        if IN_TIME.load(Relaxed) {
            return at;
        }
        INTERRUPTS.store(0, Relaxed);
    }
    panic!("no call began within 5 ms");
}

/// One test, because the signal's handler counts for all of them.
#[test]
fn a_call_is_interrupted_at_its_instant_and_after_its_shelter_and_never_outside() {
    guard::install().unwrap();
    let timer = ThreadTimer::new().unwrap();
    let guard = Guard::default();
    let at = call_in_time(&guard, &timer, until_interrupted);
    assert!(now() >= at, "not before its instant");
    assert_eq!(INTERRUPTS.swap(0, Relaxed), 1);

    timer.set(Some(now()));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(INTERRUPTS.load(Relaxed), 0, "nothing runs");

    call_in_time(&guard, &timer, in_shelter);
    assert_eq!(INTERRUPTS.swap(0, Relaxed), 1, "when it has left its shelter");

    for stop in [None, Some(now() + Nanos::from_secs(60))] {
        timer.set(Some(now() + Nanos::from_millis(10)));
        timer.set(stop);
        assert_eq!(timer.is_set_for(), stop);
        // SAFETY: none of these functions has a frame that would need cleaning up.
        unsafe { guard.call(briefly, 0, Some(interrupt)) }.unwrap();
        assert_eq!(INTERRUPTS.load(Relaxed), 0, "the last call counts");
    }
    timer.set(Some(now() + Nanos::from_millis(5)));
    // SAFETY: as above.
    unsafe { guard.call(briefly, 0, None) }.unwrap();
    timer.set(Some(now() + Nanos::from_millis(5)));
    drop(timer);
    // SAFETY: as above.
    unsafe { guard.call(briefly, 0, Some(interrupt)) }.unwrap();
    assert_eq!(INTERRUPTS.load(Relaxed), 0, "none to a program without it, none when it ended");
}
