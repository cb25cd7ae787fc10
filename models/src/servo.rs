//! The servo axis: strokes of ten turns, and a blow against the axis at rest.
//!
//! The drive between controller and axis is reduced to its state machine and its torque limit; the
//! one with registers and process data is that of the simulated segment.

use std::f64::consts::TAU;

use quietcore_segment::plant::ServoAxis;
use quietcore_units::Nanos;

use crate::closed_loop::{ClosedLoop, Extent, Figure, Outcome, Sight, Signals, Wiring};
use crate::controller::{Controller, Model, VALUES};
use crate::margin::Allowance;
use crate::timing::Timing;

/// Period of the controller.
pub const PERIOD: Nanos = Nanos::from_millis(1);
/// Lateness at which the loop stays within its specification in the torque mode.
pub const ALLOWANCE: Allowance = Allowance {
    dead_time: Nanos::from_millis(1),
    jitter: Nanos::from_micros(250),
    latency: Nanos::from_micros(800),
};
/// The same in the velocity mode: the drive follows the demand faster, so dead time shows earlier.
pub const ALLOWANCE_VELOCITY: Allowance =
    Allowance { dead_time: Nanos::from_micros(500), ..ALLOWANCE };

/// Largest difference between where the axis shall be and is while it moves, in mrad.
pub const FOLLOWING_ERROR_MAX: f64 = 100.0;
/// Largest way beyond the end of a stroke, in mrad.
pub const OVERSHOOT_MAX: f64 = 50.0;
/// Longest time from the end of a stroke's demand until the axis stays in the window, in ms.
pub const SETTLING_MAX: f64 = 80.0;
/// Largest displacement by a load of 1 Nm that comes at once, in mrad.
pub const DISPLACEMENT_MAX: f64 = 150.0;
/// The window, in rad to both sides.
pub const WINDOW: f64 = 0.005;
/// Peak to peak at rest from which the loop counts as not calm, in rad.
const CALM: f64 = 0.02;

/// Strokes that a run of [`run_strokes`] makes at least.
const STROKES_MIN: u32 = 6;
/// Number of the controller's state after a fault.
const STATE_FAULT: f64 = 3.0;

/// Numbers of the controller's parameters in its face.
mod parameter {
    pub(super) const MODE: u32 = 0;
    pub(super) const AUTOMATIC: u32 = 1;
    pub(super) const USE_SWITCH: u32 = 2;
    pub(super) const ERROR_LIMIT: u32 = 4;
}

/// Mode of operation 9 and 10 of CiA 402.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Cyclic synchronous velocity: the drive closes the velocity loop.
    Velocity = 9,
    /// Cyclic synchronous torque: the controller closes all but the current loop.
    Torque = 10,
}

/// The state machine of a drive (IEC 61800-7-201, 10), shortened to the way up and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DriveState {
    Disabled,
    Ready,
    SwitchedOn,
    Operation,
}

impl DriveState {
    fn follow(self, controlword: u16) -> Self {
        match (self, controlword & 0x0F) {
            (_, 0x00) => Self::Disabled,
            (_, 0x06) | (Self::Disabled, _) => Self::Ready,
            (Self::Ready | Self::Operation, 0x07) => Self::SwitchedOn,
            (Self::SwitchedOn, 0x0F) => Self::Operation,
            (state, _) => state,
        }
    }

    fn statusword(self) -> u16 {
        match self {
            Self::Disabled => 0x0250,
            Self::Ready => 0x0231,
            Self::SwitchedOn => 0x0233,
            Self::Operation => 0x0237,
        }
    }
}

/// Drive and encoder between the controller and the axis.
pub struct ServoWiring {
    drive: DriveState,
    mode: f64,
    target: f64,
    /// Torque against the load and from when to when.
    load: (f64, Nanos, Nanos),
}

impl ServoWiring {
    fn new(load: (f64, Nanos, Nanos)) -> Self {
        Self { drive: DriveState::Disabled, mode: 0.0, target: 0.0, load }
    }
}

/// An encoder of 20 bit.
fn counted(angle: f64) -> f64 {
    let per_count = TAU / 1_048_576.0;
    (angle / per_count).floor() * per_count
}

impl Wiring for ServoWiring {
    fn inputs(&mut self, _: Nanos, sensors: &Signals) -> [f64; VALUES] {
        let status = f64::from(self.drive.statusword());
        let angle = counted(sensors[0]);
        [angle, sensors[1], sensors[2], status, self.mode, sensors[4], self.target, 0.0]
    }

    fn actuators(&mut self, outputs: &[f64; VALUES], actuators: &mut Signals) {
        self.drive = self.drive.follow(outputs[2] as u16);
        self.mode = outputs[3];
        actuators[0] = outputs[0];
        actuators[1] = outputs[1];
        actuators[3] = if self.mode == 9.0 { 1.0 } else { 0.0 };
        actuators[4] = if self.drive == DriveState::Operation { 1.0 } else { 0.0 };
    }

