//! A cycle as slow as the watchdogs of power-up, or slower, keeps its outputs.
//!
//! Method: a line with outputs on a fake clock, cycled at 150 ms, longer than the 100 ms after
//! which a SubDevice takes its outputs away by itself.

use quietcore_clock::{Clock as _, FakeClock};
use quietcore_maindevice::{Expectation, Fieldbus};
use quietcore_segment::{AlState, Fault, FaultKind, Options, Segment, SubDevice, When};
use quietcore_units::Nanos;
use quietcore_wire::SegmentWire;

const CYCLE: Nanos = Nanos::from_millis(150);

fn bring_up() -> Fieldbus<SegmentWire<FakeClock>> {
    let line = ["coupler", "analog-output-4", "analog-input-4"]
        .map(|name| SubDevice::by_name(name).expect("a known device"));
    let segment = Segment::new(line.into(), Options::default());
    let clock = FakeClock::new(Nanos::from_secs(1), Nanos::new(100), []);
    let wire = SegmentWire::with_clock(segment, clock);
    Fieldbus::bring_up(wire, &Expectation::anything(CYCLE)).expect("OP")
}

fn run(fieldbus: &mut Fieldbus<SegmentWire<FakeClock>>, cycles: u32) {
    for _ in 0..cycles {
        let due = fieldbus.wire().clock().now() + CYCLE;
        fieldbus.wire().clock().sleep_until(due);
        fieldbus.cycle(due + Nanos::from_millis(1));
        fieldbus.supervise();
    }
}

#[test]
fn a_slow_cycle_stays_in_op() {
    let mut fieldbus = bring_up();
    run(&mut fieldbus, 20);
    let states = fieldbus.wire().segment().subdevices().iter().map(SubDevice::state);
    assert_eq!(states.collect::<Vec<_>>(), [AlState::Op; 3]);
}

#[test]
fn a_subdevice_that_was_without_power_gets_its_watchdog_back() {
    let mut fieldbus = bring_up();
    run(&mut fieldbus, 2);
    let now = fieldbus.wire().clock().now();
    let when = When::Between { from: now, until: now + CYCLE * 2 };
    let fault = Fault { kind: FaultKind::PowerLoss { subdevice: 1 }, when };
    fieldbus.wire_mut().segment_mut().faults_mut().add(fault);
    run(&mut fieldbus, 100);
    assert_eq!(fieldbus.wire().segment().subdevices()[1].state(), AlState::Op);
    let told: Vec<_> = std::iter::from_fn(|| fieldbus.take_alarm()).collect();
    run(&mut fieldbus, 20);
    let later: Vec<_> = std::iter::from_fn(|| fieldbus.take_alarm()).collect();
    assert!(!told.is_empty() && later.is_empty(), "{told:?}, then {later:?}");
}
