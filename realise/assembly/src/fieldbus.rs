//! The fieldbus of a partition, from the site file's words to the process's.

use quietcore_backend::fieldbus::{BusJob, FieldbusJob, InterfaceJob, PlantJob};
use quietcore_maindevice::{Expected, Identity, Object, StartUp, Synchronisation};
use quietcore_site::{Device, DeviceIdentity, Fieldbus, Interface, PlantOnLine, Startup};

use super::BusImage;
use super::channels::bits;

pub(super) fn job(fieldbus: &Fieldbus, image: &BusImage, limited: bool) -> FieldbusJob {
    let subdevices = fieldbus.subdevices.iter().enumerate().map(|(position, one)| Expected {
        name: one.name.clone(),
        identity: one.identity.as_ref().map(identity),
        process_data: Some(image.bytes_of(position)),
        // Those of the site file come last, and so count.
        start_up: (image.start_up(position).iter().cloned())
            .chain(one.startup.iter().map(start_up))
            .collect(),
        synchronisation: match image.has_sync0(position) && fieldbus.distributed_clocks {
            true => Synchronisation::Sync0,
            false => Synchronisation::Frame,
        },
    });
    FieldbusJob {
        interface: match &fieldbus.interface {
            Interface::Network(name) => InterfaceJob::Network { name: name.clone(), limited },
            Interface::Card(address) => InterfaceJob::Card { address: address.clone() },
            Interface::Simulated => InterfaceJob::Simulated {
                devices: fieldbus.subdevices.iter().map(|one| one.device).collect(),
                plants: fieldbus.plants().iter().map(|plant| wire(fieldbus, plant)).collect(),
                faults: fieldbus.faults.clone(),
                seed: fieldbus.seed,
            },
        },
        bus: BusJob {
            cycle: fieldbus.cycle,
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

fn identity(identity: &DeviceIdentity) -> Identity {
    let DeviceIdentity { vendor, product, revision, .. } = *identity;
    Identity { vendor, product, revision, serial: None }
}

fn start_up(startup: &Startup) -> StartUp {
    let value = bits(startup.value, startup.value_type).to_le_bytes();
    StartUp {
        object: Object { index: startup.index, subindex: startup.sub, complete: false },
        data: value[..startup.value_type.bytes()].to_vec(),
    }
}
