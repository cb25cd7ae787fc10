//! Tests of the devices' places, and of the introduction between two threads.

use std::sync::atomic::AtomicU64 as Counts;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn words() -> [AtomicU64; INTRODUCTION_WORDS] {
    [const { AtomicU64::new(u64::MAX) }; INTRODUCTION_WORDS]
}

#[test]
fn every_device_has_a_function_of_its_own_among_those_of_the_machine() {
    let all: Vec<_> = (0..DEVICES_MAX).map(|number| function_of(number).unwrap()).collect();
    assert!(all.is_sorted() && all.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!((all[0], all[8], *all.last().unwrap()), ((4, 0), (5, 0), (30, 7)));
    assert_eq!(function_of(DEVICES_MAX), None);
}

#[test]
fn the_lead_of_a_counter_is_found_within_half_a_round() {
    const AHEAD: i64 = -1_000_000;
    // Both sides count the steps of all, so that the true lead is known.
    let (words, steps) = (words(), Counts::new(5_000_000));
    let count = || steps.fetch_add(1, Relaxed);
    Introduction::new(&words).begin([ALIGNMENT, 2 * ALIGNMENT]);
    thread::scope(|scope| {
        let guest = scope.spawn(|| {
            let introduction = Introduction::new(&words);
            introduction.ask(|| count().wrapping_add_signed(AHEAD));
            introduction.code()
        });
        let host = Introduction::new(&words);
        let lead = host.answer(count, || true).unwrap();
        assert!(lead.counts.abs_diff(AHEAD) <= lead.width.div_ceil(2), "{lead:?}");
        host.welcome();
        assert_eq!(guest.join().unwrap(), Some([ALIGNMENT, 2 * ALIGNMENT]));
    });
}

#[test]
fn a_guest_that_does_not_take_part_is_given_up() {
    let words = words();
    let host = Introduction::new(&words);
    host.begin([0, 0]);
    let end = Instant::now() + Duration::from_millis(20);
    assert_eq!(host.answer(|| 0, || Instant::now() < end), None);
}

#[test]
fn words_of_somebody_else_are_no_introduction() {
    assert_eq!(Introduction::new(&words()).code(), None);
}

proptest! {
    /// Goal: words that a guest writes are numbers and nothing more.
    #[test]
    fn no_reading_of_a_guest_breaks_the_host(readings in any::<[(u64, u64); 4]>(), host: u64) {
        let words = words();
        let introduction = Introduction::new(&words);
        introduction.begin([0, 0]);
        let mut looks = 0;
        let lead = introduction.answer(|| host, || {
            let (before, after) = readings[looks % readings.len()];
            looks += 1;
            let round = words[ANSWERED].load(Relaxed);
            words[BEFORE].store(before, Relaxed);
            words[AFTER].store(after, Relaxed);
            words[MEASURED].store(round, Relaxed);
            words[ASKED].store(round + 1, Relaxed);
            looks < 1000
        });
        let possible = |(before, after): &(u64, u64)| after.wrapping_sub(*before) <= u64::MAX / 2;
        prop_assert!(lead.is_none() || readings.iter().any(possible));
    }
}
