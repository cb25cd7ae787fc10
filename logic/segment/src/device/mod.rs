//! The devices that can be had by name.

use crate::describe::{DataType, Description, Entry, Identity, Signal, SignalDirection};

/// The vendor number of all built-in devices: not assigned to anyone, so no real device has it.
pub const VENDOR: u32 = 0x0000_0B1C;

/// The names of all built-in devices.
pub const NAMES: [&str; 6] = [
    "coupler",
    "digital-input-8",
    "digital-output-8",
    "analog-input-4",
    "analog-output-4",
    "servo-drive",
];

/// There is no built-in device of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no device `{name}`; there are {}", NAMES.join(", "))]
pub struct UnknownDevice {
    /// The name that was asked for.
    pub name: String,
}

/// Describes the device of this name.
///
/// # Errors
///
/// [`UnknownDevice`] with the names that there are.
pub fn describe(name: &str) -> Result<Description, UnknownDevice> {
    let Some(position) = NAMES.iter().position(|known| *known == name) else {
        return Err(UnknownDevice { name: name.to_owned() });
    };
    let (inputs, outputs, signals) = match position {
        1 => (bits("input", 0x6000), vec![], switches(SignalDirection::Sensor)),
        2 => (vec![], bits("output", 0x7000), switches(SignalDirection::Actuator)),
        3 => (channels("input", 0x6000), vec![], voltages(SignalDirection::Sensor)),
        4 => (vec![], channels("output", 0x7000), voltages(SignalDirection::Actuator)),
        5 => (drive_inputs(), drive_outputs(), drive_signals()),
        _ => (vec![], vec![], vec![]),
    };
    let size = |entries: &[Entry]| {
        entries
            .last()
            .map_or(0, |last: &Entry| (last.bit_offset + last.data_type.bits()).div_ceil(8))
    };
    Ok(Description {
        name: NAMES[position],
        identity: Identity {
            vendor: VENDOR,
            product: position as u32 + 1,
            revision: 0x0001_0000,
            serial: 0,
        },
        input_bytes: size(&inputs),
        output_bytes: size(&outputs),
        inputs,
        outputs,
        signals,
    })
}

const NAMES_8: [[&str; 8]; 2] = [
    ["input_1", "input_2", "input_3", "input_4", "input_5", "input_6", "input_7", "input_8"],
    [
        "output_1", "output_2", "output_3", "output_4", "output_5", "output_6", "output_7",
        "output_8",
    ],
];

fn named(kind: &str, channel: usize) -> &'static str {
    NAMES_8[usize::from(kind == "output")][channel]
}

fn bits(kind: &str, index: u16) -> Vec<Entry> {
    (0..8)
        .map(|channel| Entry {
            name: named(kind, channel),
            index: index + 0x10 * channel as u16,
            subindex: 1,
            bit_offset: channel as u16,
            data_type: DataType::Bool,
            unit: "",
        })
        .collect()
}

fn channels(kind: &str, index: u16) -> Vec<Entry> {
    (0..4)
        .map(|channel| Entry {
            name: named(kind, channel),
            index: index + 0x10 * channel as u16,
            subindex: if kind == "input" { 0x11 } else { 1 },
            bit_offset: 16 * channel as u16,
            data_type: DataType::I16,
            unit: "10 V / 32767",
        })
        .collect()
}

fn switches(direction: SignalDirection) -> Vec<Signal> {
    wires(direction, 8, "", 0.0, 1.0)
}

fn voltages(direction: SignalDirection) -> Vec<Signal> {
    wires(direction, 4, "V", -10.0, 10.0)
}

fn wires(
    direction: SignalDirection,
    count: usize,
    unit: &'static str,
    minimum: f64,
    maximum: f64,
) -> Vec<Signal> {
    let kind = if direction == SignalDirection::Sensor { "input" } else { "output" };
    (0..count)
        .map(|channel| Signal { name: named(kind, channel), direction, unit, minimum, maximum })
        .collect()
}

const fn entry(
    name: &'static str,
    index: u16,
    bit_offset: u16,
    data_type: DataType,
    unit: &'static str,
) -> Entry {
    Entry { name, index, subindex: 0, bit_offset, data_type, unit }
}

const INCREMENT: &str = "1/1048576 revolution";
const SPEED: &str = "1/1048576 revolution/s";
const TORQUE: &str = "0.1 % of the rated torque";

fn drive_outputs() -> Vec<Entry> {
    vec![
        entry("controlword", 0x6040, 0, DataType::U16, ""),
        entry("modes_of_operation", 0x6060, 16, DataType::I8, ""),
        entry("target_position", 0x607A, 32, DataType::I32, INCREMENT),
        entry("target_velocity", 0x60FF, 64, DataType::I32, SPEED),
        entry("target_torque", 0x6071, 96, DataType::I16, TORQUE),
        entry("torque_offset", 0x60B2, 112, DataType::I16, TORQUE),
    ]
}

fn drive_inputs() -> Vec<Entry> {
    vec![
        entry("statusword", 0x6041, 0, DataType::U16, ""),
        entry("modes_of_operation_display", 0x6061, 16, DataType::I8, ""),
        entry("position_actual_value", 0x6064, 32, DataType::I32, INCREMENT),
        entry("velocity_actual_value", 0x606C, 64, DataType::I32, SPEED),
        entry("torque_actual_value", 0x6077, 96, DataType::I16, TORQUE),
        entry("error_code", 0x603F, 112, DataType::U16, ""),
    ]
}

fn drive_signals() -> Vec<Signal> {
    let signal = |name, direction, unit, range: f64| Signal {
        name,
        direction,
        unit,
        minimum: -range,
        maximum: range,
    };
    vec![
        signal("torque", SignalDirection::Actuator, "Nm", 10.0),
        signal("position", SignalDirection::Sensor, "rad", 12_867.0),
        signal("velocity", SignalDirection::Sensor, "rad/s", 700.0),
    ]
}
