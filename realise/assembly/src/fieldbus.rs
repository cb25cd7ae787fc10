//! The fieldbus of a partition, from the site file's words to the process's.

use quietcore_backend::fieldbus::{BusJob, FieldbusJob, InterfaceJob, PlantJob, SubDeviceJob};
use quietcore_site::{Device, Fieldbus, Interface, PlantOnLine, Startup};

use super::BusImage;
use super::channels::bits;

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
                faults: fieldbus.faults.clone(),
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
    let value = bits(startup.value, startup.value_type).to_le_bytes();
    (startup.index, startup.sub, value[..startup.value_type.bytes()].to_vec())
}
