//! A checked fieldbus segment: its SubDevices, what is mapped, and what shall go wrong.

use std::fmt;

use quietcore_units::{DataType, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::site::Initial;

/// A fieldbus segment, driven by one partition.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fieldbus {
    /// The name of the segment.
    pub name: String,
    /// The partition whose program is the MainDevice; it exists.
    pub partition: String,
    /// The destination of its frames.
    pub interface: Interface,
    /// The time between two frames, 20 µs to 10 s; the period of a cyclic task of the partition.
    pub cycle: Nanos,
    /// `true` if the clocks of the SubDevices are synchronised.
    pub distributed_clocks: bool,
    /// After this many cycles in a row without an answer the segment counts as lost, 1 to 1000.
    pub lost_after: u32,
    /// The seed of the probabilistic faults.
    pub seed: u64,
    /// Paths of ESI files, or of folders of them, relative to the site file; empty on a simulated
    /// segment.
    pub esi: Vec<String>,
    /// The SubDevices in the order of the line, 200 at most; on a network interface an empty list
    /// accepts whatever is found. Their names are unique.
    pub subdevices: Vec<SubDevice>,
    /// Entries that are mapped, in the order of the file; 4096 at most.
    pub map: Vec<Mapping>,
    /// Faults that strike; only on a simulated segment.
    pub faults: Vec<Fault>,
}

impl Fieldbus {
    /// The simulated plants: each drive begins one of its own, and a terminal belongs to the one of
    /// its kind that is nearest before it.
    pub fn plants(&self) -> Vec<PlantOnLine> {
        let mut plants: Vec<PlantOnLine> = Vec::new();
        for (position, subdevice) in self.subdevices.iter().enumerate() {
            let Some(kind) = subdevice.plant else { continue };
            let nearest = plants.iter_mut().rev().find(|plant| plant.kind == kind);
            match nearest {
                Some(plant) if subdevice.device != Some(Device::ServoDrive) => {
                    plant.subdevices.push(position);
                }
                _ => plants.push(PlantOnLine { kind, subdevices: vec![position] }),
            }
        }
        plants
    }
}

/// The destination of the frames of a fieldbus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The built-in simulated segment.
    Simulated,
    /// A network interface of the host.
    Network(String),
    /// A network card that the partition's guest drives itself: its PCI address, with the domain.
    Card(String),
}

/// A SubDevice of the line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubDevice {
    /// The name, unique on its fieldbus.
    pub name: String,
    /// Which built-in SubDevice it is; on a simulated segment there is this, or an identity by
    /// which it is found in the ESI files.
    pub device: Option<Device>,
    /// The identity that must be found; `None` accepts anything, or on a simulated segment the
    /// identity of `device`.
    pub identity: Option<DeviceIdentity>,
    /// Indices of the PDOs that it exchanges, in this order; `None` for those that its ESI file
    /// assigns. It has no `device`, and an identity.
    pub pdos: Option<Vec<u16>>,
    /// Values written to its object dictionary in PRE-OP, in this order.
    pub startup: Vec<Startup>,
    /// The simulated plant behind it; only on a simulated segment.
    pub plant: Option<PlantKind>,
    /// Which channels of a terminal are which signals of its plant; never empty where a terminal
    /// has a plant, and empty for a drive, which is connected by itself.
    pub connect: Vec<Wire>,
}

/// A channel of a terminal, or an entry of a device of an ESI file, and the signal of the plant
/// that it is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wire {
    /// The channel, as the terminal's description names it, or the entry.
    pub channel: Entry,
    /// The signal, as the plant names it; an actuator for outputs, a sensor for inputs.
    pub signal: String,
}

/// A simulated plant and the SubDevices before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlantOnLine {
    /// The kind of plant.
    pub kind: PlantKind,
    /// Positions in [`Fieldbus::subdevices`], ascending; never empty.
    pub subdevices: Vec<usize>,
}

/// The SubDevices that are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// The head of a group of terminals, without inputs and outputs.
    Coupler,
    /// 8 digital inputs.
    #[serde(rename = "digital-input-8")]
    DigitalInput8,
    /// 8 digital outputs.
    #[serde(rename = "digital-output-8")]
    DigitalOutput8,
    /// 4 analogue inputs.
    #[serde(rename = "analog-input-4")]
    AnalogInput4,
    /// 4 analogue outputs.
    #[serde(rename = "analog-output-4")]
    AnalogOutput4,
    /// A servo drive after CiA 402.
    ServoDrive,
}

impl Device {
    /// The word in the site file, and the name under which `quietcore-segment` knows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coupler => "coupler",
            Self::DigitalInput8 => "digital-input-8",
            Self::DigitalOutput8 => "digital-output-8",
            Self::AnalogInput4 => "analog-input-4",
            Self::AnalogOutput4 => "analog-output-4",
            Self::ServoDrive => "servo-drive",
        }
    }

    /// Returns `true` if it is a terminal: channels that are connected one by one.
    pub(crate) const fn is_terminal(self) -> bool {
        !matches!(self, Self::Coupler | Self::ServoDrive)
    }

    /// Returns `true` if such a plant can be behind it.
    pub(crate) const fn reaches(self, plant: PlantKind) -> bool {
        match plant {
            PlantKind::ServoAxis => !matches!(self, Self::Coupler),
            PlantKind::SteamTurbine | PlantKind::Tank => self.is_terminal(),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The plants that can be simulated.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PlantKind {
    /// A motor with load and friction, behind a servo drive.
    ServoAxis,
    /// A steam turbine with its governor valve, behind terminals.
    SteamTurbine,
    /// A tank with its pump, behind terminals.
    Tank,
}

impl PlantKind {
    /// The word in the site file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ServoAxis => "servo-axis",
            Self::SteamTurbine => "steam-turbine",
            Self::Tank => "tank",
        }
    }
}

