//! A servo axis: amplifier, motor, elastic shaft, and a load with friction.
//!
//! ```text
//! setpoint ─► position loop ─► velocity loop ─► torque limit ─► current loop ─► T
//!  (which one enters where is chosen by `loop`)                   lag τ
//!
//!   T ──►( J_m )══ k, d ══( J_l )◄── friction, T_ext
//!         θ_m ω_m           θ_l ω_l
//! ```
//!
//! | equation | unit |
//! |---|---|
//! | τ dT/dt = T_set − T | Nm |
//! | T_s = k (θ_m − θ_l) + d (ω_m − ω_l) | Nm |
//! | J_m dω_m/dt = T − b ω_m − T_s | Nm |
//! | J_l dω_l/dt = T_s − T_f(ω_l) − T_ext | Nm |
//! | T_f(ω) = s(ω) (T_c + (T_b − T_c) / (1 + (ω/ω_b)²)) + b_l ω,  s(ω) = (ω/ω_s) / √(1 + (ω/ω_s)²) | Nm |
//! | dθ/dt = ω for motor and load | rad/s |
//!
//! Solved by the semi-implicit Euler rule (speeds first, then angles), which keeps the energy of
//! the elastic shaft bounded; its resonance at 1.78 krad/s turns by 0.09 rad in a step of 50 µs.
//! The friction is Coulomb's with the Stribeck fall (Armstrong-Hélouvry, Dupont, Canudas de Wit
//! 1994, the static map), with a continuous sign: a load at rest under a torque below `T_b` creeps
//! instead of sticking, slower than `ω_s`.
//!
//! The parameters are those of no product. Torques, inertia and speed are in the order that
//! catalogues state for low-inertia motors of 750 W on an 80 mm flange; the load has the motor's
//! own inertia, as a well matched belt axis has; stiffness and damping were chosen for a resonance
//! of 283 Hz with 3 % damping, where such axes have theirs. The amplifier's loops run in the own
//! step, as drives run theirs at 16 to 20 kHz, and are tuned to 600 rad/s (velocity) and 100 1/s
//! (position).

use quietcore_units::Nanos;

use super::step_clock::StepClock;
use super::{Connections, Plant, PlantSignal, hold, show, smooth_sign};

const STEP: Nanos = Nanos::from_micros(50);
const STEP_S: f64 = 50e-6;

/// Torque that the motor can hold for ever, in Nm; drives count torque in thousandths of it.
const RATED_TORQUE: f64 = 2.4;
/// Torque limit of the amplifier, in Nm.
const PEAK_TORQUE: f64 = 7.2;
/// Speed at which the amplifier's voltage is used up, in rad/s (6000 1/min).
const SPEED_MAX: f64 = 628.0;
/// Time constant τ of the current loop, in s.
const CURRENT_LAG_S: f64 = 250e-6;
/// J_m, in kg m².
const MOTOR_INERTIA: f64 = 1.2e-4;
/// J_l, in kg m², seen at the motor.
const LOAD_INERTIA: f64 = 1.2e-4;
/// Stiffness k of the shaft, in Nm/rad.
const STIFFNESS: f64 = 190.0;
/// d, in Nm s/rad.
const SHAFT_DAMPING: f64 = 6.4e-3;
/// b, in Nm s/rad.
const MOTOR_VISCOUS: f64 = 1e-4;
/// b_l, in Nm s/rad.
const LOAD_VISCOUS: f64 = 2e-4;
/// Coulomb friction T_c, in Nm.
const COULOMB: f64 = 0.12;
/// Breakaway friction T_b, in Nm.
const BREAKAWAY: f64 = 0.16;
/// Speed ω_b of the Stribeck curve, in rad/s.
const STRIBECK_SPEED: f64 = 3.0;
/// Speed ω_s over which the friction changes its sign, in rad/s.
const SIGN_WIDTH: f64 = 0.3;

/// The velocity that a drive reports is filtered by this time constant, in s.
const VELOCITY_FILTER_S: f64 = 200e-6;
/// Gain of the amplifier's velocity loop, in Nm s/rad: both inertias at 600 rad/s.
const VELOCITY_GAIN: f64 = (MOTOR_INERTIA + LOAD_INERTIA) * 600.0;
/// Reset time of the amplifier's velocity loop, in s.
const VELOCITY_RESET_S: f64 = 0.012;
/// Gain of the amplifier's position loop, in 1/s.
const POSITION_GAIN: f64 = 100.0;

