//! The fieldbus of a partition: its description for the process, and the code that drives it.
//!
//! | module | content |
//! |--------|------|
//! | [`line`] | the simulated segment: SubDevices, plants and faults |
//! | [`wire`] | the wires of a host, and the bus on one of them |
//!
//! The part that processes and guests have in common is in `quietcore-fieldbus`.

mod line;
pub mod wire;

pub use line::SegmentError;
pub use quietcore_fieldbus::BusJob;
use quietcore_segment::Blueprint;
use quietcore_site::{Device, Fault};
use serde::{Deserialize, Serialize};

/// A fieldbus, described for the process that drives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldbusJob {
    /// Interface that carries its frames.
    pub interface: InterfaceJob,
    /// The SubDevices, and the settings of the bus.
    pub bus: BusJob,
}

/// An interface that carries the frames of a fieldbus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceJob {
    /// A network interface of the host.
    Network {
        /// Name of the interface, such as `eth0`.
        name: String,
        /// `true` if the partition's rate of sending is limited: its frames then pass the
        /// interface's queueing discipline and none can avoid the limit.
        limited: bool,
    },
    /// A network card that the partition's guest drives itself.
    Card {
        /// PCI address of the card, with the domain.
        address: String,
    },
    /// A simulated segment in the partition's own process.
    Simulated {
        /// The devices that the SubDevices are, in their order; `None` where the site does not say.
        devices: Vec<Option<DeviceJob>>,
        /// Plants behind the SubDevices, in any order.
        plants: Vec<PlantJob>,
        /// Faults to simulate, each at its own time.
        faults: Vec<Fault>,
        /// Seed for everything that is left to chance.
        seed: u64,
    },
}

/// A device to be simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceJob {
    /// One that is built in, with its own application.
    BuiltIn(Device),
    /// One of an ESI file, of which nothing but its process data is known.
    Described(Box<Blueprint>),
}

impl FieldbusJob {
    /// Builds the simulated segment once, to see that it can be built. Does nothing for other
    /// interfaces.
    ///
    /// # Errors
    /// [`SegmentError`]
    pub fn check(&self) -> Result<(), SegmentError> {
        match &self.interface {
            InterfaceJob::Simulated { devices, plants, seed, .. } => {
                line::segment(&self.bus.subdevices, devices, plants, *seed).map(drop)
            }
            InterfaceJob::Network { .. } | InterfaceJob::Card { .. } => Ok(()),
        }
    }

    /// Returns the PCI address of the network card that the partition's guest drives itself, if it
    /// does.
    pub(crate) fn card(&self) -> Option<&str> {
        match &self.interface {
            InterfaceJob::Card { address } => Some(address),
            InterfaceJob::Network { .. } | InterfaceJob::Simulated { .. } => None,
        }
    }
}

/// A simulated plant and its wires to SubDevices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlantJob {
    /// Kind of the plant, such as `servo-axis`.
    pub kind: String,
    /// Wires, each as the index of the SubDevice, its connector, and the plant's signal.
    pub wires: Vec<(usize, String, String)>,
    /// Indices of the SubDevices whose connectors are wired to the signals of the same names.
    pub by_name: Vec<usize>,
}