    fn disturb(&self, now: Nanos, actuators: &mut Signals) {
        let (torque, from, to) = self.load;
        actuators[5] = if (from..to).contains(&now) { torque } else { 0.0 };
    }
}

/// A servo loop ready to run.
#[must_use]
pub fn new_loop(mode: Mode, load: (f64, Nanos, Nanos), strokes: bool) -> ClosedLoop<ServoWiring> {
    let mut controller = Controller::start(Model::Servo);
    controller.tune(parameter::MODE, f64::from(mode as i8));
    controller.tune(parameter::AUTOMATIC, f64::from(u8::from(strokes)));
    ClosedLoop::new(controller, Box::new(ServoAxis::new()), ServoWiring::new(load), PERIOD)
}

/// The results of strokes, in mrad and ms.
#[derive(Clone, Copy, Debug, Default)]
struct Strokes {
    following_error: f64,
    overshoot: f64,
    settling: f64,
    /// The demand that stands still now, and since when.
    resting: Option<(f64, Nanos)>,
    demand_before: f64,
    direction: f64,
    count: u32,
    has_failed: bool,
}

impl Strokes {
    fn see(&mut self, sight: &Sight) {
        let [_, _, _, _, demand, following_error, state, _] = sight.outputs;
        self.has_failed |= state == STATE_FAULT;
        let position = sight.sensors[0];
        self.following_error = self.following_error.max(1e3 * following_error.abs());
        if demand != self.demand_before {
            self.direction = (demand - self.demand_before).signum();
            self.resting = None;
        } else if self.resting.is_none() && self.direction != 0.0 {
            self.resting = Some((demand, sight.now));
            self.count += 1;
        }
        self.demand_before = demand;
        if let Some((end, since)) = self.resting {
            let beyond = (position - end) * self.direction;
            self.overshoot = self.overshoot.max(1e3 * beyond);
            if (position - end).abs() > WINDOW {
                let late = sight.now.saturating_sub(since).as_secs_f64();
                self.settling = self.settling.max(1e3 * late);
            }
        }
    }
}

/// Runs strokes for 4 s and, at rest, a blow; tells whether the loop meets its specification.
#[must_use]
pub fn scenario(mode: Mode, timing: Timing) -> Outcome {
    let Some(strokes) = run_strokes(mode, timing) else {
        return Outcome::gave_up();
    };
    let Some((displacement, swing)) = run_blow(mode, timing) else {
        return Outcome::gave_up();
    };
    let figure = |name, unit, value, limit| Figure { name, unit, value, limit };
    // An axis that gave up, or never came to the end of a stroke, has not settled.
    let is_moving = strokes.count >= STROKES_MIN && !strokes.has_failed;
    let settling = if is_moving { strokes.settling } else { f64::INFINITY };
    Outcome {
        figures: vec![
            figure("following error", "mrad", strokes.following_error, FOLLOWING_ERROR_MAX),
            figure("overshoot", "mrad", strokes.overshoot, OVERSHOOT_MAX),
            figure("settling time", "ms", settling, SETTLING_MAX),
            figure("displacement by 1 Nm", "mrad", displacement, DISPLACEMENT_MAX),
        ],
        is_stable: swing <= CALM,
    }
}

fn run_strokes(mode: Mode, timing: Timing) -> Option<Strokes> {
    let nothing = (0.0, Nanos::ZERO, Nanos::ZERO);
    let mut strokes = Strokes::default();
    let mut servo = new_loop(mode, nothing, true);
    servo.run(timing, Nanos::from_secs(4), |sight| strokes.see(sight)).ok()?;
    Some(strokes)
}

/// Displacement in mrad by 1 Nm from 0.5 s to 1 s, and the swing in rad of the last half second.
fn run_blow(mode: Mode, timing: Timing) -> Option<(f64, f64)> {
    let (from, to) = (Nanos::from_millis(500), Nanos::from_millis(1_000));
    let mut displacement: f64 = 0.0;
    let mut rest = Extent::default();
    let mut servo = new_loop(mode, (1.0, from, to), false);
    servo.tune_error_limit();
    let outcome = servo.run(timing, Nanos::from_millis(3_000), |sight| {
        if (from..to).contains(&sight.now) {
            displacement = displacement.max(1e3 * sight.sensors[0].abs());
        }
        if sight.now >= Nanos::from_millis(2_500) {
            rest.add(sight.sensors[0]);
        }
    });
    outcome.ok()?;
    Some((displacement, rest.width()))
}

impl ClosedLoop<ServoWiring> {
    /// Lets the controller go on whatever the error, so that an unstable loop shows itself.
    fn tune_error_limit(&mut self) {
        self.controller_mut().tune(parameter::ERROR_LIMIT, 1e6);
    }

    /// Makes the controller look for the reference switch first.
    pub fn use_switch(&mut self) {
        self.controller_mut().tune(parameter::USE_SWITCH, 1.0);
    }
}