impl fmt::Display for PlantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The identity of a SubDevice, as in its EEPROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceIdentity {
    /// The number of the vendor.
    pub vendor: u32,
    /// Product code by the vendor.
    pub product: u32,
    /// The revision; `None` accepts any.
    pub revision: Option<u32>,
}

/// One object that is written at start-up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Startup {
    /// The index in the object dictionary, 0x1000 to 0xffff.
    pub index: u16,
    /// Sub-index of the object.
    pub sub: u8,
    /// The type of the value, which decides how many bytes are written.
    pub value_type: DataType,
    /// The value; it fits the type.
    pub value: Initial,
}

/// A variable of the program and its entry of the process image.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mapping {
    /// The path of the variable; whether it exists is known when the program is built.
    pub variable: String,
    /// The position of the SubDevice in [`Fieldbus::subdevices`]; it exists.
    pub subdevice: usize,
    /// The entry of the SubDevice, which also decides the direction.
    pub entry: Entry,
    /// Finite and not 0.
    pub scale: f64,
    /// Offset in the variable's unit; finite.
    pub offset: f64,
}

impl Mapping {
    /// The value of the variable for a value of the entry; for inputs of the program.
    pub fn to_variable(&self, entry: f64) -> f64 {
        entry * self.scale + self.offset
    }

    /// The value of the entry for a value of the variable; for outputs of the program.
    pub fn to_entry(&self, variable: f64) -> f64 {
        (variable - self.offset) / self.scale
    }
}

/// An entry of a SubDevice's process data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// By its name, such as `position_actual_value`, or `Channel 1.Output` with that of its PDO.
    Named(String),
    /// By its address in the object dictionary, such as `0x6064:0`.
    Object {
        /// Index of the object.
        index: u16,
        /// Sub-index of the object.
        sub: u8,
    },
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Object { index, sub } => write!(f, "{index:#06x}:{sub}"),
        }
    }
}

/// The words for what can go wrong on a simulated segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A frame does not come back.
    LostFrame,
    /// A frame comes back with wrong bits.
    CorruptFrame,
    /// A frame comes back too late.
    LateFrame,
    /// A frame comes back twice.
    DuplicateFrame,
    /// The line is cut before a SubDevice: it and those behind it are gone.
    Unplug,
    /// A SubDevice loses its power and comes back in INIT.
    PowerCycle,
    /// A SubDevice does not leave its AL state.
    StuckState,
    /// A SubDevice in OP drops to SAFE-OP once.
    StateDrop,
    /// A SubDevice sends a CoE emergency once.
    Emergency,
    /// The mailbox of a SubDevice never answers.
    MailboxSilent,
    /// The working counter is wrong at a SubDevice.
    WorkingCounter,
}

impl FaultKind {
    /// The word in the site file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LostFrame => "lost-frame",
            Self::CorruptFrame => "corrupt-frame",
            Self::LateFrame => "late-frame",
            Self::DuplicateFrame => "duplicate-frame",
            Self::Unplug => "unplug",
            Self::PowerCycle => "power-cycle",
            Self::StuckState => "stuck-state",
            Self::StateDrop => "state-drop",
            Self::Emergency => "emergency",
            Self::MailboxSilent => "mailbox-silent",
            Self::WorkingCounter => "working-counter",
        }
    }

    /// Returns `true` if whole frames are meant and not a SubDevice.
    pub(crate) const fn is_of_frames(self) -> bool {
        matches!(
            self,
            Self::LostFrame | Self::CorruptFrame | Self::LateFrame | Self::DuplicateFrame
        )
    }

    /// Returns `true` if it happens once, as it begins, and so has no duration.
    pub(crate) const fn is_once(self) -> bool {
        matches!(self, Self::StateDrop | Self::Emergency)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fault of the simulated segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Time of the fault, counted from the first cycle in OP.
    pub at: Nanos,
    /// Time for which it lasts; `None` is one frame for faults of frames, nothing for what happens
    /// once, else to the end.
    pub duration: Option<Nanos>,
    /// The fault and its SubDevice.
    pub what: FaultEffect,
}

/// A fault and its SubDevice, as a position in [`Fieldbus::subdevices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultEffect {
    /// Frames do not come back.
    LostFrame {
        /// Probability for each frame, in millionths: 1 to 1 000 000.
        parts_per_million: u32,
    },
    /// Frames come back with wrong bits.
    CorruptFrame {
        /// Probability for each frame, in millionths: 1 to 1 000 000.
        parts_per_million: u32,
    },
    /// Frames come back late.
    LateFrame {
        /// Probability for each frame, in millionths: 1 to 1 000 000.
        parts_per_million: u32,
        /// Delay of the frame, 1 µs to 10 s.
        delay: Nanos,
    },
    /// Frames come back twice.
    DuplicateFrame {
        /// Probability for each frame, in millionths: 1 to 1 000 000.
        parts_per_million: u32,
    },
    /// The line is cut before a SubDevice.
    Unplug {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// A SubDevice loses its power; the duration is how long.
    PowerCycle {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// A SubDevice does not leave its AL state.
    StuckState {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// A SubDevice in OP drops to SAFE-OP.
    StateDrop {
        /// Position of the SubDevice.
        subdevice: usize,
        /// With this AL status code.
        code: u16,
    },
    /// A SubDevice sends a CoE emergency.
    Emergency {
        /// Position of the SubDevice.
        subdevice: usize,
        /// With this error code.
        code: u16,
    },
    /// The mailbox of a SubDevice never answers.
    MailboxSilent {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// The working counter is wrong.
    WorkingCounter {
        /// Position of the SubDevice.
        subdevice: usize,
        /// Number that is added, −1000 to 1000.
        change: i16,
    },
}
