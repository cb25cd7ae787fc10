//! The fieldbus of a partition: what its process is told of it, and how it drives it.
//!
//! | module | what |
//! |--------|------|
//! | [`line`] | the simulated segment: SubDevices, plants and faults |
//! | [`wire`] | the wires of a host, and the bus on one of them |
//!
//! What is the same in a guest is in `quietcore-fieldbus`.

mod line;
pub mod wire;

pub use quietcore_fieldbus::{BusJob, SubDeviceJob};
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// A fieldbus that a partition drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldbusJob {
    /// Where its frames go.
    pub interface: InterfaceJob,
    /// The SubDevices, and how they are driven.
    pub bus: BusJob,
}

/// Where the frames go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceJob {
    /// A network interface.
    Network {
        /// Its name.
        name: String,
        /// Whether what it sends is limited, so that no frame may go past the limit.
        limited: bool,
    },
    /// A simulated segment in the partition's own process.
    Simulated {
        /// Plants behind the SubDevices.
        plants: Vec<PlantJob>,
        /// What goes wrong.
        faults: Vec<FaultJob>,
        /// Seed of what is left to chance.
        seed: u64,
    },
}

/// A plant behind SubDevices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlantJob {
    /// Its kind.
    pub kind: String,
    /// Wires: place of the SubDevice, its connector, the plant's signal.
    pub wires: Vec<(usize, String, String)>,
    /// SubDevices that are wired by the names of their connectors.
    pub by_name: Vec<usize>,
}

/// Something that goes wrong on a simulated segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultJob {
    /// From when on, counted from the first cycle.
    pub at: Nanos,
    /// How long; none for one frame, or for what happens once.
    pub duration: Option<Nanos>,
    /// What.
    pub what: FaultWhat,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "named as `quietcore_segment::FaultKind` names them")]
pub enum FaultWhat {
    LostFrame { parts_per_million: u32 },
    CorruptFrame { parts_per_million: u32 },
    LateFrame { parts_per_million: u32, delay: Nanos },
    DuplicateFrame { parts_per_million: u32 },
    Unplug { subdevice: usize },
    PowerCycle { subdevice: usize },
    StuckState { subdevice: usize },
    StateDrop { subdevice: usize, code: u16 },
    Emergency { subdevice: usize, code: u16 },
    MailboxSilent { subdevice: usize },
    WorkingCounter { subdevice: usize, change: i16 },
}
