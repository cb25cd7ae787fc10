//! The tank: filled from empty, then its outlet opens and closes.

use quietcore_segment::plant::{Schedule, Tank};
use quietcore_units::Nanos;

use crate::closed_loop::{ClosedLoop, Extent, Figure, Outcome, Signals, Wiring};
use crate::controller::{Controller, Model, VALUES};
use crate::margin::Allowance;
use crate::timing::Timing;

/// Period of the controller.
pub const PERIOD: Nanos = Nanos::from_millis(100);
/// Lateness at which the loop stays within its specification.
pub const ALLOWANCE: Allowance = Allowance {
    dead_time: Nanos::from_millis(200),
    jitter: Nanos::from_millis(80),
    latency: Nanos::from_millis(80),
};

/// The level that the controller keeps.
pub const SETPOINT: f64 = 0.6;
/// Longest time to fill the tank to within the window, in s.
pub const FILLING_MAX: f64 = 50.0;
/// Largest level above the setpoint after filling, in mm.
pub const OVERSHOOT_MAX: f64 = 25.0;
/// Largest fall of the level when the outlet opens from 80 % to 100 %, in mm.
pub const DIP_MAX: f64 = 10.0;
/// Longest time from the opening until the level stays in the window, in s.
pub const RECOVERY_MAX: f64 = 6.0;
/// The window, in m to both sides.
pub const WINDOW: f64 = 0.002;
/// Peak to peak from which the loop counts as not calm, in m.
const CALM: f64 = 0.01;

/// When the outlet opens, when it closes again, and the end.
const TIMES_S: [u64; 3] = [120, 200, 280];

/// Transmitters and consumers between the controller and the tank.
pub struct TankWiring;

impl Wiring for TankWiring {
    fn inputs(&mut self, _: Nanos, sensors: &Signals) -> [f64; VALUES] {
        [sensors[0], sensors[1], sensors[2], sensors[3], 0.0, 0.0, 0.0, 0.0]
    }

    fn actuators(&mut self, outputs: &[f64; VALUES], actuators: &mut Signals) {
        actuators[0] = outputs[0];
    }

    fn disturb(&self, now: Nanos, actuators: &mut Signals) {
        let [open, close, _] = TIMES_S.map(Nanos::from_secs);
        actuators[1] = if (open..close).contains(&now) { 1.0 } else { 0.8 };
    }
}

/// A tank loop ready to run, with an empty tank.
#[must_use]
pub fn new_loop() -> ClosedLoop<TankWiring> {
    let controller = Controller::start(Model::Tank);
    let plant = Tank::new(Schedule::constant(0.0));
    ClosedLoop::new(controller, Box::new(plant), TankWiring, PERIOD)
}

/// Fills the tank, opens and closes its outlet; tells whether the loop meets its specification.
#[must_use]
pub fn scenario(timing: Timing) -> Outcome {
    let [open, close, end] = TIMES_S.map(Nanos::from_secs);
    let (mut filling, mut step) = (Extent::default(), Extent::default());
    let mut calm = [Extent::default(); 3];
    let (mut outside_filling, mut outside_step) = (Nanos::ZERO, open);
    let mut tank = new_loop();
    let outcome = tank.run(timing, end, |sight| {
        let error = sight.sensors[0] - SETPOINT;
        let is_outside = error.abs() > WINDOW;
        if sight.now < open {
            filling.add(error);
            outside_filling = if is_outside { sight.now } else { outside_filling };
        } else if sight.now < close {
            step.add(error);
            outside_step = if is_outside { sight.now } else { outside_step };
        }
        for (extent, until) in calm.iter_mut().zip([open, close, end]) {
            if sight.now < until && sight.now >= until.saturating_sub(Nanos::from_secs(20)) {
                extent.add(error);
            }
        }
    });
    if outcome.is_err() {
        return Outcome::gave_up();
    }
    let recovery = outside_step.saturating_sub(open).as_secs_f64();
    let figure = |name, unit, value, limit| Figure { name, unit, value, limit };
    Outcome {
        figures: vec![
            figure("filling time", "s", outside_filling.as_secs_f64(), FILLING_MAX),
            figure("overshoot", "mm", 1e3 * filling.most, OVERSHOOT_MAX),
            figure("dip by the outlet", "mm", -1e3 * step.least, DIP_MAX),
            figure("recovery", "s", recovery, RECOVERY_MAX),
        ],
        is_stable: calm.iter().all(|extent| extent.width() <= CALM),
    }
}
