//! The loops over the fieldbus: C controller, MainDevice, frames, simulated SubDevices, plant.
//!
//! No socket and no waiting: the segment is in this process, and the clock is a fake. What is
//! written here by hand, the map between variables and entries, stands in a site file otherwise.

use quietcore_clock::{Clock as _, FakeClock};
use quietcore_maindevice::{Expectation, Fieldbus};
use quietcore_models::controller::{Controller, Model, VALUES};
use quietcore_models::{servo, tank};
use quietcore_segment::plant::{Connection, Plant, Schedule, ServoAxis, Tank};
use quietcore_segment::{Entry, Options, Segment, SubDevice, describe};
use quietcore_units::Nanos;
use quietcore_wire::SegmentWire;

/// Value of one count of a terminal behind which is a fraction.
const FRACTION: f64 = 1.0 / 30_000.0;
const RAD: f64 = std::f64::consts::TAU / 1_048_576.0;

/// One value of the controller, and the entry that it is.
struct Mapping {
    value: usize,
    subdevice: usize,
    entry: &'static str,
    scale: f64,
}

const fn map(value: usize, subdevice: usize, entry: &'static str, scale: f64) -> Mapping {
    Mapping { value, subdevice, entry, scale }
}

/// A program at a fieldbus.
struct Station {
    devices: &'static [&'static str],
    inputs: Vec<Mapping>,
    outputs: Vec<Mapping>,
    fieldbus: Fieldbus<SegmentWire<FakeClock>>,
    controller: Controller,
    /// Time between two frames.
    period: Nanos,
    due: Nanos,
}

impl Station {
    /// Brings a line with one plant to OP. The first device with a channel of the plant is wired by
    /// `wires`, or by name where there are none.
    fn new(
        model: Model,
        period: Nanos,
        devices: &'static [&'static str],
        plant: Box<dyn Plant>,
        wires: &[(usize, &str, &str)],
    ) -> Self {
        let line: Vec<SubDevice> =
            devices.iter().map(|name| SubDevice::by_name(name).expect("a known device")).collect();
        let mut connection = Connection::new(plant);
        for (subdevice, connector, signal) in wires {
            connection
                .connect(&line[..], *subdevice, connector, signal)
                .expect("a wire that can be drawn");
        }
        if wires.is_empty() {
            connection.connect_by_name(&line[..], 1).expect("a drive and an axis");
        }
        let mut segment = Segment::new(line, Options::default());
        segment.surround(Box::new(connection));
        let clock = FakeClock::new(Nanos::from_secs(1), Nanos::new(100), []);
        let wire = SegmentWire::with_clock(segment, clock);
        let fieldbus = Fieldbus::bring_up(wire, &Expectation::anything(period)).expect("OP");
        let now = fieldbus.wire().clock().now();
        let (inputs, outputs) = (Vec::new(), Vec::new());
        let controller = Controller::start(model);
        Self { devices, inputs, outputs, fieldbus, controller, period, due: now + period }
    }

    /// A frame without a step of the controller between it and the next one.
    fn frame(&mut self) {
        self.fieldbus.wire().clock().sleep_until(self.due);
        let outcome = self.fieldbus.cycle(self.due + Nanos::from_micros(500));
        assert!(outcome.is_complete(), "{outcome:?} at {}", self.due);
        assert!(self.fieldbus.all_in_op(), "{outcome:?} at {}", self.due);
        self.due += self.period;
    }

    /// One scan cycle; returns what the controller got and gave.
    fn cycle(&mut self) -> ([f64; VALUES], [f64; VALUES]) {
        self.frame();
        let mut values = [0.0; VALUES];
        for mapping in &self.inputs {
            let entry = entry_of(self.devices[mapping.subdevice], mapping.entry);
            let counts = read(self.fieldbus.inputs(mapping.subdevice), &entry);
            values[mapping.value] = counts as f64 * mapping.scale;
        }
        let given = self.controller.cycle(&values).expect("no complaint");
        for mapping in &self.outputs {
            let entry = entry_of(self.devices[mapping.subdevice], mapping.entry);
            let counts = (given[mapping.value] / mapping.scale).round() as i64;
            write(self.fieldbus.outputs_mut(mapping.subdevice), &entry, counts);
        }
        self.fieldbus.supervise();
        (values, given)
    }
}

fn entry_of(device: &str, name: &str) -> Entry {
    let description = describe(device).expect("a known device");
    let found = description.input(name).or(description.output(name));
    found.unwrap_or_else(|| panic!("a {device} has no entry {name}")).clone()
}

