//! The drive alone, without a fieldbus: states, modes and its reaction to faults.

use super::*;
use crate::device::command;
use crate::esc::al_state::AlState;

/// A drive and the process data that it last got.
struct Rig {
    drive: ServoDrive,
    outputs: [u8; 16],
    now: Nanos,
    outputs_valid: bool,
}

impl Rig {
    fn new(mode: i8) -> Self {
        let mut outputs = [0; 16];
        outputs[2] = mode as u8;
        Self { drive: ServoDrive::new(), outputs, now: Nanos::ZERO, outputs_valid: true }
    }

    /// A drive that follows its setpoints in this mode.
    fn enabled(mode: i8) -> Self {
        let mut rig = Self::new(mode);
        for word in [command::SHUTDOWN, command::SWITCH_ON, command::ENABLE_OPERATION] {
            rig.control(word);
        }
        assert_eq!(rig.state(), DriveState::OperationEnabled);
        rig
    }

    fn control(&mut self, word: u16) {
        self.outputs[..2].copy_from_slice(&word.to_le_bytes());
        self.cycle();
    }

    /// One cycle of a millisecond; returns the inputs.
    fn cycle(&mut self) -> [u8; 16] {
        self.now += Nanos::from_millis(1);
        let situation =
            Situation { now: self.now, state: AlState::Op, outputs_valid: self.outputs_valid };
        self.drive.consume(situation, &self.outputs);
        let mut inputs = [0; 16];
        self.drive.produce(situation, &mut inputs);
        inputs
    }

    fn state(&mut self) -> DriveState {
        let inputs = self.cycle();
        DriveState::from_status_word(u16::from_le_bytes([inputs[0], inputs[1]])).unwrap()
    }

    fn actuator(&self, name: &str) -> f64 {
        let place = SIGNALS
            .iter()
            .position(|signal| {
                (&*signal.name, signal.direction) == (name, SignalDirection::Actuator)
            })
            .unwrap();
        self.drive.actuator(place)
    }
}

#[test]
fn the_mode_chooses_the_loop_and_its_setpoints() {
    for (mode, closed, place) in [(8, 2.0, 4..8), (9, 1.0, 8..12), (10, 0.0, 12..14)] {
        let mut rig = Rig::enabled(mode);
        let value = 500_000_i32.to_le_bytes();
        let bytes = place.len();
        rig.drive.following_window = u32::MAX;
        rig.outputs[place].copy_from_slice(if bytes == 2 { &[0xE8, 0x03] } else { &value });
        rig.cycle();
        assert_eq!(rig.actuator("loop"), closed, "mode {mode}");
        let angle = 500_000.0 * RAD_PER_INCREMENT;
        let (name, expected) = match mode {
            8 => ("position", angle),
            9 => ("velocity", angle),
            _ => ("torque", RATED_TORQUE),
        };
        assert!((rig.actuator(name) - expected).abs() < 1e-9, "mode {mode}");
        assert_eq!(rig.actuator("power"), 1.0);
    }
}

#[test]
fn without_enabled_operation_there_is_no_torque() {
    let mut rig = Rig::new(10);
    rig.outputs[12..14].copy_from_slice(&1_000_i16.to_le_bytes());
    for word in [command::SHUTDOWN, command::SWITCH_ON] {
        rig.control(word);
        assert_eq!(["torque", "loop", "power"].map(|name| rig.actuator(name)), [0.0; 3]);
    }
    rig.control(command::ENABLE_OPERATION);
    assert!((rig.actuator("torque") - RATED_TORQUE).abs() < 1e-9);
}

