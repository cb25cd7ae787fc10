//! The bound of a cycle (promises P23 and P93): nothing is allocated between release and
//! completion, even where a late release is to be explained.

use quietcore_clock::{FakeClock, Monotonic};
use quietcore_exchange::{LateLimit, Recorder, Shape};
use quietcore_probe::latency::{End, Plan, run};
use quietcore_process::exchange::Exchange;
use quietcore_process::snare::{Snare, Trap};
use quietcore_release::Injection;
use quietcore_release::Margin;
use quietcore_units::{Nanos, Wake};

const PERIOD: Nanos = Nanos::from_micros(100);

/// Goal: no cycle allocates, whatever happens in it.
/// Method: count the allocations of a run with late wake-ups, stalls and an injected delay, on the
/// real clock and on one that is late as told.
#[test]
fn a_cycle_allocates_nothing() {
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let region = exchange.region();
    for wake in
        [Wake::Sleep, Wake::Early { margin: PERIOD / 2 }, Wake::Adaptive { share_percent: 25 }]
    {
        let mut recorder = Recorder::new(region.task(0).unwrap(), PERIOD, 7);
        let mut margin = Margin::new(wake, PERIOD);
        let plan = Plan {
            first_release: Nanos::from_millis(1),
            period: PERIOD,
            releases: 500,
            cpu: None,
            injection: Some(Injection { delay: Nanos::from_micros(30), release: 3 }),
        };
        let late = (0..200).map(|index| Nanos::from_micros(index % 50 * 7));
        let clock = FakeClock::new(Nanos::ZERO, Nanos::new(20), late);
        clock.reserve(1_000);
        let mut end = End::Stopped;
        let counted = allocation_counter::measure(|| {
            (end, _) = run(
                &clock,
                &plan,
                &mut margin,
                &mut recorder,
                || region.stop_requested(),
                |_, _| {},
            );
            // The releases of this run have long passed: each cycle is a miss.
            run(
                &Monotonic,
                &plan,
                &mut margin,
                &mut recorder,
                || region.stop_requested(),
                |_, _| {},
            );
        });
        assert_eq!(end, End::Completed);
        assert_eq!(counted.count_total, 0, "{wake:?}");
        assert_eq!(recorder.counters().cycles, 1_000);
    }
}

/// Goal: a late release that springs a snare allocates nothing, nor do those after it.
/// Method: count the allocations of a run in which each release is late, with a file to be written.
#[test]
fn springing_allocates_nothing() {
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let mut recorder = Recorder::new(exchange.region().task(0).unwrap(), PERIOD, 7);
    let mut margin = Margin::new(Wake::Sleep, PERIOD);
    let plan = Plan {
        first_release: Nanos::from_millis(1),
        period: PERIOD,
        releases: 200,
        cpu: None,
        injection: None,
    };
    let snare = Snare::create().unwrap();
    let switch = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    let mut trap = Trap::new(&snare, Some(&switch), LateLimit::new(Some(PERIOD)), 0).unwrap();
    snare.arm();
    let counted = allocation_counter::measure(|| {
        run(
            &Monotonic,
            &plan,
            &mut margin,
            &mut recorder,
            || false,
            |number, release| trap.started(number, release),
        );
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!((snare.late(0), snare.caught().unwrap().release), (200, 0));
}
