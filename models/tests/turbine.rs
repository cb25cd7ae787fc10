//! The turbine program beyond its specification: on the grid, after a trip, for long.

use quietcore_models::closed_loop::Extent;
use quietcore_models::controller::{Controller, Model, VALUES};
use quietcore_models::timing::Timing;
use quietcore_models::turbine::new_loop;
use quietcore_units::Nanos;

const RUN_UP: f64 = 1.0;
const RUNNING: f64 = 2.0;
const TRIPPED: f64 = 3.0;

fn inputs(speed: f64, power: f64) -> [f64; VALUES] {
    [speed, power, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
}

#[test]
fn on_the_grid_it_delivers_what_it_is_told() {
    let mut turbine = new_loop(true);
    turbine.controller_mut().tune(1, 7.5);
    let mut power = Extent::default();
    let done = turbine.run(Timing::PUNCTUAL, Nanos::from_secs(300), |sight| {
        if sight.now >= Nanos::from_secs(240) {
            power.add(sight.sensors[1]);
        }
    });
    done.unwrap();
    assert!((power.least - 7.5).abs() < 0.02, "{power:?} MW");
    assert!(power.width() < 0.02, "{power:?} MW");
}

#[test]
fn it_is_calm_for_hours_on_the_grid() {
    let mut turbine = new_loop(true);
    let mut speed = Extent::default();
    let done = turbine.run(Timing::PUNCTUAL, Nanos::from_secs(2 * 3_600), |sight| {
        assert_ne!(sight.outputs[3], TRIPPED);
        if sight.now >= Nanos::from_secs(600) {
            speed.add(sight.sensors[0]);
        }
    });
    done.unwrap();
    assert!(speed.width() < 1.0, "{speed:?} 1/min");
}

/// Goal: overspeed trips within one cycle and stays until somebody takes it back.
#[test]
fn overspeed_trips_at_once_and_for_good() {
    let mut turbine = Controller::start(Model::Turbine);
    for _ in 0..200 {
        turbine.cycle(&inputs(2_990.0, 5.0)).unwrap();
    }
    assert_eq!(turbine.cycle(&inputs(3_300.0, 5.0)).unwrap()[1], 0.0);
    assert_eq!(turbine.cycle(&inputs(3_300.1, 5.0)).unwrap()[1], 1.0);
    let mut outputs = [0.0; VALUES];
    for _ in 0..100 {
        outputs = turbine.cycle(&inputs(2_900.0, 0.0)).unwrap();
    }
    assert_eq!((outputs[0], outputs[1], outputs[3]), (0.0, 1.0, TRIPPED));
    let mut reset = inputs(2_900.0, 0.0);
    reset[4] = 1.0;
    turbine.cycle(&reset).unwrap();
    let outputs = turbine.cycle(&reset).unwrap();
    assert_eq!((outputs[1], outputs[3]), (0.0, RUN_UP));
}

#[test]
fn a_reset_while_it_is_too_fast_is_refused() {
    let mut turbine = Controller::start(Model::Turbine);
    turbine.cycle(&inputs(3_400.0, 0.0)).unwrap();
    let mut reset = inputs(3_200.0, 0.0);
    reset[4] = 1.0;
    assert_eq!(turbine.cycle(&reset).unwrap()[3], TRIPPED);
}

/// Goal: the slow rate's result reaches the fast one whole and at its next release.
#[test]
fn the_load_controller_acts_each_tenth_cycle() {
    let mut turbine = Controller::start(Model::Turbine);
    turbine.tune(1, 10.0);
    let mut running = inputs(3_000.0, 2.0);
    running[3] = 1.0;
    let mut references = Vec::new();
    for _ in 0..3_000 {
        let outputs = turbine.cycle(&running).unwrap();
        if outputs[3] == RUNNING {
            references.push(outputs[2]);
        }
    }
    let changes: Vec<usize> =
        (1..references.len()).filter(|at| references[*at] != references[at - 1]).collect();
    assert!(changes.len() > 5, "{} changes", changes.len());
    assert!(changes.windows(2).all(|pair| pair[1] - pair[0] == 10), "{changes:?}");
}

#[test]
fn a_reading_that_is_no_number_closes_the_valves() {
    let mut turbine = Controller::start(Model::Turbine);
    let complaint = turbine.cycle(&inputs(f64::NAN, 0.0)).unwrap_err();
    assert_eq!(complaint, "speed or power is not a number");
}
