//! The tank program beyond its specification: interlocks, windup, for long.

use quietcore_models::closed_loop::Extent;
use quietcore_models::controller::{Controller, Model, VALUES};
use quietcore_models::tank::{SETPOINT, new_loop};
use quietcore_models::timing::Timing;
use quietcore_units::Nanos;

const CONTROLLING: f64 = 1.0;
const FULL: f64 = 2.0;
const SENSOR_FAULT: f64 = 3.0;

fn inputs(level: f64, full: bool) -> [f64; VALUES] {
    [level, 1.5, 0.6, f64::from(u8::from(full)), 0.0, 0.0, 0.0, 0.0]
}

#[test]
fn it_keeps_the_level_for_hours() {
    let mut tank = new_loop();
    let mut level = Extent::default();
    let done = tank.run(Timing::PUNCTUAL, Nanos::from_secs(4 * 3_600), |sight| {
        if sight.now >= Nanos::from_secs(600) {
            level.add(sight.sensors[0] - SETPOINT);
        }
    });
    done.unwrap();
    assert!(level.width() < 1e-3, "{level:?} m");
    assert!(level.most.abs() < 1e-3, "{level:?} m");
}

#[test]
fn a_new_setpoint_is_reached() {
    let mut tank = new_loop();
    tank.controller_mut().tune(1, 0.4);
    let mut last = 0.0;
    let done = tank.run(Timing::PUNCTUAL, Nanos::from_secs(110), |sight| last = sight.sensors[0]);
    done.unwrap();
    assert!((last - 0.4).abs() < 5e-3, "{last} m");
}

/// Goal: what the pump could not do is not stored up.
/// Method: a level that stays too low for ten minutes, then is above the setpoint: the pump must
/// slow down within seconds.
#[test]
fn a_long_lack_of_water_does_not_wind_up() {
    let mut tank = Controller::start(Model::Tank);
    let mut outputs = [0.0; VALUES];
    for _ in 0..6_000 {
        outputs = tank.cycle(&inputs(0.1, false)).unwrap();
    }
    assert_eq!(outputs[0], 1.0);
    let cycles = (0..100).position(|_| tank.cycle(&inputs(0.62, false)).unwrap()[0] < 0.6);
    assert!(cycles.is_some_and(|cycles| cycles < 50), "{cycles:?} cycles");
}

#[test]
fn a_full_tank_stops_the_pump_at_once() {
    let mut tank = Controller::start(Model::Tank);
    assert_eq!(tank.cycle(&inputs(0.5, false)).unwrap()[1], CONTROLLING);
    let outputs = tank.cycle(&inputs(0.97, true)).unwrap();
    assert_eq!((outputs[0], outputs[1], outputs[2]), (0.0, FULL, 1.0));
    assert_eq!(tank.cycle(&inputs(0.9, false)).unwrap()[1], CONTROLLING);
}

#[test]
fn an_invalid_level_is_borne_for_half_a_second() {
    let mut tank = Controller::start(Model::Tank);
    tank.cycle(&inputs(0.5, false)).unwrap();
    let states: Vec<f64> = (0..6).map(|_| tank.cycle(&inputs(1.5, false)).unwrap()[1]).collect();
    assert_eq!(states[..4], [CONTROLLING; 4]);
    assert_eq!(states[4..], [SENSOR_FAULT; 2]);
    assert_eq!(tank.cycle(&inputs(0.5, false)).unwrap()[1], CONTROLLING);
}

#[test]
fn a_reading_that_is_no_number_ends_the_program() {
    let mut tank = Controller::start(Model::Tank);
    let complaint = tank.cycle(&inputs(f64::NAN, false)).unwrap_err();
    assert_eq!(complaint, "level or outflow is not a number");
}
