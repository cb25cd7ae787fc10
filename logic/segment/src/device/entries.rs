//! A device of which nothing but its process data is known: each number of them is a connector.

use quietcore_units::DataType;

use super::digital::{THRESHOLD, switch};
use crate::application::{Application, Situation};
use crate::blueprint::Blueprint;
use crate::describe::{self, Entry, Signal, SignalDirection};
use crate::plant::COUNT;
use crate::process_data::{bits_at, set_bits_at};

/// The process data as they are: outputs are kept while they are valid, and inputs are what the
/// sensors show, zero at first.
pub(crate) struct Entries {
    signals: Vec<Signal>,
    /// Place and type of each of them.
    places: Vec<(u16, DataType)>,
    inputs: Vec<u8>,
    outputs: Vec<u8>,
}

impl Entries {
    /// The entries that are assigned at power-up.
    pub(crate) fn of(blueprint: &Blueprint) -> Self {
        let description = describe::of(blueprint, &[]);
        let sensors = description.inputs.iter().map(|entry| (entry, SignalDirection::Sensor));
        let actuators = description.outputs.iter().map(|entry| (entry, SignalDirection::Actuator));
        let all: Vec<_> = sensors.chain(actuators).collect();
        Self {
            signals: all.iter().map(|(entry, direction)| connector(entry, *direction)).collect(),
            places: all.iter().map(|(entry, _)| (entry.bit_offset, entry.data_type)).collect(),
            inputs: vec![0; description.input_bytes.into()],
            outputs: vec![0; description.output_bytes.into()],
        }
    }

    fn place(&self, signal: usize, direction: SignalDirection) -> Option<(u16, DataType)> {
        let is_meant = self.signals.get(signal)?.direction == direction;
        self.places.get(signal).copied().filter(|_| is_meant)
    }
}

impl Application for Entries {
    fn consume(&mut self, situation: Situation, outputs: &[u8]) {
        if situation.outputs_valid && outputs.len() == self.outputs.len() {
            self.outputs.copy_from_slice(outputs);
        } else {
            self.outputs.fill(0);
        }
    }

    fn produce(&mut self, _: Situation, inputs: &mut [u8]) {
        if inputs.len() == self.inputs.len() {
            inputs.copy_from_slice(&self.inputs);
        }
    }

    fn signals(&self) -> &[Signal] {
        &self.signals
    }

    fn actuator(&self, signal: usize) -> f64 {
        let place = self.place(signal, SignalDirection::Actuator);
        place.map_or(0.0, |(bit, data_type)| {
            value(data_type, bits_at(&self.outputs, bit, data_type.bits()))
        })
    }

    fn sense(&mut self, signal: usize, value: f64) {
        if let Some((bit, data_type)) = self.place(signal, SignalDirection::Sensor) {
            set_bits_at(&mut self.inputs, bit, data_type.bits(), raw(data_type, value));
        }
    }
}

/// The connector that an entry is, by its place: one object may be in several PDOs.
fn connector(entry: &Entry, direction: SignalDirection) -> Signal {
    let name = match direction {
        SignalDirection::Sensor => format!("input bit {}", entry.bit_offset),
        SignalDirection::Actuator => format!("output bit {}", entry.bit_offset),
    };
    let name = name.into();
    if entry.data_type == DataType::Bool {
        return switch(name, direction);
    }
    let (minimum, maximum) = match entry.data_type.integers() {
        Some(range) => (*range.start() as f64, *range.end() as f64),
        None => (f64::MIN, f64::MAX),
    };
    Signal { name, direction, unit: COUNT, minimum, maximum }
}

/// The number that these bits are.
fn value(data_type: DataType, raw: u64) -> f64 {
    match data_type {
        DataType::Bool | DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64 => raw as f64,
        DataType::I8 => f64::from(raw as i8),
        DataType::I16 => f64::from(raw as i16),
        DataType::I32 => f64::from(raw as i32),
        DataType::I64 => raw as i64 as f64,
        DataType::F32 => f64::from(f32::from_bits(raw as u32)),
        DataType::F64 => f64::from_bits(raw),
    }
}

/// The bits of a number; integers are rounded and end at their range. What is not finite is 0.
fn raw(data_type: DataType, value: f64) -> u64 {
    let value = if value.is_finite() { value } else { 0.0 };
    let whole = value.round();
    match data_type {
        DataType::Bool => u64::from(value >= THRESHOLD),
        DataType::U8 => u64::from(whole as u8),
        DataType::U16 => u64::from(whole as u16),
        DataType::U32 => u64::from(whole as u32),
        DataType::U64 => whole as u64,
        DataType::I8 => whole as i8 as u64,
        DataType::I16 => whole as i16 as u64,
        DataType::I32 => whole as i32 as u64,
        DataType::I64 => whole as i64 as u64,
        DataType::F32 => u64::from((value as f32).to_bits()),
        DataType::F64 => value.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use quietcore_units::Nanos;

    use super::*;
    use crate::device::blueprint;
    use crate::esc::al_state::AlState;

    #[test]
    fn numbers_come_back_and_those_beyond_the_range_end_at_it() {
        for data_type in [DataType::I8, DataType::I16, DataType::I32, DataType::F32] {
            assert_eq!(value(data_type, raw(data_type, -100.0)), -100.0, "{data_type}");
        }
        for data_type in [DataType::U8, DataType::U16, DataType::U32, DataType::U64] {
            assert_eq!(value(data_type, raw(data_type, 200.4)), 200.0, "{data_type}");
            assert_eq!(raw(data_type, -1.0), 0, "{data_type}");
        }
        assert_eq!(value(DataType::I16, raw(DataType::I16, 1e9)), 32_767.0);
        assert_eq!(value(DataType::I64, raw(DataType::I64, -3.0)), -3.0);
        assert_eq!(value(DataType::F64, raw(DataType::F64, 0.1)), 0.1);
        assert_eq!([0.4, 0.6, f64::NAN].map(|it| raw(DataType::Bool, it)), [0, 1, 0]);
        assert_eq!([DataType::I32, DataType::F64].map(|it| raw(it, f64::NAN)), [0, 0]);
    }

    fn situation(outputs_valid: bool) -> Situation {
        Situation { now: Nanos::ZERO, state: AlState::Op, outputs_valid }
    }

    /// Goal: bits side by side in one byte stay apart, and outputs end with the communication.
    #[test]
    fn each_entry_is_a_connector_at_its_place() {
        let mut device = Entries::of(&blueprint("digital-input-8").unwrap());
        assert_eq!(device.signals()[5].name, "input bit 5");
        for (signal, value) in [(0, 1.0), (5, 1.0), (0, 0.0), (8, 1.0)] {
            device.sense(signal, value);
        }
        let mut inputs = [0xFF];
        device.produce(situation(true), &mut inputs);
        assert_eq!((inputs, device.actuator(5)), ([0x20], 0.0));

        let mut device = Entries::of(&blueprint("analog-output-4").unwrap());
        assert_eq!(device.signals()[1].name, "output bit 16");
        device.consume(situation(true), &[0, 0, 0x18, 0xFC, 0, 0, 0, 0]);
        device.sense(1, 7.0);
        assert_eq!((device.actuator(1), device.actuator(4)), (-1_000.0, 0.0));
        device.consume(situation(false), &[0, 0, 0x18, 0xFC, 0, 0, 0, 0]);
        assert_eq!(device.actuator(1), 0.0);
    }
}
