//! The description of a device for others: identity, process data entries, physical signals.

use std::borrow::Cow;

use quietcore_units::DataType;
use serde::{Deserialize, Serialize};

use crate::blueprint::Blueprint;

/// The four numbers by which a MainDevice recognises a SubDevice (SII words 0x08 to 0x0F).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Vendor; ours is [`VENDOR`](crate::device::VENDOR).
    pub vendor: u32,
    /// Product code of the vendor.
    pub product: u32,
    /// Revision of the product.
    pub revision: u32,
    /// Serial number; zero where there is none.
    pub serial: u32,
}

/// One entry of the process data: a named value at a place in the inputs or the outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name in the site file, such as `position_actual_value`.
    pub name: Cow<'static, str>,
    /// Index of the object, such as 0x6064.
    pub index: u16,
    /// Subindex of the object.
    pub subindex: u8,
    /// Place in the device's inputs or outputs, in bits from their start.
    pub bit_offset: u16,
    /// Type and so the size.
    pub data_type: DataType,
    /// The meaning of one count, such as `0.1 % of the rated torque`; empty for plain numbers.
    pub unit: Cow<'static, str>,
}

/// Which way a physical signal goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalDirection {
    /// The device acts on the plant: a torque, a valve current, a switched output.
    Actuator,
    /// The device measures the plant: a position, a level, a limit switch.
    Sensor,
}

/// A physical signal at a device's connectors, to which a plant is wired.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Name, such as `torque` or `channel_1`; of an entry its place, such as `input bit 16`.
    pub name: Cow<'static, str>,
    /// Which way it goes.
    pub direction: SignalDirection,
    /// Unit of its value, such as `Nm`.
    pub unit: &'static str,
    /// Smallest value, in `unit`.
    pub minimum: f64,
    /// Largest value, in `unit`.
    pub maximum: f64,
}

/// Describes a device by its making.
pub(crate) fn of(blueprint: &Blueprint, signals: &[Signal]) -> Description {
    let (inputs, input_bits) = entries(blueprint, false);
    let (outputs, output_bits) = entries(blueprint, true);
    Description {
        name: blueprint.name.clone(),
        identity: blueprint.identity,
        inputs,
        outputs,
        input_bytes: input_bits.div_ceil(8),
        output_bytes: output_bits.div_ceil(8),
        signals: signals.to_vec(),
    }
}

/// The entries of all PDOs of one direction that are assigned at power-up, and their bits.
fn entries(blueprint: &Blueprint, received: bool) -> (Vec<Entry>, u16) {
    let layout = blueprint.layout(received);
    let found = layout.entries.into_iter().filter_map(|(bit_offset, entry)| {
        Some(Entry {
            name: entry.name.clone(),
            index: entry.index,
            subindex: entry.subindex,
            bit_offset,
            data_type: entry.data_type?,
            unit: entry.unit.clone(),
        })
    });
    (found.collect(), layout.bits)
}

/// The description of a device, by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The device's name, such as `servo-drive`.
    pub name: Cow<'static, str>,
    /// The identity by which a MainDevice recognises it.
    pub identity: Identity,
    /// Entries that the device sends to the MainDevice (TxPDOs), in order.
    pub inputs: Vec<Entry>,
    /// Entries that the device receives from the MainDevice (RxPDOs), in order.
    pub outputs: Vec<Entry>,
    /// Size of the inputs, in whole bytes.
    pub input_bytes: u16,
    /// Size of the outputs, in whole bytes.
    pub output_bytes: u16,
    /// Its physical connectors, to which plants are wired.
    pub signals: Vec<Signal>,
}

impl Description {
    /// The input of this name.
    pub fn input(&self, name: &str) -> Option<&Entry> {
        self.inputs.iter().find(|entry| entry.name == name)
    }

    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&Entry> {
        self.outputs.iter().find(|entry| entry.name == name)
    }
}
