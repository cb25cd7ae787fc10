//! A servo drive after CiA 402 with the cyclic synchronous modes for position, velocity and torque.
//!
//! Its loops run inside the plant, as a real amplifier's run faster than the fieldbus: the drive
//! sets setpoints and which loop is closed, and shows what the encoder tells.
//!
//! | actuator | unit | | sensor | unit |
//! |---|---|---|---|---|
//! | `torque` | Nm, setpoint or feed-forward | | `position` | rad |
//! | `velocity` | rad/s | | `velocity` | rad/s |
//! | `position` | rad | | `torque` | Nm |
//! | `loop` | 0 none, 1 velocity, 2 position | | | |
//! | `power` | 1 with torque, 0 without | | | |
//!
//! Counts: 2²⁰ a revolution; torque in thousandths of the rated torque. A following error beyond
//! object 0x6065 for longer than 0x6066 is a fault with an emergency, as is the loss of the outputs
//! in operation.

mod making;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::f64::consts::TAU;

use quietcore_units::Nanos;

use crate::application::{Application, Situation};
use crate::coe::Emergency;
use crate::coe::abort::Abort;
use crate::describe::{Signal, SignalDirection};
use crate::device::cia402::{DriveMachine, DriveState};

pub(super) use making::parts;

/// Increments of a revolution.
const INCREMENTS: f64 = 1_048_576.0;
const RAD_PER_INCREMENT: f64 = TAU / INCREMENTS;
/// Rated torque, in Nm.
const RATED_TORQUE: f64 = 2.4;
/// Largest torque, in Nm.
const TORQUE_MAX: f64 = 7.2;
const NM_PER_COUNT: f64 = RATED_TORQUE / 1_000.0;
/// Largest velocity, in rad/s.
const VELOCITY_MAX: f64 = 700.0;
/// The position in rad at which a 32-bit counter of increments ends.
const POSITION_MAX: f64 = 2_048.0 * TAU;
/// Following error window, in increments: a quarter of a revolution.
const FOLLOWING_ERROR: u32 = 262_144;
/// The time in ms for which the window may be left.
const FOLLOWING_TIME_MS: u16 = 100;
/// The drive counts as standing below this velocity, in rad/s.
const STANDSTILL: f64 = 0.5;

/// Cyclic synchronous position, velocity, torque.
const MODE_POSITION: i8 = 8;
const MODE_VELOCITY: i8 = 9;
const MODE_TORQUE: i8 = 10;

/// Bits of the status word beside the state.
const STATUS_VOLTAGE: u16 = 0x0010;
const STATUS_REMOTE: u16 = 0x0200;
const STATUS_LIMIT: u16 = 0x0800;
const STATUS_FOLLOWS: u16 = 0x1000;
const STATUS_FOLLOWING_ERROR: u16 = 0x2000;

/// Error codes (IEC 61800-7-201, table of error codes).
const ERROR_FOLLOWING: u16 = 0x8611;
const ERROR_COMMUNICATION: u16 = 0x7500;

const fn signal(
    name: &'static str,
    direction: SignalDirection,
    unit: &'static str,
    range: f64,
) -> Signal {
    Signal { name: Cow::Borrowed(name), direction, unit, minimum: -range, maximum: range }
}

const fn switch(name: &'static str, maximum: f64) -> Signal {
    let name = Cow::Borrowed(name);
    Signal { name, direction: SignalDirection::Actuator, unit: "", minimum: 0.0, maximum }
}

static SIGNALS: [Signal; 8] = [
    signal("torque", SignalDirection::Actuator, "Nm", TORQUE_MAX),
    signal("velocity", SignalDirection::Actuator, "rad/s", VELOCITY_MAX),
    signal("position", SignalDirection::Actuator, "rad", POSITION_MAX),
    switch("loop", 2.0),
    switch("power", 1.0),
    signal("position", SignalDirection::Sensor, "rad", POSITION_MAX),
    signal("velocity", SignalDirection::Sensor, "rad/s", VELOCITY_MAX),
    signal("torque", SignalDirection::Sensor, "Nm", TORQUE_MAX),
];
const SENSOR_POSITION: usize = 5;
const SENSOR_VELOCITY: usize = 6;
const SENSOR_TORQUE: usize = 7;

/// The values that the MainDevice sets.
#[derive(Clone, Copy, Debug, Default)]
struct Setpoints {
    control_word: u16,
    mode: i8,
    position: i32,
    velocity: i32,
    torque: i16,
    torque_offset: i16,
}

