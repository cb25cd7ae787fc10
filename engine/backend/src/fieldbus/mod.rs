//! The fieldbus of a partition: what its process is told of it, and how it drives it.
//!
//! | module | what |
//! |--------|------|
//! | [`line`] | the simulated segment: SubDevices, plants and faults |
//! | [`image`] | the MainDevice behind the scan cycle's process image |

pub mod image;
mod line;

use quietcore_maindevice::{Expectation, Expected, Identity, Object, StartUp, Synchronisation};
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// A fieldbus that a partition drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldbusJob {
    /// Where its frames go.
    pub interface: InterfaceJob,
    /// Time between two frames.
    pub cycle: Nanos,
    /// Whether the SubDevices' clocks are synchronised, and their outputs with them.
    pub distributed_clocks: bool,
    /// Cycles without an answer in a row after which it counts as lost.
    pub lost_after: u32,
    /// The SubDevices in the order of the line; none accepts whatever is found.
    pub subdevices: Vec<SubDeviceJob>,
}

/// Where the frames go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceJob {
    /// A network interface.
    Network(String),
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

/// A SubDevice as it is expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubDeviceJob {
    /// Its name in the site file.
    pub name: String,
    /// The built-in device that it is, where that is known.
    pub device: Option<String>,
    /// Vendor, product, and revision where it matters.
    pub identity: Option<(u32, u32, Option<u32>)>,
    /// Bytes of its inputs and outputs, where they are known.
    pub process_data: Option<(u16, u16)>,
    /// Objects that are written before SAFE-OP: index, sub-index, value.
    pub start_up: Vec<(u16, u8, Vec<u8>)>,
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

impl FieldbusJob {
    /// What the MainDevice expects to find.
    fn expectation(&self) -> Expectation {
        let expectation = Expectation::anything(self.cycle);
        if self.subdevices.is_empty() {
            return expectation;
        }
        expectation.with(self.subdevices.iter().map(|one| self.expected(one)).collect())
    }

    fn expected(&self, one: &SubDeviceJob) -> Expected {
        let has_clock = one.device.as_deref() == Some("servo-drive");
        Expected {
            name: one.name.clone(),
            identity: one.identity.map(|(vendor, product, revision)| Identity {
                vendor,
                product,
                revision,
                serial: None,
            }),
            process_data: one
                .process_data
                .map(|(inputs, outputs)| (usize::from(inputs), usize::from(outputs))),
            start_up: one
                .start_up
                .iter()
                .map(|(index, subindex, data)| StartUp {
                    object: Object { index: *index, subindex: *subindex, complete: false },
                    data: data.clone(),
                })
                .collect(),
            synchronisation: if self.distributed_clocks && has_clock {
                Synchronisation::Sync0
            } else {
                Synchronisation::Frame
            },
        }
    }
}
