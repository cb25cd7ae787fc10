//! The simulated segment of a partition: its SubDevices, their plants, and the faults to simulate.

use quietcore_maindevice::Expected;
use quietcore_segment::plant::{self, Connection, ConnectionError};
use quietcore_segment::{FaultKind, Options, Segment, SubDevice, UnknownDevice, When};
use quietcore_site::{Fault, FaultEffect};
use quietcore_units::Nanos;

use super::{DeviceJob, PlantJob};

/// The reason why a segment can't be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// A SubDevice does not say which device it is.
    #[error("SubDevice `{name}` has no `device`, and no ESI file describes it")]
    NoDevice {
        /// Name of the SubDevice in the site file.
        name: String,
    },
    /// No such device can be simulated.
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    /// No such plant can be simulated.
    #[error("there is no plant `{kind}`; there are {}", plant::PLANT_NAMES.join(", "))]
    NoPlant {
        /// The kind that the site file names.
        kind: String,
    },
    /// A wire between a SubDevice and a plant can't be drawn.
    #[error(transparent)]
    Wire(#[from] ConnectionError),
}

/// Builds the segment, or says which SubDevice, plant or wire there can't be. `seed` decides
/// everything that is left to chance.
pub(super) fn segment(
    subdevices: &[Expected],
    devices: &[Option<DeviceJob>],
    plants: &[PlantJob],
    seed: u64,
) -> Result<Segment, SegmentError> {
    let mut line = Vec::new();
    for (one, device) in subdevices.iter().zip(devices) {
        line.push(match device {
            Some(DeviceJob::BuiltIn(device)) => SubDevice::by_name(device.name())?,
            Some(DeviceJob::Described(blueprint)) => SubDevice::of_entries((**blueprint).clone()),
            None => return Err(SegmentError::NoDevice { name: one.name.clone() }),
        });
    }
    let connections: Result<Vec<_>, _> = plants.iter().map(|job| connect(job, &line)).collect();
    let mut segment = Segment::new(line, Options { seed, ..Options::default() });
    for connection in connections? {
        segment.surround(Box::new(connection));
    }
    Ok(segment)
}

fn connect(job: &PlantJob, line: &[SubDevice]) -> Result<Connection, SegmentError> {
    let plant = plant::by_name(&job.kind);
    let plant = plant.ok_or_else(|| SegmentError::NoPlant { kind: job.kind.clone() })?;
    let mut connection = Connection::new(plant);
    for (place, connector, signal) in &job.wires {
        connection.connect(line, *place, connector, signal)?;
    }
    for place in &job.by_name {
        connection.connect_by_name(line, *place)?;
    }
    Ok(connection)
}

/// Adds faults whose times count from `start`.
pub(super) fn add_faults(segment: &mut Segment, faults: &[Fault], start: Nanos) {
    for fault in faults {
        let from = start + fault.at;
        let until = fault.duration.map_or(Nanos::MAX, |duration| from + duration);
        let (kind, chance) = kind(fault.what);
        let when = match (chance, fault.duration) {
            (Some(_), None) => When::Next { from },
            (Some(parts_per_million), Some(_)) => {
                When::ChanceBetween { from, until, parts_per_million }
            }
            (None, _) => When::Between { from, until },
        };
        segment.faults_mut().add(quietcore_segment::Fault { kind, when });
    }
}

/// Returns the segment's kind of fault; with its probability in parts per million if it strikes
/// whole frames.
fn kind(what: FaultEffect) -> (FaultKind, Option<u32>) {
    match what {
        FaultEffect::LostFrame { parts_per_million } => {
            (FaultKind::LoseFrame, Some(parts_per_million))
        }
        FaultEffect::CorruptFrame { parts_per_million } => {
            (FaultKind::CorruptFrame, Some(parts_per_million))
        }
        FaultEffect::LateFrame { parts_per_million, delay } => {
            (FaultKind::DelayFrame(delay), Some(parts_per_million))
        }
        FaultEffect::DuplicateFrame { parts_per_million } => {
            (FaultKind::DuplicateFrame, Some(parts_per_million))
        }
        FaultEffect::Unplug { subdevice } => (FaultKind::Disconnect { subdevice }, None),
        FaultEffect::PowerCycle { subdevice } => (FaultKind::PowerLoss { subdevice }, None),
        FaultEffect::StuckState { subdevice } => (FaultKind::AlStateStuck { subdevice }, None),
        FaultEffect::StateDrop { subdevice, code } => {
            (FaultKind::AlStateDrop { subdevice, code }, None)
        }
        FaultEffect::Emergency { subdevice, code } => {
            (FaultKind::Emergency { subdevice, code, count: 1 }, None)
        }
        FaultEffect::MailboxSilent { subdevice } => (FaultKind::MailboxSilent { subdevice }, None),
        FaultEffect::WorkingCounter { subdevice, change } => {
            (FaultKind::WorkingCounter { subdevice, command: None, offset: change }, None)
        }
    }
}