/// Counts of one revolution of the encoder: 20 bit.
const COUNTS_PER_TURN: f64 = 1_048_576.0;
const RAD_PER_COUNT: f64 = std::f64::consts::TAU / COUNTS_PER_TURN;
/// The angle at which a signed 32-bit counter of these counts wraps around, in rad.
const ANGLE_MAX: f64 = 2_048.0 * std::f64::consts::TAU;

const fn actuator(
    name: &'static str,
    unit: &'static str,
    range: (f64, f64),
    rest: f64,
    per_count: f64,
    meaning: &'static str,
) -> PlantSignal {
    PlantSignal { name, unit, minimum: range.0, maximum: range.1, rest, per_count, meaning }
}

const fn sensor(
    name: &'static str,
    unit: &'static str,
    range: (f64, f64),
    per_count: f64,
    meaning: &'static str,
) -> PlantSignal {
    actuator(name, unit, range, 0.0, per_count, meaning)
}

const TORQUE_PER_COUNT: f64 = RATED_TORQUE / 1_000.0;
const SPEEDS: (f64, f64) = (-700.0, 700.0);
const ANGLES: (f64, f64) = (-ANGLE_MAX, ANGLE_MAX);
const TORQUES: (f64, f64) = (-PEAK_TORQUE, PEAK_TORQUE);
const SWITCH: (f64, f64) = (0.0, 1.0);

const ACTUATORS: [PlantSignal; 6] = [
    actuator("torque", "Nm", TORQUES, 0.0, TORQUE_PER_COUNT, "torque setpoint or feed-forward"),
    actuator("velocity", "rad/s", SPEEDS, 0.0, RAD_PER_COUNT, "setpoint of the velocity loop"),
    actuator("position", "rad", ANGLES, 0.0, RAD_PER_COUNT, "setpoint of the position loop"),
    actuator(
        "loop",
        "",
        (0.0, 2.0),
        0.0,
        1.0,
        "closed in the drive: 0 none, 1 velocity, 2 position",
    ),
    actuator("power", "", SWITCH, 1.0, 1.0, "the amplifier's output stage is on"),
    actuator("load", "Nm", TORQUES, 0.0, TORQUE_PER_COUNT, "external torque against the load"),
];

const SENSORS: [PlantSignal; 5] = [
    sensor("position", "rad", ANGLES, RAD_PER_COUNT, "angle of the motor"),
    sensor(
        "velocity",
        "rad/s",
        SPEEDS,
        RAD_PER_COUNT,
        "speed of the motor, as the drive filters it",
    ),
    sensor("torque", "Nm", TORQUES, TORQUE_PER_COUNT, "torque of the motor"),
    sensor("load_position", "rad", ANGLES, RAD_PER_COUNT, "angle of the load"),
    sensor("reference_switch", "", SWITCH, 1.0, "on while the load's angle is below zero"),
];

const TORQUE: usize = 0;
const VELOCITY: usize = 1;
const POSITION: usize = 2;
const LOOP: usize = 3;
const POWER: usize = 4;
const LOAD: usize = 5;

/// The loop that is closed in the drive, as the actuator `loop` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisLoop {
    /// None: the torque is set directly, as in the mode cyclic synchronous torque.
    Torque,
    /// The velocity loop; torque is fed forward.
    Velocity,
    /// The velocity and the position loop; velocity and torque are fed forward.
    Position,
}

impl AxisLoop {
    fn from_actuator(value: f64) -> Self {
        if value < 0.5 {
            Self::Torque
        } else if value < 1.5 {
            Self::Velocity
        } else {
            Self::Position
        }
    }
}

/// A servo axis at rest at the angle zero.
#[derive(Clone, Debug)]
pub struct ServoAxis {
    clock: StepClock,
    held: [f64; ACTUATORS.len()],
    torque: f64,
    motor_angle: f64,
    motor_speed: f64,
    load_angle: f64,
    load_speed: f64,
    shown_speed: f64,
    /// Integral part of the amplifier's velocity loop, in Nm.
    integral: f64,
}