impl Setpoints {
    fn decode(outputs: &[u8]) -> Option<Self> {
        let o: &[u8; 16] = outputs.get(..16)?.try_into().ok()?;
        Some(Self {
            control_word: u16::from_le_bytes([o[0], o[1]]),
            mode: o[2] as i8,
            position: i32::from_le_bytes([o[4], o[5], o[6], o[7]]),
            velocity: i32::from_le_bytes([o[8], o[9], o[10], o[11]]),
            torque: i16::from_le_bytes([o[12], o[13]]),
            torque_offset: i16::from_le_bytes([o[14], o[15]]),
        })
    }
}

struct ServoDrive {
    machine: DriveMachine,
    mode: i8,
    setpoints: Setpoints,
    /// Encoder, in increments; velocity, in increments a second; torque, in thousandths.
    position: i32,
    velocity: i32,
    torque: i16,
    limited: bool,
    /// Position to hold after a quick stop.
    held: Option<i32>,
    following_error_since: Option<Nanos>,
    following_window: u32,
    following_time: Nanos,
    torque_limit: u16,
    error_code: u16,
    emergency: Option<Emergency>,
}

impl ServoDrive {
    fn new() -> Self {
        Self {
            machine: DriveMachine::new(),
            mode: 0,
            setpoints: Setpoints::default(),
            position: 0,
            velocity: 0,
            torque: 0,
            limited: false,
            held: None,
            following_error_since: None,
            following_window: FOLLOWING_ERROR,
            following_time: Nanos::from_millis(u64::from(FOLLOWING_TIME_MS)),
            torque_limit: (TORQUE_MAX / NM_PER_COUNT) as u16,
            error_code: 0,
            emergency: None,
        }
    }

    fn fail(&mut self, code: u16) {
        if self.machine.state() == DriveState::Fault {
            return;
        }
        self.machine.fail();
        self.error_code = code;
        // Error register: generic, and communication or the drive's own (object 0x1001).
        let register = if code == ERROR_COMMUNICATION { 0x11 } else { 0x21 };
        self.emergency = Some(Emergency { code, register, data: [0; 5] });
    }

    fn is_enabled(&self) -> bool {
        self.machine.state() == DriveState::OperationEnabled
    }

    /// Watches the difference between the position that is asked for and the encoder.
    fn watch_following_error(&mut self, now: Nanos) {
        let watched = self.is_enabled() && self.mode == MODE_POSITION;
        let difference = self.setpoints.position.wrapping_sub(self.position).unsigned_abs();
        if !watched || difference <= self.following_window {
            self.following_error_since = None;
            return;
        }
        let since = *self.following_error_since.get_or_insert(now);
        if now.saturating_sub(since) > self.following_time {
            self.fail(ERROR_FOLLOWING);
        }
    }

    /// Notes where to stand still after a quick stop.
    fn watch_quick_stop(&mut self) {
        let stops = self.machine.state() == DriveState::QuickStopActive;
        let stands = f64::from(self.velocity).abs() * RAD_PER_INCREMENT < STANDSTILL;
        self.held = match self.held {
            _ if !stops => None,
            None if stands => Some(self.position),
            held => held,
        };
    }

    fn status_word(&self) -> u16 {
        let mut word = self.machine.state().bits() | STATUS_REMOTE;
        if self.machine.state() != DriveState::Fault {
            word |= STATUS_VOLTAGE;
        }
        if self.is_enabled() && (MODE_POSITION..=MODE_TORQUE).contains(&self.mode) {
            word |= STATUS_FOLLOWS;
        }
        if self.limited {
            word |= STATUS_LIMIT;
        }
        if self.following_error_since.is_some() {
            word |= STATUS_FOLLOWING_ERROR;
        }
        word
    }

    /// The torque setpoint or feed-forward, in thousandths, within the limit.
    fn torque_setpoint(&self) -> (i32, bool) {
        let asked = match self.mode {
            MODE_TORQUE => {
                i32::from(self.setpoints.torque) + i32::from(self.setpoints.torque_offset)
            }
            _ => i32::from(self.setpoints.torque_offset),
        };
        let limit = i32::from(self.torque_limit);
        let given = asked.clamp(-limit, limit);
        (given, given != asked)
    }
}

