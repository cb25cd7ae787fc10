//! The simulated segment of a partition: its SubDevices, their plants, and what goes wrong.

use quietcore_segment::plant::{self, Connection};
use quietcore_segment::{Fault, FaultKind, Options, Segment, SubDevice, When};
use quietcore_units::Nanos;

use super::{FaultJob, FaultWhat, PlantJob, SubDeviceJob};

/// Builds the segment.
pub(super) fn segment(
    subdevices: &[SubDeviceJob],
    plants: &[PlantJob],
    seed: u64,
) -> Result<Segment, String> {
    let mut line = Vec::new();
    for one in subdevices {
        let device = one.device.as_deref().ok_or_else(|| {
            format!("SubDevice `{}` has no `device`; a simulated segment needs it", one.name)
        })?;
        line.push(SubDevice::by_name(device).map_err(|error| error.to_string())?);
    }
    let connections: Result<Vec<_>, _> = plants.iter().map(|job| connect(job, &line)).collect();
    let mut segment = Segment::new(line, Options { seed, ..Options::default() });
    for connection in connections? {
        segment.surround(Box::new(connection));
    }
    Ok(segment)
}

fn connect(job: &PlantJob, line: &[SubDevice]) -> Result<Connection, String> {
    let plant = plant::by_name(&job.kind).ok_or_else(|| {
        format!("there is no plant `{}`; there are {}", job.kind, plant::PLANT_NAMES.join(", "))
    })?;
    let mut connection = Connection::new(plant);
    for (place, connector, signal) in &job.wires {
        let drawn = connection.connect(line, *place, connector, signal);
        drawn.map_err(|error| error.to_string())?;
    }
    for place in &job.by_name {
        connection.connect_by_name(line, *place).map_err(|error| error.to_string())?;
    }
    Ok(connection)
}

/// Adds what goes wrong, counted from `start` on.
pub(super) fn add_faults(segment: &mut Segment, faults: &[FaultJob], start: Nanos) {
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
        segment.faults_mut().add(Fault { kind, when });
    }
}

/// The segment's word for it, and its probability if it strikes whole frames.
fn kind(what: FaultWhat) -> (FaultKind, Option<u32>) {
    match what {
        FaultWhat::LostFrame { parts_per_million } => {
            (FaultKind::LoseFrame, Some(parts_per_million))
        }
        FaultWhat::CorruptFrame { parts_per_million } => {
            (FaultKind::CorruptFrame, Some(parts_per_million))
        }
        FaultWhat::LateFrame { parts_per_million, delay } => {
            (FaultKind::DelayFrame(delay), Some(parts_per_million))
        }
        FaultWhat::DuplicateFrame { parts_per_million } => {
            (FaultKind::DuplicateFrame, Some(parts_per_million))
        }
        FaultWhat::Unplug { subdevice } => (FaultKind::Disconnect { subdevice }, None),
        FaultWhat::PowerCycle { subdevice } => (FaultKind::PowerLoss { subdevice }, None),
        FaultWhat::StuckState { subdevice } => (FaultKind::AlStateStuck { subdevice }, None),
        FaultWhat::StateDrop { subdevice, code } => {
            (FaultKind::AlStateDrop { subdevice, code }, None)
        }
        FaultWhat::Emergency { subdevice, code } => {
            (FaultKind::Emergency { subdevice, code, count: 1 }, None)
        }
        FaultWhat::MailboxSilent { subdevice } => (FaultKind::MailboxSilent { subdevice }, None),
        FaultWhat::WorkingCounter { subdevice, change } => {
            (FaultKind::WorkingCounter { subdevice, command: None, offset: change }, None)
        }
    }
}