impl ServoAxis {
    /// The axis at rest, all angles zero, with its output stage on.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clock: StepClock::new(STEP),
            held: ACTUATORS.map(|signal| signal.rest),
            torque: 0.0,
            motor_angle: 0.0,
            motor_speed: 0.0,
            load_angle: 0.0,
            load_speed: 0.0,
            shown_speed: 0.0,
            integral: 0.0,
        }
    }

    /// The same axis with motor and load standing at this angle, in rad.
    #[must_use]
    pub fn standing_at(mut self, angle: f64) -> Self {
        self.motor_angle = angle;
        self.load_angle = angle;
        self
    }

    /// The torque that the drive asks its current loop for, in Nm.
    fn torque_setpoint(&mut self) -> f64 {
        if self.held[POWER] < 0.5 {
            self.integral = 0.0;
            return 0.0;
        }
        let speed_setpoint = match AxisLoop::from_actuator(self.held[LOOP]) {
            AxisLoop::Torque => {
                self.integral = 0.0;
                return self.held[TORQUE];
            }
            AxisLoop::Velocity => self.held[VELOCITY],
            AxisLoop::Position => {
                let error = wrapped(self.held[POSITION] - self.motor_angle);
                self.held[VELOCITY] + POSITION_GAIN * error
            }
        };
        let error = speed_setpoint - self.shown_speed;
        let free = VELOCITY_GAIN * error + self.integral + self.held[TORQUE];
        let limited = free.clamp(-PEAK_TORQUE, PEAK_TORQUE);
        // The integral stands still while it would drive the torque further into its limit.
        if free == limited || (free - limited) * error < 0.0 {
            self.integral += VELOCITY_GAIN * error * (STEP_S / VELOCITY_RESET_S);
        }
        limited
    }

    fn step(&mut self) {
        let setpoint = self.torque_setpoint();
        // No voltage is left to push current into a motor that turns at its limit.
        let is_at_limit = self.motor_speed.abs() > SPEED_MAX && setpoint * self.motor_speed > 0.0;
        let setpoint = if is_at_limit { 0.0 } else { setpoint };
        self.torque += (setpoint - self.torque) * (STEP_S / (CURRENT_LAG_S + STEP_S));

        let twist = self.motor_angle - self.load_angle;
        let twist_speed = self.motor_speed - self.load_speed;
        let shaft = STIFFNESS * twist + SHAFT_DAMPING * twist_speed;
        let motor_torque = self.torque - MOTOR_VISCOUS * self.motor_speed - shaft;
        let load_torque = shaft - friction(self.load_speed) - self.held[LOAD];
        self.motor_speed += motor_torque * (STEP_S / MOTOR_INERTIA);
        self.load_speed += load_torque * (STEP_S / LOAD_INERTIA);
        self.motor_angle += self.motor_speed * STEP_S;
        self.load_angle += self.load_speed * STEP_S;
        self.shown_speed +=
            (self.motor_speed - self.shown_speed) * (STEP_S / (VELOCITY_FILTER_S + STEP_S));
    }
}

impl Default for ServoAxis {
    fn default() -> Self {
        Self::new()
    }
}

impl Plant for ServoAxis {
    fn connections(&self) -> Connections {
        Connections { actuators: &ACTUATORS, sensors: &SENSORS }
    }

    fn advance(&mut self, now: Nanos, actuators: &[f64], sensors: &mut [f64]) {
        for _ in 0..self.clock.steps_until(now) {
            self.step();
        }
        hold(&mut self.held, &ACTUATORS, actuators);
        let is_below_reference = if wrapped(self.load_angle) < 0.0 { 1.0 } else { 0.0 };
        let values = [
            wrapped(self.motor_angle),
            self.shown_speed,
            self.torque,
            wrapped(self.load_angle),
            is_below_reference,
        ];
        show(values, &SENSORS, sensors);
    }

    fn left_out(&self) -> Nanos {
        self.clock.left_out()
    }
}

/// Returns the friction torque T_f, in Nm.
fn friction(speed: f64) -> f64 {
    let relative = speed / STRIBECK_SPEED;
    let amount = COULOMB + (BREAKAWAY - COULOMB) / (1.0 + relative * relative);
    smooth_sign(speed, SIGN_WIDTH) * amount + LOAD_VISCOUS * speed
}

