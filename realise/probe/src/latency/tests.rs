//! Tests of the measured loop, with a clock on which each sleep ends as late as told.

use std::cell::Cell;

use quietcore_clock::FakeClock;
use quietcore_exchange::{Counters, HistogramTotals, Shape, Spike};
use quietcore_process::exchange::Exchange;
use quietcore_units::Wake;

use super::*;

const PERIOD: Nanos = Nanos::from_micros(200);
const FIRST: Nanos = Nanos::from_millis(10);

struct Seen {
    end: End,
    counters: Counters,
    release: HistogramTotals,
    wakeup: HistogramTotals,
    worst: Option<Spike>,
}

fn measure(clock: &FakeClock, wake: Wake, releases: u64, injection: Option<Injection>) -> Seen {
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let region = exchange.region();
    let task = region.task(0).unwrap();
    let mut recorder = Recorder::new(task, PERIOD, 10);
    let plan = Plan { first_release: FIRST, period: PERIOD, releases, cpu: Some(3), injection };
    let mut margin = Margin::new(wake, PERIOD);
    let (end, _) =
        run(clock, &plan, &mut margin, &mut recorder, || region.stop_requested(), |_, _| {});
    Seen {
        end,
        counters: task.counters().unwrap(),
        release: task.release().totals(),
        wakeup: task.wakeup().totals(),
        worst: task.spikes().next(),
    }
}

fn late(micros: &[u64]) -> Vec<Nanos> {
    micros.iter().map(|late| Nanos::from_micros(*late)).collect()
}

#[test]
fn mode_sleep_records_how_late_each_sleep_ended() {
    let clock = FakeClock::new(Nanos::ZERO, Nanos::ZERO, late(&[3, 5, 4]));
    let seen = measure(&clock, Wake::Sleep, 3, None);
    assert_eq!(seen.end, End::Completed);
    assert_eq!(seen.release.count, 3);
    assert_eq!((seen.release.min_ns, seen.release.max_ns), (3_000, 5_000));
    assert_eq!(seen.release, seen.wakeup);
    assert_eq!(clock.sleeps(), [FIRST, FIRST + PERIOD, FIRST + PERIOD * 2]);
}

/// Goal: a stall is counted as the cycles it cost.
/// Method: one sleep of a 200 µs task ends 40 ms late; every release in between is recorded.
#[test]
fn a_stall_is_two_hundred_samples_and_not_one() {
    let clock = FakeClock::new(Nanos::ZERO, Nanos::ZERO, late(&[0, 40_000]));
    let seen = measure(&clock, Wake::Sleep, 300, None);
    assert_eq!(seen.release.count, 300);
    assert_eq!(seen.counters.missed_cycles, 200);
    assert_eq!(seen.counters.longest_miss_run, 200);
    assert_eq!(seen.release.sum_ns, (0..=200_u64).map(|k| k * 200_000).sum::<u64>());
}

#[test]
fn early_wake_releases_at_the_instant_although_the_kernel_is_late() {
    let clock = FakeClock::new(Nanos::ZERO, Nanos::new(20), late(&[30, 30, 30]));
    let seen = measure(&clock, Wake::Early { margin: Nanos::from_micros(50) }, 3, None);
    assert!(seen.release.max_ns < 20, "{}", seen.release.max_ns);
    assert!(seen.wakeup.min_ns >= 30_000);
    assert_eq!(clock.sleeps()[0], FIRST - Nanos::from_micros(50));
    assert_eq!(seen.counters.margin_ns, 50_000);
    assert!((55_000..=61_000).contains(&seen.counters.spin_ns), "{}", seen.counters.spin_ns);
}

#[test]
fn early_wake_shows_a_wakeup_later_than_its_margin() {
    let clock = FakeClock::new(Nanos::ZERO, Nanos::ZERO, late(&[70]));
    let seen = measure(&clock, Wake::Early { margin: Nanos::from_micros(50) }, 1, None);
    assert_eq!(seen.release.max_ns, 20_000);
}

#[test]
fn an_injected_delay_appears_with_its_size_and_place() {
    for wake in [Wake::Sleep, Wake::Adaptive { share_percent: 25 }] {
        let clock = FakeClock::new(Nanos::ZERO, Nanos::new(10), []);
        let injection = Injection { delay: Nanos::from_micros(90), release: 7 };
        let seen = measure(&clock, wake, 20, Some(injection));
        let worst = seen.worst.unwrap();
        assert_eq!(worst.release, 7);
        assert!((90_000..90_100).contains(&worst.latency_ns), "{}", worst.latency_ns);
        assert_eq!(worst.cpu, 3);
    }
}

#[test]
fn a_stop_request_ends_the_loop_between_two_cycles() {
    let clock = FakeClock::new(Nanos::ZERO, Nanos::ZERO, []);
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let region = exchange.region();
    let mut recorder = Recorder::new(region.task(0).unwrap(), PERIOD, 10);
    let plan =
        Plan { first_release: FIRST, period: PERIOD, releases: 1000, cpu: None, injection: None };
    let asked = Cell::new(0);
    let mut margin = Margin::new(Wake::Sleep, PERIOD);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let (end, next) = run(&clock, &plan, &mut margin, &mut recorder, stop, |_, _| {});
    assert_eq!(end, End::Stopped);
    assert_eq!(recorder.counters().cycles, 5);
    assert_eq!(next, FIRST + PERIOD * 5);
}

#[test]
fn the_own_cost_is_that_of_the_readings_and_leaves_nothing_behind() {
    let clock = FakeClock::new(Nanos::ZERO, Nanos::new(25), []);
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let task = exchange.region().task(0).unwrap();
    let mut recorder = Recorder::new(task, PERIOD, 10);
    assert_eq!(own_cost(&clock, &mut recorder), Nanos::new(25));
    assert_eq!(task.release().totals().count, 0);
    assert_eq!(task.counters().unwrap().cycles, 0);
}

/// Goal: a stall in which the run is told to stop is counted as the cycles it cost.
/// Method: the second sleep ends 40 ms late, and the stop is asked for meanwhile.
#[test]
fn a_stall_that_ends_in_a_stop_is_counted_too() {
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let task = exchange.region().task(0).unwrap();
    let mut recorder = Recorder::new(task, PERIOD, 10);
    let clock = FakeClock::new(Nanos::ZERO, Nanos::ZERO, late(&[0, 40_000]));
    let plan =
        Plan { first_release: FIRST, period: PERIOD, releases: 1000, cpu: None, injection: None };
    let mut margin = Margin::new(Wake::Sleep, PERIOD);
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let (end, _) = run(&clock, &plan, &mut margin, &mut recorder, stop, |_, _| {});
    assert_eq!(end, End::Stopped);
    assert_eq!(recorder.counters().missed_cycles, 200);
    assert_eq!(recorder.counters().longest_miss_run, 200);
}
