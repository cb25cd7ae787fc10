//! Tests of what a guest leaves of its round trips, and of what it is asked.

use quietcore_maindevice::Alarm;
use quietcore_process::exchange::Exchange;
use quietcore_process::thread::Standing;

use super::*;
use crate::ethercat::process::Line;
use crate::ethercat::rows::RowLog;
use crate::ethercat::{End, RoundTripLog as _};

const PLAN: Plan = Plan {
    cycles: 5_000,
    warm_up_cycles: 0,
    period: None,
    timeout: Nanos::from_millis(10),
    limit: None,
};

fn plan() -> RoundTripsPlan {
    let (line, interface) = (Line::Simulated(Vec::new()), "sim".to_owned());
    RoundTripsPlan { line, interface, plan: PLAN, cpu: None, scheduling: None }
}

fn facts() -> GuestFacts {
    GuestFacts {
        exits: None,
        granted: String::new(),
        counter_hertz: 1_000_000_000,
        board: None,
        standing: Standing::default(),
    }
}

/// Goal: whatever the guest has measured, the host reads; lost cycles are no round trips.
#[test]
fn what_a_guest_leaves_is_what_its_host_reads() {
    let exchange = Exchange::create(&SHAPE).unwrap();
    let region = exchange.region();
    let mut log = RowLog::new(region, &PLAN).unwrap();
    log.begin(3);
    (0..1_990).for_each(|cycle| log.round_trip(Nanos::from_micros(40), cycle != 7));
    log.alarm(&Alarm::Absent { subdevice: 2 });
    (0..100).for_each(|_| log.alarm(&Alarm::Lost { frames: 1 }));
    (0..10).for_each(|_| log.lost());
    [60, 90].iter().for_each(|millis| log.window(Nanos::from_millis(*millis)));
    log.end(End { elapsed: Nanos::from_secs(100), stopped: false });
    let RoundTripsMeasured { run, histogram, stopped, .. } =
        read(&plan(), &region, &facts()).unwrap();
    assert!(!stopped);
    assert_eq!((run.cycles, run.lost, run.incomplete, run.subdevices), (2_000, 10, 1, 3));
    assert_eq!((histogram.count(), histogram.max_ns()), (1_990, 40_000));
    assert_eq!(run.mean_cycles_per_second, 20.0);
    let sustained = run.sustained_cycles_per_second.unwrap();
    assert!((sustained - 1_000.0 / 0.09).abs() < 1e-6, "{sustained}");
    assert!(run.first_alarm.unwrap().contains("does not answer"));
}

#[test]
fn a_guest_that_was_stopped_before_op_has_measured_nothing() {
    let exchange = Exchange::create(&SHAPE).unwrap();
    let log = RowLog::new(exchange.region(), &PLAN).unwrap();
    log.end(End { elapsed: Nanos::ZERO, stopped: true });
    let measured = read(&plan(), &exchange.region(), &facts()).unwrap();
    assert!(measured.stopped);
    assert_eq!((measured.run.cycles, measured.histogram.count()), (0, 0));
    assert_eq!(measured.run.mean_cycles_per_second, 0.0);
    assert_eq!(measured.run.sustained_cycles_per_second, None);
}

/// Goal: a hypervisor that has no network for its guests is asked for none.
#[test]
fn a_hypervisor_without_frames_refuses() {
    #[derive(Debug)]
    struct Without;
    impl crate::guest::hypervisor::Hypervisor for Without {
        fn run(
            &self,
            _: &ProbeGuest<'_>,
            _: &OpenExchange<'_>,
            _: crate::guest::hypervisor::Look<'_>,
        ) -> Result<GuestFacts, GuestError> {
            unreachable!("it was asked whether it carries frames")
        }
    }
    let exchange = Exchange::create(&SHAPE).unwrap();
    let file = exchange.file().unwrap();
    let open = OpenExchange { region: exchange.region(), file: &file, hypervisor: &Without };
    let refused = measure(&plan(), &open, |_, _| false).unwrap_err().to_string();
    assert!(refused.contains("no network"), "{refused}");
}

#[test]
fn a_run_by_a_time_is_expected_to_take_that_time_and_its_bring_up() {
    let timed =
        Plan { cycles: u64::MAX, limit: Some(Nanos::from_secs(7)), warm_up_cycles: 100, ..PLAN };
    assert_eq!(takes(&timed), Duration::from_secs(30 + 1 + 7));
    let periodic = Plan { period: Some(Nanos::from_millis(20)), ..PLAN };
    assert_eq!(takes(&periodic), Duration::from_secs(30 + 100));
}