impl Application for ServoDrive {
    fn consume(&mut self, situation: Situation, outputs: &[u8]) {
        if !situation.outputs_valid {
            if self.is_enabled() {
                self.fail(ERROR_COMMUNICATION);
            }
            self.machine.release();
            self.setpoints = Setpoints::default();
            return;
        }
        let Some(setpoints) = Setpoints::decode(outputs) else {
            return;
        };
        self.setpoints = setpoints;
        if matches!(setpoints.mode, MODE_POSITION..=MODE_TORQUE) {
            self.mode = setpoints.mode;
        }
        self.machine.control(setpoints.control_word);
        if self.machine.state() != DriveState::Fault {
            self.error_code = 0;
        }
        self.watch_following_error(situation.now);
        self.watch_quick_stop();
        self.limited = self.is_enabled() && self.torque_setpoint().1;
    }

    fn produce(&mut self, situation: Situation, inputs: &mut [u8]) {
        self.watch_following_error(situation.now);
        let Some(inputs) = inputs.get_mut(..16) else {
            return;
        };
        inputs[0..2].copy_from_slice(&self.status_word().to_le_bytes());
        inputs[2] = self.mode as u8;
        inputs[3] = 0;
        inputs[4..8].copy_from_slice(&self.position.to_le_bytes());
        inputs[8..12].copy_from_slice(&self.velocity.to_le_bytes());
        inputs[12..14].copy_from_slice(&self.torque.to_le_bytes());
        inputs[14..16].copy_from_slice(&self.error_code.to_le_bytes());
    }

    fn signals(&self) -> &[Signal] {
        &SIGNALS
    }

    fn actuator(&self, signal: usize) -> f64 {
        let enabled = self.is_enabled();
        let stopping = self.machine.state() == DriveState::QuickStopActive;
        let increments = |value: i32| f64::from(value) * RAD_PER_INCREMENT;
        match signal {
            0 if enabled => f64::from(self.torque_setpoint().0) * NM_PER_COUNT,
            1 if enabled && self.mode == MODE_VELOCITY => increments(self.setpoints.velocity),
            2 if enabled => increments(self.setpoints.position),
            2 if stopping => increments(self.held.unwrap_or(self.position)),
            3 if enabled => f64::from(MODE_TORQUE - self.mode.clamp(MODE_POSITION, MODE_TORQUE)),
            3 if stopping => f64::from(1 + u8::from(self.held.is_some())),
            4 => f64::from(u8::from(enabled || stopping)),
            _ => 0.0,
        }
    }

    fn sense(&mut self, signal: usize, value: f64) {
        let increments = value / RAD_PER_INCREMENT;
        match signal {
            // A counter of 32 bits, which wraps around.
            SENSOR_POSITION => self.position = increments.round() as i64 as i32,
            SENSOR_VELOCITY => self.velocity = increments.round() as i32,
            SENSOR_TORQUE => self.torque = (value / NM_PER_COUNT).round() as i16,
            _ => {}
        }
    }

    fn download(&mut self, index: u16, subindex: u8, data: &[u8]) -> Result<(), Abort> {
        let mut bytes = [0; 4];
        let length = data.len().min(4);
        bytes[..length].copy_from_slice(&data[..length]);
        let value = u32::from_le_bytes(bytes);
        match (index, subindex) {
            (0x6060, 0) => match value as u8 as i8 {
                mode @ (0 | MODE_POSITION..=MODE_TORQUE) => self.mode = mode,
                _ => return Err(Abort::RANGE),
            },
            (0x6065, 0) => self.following_window = value,
            (0x6066, 0) => self.following_time = Nanos::from_millis(u64::from(value)),
            (0x6072, 0) if f64::from(value) * NM_PER_COUNT > TORQUE_MAX + NM_PER_COUNT / 2.0 => {
                return Err(Abort::RANGE);
            }
            (0x6072, 0) => self.torque_limit = value as u16,
            _ => {}
        }
        Ok(())
    }

    fn upload(&self, index: u16, subindex: u8) -> Option<u64> {
        match (index, subindex) {
            (0x1001, 0) => Some(u64::from(self.error_code != 0)),
            (0x603F, 0) => Some(u64::from(self.error_code)),
            (0x6041, 0) => Some(u64::from(self.status_word())),
            (0x6060 | 0x6061, 0) => Some(u64::from(self.mode as u8)),
            (0x6064, 0) => Some(u64::from(self.position as u32)),
            (0x606C, 0) => Some(u64::from(self.velocity as u32)),
            (0x6077, 0) => Some(u64::from(self.torque as u16)),
            _ => None,
        }
    }

    fn take_emergency(&mut self) -> Option<Emergency> {
        self.emergency.take()
    }
}
