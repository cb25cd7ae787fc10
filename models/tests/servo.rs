//! The servo program beyond its specification: how it comes up, refers, fails and recovers.

use quietcore_models::controller::{Controller, Model, VALUES};
use quietcore_models::servo::{Mode, WINDOW, new_loop};
use quietcore_models::timing::Timing;
use quietcore_units::Nanos;

const NOTHING: (f64, Nanos, Nanos) = (0.0, Nanos::ZERO, Nanos::ZERO);

/// Inputs of a drive with this statusword, in torque mode, at rest.
fn at_rest(statusword: u16) -> [f64; VALUES] {
    [0.0, 0.0, 0.0, f64::from(statusword), 10.0, 0.0, 0.0, 0.0]
}

#[test]
fn it_leads_the_drive_to_operation() {
    let mut servo = Controller::start(Model::Servo);
    let path = [(0x0250, 0x06), (0x0231, 0x07), (0x0233, 0x0F), (0x0237, 0x0F)];
    for (statusword, controlword) in path {
        let outputs = servo.cycle(&at_rest(statusword)).unwrap();
        assert_eq!(outputs[2], f64::from(controlword), "after {statusword:#06x}");
        assert_eq!(outputs[3], 10.0);
    }
}

#[test]
fn a_drive_in_fault_is_reset_by_edges_and_gets_no_torque() {
    let mut servo = Controller::start(Model::Servo);
    let words: Vec<f64> = (0..1_100)
        .map(|_| {
            let outputs = servo.cycle(&at_rest(0x0218)).unwrap();
            assert_eq!(outputs[0], 0.0);
            outputs[2]
        })
        .collect();
    assert!(words.iter().all(|word| [0.0, f64::from(0x80)].contains(word)));
    let edges = words.windows(2).filter(|pair| pair[0] == 0.0 && pair[1] != 0.0).count();
    assert_eq!(edges, 2, "one each half second");
}

#[test]
fn a_rising_reset_does_not_wait() {
    let mut servo = Controller::start(Model::Servo);
    servo.cycle(&at_rest(0x0218)).unwrap();
    let mut inputs = at_rest(0x0218);
    inputs[7] = 1.0;
    assert_eq!(servo.cycle(&inputs).unwrap()[2], f64::from(0x80));
}

#[test]
fn a_reading_that_is_no_number_ends_the_program() {
    let mut servo = Controller::start(Model::Servo);
    let mut inputs = at_rest(0x0237);
    inputs[0] = f64::NAN;
    let complaint = servo.cycle(&inputs).unwrap_err();
    assert_eq!(complaint, "position or velocity is not a number");
}

/// Goal: what a test leaves behind reaches no other test.
#[test]
fn each_start_begins_anew() {
    let mut servo = Controller::start(Model::Servo);
    servo.tune(0, 9.0);
    assert_eq!(servo.cycle(&at_rest(0x0250)).unwrap()[3], 9.0);
    drop(servo);
    let mut servo = Controller::start(Model::Servo);
    assert_eq!(servo.cycle(&at_rest(0x0250)).unwrap()[3], 10.0);
}

#[test]
fn strokes_end_where_they_shall_for_long() {
    for mode in [Mode::Torque, Mode::Velocity] {
        let mut ends = [0u32; 2];
        let mut worst: f64 = 0.0;
        let mut servo = new_loop(mode, NOTHING, true);
        let done = servo.run(Timing::PUNCTUAL, Nanos::from_secs(60), |sight| {
            let [_, _, _, _, demand, _, state, in_position] = sight.outputs;
            assert_ne!(state, 3.0, "a fault at {}", sight.now);
            if in_position != 0.0 {
                ends[usize::from(demand > 1.0)] += 1;
                worst = worst.max((sight.sensors[0] - demand).abs());
            }
        });
        done.unwrap();
        assert!(ends[0].min(ends[1]) > 5_000, "{ends:?} cycles at the ends");
        assert!(worst <= WINDOW, "{worst} rad");
    }
}

#[test]
fn it_finds_its_reference_at_the_switch() {
    let mut servo = new_loop(Mode::Torque, NOTHING, true);
    servo.use_switch();
    let (mut highest, mut lowest, mut referring) = (f64::MIN, f64::MAX, 0);
    let done = servo.run(Timing::PUNCTUAL, Nanos::from_secs(5), |sight| {
        referring += u32::from(sight.outputs[6] == 1.0);
        highest = highest.max(sight.sensors[0]);
        lowest = lowest.min(sight.sensors[0]);
    });
    done.unwrap();
    // The switch is at zero, where the axis stands; it is seen after a short way down.
    assert!(referring > 0);
    assert!(lowest < 0.0);
    assert!(lowest > -0.2, "{lowest} rad");
    assert!((highest - 62.83).abs() < 0.2, "{highest} rad");
}

/// Goal: a blocked axis is noticed and left alone, and comes back when it is free again.
#[test]
fn a_blocked_axis_fails_and_recovers() {
    let (from, to) = (Nanos::from_secs(1), Nanos::from_secs(2));
    let mut servo = new_loop(Mode::Torque, (7.2, from, to), false);
    let (mut failed, mut recovered) = (None, None);
    let done = servo.run(Timing::PUNCTUAL, Nanos::from_secs(8), |sight| {
        let state = sight.outputs[6];
        if state == 3.0 && failed.is_none() {
            failed = Some(sight.now);
            assert_eq!(sight.outputs[0], 0.0, "no torque in the very cycle");
        }
        if failed.is_some() && sight.now > to && state == 2.0 {
            recovered.get_or_insert(sight.now);
        }
    });
    done.unwrap();
    assert!(failed.is_some_and(|at| at > from && at < Nanos::from_millis(1_200)), "{failed:?}");
    assert!(recovered.is_some(), "it never moved again");
}
