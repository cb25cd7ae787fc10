//! Wires between fakes, and between the devices and plants that there are.

use super::super::{Schedule, ServoAxis, SteamTurbine, Tank};
use super::*;

const fn signal(
    name: &'static str,
    direction: SignalDirection,
    unit: &'static str,
    maximum: f64,
) -> Signal {
    Signal { name: std::borrow::Cow::Borrowed(name), direction, unit, minimum: -maximum, maximum }
}

static DRIVE: [Signal; 3] = [
    signal("torque", SignalDirection::Actuator, "Nm", 10.0),
    signal("position", SignalDirection::Sensor, "rad", 12_867.0),
    signal("velocity", SignalDirection::Sensor, "rad/s", 700.0),
];
static OUTPUTS: [Signal; 2] = [
    signal("output_1", SignalDirection::Actuator, "V", 10.0),
    signal("output_2", SignalDirection::Actuator, "V", 10.0),
];
static INPUTS: [Signal; 1] = [signal("input_1", SignalDirection::Sensor, "V", 10.0)];
static SWITCHES: [Signal; 1] = [signal("input_1", SignalDirection::Sensor, "", 1.0)];

/// Devices that keep what they are told: a value a connector.
#[derive(Default)]
struct Line {
    devices: Vec<(&'static [Signal], [f64; 3])>,
}

impl Line {
    fn of(devices: &[&'static [Signal]]) -> Self {
        Self { devices: devices.iter().map(|signals| (*signals, [0.0; 3])).collect() }
    }
}

impl Connectors for Line {
    fn signals(&self, subdevice: usize) -> Option<&[Signal]> {
        self.devices.get(subdevice).map(|(signals, _)| *signals)
    }

    fn actuator(&self, subdevice: usize, signal: usize) -> f64 {
        self.devices[subdevice].1[signal]
    }

    fn sense(&mut self, subdevice: usize, signal: usize, value: f64) {
        self.devices[subdevice].1[signal] = value;
    }
}

#[test]
fn a_drive_moves_its_axis_by_name() {
    let mut line = Line::of(&[&DRIVE]);
    let mut axis = Connection::new(Box::new(ServoAxis::new()));
    axis.connect_by_name(&line, 0).unwrap();
    axis.live_until(Nanos::ZERO, &mut line);
    line.devices[0].1[0] = 2.4;
    axis.live_until(Nanos::from_millis(10), &mut line);
    let [_, position, velocity] = line.devices[0].1;
    assert!(velocity > 50.0, "{velocity} rad/s");
    assert!(position > 0.2, "{position} rad");
}

/// Goal: a frame's outputs act before the next frame, not one frame later.
#[test]
fn what_stands_at_an_actuator_acts_since_the_last_call() {
    let mut line = Line::of(&[&DRIVE]);
    let mut axis = Connection::new(Box::new(ServoAxis::new()));
    axis.connect_by_name(&line, 0).unwrap();
    axis.live_until(Nanos::ZERO, &mut line);
    line.devices[0].1[0] = 2.4;
    axis.live_until(Nanos::from_millis(1), &mut line);
    assert!(line.devices[0].1[2] > 5.0, "{} rad/s", line.devices[0].1[2]);
}

#[test]
fn a_count_of_a_terminal_is_a_count_of_the_signal() {
    let mut line = Line::of(&[&OUTPUTS, &INPUTS, &SWITCHES]);
    let mut tank = Connection::new(Box::new(Tank::new(Schedule::constant(0.0))));
    tank.connect(&line, 0, "output_1", "pump").unwrap();
    tank.connect(&line, 1, "input_1", "pump_speed").unwrap();
    tank.connect(&line, 2, "input_1", "full").unwrap();
    // 24 000 counts of 1/30 000 are a speed of 0.8.
    line.devices[0].1[0] = 10.0 * 24_000.0 / 32_767.0;
    tank.live_until(Nanos::ZERO, &mut line);
    for second in 1..=60 {
        tank.live_until(Nanos::from_secs(second), &mut line);
    }
    let counts = line.devices[1].1[0] / 10.0 * 32_767.0;
    assert!((counts - 24_000.0).abs() < 0.01, "{counts}");
    assert_eq!(line.devices[2].1[0], 1.0, "the tank is full by now");
}

/// Goal: what a drive and its axis call by one name is one quantity.
#[test]
fn the_servo_drive_and_its_axis_speak_of_the_same() {
    let line = [SubDevice::by_name("servo-drive").unwrap()];
    let mut axis = Connection::new(Box::new(ServoAxis::new()));
    axis.connect_by_name(&line[..], 0).unwrap();
    assert_eq!(axis.actuators.len() + axis.sensors.len(), line[0].signals().len());
    for connector in line[0].signals() {
        let (_, signals) = signals_of(&axis.plant.connections(), connector.direction);
        let signal = signals.iter().find(|one| one.name == connector.name).unwrap();
        assert_eq!(connector.unit, signal.unit, "{}", connector.name);
        assert!(connector.maximum <= signal.maximum, "{}", connector.name);
    }
}

#[test]
fn a_drive_without_power_leaves_its_axis_alone() {
    let mut line = [SubDevice::by_name("servo-drive").unwrap()];
    let mut axis = Connection::new(Box::new(ServoAxis::new().standing_at(1.0)));
    axis.connect_by_name(&line[..], 0).unwrap();
    for at in 0..100 {
        Surroundings::advance(&mut axis, Nanos::from_millis(at), &mut line);
    }
    let mut sensors = [0.0; 2];
    axis.plant.advance(Nanos::from_millis(100), &[], &mut sensors);
    assert_eq!(sensors, [1.0, 0.0]);
}

#[test]
fn a_wire_that_cannot_be_drawn_says_why() {
    let line = Line::of(&[&OUTPUTS, &INPUTS]);
    let mut turbine = Connection::new(Box::new(SteamTurbine::new(Schedule::constant(0.0))));
    turbine.connect(&line, 0, "output_1", "valve").unwrap();
    let mut refuse = |subdevice, connector, signal| {
        turbine.connect(&line, subdevice, connector, signal).unwrap_err().to_string()
    };
    assert_eq!(
        refuse(0, "output_2", "valve"),
        "the actuator `valve` is already connected; connect it once"
    );
    assert_eq!(refuse(2, "output_1", "trip"), "there is no SubDevice 2; the line has 2");
    assert_eq!(
        refuse(0, "output_9", "trip"),
        "SubDevice 0 has no connector `output_9`; it has output_1, output_2"
    );
    assert_eq!(
        refuse(0, "output_2", "speed"),
        "the plant has no actuator `speed`; it has valve, trip, load, grid"
    );
    let nothing = turbine.connect_by_name(&line, 1).unwrap_err().to_string();
    assert_eq!(nothing, "SubDevice 1 and the plant have no signal of the same name");
}
