//! What a device is, as others see it: identity, process data entries, physical signals.

use crate::blueprint::Blueprint;

/// The four numbers by which a MainDevice recognises a SubDevice (SII words 0x08 to 0x0F).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

/// The type of one process data entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    /// One bit.
    Bool,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// IEEE 754, 32 bits.
    F32,
    /// IEEE 754, 64 bits.
    F64,
}

impl DataType {
    /// Size on the wire, in bits.
    pub const fn bits(self) -> u16 {
        match self {
            Self::Bool => 1,
            Self::U8 | Self::I8 => 8,
            Self::U16 | Self::I16 => 16,
            Self::U32 | Self::I32 | Self::F32 => 32,
            Self::U64 | Self::I64 | Self::F64 => 64,
        }
    }
}

/// One entry of the process data: a named value at a place in the inputs or the outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name in the site file, such as `position_actual_value`.
    pub name: &'static str,
    /// Object index.
    pub index: u16,
    /// Object subindex.
    pub subindex: u8,
    /// Place in the device's inputs or outputs, in bits from their start.
    pub bit_offset: u16,
    /// Type and so the size.
    pub data_type: DataType,
    /// What one count means, such as `0.1 % of the rated torque`; empty for plain numbers.
    pub unit: &'static str,
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    /// Name, such as `torque` or `channel_1`.
    pub name: &'static str,
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
        name: blueprint.name,
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
    let mut found = Vec::new();
    let mut bit = 0;
    let assigned = blueprint
        .pdos
        .iter()
        .filter(|pdo| pdo.is_received() == received && pdo.sync_manager.is_some());
    for entry in assigned.flat_map(|pdo| &pdo.entries) {
        if let Some(data_type) = entry.data_type {
            found.push(Entry {
                name: entry.name,
                index: entry.index,
                subindex: entry.subindex,
                bit_offset: bit,
                data_type,
                unit: entry.unit,
            });
        }
        bit += u16::from(entry.bits);
    }
    (found, bit)
}

/// What a device is, by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The device's name, such as `servo-drive`.
    pub name: &'static str,
    /// How a MainDevice recognises it.
    pub identity: Identity,
    /// What the device sends to the MainDevice (TxPDOs), in order.
    pub inputs: Vec<Entry>,
    /// What the device receives from the MainDevice (RxPDOs), in order.
    pub outputs: Vec<Entry>,
    /// Size of the inputs, in whole bytes.
    pub input_bytes: u16,
    /// Size of the outputs, in whole bytes.
    pub output_bytes: u16,
    /// Its physical connectors.
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
