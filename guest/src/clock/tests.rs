//! The clock, with a counter that is a number.

use core::cell::Cell;
use core::sync::atomic::AtomicU64;

use proptest::prelude::*;

use super::*;

fn clock(counter_hz: u64) -> Clock {
    let host =
        HostPage { counter_hz, counter_then: 5_000, host_then_ns: 700, ..HostPage::default() };
    Clock::new(&host)
}

#[test]
fn a_second_has_as_many_counts_as_the_host_says() {
    for counter_hz in [1_000_000, 2_499_999_000, 5_000_000_000] {
        let second = clock(counter_hz).at(5_000 + counter_hz);
        // The factor is cut at 2^-32 ns a count.
        assert!((700 + 1_000_000_000 - 2..=700 + 1_000_000_000).contains(&second), "{second}");
    }
}

#[test]
fn before_the_host_began_it_is_when_it_began() {
    assert_eq!(clock(1_000_000_000).at(0), 700);
}

proptest! {
    #[test]
    fn a_timer_that_goes_by_the_counter_is_never_early(
        counter_hz in 1_000_000_u64..=5_000_000_000,
        instant_ns in 700_u64..=1 << 50,
    ) {
        let clock = clock(counter_hz);
        let counter = clock.counter_at(instant_ns);
        prop_assert!(clock.at(counter) >= instant_ns);
        prop_assert!(clock.at(counter - 1) <= instant_ns);
    }
}

const HERTZ: u64 = 1_000_000_000;
const START: Moment = Moment { counter: 5_000, host_ns: 1_000_000 };
/// Counts between two moments that the host tells: 20 ms.
const EVERY: u64 = 20_000_000;

/// A host that tells the time, and the clock that follows it.
fn following() -> (HostTime<'static>, Clock) {
    let words = Box::leak(Box::new([const { AtomicU64::new(0) }; 3]));
    let time = HostTime::new(words.each_ref());
    time.tell(START);
    let host = HostPage::of_counter(HERTZ);
    let followed = Box::leak(Box::new(Followed::new(time, &host)));
    (time, Clock::following(&host, followed))
}

/// The host's clock at a value of the counter, where it drifts by so many parts in a million.
fn drifted(counter: u64, ppm: i64) -> u64 {
    let passed = counter - START.counter;
    let more = i128::from(passed) * i128::from(ppm) / 1_000_000;
    (i128::from(START.host_ns + passed) + more) as u64
}

/// Goal: the host's clock is followed, whatever a time server makes of it, and time goes on only.
/// Method: a minute, looked at each 0.1 ms; without the pairs the clocks would part by 30 ms.
#[test]
fn a_host_whose_clock_drifts_is_followed_without_a_step_back() {
    for ppm in [-500, -7, 0, 7, 500] {
        let (time, clock) = following();
        let (mut last, mut furthest) = (0, 0);
        for look in 0..600_000 {
            let counter = START.counter + look * 100_000;
            if (counter - START.counter).is_multiple_of(EVERY) {
                time.tell(Moment { counter, host_ns: drifted(counter, ppm) });
            }
            // Once more soon after, while the clock may stand still.
            for counter in [counter, counter + 1_000] {
                let now = clock.now_by(|| counter);
                assert!(now >= last, "{ppm} ppm: {now} after {last}");
                last = now;
                furthest = furthest.max(now.abs_diff(drifted(counter, ppm)));
            }
        }
        assert!(furthest <= 10_000, "{ppm} ppm: {furthest} ns");
        assert!(ppm == 0 || furthest > 0, "{ppm} ppm");
    }
}

#[test]
fn a_timer_goes_by_the_pair_in_use() {
    let (time, clock) = following();
    let counter = START.counter + EVERY;
    time.tell(Moment { counter, host_ns: drifted(counter, -500) });
    let now = clock.now_by(|| counter);
    assert_eq!(now, drifted(counter, 0), "it stands still instead of going back by 10 us");
    // An instant that is 1 us away by the clock that stands still, and 11 us by the host's.
    assert_eq!(clock.counter_at(now + 1_000), counter + 11_000);
    assert_eq!(clock.now_by(|| counter + 10_000), now);
    assert_eq!(clock.now_by(|| counter + 11_000), now + 1_000);
    assert_eq!(clock.at(counter + 11_000), now + 1_000);
}

/// The writer's thread may be kept from running between two stores.
#[test]
fn while_the_host_is_writing_the_pair_before_goes_on() {
    let words = Box::leak(Box::new([const { AtomicU64::new(0) }; 3]));
    let time = HostTime::new(words.each_ref());
    time.tell(START);
    let host = HostPage::of_counter(HERTZ);
    let clock = Clock::following(&host, Box::leak(Box::new(Followed::new(time, &host))));
    words[0].store(3, Relaxed);
    words[1].store(77, Relaxed);
    let counter = START.counter + 100;
    assert_eq!(clock.now_by(|| counter), START.host_ns + 100);
    time.tell(Moment { counter, host_ns: START.host_ns + 900 });
    assert_eq!(clock.now_by(|| counter), START.host_ns + 900);
    // One that begins at such a moment takes the pair when it is whole.
    words[0].store(7, Relaxed);
    let clock = Clock::following(&host, Box::leak(Box::new(Followed::new(time, &host))));
    time.tell(START);
    assert_eq!(clock.now_by(|| counter), START.host_ns + 100);
}

/// Goal: an interrupt that takes a new pair between two instructions of whoever reads the time
/// makes no time that goes back, for either of them.
/// Method: the interrupt comes while the counter is read.
#[test]
fn an_interrupt_may_take_the_new_pair_while_the_time_is_read() {
    for ppm in [-500, 500] {
        let (time, clock) = following();
        let before = START.counter + EVERY;
        let (is_done, within) = (Cell::new(false), Cell::new(0));
        let read = || {
            if !is_done.replace(true) {
                let counter = before + 50;
                time.tell(Moment { counter, host_ns: drifted(counter, ppm) });
                within.set(clock.now_by(|| counter));
            }
            before
        };
        let outer = clock.now_by(read);
        let next = clock.now_by(|| before + 100);
        assert!(next >= outer && next >= within.get(), "{ppm}: {outer} {within:?} {next}");
        assert!(outer.abs_diff(drifted(before, ppm)) <= 10_050, "{ppm}: {outer}");
    }
}
