//! Tests of what a measuring process says, on a segment that is simulated.

use quietcore_exchange::Shape;
use quietcore_process::exchange::Exchange;
use quietcore_units::ByteSize;

use super::*;
use crate::ethercat::Plan;
use crate::ethercat::process::{Line, RoundTripsMeasured};
use crate::guest::hypervisor::MicroVm;
use crate::osek::{ClockUsed, Measured, Series, Variant};

fn exchange() -> Exchange {
    Exchange::create(&Shape::of_tasks(1)).unwrap()
}

fn round_trips(cycles: u64, devices: &[&str]) -> RoundTripsPlan {
    RoundTripsPlan {
        line: Line::Simulated(devices.iter().map(|name| (*name).to_owned()).collect()),
        interface: "sim".to_owned(),
        plan: Plan {
            cycles,
            warm_up_cycles: 10,
            period: None,
            timeout: Nanos::from_millis(10),
            limit: None,
        },
        cpu: None,
        scheduling: None,
    }
}

/// Carries a plan out as its process does, after it has travelled there.
fn said<M: Measurement>(plan: &M, exchange: &Exchange) -> Vec<Message<M::Outcome>> {
    let job = MeasurementJob { messages: 7, measurement: plan.clone().into() };
    let written = serde_json::to_string(&job).unwrap();
    let job: MeasurementJob = serde_json::from_str(&written).unwrap();
    let mut lines = Vec::new();
    let file = exchange.file().unwrap();
    let open = OpenExchange { region: exchange.region(), file: &file, hypervisor: &MicroVm };
    serve(&job.measurement, &open, |line| {
        lines.push(line);
        Ok(())
    })
    .unwrap();
    lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
}

#[test]
fn the_outcome_comes_last_and_is_whole() {
    let said = said(&round_trips(200, &["coupler", "servo-drive"]), &exchange());
    let [Message::Measured { outcome, took }] = &said[..] else { panic!("{said:?}") };
    let RoundTripsMeasured { run, histogram, stopped, .. } = outcome;
    assert_eq!((run.subdevices, run.cycles, run.lost, run.incomplete), (2, 200, 0, 0));
    assert_eq!(histogram.count(), 200);
    assert!(!stopped && took.get() > 0);
}

/// Goal: a process that is asked to stop says what it has measured until then.
#[test]
fn a_stop_in_the_exchange_ends_it() {
    let exchange = exchange();
    exchange.region().request_stop();
    let said = said(&round_trips(1_000_000, &["coupler"]), &exchange);
    let [Message::Measured { outcome, .. }] = &said[..] else { panic!("{said:?}") };
    assert!(outcome.stopped && outcome.run.cycles == 0);
}

#[test]
fn a_measurement_that_fails_says_why() {
    let said = said(&round_trips(1, &["coupler", "toaster"]), &exchange());
    let [Message::Failed { because }] = &said[..] else { panic!("{said:?}") };
    assert!(because.contains("toaster"), "{because}");
}

/// Goal: nobody measures for somebody who does not listen any more.
#[test]
fn a_measurement_that_nobody_hears_ends() {
    let plan = RoutinesPlan {
        plan: crate::osek::Plan {
            series: Series::all(100_000_000),
            warm_up: 0,
            variant: Variant::default(),
        },
        thread: quietcore_units::ThreadRequest::new(quietcore_units::Scheduling::Other),
        clock: ClockUsed::choose(),
    };
    let _alone = crate::osek::tests::ALONE.lock();
    let exchange = exchange();
    let file = exchange.file().unwrap();
    let open = OpenExchange { region: exchange.region(), file: &file, hypervisor: &MicroVm };
    let unheard = serve(&plan.into(), &open, |_| Err(io::ErrorKind::BrokenPipe.into()));
    assert_eq!(unheard.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

/// Goal: samples travel whole, the largest of them within what a host reads.
#[test]
fn samples_survive_the_way_to_the_host() {
    let mut raw = quietcore_record::histogram::Histogram::new();
    (0..10_000_000_u64).step_by(97).for_each(|value| raw.record(value));
    let sample = crate::osek::Sample::of_histogram(raw, crate::osek::Offset::default(), 1_000_000);
    let outcome = Measured {
        samples: vec![sample; Series::all(1).len()],
        stopped: false,
        standing: quietcore_process::thread::Standing::of_this_thread(),
    };
    let written = serde_json::to_vec(&Message::Measured { outcome, took: Nanos::new(1) }).unwrap();
    assert!(
        written.len() as u64 <= MESSAGE_BYTES_MAX.get(),
        "{}",
        ByteSize::new(written.len() as u64)
    );
    let Message::<Measured>::Measured { outcome, .. } = serde_json::from_slice(&written).unwrap()
    else {
        panic!("it has ended")
    };
    assert_eq!(outcome.samples[3].raw.count(), 103_093);
}
