//! Plants: what the drives and terminals of a simulated segment act on.
//!
//! | name | file | own step | for a cycle of | class |
//! |---|---|--:|--:|---|
//! | `servo-axis` | `servo_axis.rs` | 50 µs | 1 ms | motion control |
//! | `steam-turbine` | `steam_turbine.rs` | 1 ms | 10 ms | fast control loop |
//! | `tank` | `tank.rs` | 10 ms | 100 ms | process control |
//!
//! A plant is a function of time and its actuators: it reads no clock and draws no random numbers,
//! so that two runs with the same calls give the same bits. It integrates its equations in a fixed
//! step of its own, whatever the rhythm of the calls:
//!
//! ```text
//! calls      advance(t0, a)          advance(t1, b)               advance(t2, c)
//!                 │                        │                            │
//! steps      ─────┼──|──|──|──|──|──|──|───┼──|──|──|──|──|──|──|──|──|─┼──►  time
//! actuators       └─ `a` holds until t1 ───┴─ `b` holds until t2 ───────┘
//! ```
//!
//! Actuators hold from the call that brings them until the next one, as a terminal holds its
//! outputs between two frames; sensors show the last whole step up to `now`. Both are therefore
//! early or late by less than one own step.
//!
//! Nothing here allocates after construction or can panic. A call costs at most
//! [`STEPS_PER_CALL_MAX`] steps; time beyond that is left out and counted, as if the plant had
//! stood still.

mod connection;
mod schedule;
mod servo_axis;
mod steam_turbine;
mod step_clock;
mod tank;

use quietcore_units::Nanos;

pub(crate) use connection::COUNT;
pub use connection::{Connection, ConnectionError, Connectors};
pub use schedule::{Schedule, ScheduleStep};
pub use servo_axis::{AxisLoop, ServoAxis};
pub use steam_turbine::SteamTurbine;
pub use step_clock::STEPS_PER_CALL_MAX;
pub use tank::Tank;

/// The plants that [`by_name`] knows.
pub const PLANT_NAMES: [&str; 3] = ["servo-axis", "steam-turbine", "tank"];

/// The most actuators or sensors that a plant may have.
pub const PLANT_SIGNALS_MAX: usize = 8;

/// A process that is moved by actuators and seen through sensors.
pub trait Plant: Send {
    /// Returns the signals that the plant can be connected to. The order is that of the slices of
    /// [`Plant::advance`].
    fn connections(&self) -> Connections;

    /// Integrates up to `now` with the actuators of the last call, then takes over `actuators` and
    /// writes what the sensors show.
    ///
    /// The first call sets the time from which on the plant lives. A `now` before that of the last
    /// call moves nothing. An actuator that is missing or not finite is not connected: what stands
    /// in its [`PlantSignal::rest`] or in the plant's own schedule holds. Others are limited to
    /// their range. Sensors beyond those of the plant are left alone.
    fn advance(&mut self, now: Nanos, actuators: &[f64], sensors: &mut [f64]);

    /// Time that was left out because a call would have taken more than [`STEPS_PER_CALL_MAX`]
    /// steps.
    fn left_out(&self) -> Nanos;
}

/// The actuators and the sensors of a plant, each in the order of its slice; at most
/// [`PLANT_SIGNALS_MAX`] of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connections {
    /// Signals that move the plant.
    pub actuators: &'static [PlantSignal],
    /// Signals that are seen of it.
    pub sensors: &'static [PlantSignal],
}

impl Connections {
    /// Place of the actuator of this name.
    #[must_use]
    pub fn actuator(&self, name: &str) -> Option<usize> {
        self.actuators.iter().position(|signal| signal.name == name)
    }

    /// Place of the sensor of this name.
    #[must_use]
    pub fn sensor(&self, name: &str) -> Option<usize> {
        self.sensors.iter().position(|signal| signal.name == name)
    }
}

/// One actuator or sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlantSignal {
    /// Name, unique among the plant's actuators or sensors.
    pub name: &'static str,
    /// Unit of the value, as it is printed; `1` for a fraction, empty for a switch.
    pub unit: &'static str,
    /// The least value; actuators are limited to it.
    pub minimum: f64,
    /// The greatest value; actuators are limited to it.
    pub maximum: f64,
    /// Value of an actuator that nothing is connected to; 0 for sensors.
    pub rest: f64,
    /// Suggested value of one count of the device's integer, so that the range fits its type; 1 for
    /// a switch.
    pub per_count: f64,
    /// The meaning in a few words, for lists.
    pub meaning: &'static str,
}

impl PlantSignal {
    /// The value as an actuator of the plant gets it; `otherwise` where nothing is connected.
    fn limit(&self, value: Option<&f64>, otherwise: f64) -> f64 {
        match value {
            Some(value) if value.is_finite() => value.clamp(self.minimum, self.maximum),
            _ => otherwise,
        }
    }
}

/// A plant as a site file names it, in its initial state; turbine and tank with the consumers of
/// their demonstration.
///
/// `None` when there is no such plant; [`PLANT_NAMES`] lists them.
#[must_use]
pub fn by_name(name: &str) -> Option<Box<dyn Plant>> {
    match name {
        "servo-axis" => Some(Box::new(ServoAxis::new())),
        "steam-turbine" => Some(Box::new(SteamTurbine::new(steam_turbine::DEMONSTRATION))),
        "tank" => Some(Box::new(Tank::new(tank::DEMONSTRATION))),
        _ => None,
    }
}

/// Takes over the actuators of a call: limited, and at rest where nothing is connected.
fn hold<const N: usize>(held: &mut [f64; N], signals: &[PlantSignal; N], actuators: &[f64]) {
    for (index, (value, signal)) in held.iter_mut().zip(signals).enumerate() {
        *value = signal.limit(actuators.get(index), signal.rest);
    }
}

/// Writes the values of the sensors that the caller has room for. A sensor ends at its range.
fn show<const N: usize>(values: [f64; N], signals: &[PlantSignal; N], sensors: &mut [f64]) {
    for ((sensor, value), signal) in sensors.iter_mut().zip(values).zip(signals) {
        *sensor = value.clamp(signal.minimum, signal.maximum);
    }
}

/// The sign of a speed, made continuous around zero: `x / sqrt(1 + x²)` with `x = speed / width`.
///
/// Only operations that IEEE 754 rounds exactly, so every machine computes the same.
fn smooth_sign(speed: f64, width: f64) -> f64 {
    let x = speed / width;
    x / (1.0 + x * x).sqrt()
}

#[cfg(test)]
mod tests;
