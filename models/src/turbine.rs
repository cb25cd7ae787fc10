//! The steam turbine: run-up, a load step on its own grid, and the loss of its full load.

use quietcore_segment::plant::{Schedule, SteamTurbine};
use quietcore_units::Nanos;

use crate::closed_loop::{ClosedLoop, Extent, Figure, Outcome, Signals, Wiring};
use crate::controller::{Controller, Model, VALUES};
use crate::margin::Allowance;
use crate::timing::Timing;

/// Period of the speed governor; that of the load controller is ten times as long.
pub const PERIOD: Nanos = Nanos::from_millis(10);
/// Lateness at which the loop stays within its specification.
pub const ALLOWANCE: Allowance = Allowance {
    dead_time: Nanos::from_millis(50),
    jitter: Nanos::from_millis(8),
    latency: Nanos::from_millis(8),
};

/// Longest run-up from standstill to within 1 % of the rated speed, in s.
pub const RUN_UP_MAX: f64 = 30.0;
/// Largest fall of the speed when the load rises from 5 to 7 MW, in % of the rated speed.
pub const DIP_MAX: f64 = 1.5;
/// Longest time from a load step until the speed stays within 0.5 %, in s.
pub const RECOVERY_MAX: f64 = 5.0;
/// Largest speed after the loss of 10 MW, in % above the rated speed; the trip is at 10 %.
pub const OVERSPEED_MAX: f64 = 7.0;
/// Peak to peak from which the loop counts as not calm, in % of the rated speed.
const CALM: f64 = 0.3;

const RATED_SPEED: f64 = 3_000.0;
/// When the load rises, when it becomes full, when it is lost, and the end.
const TIMES_S: [u64; 4] = [60, 100, 140, 200];

/// Transducers and consumers between the governor and the turbine.
pub struct TurbineWiring {
    grid: bool,
}

fn load_at(now: Nanos) -> f64 {
    let [rise, full, loss, _] = TIMES_S.map(Nanos::from_secs);
    if now < rise {
        5.0
    } else if now < full {
        7.0
    } else if now < loss {
        10.0
    } else {
        0.0
    }
}

impl Wiring for TurbineWiring {
    fn inputs(&mut self, _: Nanos, sensors: &Signals) -> [f64; VALUES] {
        let grid = f64::from(u8::from(self.grid));
        [sensors[0], sensors[1], sensors[2], grid, 0.0, 0.0, 0.0, 0.0]
    }

    fn actuators(&mut self, outputs: &[f64; VALUES], actuators: &mut Signals) {
        actuators[0] = outputs[0];
        actuators[1] = outputs[1];
    }

    fn disturb(&self, now: Nanos, actuators: &mut Signals) {
        actuators[2] = if self.grid { 0.0 } else { load_at(now) };
        actuators[3] = f64::from(u8::from(self.grid));
    }
}

/// A turbine loop ready to run: alone with its consumers, or on the grid.
#[must_use]
pub fn new_loop(grid: bool) -> ClosedLoop<TurbineWiring> {
    let controller = Controller::start(Model::Turbine);
    let plant = SteamTurbine::new(Schedule::constant(0.0));
    ClosedLoop::new(controller, Box::new(plant), TurbineWiring { grid }, PERIOD)
}

/// Runs the turbine up, changes and takes away its load; tells whether it meets its specification.
#[must_use]
pub fn scenario(timing: Timing) -> Outcome {
    let [rise, full, loss, end] = TIMES_S.map(Nanos::from_secs);
    let mut run_up = f64::INFINITY;
    let mut step = Extent::default();
    let mut lost = Extent::default();
    let mut calm = [Extent::default(); 2];
    let mut last_beyond = rise;
    let mut tripped = false;
    let mut turbine = new_loop(false);
    let outcome = turbine.run(timing, end, |sight| {
        let share = 100.0 * (sight.sensors[0] / RATED_SPEED - 1.0);
        tripped |= sight.outputs[1] != 0.0;
        if run_up.is_infinite() && share >= -1.0 {
            run_up = sight.now.as_secs_f64();
        }
        if (rise..full).contains(&sight.now) {
            step.add(share);
            if share.abs() > 0.5 {
                last_beyond = sight.now;
            }
        } else if sight.now >= loss {
            lost.add(share);
        }
        for (extent, until) in calm.iter_mut().zip([full, end]) {
            if sight.now < until && sight.now >= until.saturating_sub(Nanos::from_secs(10)) {
                extent.add(share);
            }
        }
    });
    if outcome.is_err() {
        return Outcome::gave_up();
    }
    let recovery = last_beyond.saturating_sub(rise).as_secs_f64();
    let overspeed = if tripped { f64::INFINITY } else { lost.most };
    let figure = |name, unit, value, limit| Figure { name, unit, value, limit };
    Outcome {
        figures: vec![
            figure("run-up", "s", run_up, RUN_UP_MAX),
            figure("dip by 2 MW", "%", -step.least, DIP_MAX),
            figure("recovery", "s", recovery, RECOVERY_MAX),
            figure("overspeed without load", "%", overspeed, OVERSPEED_MAX),
        ],
        is_stable: calm.iter().all(|extent| extent.width() <= CALM),
    }
}