/// The angle as a counter of 32 bits shows it.
fn wrapped(angle: f64) -> f64 {
    angle - 2.0 * ANGLE_MAX * (angle / (2.0 * ANGLE_MAX)).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL_INERTIA: f64 = MOTOR_INERTIA + LOAD_INERTIA;

    /// Runs the axis with constant actuators and returns the sensors.
    fn run(axis: &mut ServoAxis, from_ms: u64, to_ms: u64, actuators: &[f64]) -> [f64; 5] {
        let mut sensors = [0.0; 5];
        for at in from_ms..=to_ms {
            axis.advance(Nanos::from_millis(at), actuators, &mut sensors);
        }
        sensors
    }

    #[test]
    fn a_torque_accelerates_both_inertias_less_friction() {
        let mut axis = ServoAxis::new();
        let sensors = run(&mut axis, 0, 50, &[2.4]);
        // Friction lies between Coulomb's and its sum with the viscous part at the final speed.
        let fastest = (2.4 - COULOMB) / TOTAL_INERTIA * 0.05;
        let slowest = (2.4 - BREAKAWAY - 3e-4 * fastest) / TOTAL_INERTIA * (0.05 - CURRENT_LAG_S);
        assert!(sensors[1] < fastest);
        assert!(sensors[1] > slowest);
    }

    #[test]
    fn the_shaft_swings_at_its_resonance() {
        let mut axis = ServoAxis::new();
        let mut sensors = [0.0; 5];
        axis.advance(Nanos::ZERO, &[4.8], &mut sensors);
        let mut crossings = Vec::new();
        let mut before = 0.0;
        for step in 1..400u64 {
            // The blow lasts 1 ms, then the axis swings freely.
            let torque = if step < 20 { 4.8 } else { 0.0 };
            axis.advance(Nanos::from_micros(50 * step), &[torque], &mut sensors);
            let twist_speed = axis.motor_speed - axis.load_speed;
            if step > 30 && before < 0.0 && twist_speed >= 0.0 {
                crossings.push(step);
            }
            before = twist_speed;
        }
        let swings = crossings.len() - 1;
        let duration = (crossings[swings] - crossings[0]) as f64 * STEP_S;
        let expected = (STIFFNESS * (1.0 / MOTOR_INERTIA + 1.0 / LOAD_INERTIA)).sqrt();
        let measured = std::f64::consts::TAU * swings as f64 / duration;
        assert!((measured / expected - 1.0).abs() < 0.02, "{measured} rad/s, not {expected}");
    }

    #[test]
    fn friction_stops_a_free_axis() {
        let mut axis = ServoAxis::new();
        run(&mut axis, 0, 20, &[2.4]);
        let sensors = run(&mut axis, 21, 2_000, &[0.0]);
        assert!(sensors[1].abs() < 1e-3, "still at {} rad/s", sensors[1]);
    }

    #[test]
    fn the_drive_holds_a_velocity_against_a_load() {
        let mut axis = ServoAxis::new();
        run(&mut axis, 0, 200, &[0.0, 100.0, 0.0, 1.0]);
        let loaded = run(&mut axis, 201, 400, &[0.0, 100.0, 0.0, 1.0, 1.0, 2.0]);
        assert!((loaded[1] - 100.0).abs() < 0.1, "{} rad/s", loaded[1]);
        assert!((loaded[2] - 2.0 - friction(100.0) - MOTOR_VISCOUS * 100.0).abs() < 0.01);
    }

    #[test]
    fn the_drive_holds_a_position_and_shows_the_switch() {
        let mut axis = ServoAxis::new();
        let sensors = run(&mut axis, 0, 500, &[0.0, 0.0, -3.0, 2.0]);
        assert!((sensors[0] + 3.0).abs() < 2e-3, "{} rad", sensors[0]);
        assert!((sensors[3] - sensors[0]).abs() < 1e-3);
        assert_eq!(sensors[4], 1.0);
    }

    #[test]
    fn without_power_no_setpoint_moves_it() {
        let mut axis = ServoAxis::new();
        let sensors = run(&mut axis, 0, 100, &[5.0, 100.0, 3.0, 2.0, 0.0]);
        assert_eq!(sensors, [0.0; 5]);
    }

    #[test]
    fn the_angle_wraps_around_like_a_counter() {
        let mut axis = ServoAxis::new().standing_at(ANGLE_MAX - 0.1);
        let sensors = run(&mut axis, 0, 500, &[0.0, 0.0, 0.2 - ANGLE_MAX, 2.0]);
        assert!((sensors[0] - (0.2 - ANGLE_MAX)).abs() < 2e-3, "{} rad", sensors[0]);
        assert!((axis.motor_angle - (ANGLE_MAX + 0.2)).abs() < 2e-3, "it took the short way");
    }

    #[test]
    fn the_voltage_limits_the_speed() {
        let mut axis = ServoAxis::new();
        let sensors = run(&mut axis, 0, 2_000, &[7.2]);
        assert!(sensors[1] > 0.99 * SPEED_MAX);
        assert!(sensors[1] < 1.01 * SPEED_MAX);
    }
}