#[test]
fn torque_is_limited_and_the_limit_is_shown() {
    let mut rig = Rig::enabled(10);
    rig.outputs[12..14].copy_from_slice(&32_000_i16.to_le_bytes());
    let inputs = rig.cycle();
    assert!((rig.actuator("torque") - TORQUE_MAX).abs() < NM_PER_COUNT);
    assert_ne!(u16::from_le_bytes([inputs[0], inputs[1]]) & STATUS_LIMIT, 0);
    rig.drive.download(0x6072, 0, &500_u16.to_le_bytes()).unwrap();
    assert!((rig.actuator("torque") - RATED_TORQUE / 2.0).abs() < 1e-9);
    assert_eq!(rig.drive.download(0x6072, 0, &9_999_u16.to_le_bytes()), Err(Abort::RANGE));
}

#[test]
fn a_lasting_following_error_is_a_fault_with_an_emergency() {
    let mut rig = Rig::enabled(8);
    rig.outputs[4..8].copy_from_slice(&(FOLLOWING_ERROR as i32 + 1).to_le_bytes());
    let inputs = rig.cycle();
    assert_ne!(u16::from_le_bytes([inputs[0], inputs[1]]) & STATUS_FOLLOWING_ERROR, 0);
    for _ in 0..u64::from(FOLLOWING_TIME_MS) {
        assert_eq!(rig.drive.machine.state(), DriveState::OperationEnabled);
        rig.cycle();
    }
    assert_eq!(rig.state(), DriveState::Fault);
    assert_eq!(rig.actuator("power"), 0.0);
    let inputs = rig.cycle();
    assert_eq!(u16::from_le_bytes([inputs[14], inputs[15]]), ERROR_FOLLOWING);
    let emergency = rig.drive.take_emergency().unwrap();
    assert_eq!(emergency.code, ERROR_FOLLOWING);
    assert_eq!(rig.drive.take_emergency(), None, "once");
    rig.control(command::FAULT_RESET);
    assert_eq!(rig.state(), DriveState::SwitchOnDisabled);
}

#[test]
fn a_following_error_that_passes_is_forgiven() {
    let mut rig = Rig::enabled(8);
    for _ in 0..20 {
        rig.outputs[4..8].copy_from_slice(&500_000_i32.to_le_bytes());
        for _ in 0..u64::from(FOLLOWING_TIME_MS) / 2 {
            rig.cycle();
        }
        rig.outputs[4..8].fill(0);
        rig.cycle();
    }
    assert_eq!(rig.state(), DriveState::OperationEnabled);
}

#[test]
fn losing_the_outputs_in_operation_is_a_fault() {
    let mut rig = Rig::enabled(9);
    rig.outputs_valid = false;
    assert_eq!(rig.state(), DriveState::Fault);
    assert_eq!(rig.drive.error_code, ERROR_COMMUNICATION);
    let mut rig = Rig::new(9);
    rig.control(command::SHUTDOWN);
    rig.outputs_valid = false;
    assert_eq!(rig.state(), DriveState::SwitchOnDisabled, "nothing was lost");
}

#[test]
fn a_quick_stop_brakes_and_then_holds_the_position() {
    let mut rig = Rig::enabled(9);
    rig.drive.sense(SENSOR_VELOCITY, 100.0);
    rig.drive.sense(SENSOR_POSITION, 3.0);
    rig.control(command::QUICK_STOP);
    assert_eq!((rig.actuator("loop"), rig.actuator("velocity")), (1.0, 0.0), "braking");
    rig.drive.sense(SENSOR_VELOCITY, 0.0);
    rig.drive.sense(SENSOR_POSITION, 4.0);
    rig.cycle();
    assert_eq!(rig.actuator("loop"), 2.0, "holding");
    assert!((rig.actuator("position") - 4.0).abs() < 1e-5);
}

#[test]
fn the_encoder_wraps_around_like_a_counter_of_32_bits() {
    let mut rig = Rig::new(8);
    rig.drive.sense(SENSOR_POSITION, POSITION_MAX + TAU);
    let inputs = rig.cycle();
    let position = i32::from_le_bytes([inputs[4], inputs[5], inputs[6], inputs[7]]);
    assert_eq!(position, i32::MIN + INCREMENTS as i32);
}
