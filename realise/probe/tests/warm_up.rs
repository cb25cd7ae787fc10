//! The warm-up is no measurement, however it ends.

use std::thread;
use std::time::Duration;

use quietcore_exchange::{Shape, TaskState};
use quietcore_probe::job::LatencyJob;
use quietcore_probe::partition::run_latency;
use quietcore_process::exchange::Exchange;
use quietcore_units::{Nanos, Scheduling, Wake};

/// Goal: a stop during the warm-up leaves no cycle that could be taken for a measured one.
/// Method: a warm-up of an hour is stopped once it has begun.
#[test]
fn a_stop_during_the_warm_up_leaves_nothing_measured() {
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let region = exchange.region();
    let job = LatencyJob {
        cpus: vec![None],
        period: Nanos::from_millis(1),
        cycles: 1_000,
        warm_up_cycles: 3_600_000,
        policy: Scheduling::Other,
        wake: Wake::Sleep,
        injection: None,
        memory: None,
        snare: None,
    };
    let task = region.task(0).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| run_latency(&job, region));
        // The cost of a cycle is measured with 10 000 of them beforehand; its result comes first.
        while task.own_cost_ns() == 0 || task.counters().map_or(0, |seen| seen.cycles) < 3 {
            thread::sleep(Duration::from_millis(1));
        }
        region.request_stop();
    });
    assert_eq!(task.state(), TaskState::Stopped);
    assert_eq!(task.counters().unwrap().cycles, 0);
    assert_eq!(task.release().totals().count, 0);
}