/// The counts of an entry; whole bytes or one bit.
fn read(image: &[u8], entry: &Entry) -> i64 {
    let first = usize::from(entry.bit_offset / 8);
    let bits = entry.data_type.bits();
    if bits == 1 {
        return i64::from(image[first] >> (entry.bit_offset % 8) & 1);
    }
    let mut bytes = [0; 8];
    let length = usize::from(bits / 8);
    bytes[..length].copy_from_slice(&image[first..first + length]);
    let value = u64::from_le_bytes(bytes);
    // The status word has no sign, and all that is read here otherwise has.
    if entry.index == 0x6041 { value as i64 } else { (value << (64 - bits)) as i64 >> (64 - bits) }
}

fn write(image: &mut [u8], entry: &Entry, counts: i64) {
    let first = usize::from(entry.bit_offset / 8);
    let bits = entry.data_type.bits();
    if bits == 1 {
        let mask = 1 << (entry.bit_offset % 8);
        image[first] = image[first] & !mask | if counts == 0 { 0 } else { mask };
        return;
    }
    let length = usize::from(bits / 8);
    image[first..first + length].copy_from_slice(&counts.to_le_bytes()[..length]);
}

fn servo_station(torque: &'static str) -> Station {
    let devices = &["coupler", "servo-drive"];
    let axis = Box::new(ServoAxis::new());
    let mut station = Station::new(Model::Servo, servo::PERIOD, devices, axis, &[]);
    station.inputs = vec![
        map(0, 1, "position_actual_value", RAD),
        map(1, 1, "velocity_actual_value", RAD),
        map(2, 1, "torque_actual_value", 2.4e-3),
        map(3, 1, "statusword", 1.0),
        map(4, 1, "modes_of_operation_display", 1.0),
    ];
    station.outputs = vec![
        map(0, 1, torque, 2.4e-3),
        map(1, 1, "target_velocity", RAD),
        map(2, 1, "controlword", 1.0),
        map(3, 1, "modes_of_operation", 1.0),
    ];
    station
}

/// Goal: the servo loop keeps its specification with frames, counts and a real state machine
/// between the program and the axis.
#[test]
fn the_servo_strokes_over_the_fieldbus() {
    for (mode, torque) in [(9.0, "torque_offset"), (10.0, "target_torque")] {
        let mut station = servo_station(torque);
        station.controller.tune(0, mode);
        let (mut worst, mut far, mut near) = (0.0f64, 0, 0);
        for _ in 0..4_000 {
            let (inputs, outputs) = station.cycle();
            let [_, _, _, _, demand, following_error, state, in_position] = outputs;
            assert_ne!(state, 3.0, "mode {mode}: a fault, status word {:#06x}", inputs[3] as u16);
            worst = worst.max(1e3 * following_error.abs());
            if in_position != 0.0 {
                assert!((inputs[0] - demand).abs() < servo::WINDOW);
                *if demand > 1.0 { &mut far } else { &mut near } += 1;
            }
        }
        assert!(worst < servo::FOLLOWING_ERROR_MAX, "mode {mode}: {worst} mrad");
        assert!(far > 300, "mode {mode}: {far} cycles at the far end");
        assert!(near > 300, "mode {mode}: {near} cycles at the near end");
    }
}

#[test]
fn the_tank_fills_over_the_fieldbus() {
    let devices = &["coupler", "analog-output-4", "analog-input-4", "digital-input-8"];
    let wires = [
        (1, "output_1", "pump"),
        (2, "input_1", "level"),
        (2, "input_2", "outflow"),
        (2, "input_3", "pump_speed"),
        (3, "input_1", "full"),
    ];
    let plant = Box::new(Tank::new(Schedule::constant(0.8)));
    // The terminals let go of their outputs when none came for 100 ms: two frames for each step.
    let mut station = Station::new(Model::Tank, Nanos::from_millis(50), devices, plant, &wires);
    station.inputs = vec![
        map(0, 2, "input_1", FRACTION),
        map(1, 2, "input_2", 2e-4),
        map(2, 2, "input_3", FRACTION),
        map(3, 3, "input_1", 1.0),
    ];
    station.outputs = vec![map(0, 1, "output_1", FRACTION)];
    let mut level = 0.0;
    for _ in 0..1_200 {
        level = station.cycle().0[0];
        station.frame();
        station.fieldbus.supervise();
    }
    assert!((level - tank::SETPOINT).abs() < 0.01, "{level} m");
}
