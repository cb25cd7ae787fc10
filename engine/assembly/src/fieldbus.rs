//! The fieldbus of a partition, from the site file's words to the process's.

use quietcore_backend::fieldbus::{
    BusJob, FaultJob, FaultWhat, FieldbusJob, InterfaceJob, PlantJob, SubDeviceJob,
};
use quietcore_site::{
    Device, Fault, FaultEffect, Fieldbus, Initial, Interface, PlantOnLine, SignalType, Startup,
};

use super::BusImage;

pub(super) fn job(fieldbus: &Fieldbus, image: &BusImage, limited: bool) -> FieldbusJob {
    let subdevices = fieldbus.subdevices.iter().enumerate().map(|(position, one)| SubDeviceJob {
        name: one.name.clone(),
        device: one.device.map(|device| device.name().to_owned()),
        identity: one.identity.as_ref().map(|it| (it.vendor, it.product, it.revision)),
        process_data: image.bytes_of(position),
        start_up: one.startup.iter().map(start_up).collect(),
    });
    FieldbusJob {
        interface: match &fieldbus.interface {
            Interface::Network(name) => InterfaceJob::Network { name: name.clone(), limited },
            Interface::Simulated => InterfaceJob::Simulated {
                plants: fieldbus.plants().iter().map(|plant| wire(fieldbus, plant)).collect(),
                faults: fieldbus.faults.iter().map(fault).collect(),
                seed: fieldbus.seed,
            },
        },
        bus: BusJob {
            cycle: fieldbus.cycle,
            distributed_clocks: fieldbus.distributed_clocks,
            lost_after: fieldbus.lost_after,
            subdevices: subdevices.collect(),
        },
    }
}

fn wire(fieldbus: &Fieldbus, plant: &PlantOnLine) -> PlantJob {
    let mut job =
        PlantJob { kind: plant.kind.name().to_owned(), wires: Vec::new(), by_name: Vec::new() };
    for position in &plant.subdevices {
        let subdevice = &fieldbus.subdevices[*position];
        if subdevice.device == Some(Device::ServoDrive) {
            job.by_name.push(*position);
        }
        let wires = subdevice.connect.iter();
        job.wires.extend(wires.map(|wire| (*position, wire.channel.clone(), wire.signal.clone())));
    }
    job
}

fn start_up(startup: &Startup) -> (u16, u8, Vec<u8>) {
    let bytes = startup.value_type.bytes();
    let value = match (startup.value, startup.value_type) {
        (Initial::Truth(truth), _) => u64::from(truth).to_le_bytes(),
        (Initial::Whole(whole), _) => whole.to_le_bytes(),
        (Initial::Real(real), SignalType::F32) => u64::from((real as f32).to_bits()).to_le_bytes(),
        (Initial::Real(real), _) => real.to_bits().to_le_bytes(),
    };
    (startup.index, startup.sub, value[..bytes].to_vec())
}

fn fault(fault: &Fault) -> FaultJob {
    let parts = |chance: f64| (chance * 1e6).ceil() as u32;
    let what = match fault.what {
        FaultEffect::LostFrame { chance } => {
            FaultWhat::LostFrame { parts_per_million: parts(chance) }
        }
        FaultEffect::CorruptFrame { chance } => {
            FaultWhat::CorruptFrame { parts_per_million: parts(chance) }
        }
        FaultEffect::LateFrame { chance, delay } => {
            FaultWhat::LateFrame { parts_per_million: parts(chance), delay }
        }
        FaultEffect::DuplicateFrame { chance } => {
            FaultWhat::DuplicateFrame { parts_per_million: parts(chance) }
        }
        FaultEffect::Unplug { subdevice } => FaultWhat::Unplug { subdevice },
        FaultEffect::PowerCycle { subdevice } => FaultWhat::PowerCycle { subdevice },
        FaultEffect::StuckState { subdevice } => FaultWhat::StuckState { subdevice },
        FaultEffect::StateDrop { subdevice, code } => FaultWhat::StateDrop { subdevice, code },
        FaultEffect::Emergency { subdevice, code } => FaultWhat::Emergency { subdevice, code },
        FaultEffect::MailboxSilent { subdevice } => FaultWhat::MailboxSilent { subdevice },
        FaultEffect::WorkingCounter { subdevice, change } => {
            FaultWhat::WorkingCounter { subdevice, change }
        }
    };
    FaultJob { at: fault.at, duration: fault.duration, what }
}
