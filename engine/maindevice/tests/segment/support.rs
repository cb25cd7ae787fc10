//! A simulated segment on a clock without a machine, and what is expected of it.

use quietcore_clock::FakeClock;
use quietcore_maindevice::{
    Alarm, CycleOutcome, Expectation, Expected, Fieldbus, Identity, Synchronisation,
};
use quietcore_segment::{Fault, FaultKind, Options, Segment, SubDevice, When, describe};
use quietcore_units::Nanos;
use quietcore_wire::{SegmentWire, Wire as _};

/// The cycle of all tests.
pub(crate) const CYCLE: Nanos = Nanos::from_millis(1);
/// Time that a cycle waits for its frames.
pub(crate) const TIMEOUT: Nanos = Nanos::from_micros(200);
/// One of each kind; the axis is the last.
pub(crate) const ALL: [&str; 6] = [
    "coupler",
    "digital-input-8",
    "digital-output-8",
    "analog-input-4",
    "analog-output-4",
    "servo-drive",
];

pub(crate) type Simulated = SegmentWire<FakeClock>;

/// A wire to these SubDevices. Time moves by what reading it takes, and by waiting.
pub(crate) fn wire(names: &[&str]) -> Simulated {
    let subdevices = names
        .iter()
        .map(|name| SubDevice::by_name(name).expect("the tests name built-in devices"))
        .collect();
    wire_of(subdevices)
}

/// A wire to these SubDevices.
pub(crate) fn wire_of(subdevices: Vec<SubDevice>) -> Simulated {
    let clock = FakeClock::new(Nanos::from_secs(1), Nanos::new(500), []);
    clock.reserve(1 << 20);
    SegmentWire::with_clock(Segment::new(subdevices, Options::default()), clock)
}

/// Returns the expectation of these SubDevices, synchronised by frames.
pub(crate) fn expected(names: &[&str]) -> Vec<Expected> {
    let one = |name: &&str| {
        let description = describe(name).expect("the tests name built-in devices");
        let identity = description.identity;
        Expected {
            name: (*name).to_owned(),
            identity: Some(Identity {
                vendor: identity.vendor,
                product: identity.product,
                revision: Some(identity.revision),
                serial: None,
            }),
            process_data: Some((
                usize::from(description.input_bytes),
                usize::from(description.output_bytes),
            )),
            start_up: Vec::new(),
            synchronisation: Synchronisation::Frame,
        }
    };
    names.iter().map(one).collect()
}

pub(crate) fn expectation(names: &[&str]) -> Expectation {
    let anything = Expectation::anything(CYCLE);
    Expectation { static_sync_iterations: 50, ..anything }.with(expected(names))
}

/// These SubDevices in OP.
pub(crate) fn in_op(names: &[&str]) -> Fieldbus<Simulated> {
    Fieldbus::bring_up(wire(names), &expectation(names)).expect("nothing is wrong with the segment")
}

/// One cycle with supervision, and the wait for the next.
pub(crate) fn step(fieldbus: &mut Fieldbus<Simulated>) -> CycleOutcome {
    let release = fieldbus.wire().now();
    let outcome = fieldbus.cycle(release + TIMEOUT);
    fieldbus.supervise();
    let next = release + CYCLE;
    let clock = fieldbus.wire().clock();
    quietcore_clock::Clock::sleep_until(clock, next);
    outcome
}

/// Cycles until `done`, or a limit; returns the alarms raised meanwhile.
pub(crate) fn run_until(
    fieldbus: &mut Fieldbus<Simulated>,
    limit: usize,
    mut done: impl FnMut(&Fieldbus<Simulated>, CycleOutcome, &[Alarm]) -> bool,
) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    for _ in 0..limit {
        let outcome = step(fieldbus);
        alarms.extend(std::iter::from_fn(|| fieldbus.take_alarm()));
        if done(fieldbus, outcome, &alarms) {
            return alarms;
        }
    }
    panic!("not done after {limit} cycles; alarms: {alarms:#?}");
}

/// This many cycles; returns the alarms.
pub(crate) fn run(fieldbus: &mut Fieldbus<Simulated>, cycles: usize) -> Vec<Alarm> {
    let mut left = cycles;
    run_until(fieldbus, cycles, |_, _, _| {
        left -= 1;
        left == 0
    })
}

/// Makes something go wrong from now on.
pub(crate) fn fault(fieldbus: &mut Fieldbus<Simulated>, kind: FaultKind) {
    let faults = fieldbus.wire_mut().segment_mut().faults_mut();
    faults.add(Fault { kind, when: When::Always });
}

/// Ends all faults of the segment.
pub(crate) fn heal(fieldbus: &mut Fieldbus<Simulated>) {
    fieldbus.wire_mut().segment_mut().faults_mut().clear();
}
