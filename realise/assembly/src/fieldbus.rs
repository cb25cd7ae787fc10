//! The fieldbus of a partition, from the site file's words to the process's.

use std::collections::BTreeMap;

use quietcore_backend::fieldbus::{BusJob, DeviceJob, FieldbusJob, InterfaceJob, PlantJob};
use quietcore_maindevice::{Expected, Identity, Object, StartUp, Synchronisation};
use quietcore_scan::mapping::Kind;
use quietcore_segment::plant;
use quietcore_site::{
    Device, DeviceIdentity, Fieldbus, Interface, PlantKind, PlantOnLine, Site, Startup, SubDevice,
    Wire,
};
use quietcore_wording::{list, plural};

use super::BusImage;
use super::channels::bits;
use super::names::NameProblem;

/// Describes a fieldbus for the process of its partition. Wires to plants, and devices to simulate,
/// can be wrong.
pub(super) fn job(
    site: &Site,
    fieldbus: &Fieldbus,
    image: &BusImage,
    limited: bool,
) -> Result<FieldbusJob, Vec<NameProblem>> {
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
    let job = FieldbusJob {
        interface: match &fieldbus.interface {
            Interface::Network(name) => InterfaceJob::Network { name: name.clone(), limited },
            Interface::Card(address) => InterfaceJob::Card { address: address.clone() },
            Interface::Simulated => InterfaceJob::Simulated {
                devices: devices(fieldbus, image),
                plants: plants(site, fieldbus, image)?,
                faults: fieldbus.faults.clone(),
                seed: fieldbus.seed,
            },
        },
        bus: BusJob {
            cycle: fieldbus.cycle,
            lost_after: fieldbus.lost_after,
            subdevices: subdevices.collect(),
        },
    };
    job.check().map_err(|error| {
        let place = site.place(&format!("fieldbus.{}.subdevice", fieldbus.name));
        vec![NameProblem { place, problem: error.to_string() }]
    })?;
    Ok(job)
}

/// The devices that are simulated, in the order of the line.
fn devices(fieldbus: &Fieldbus, image: &BusImage) -> Vec<Option<DeviceJob>> {
    let device = |(position, one): (usize, &SubDevice)| {
        let described = || image.simulated(position).cloned();
        let built_in = one.device.map(DeviceJob::BuiltIn);
        built_in.or_else(|| Some(DeviceJob::Described(Box::new(described()?))))
    };
    fieldbus.subdevices.iter().enumerate().map(device).collect()
}

/// The plants with their wires.
fn plants(
    site: &Site,
    fieldbus: &Fieldbus,
    image: &BusImage,
) -> Result<Vec<PlantJob>, Vec<NameProblem>> {
    let mut problems = Vec::new();
    let mut plant = |plant: &PlantOnLine| {
        let kind = plant.kind.name().to_owned();
        let mut job = PlantJob { kind, wires: Vec::new(), by_name: Vec::new() };
        let mut wiring =
            Wiring { kind: plant.kind, moved: BTreeMap::new(), connected: BTreeMap::new() };
        for position in &plant.subdevices {
            let subdevice = &fieldbus.subdevices[*position];
            if subdevice.device == Some(Device::ServoDrive) {
                job.by_name.push(*position);
            }
            for wire in &subdevice.connect {
                match wiring.connector(image, *position, subdevice, wire) {
                    Ok(connector) => job.wires.push((*position, connector, wire.signal.clone())),
                    Err(problem) => {
                        let (bus, name) = (&fieldbus.name, &subdevice.name);
                        let key = format!("fieldbus.{bus}.subdevice.{name}.connect");
                        problems.push(NameProblem { place: site.place(&key), problem });
                    }
                }
            }
        }
        job
    };
    let plants = fieldbus.plants().iter().map(&mut plant).collect();
    if problems.is_empty() { Ok(plants) } else { Err(problems) }
}

/// The wires of one plant, so far.
struct Wiring {
    kind: PlantKind,
    /// The actuators that are moved, each with the output that does.
    moved: BTreeMap<String, String>,
    /// The entries that are connected, with their names.
    connected: BTreeMap<(usize, bool, u32), String>,
}

impl Wiring {
    /// The connector of a wire: the name of a channel, or the place of an entry of a device of an
    /// ESI file.
    fn connector(
        &mut self,
        image: &BusImage,
        position: usize,
        subdevice: &SubDevice,
        wire: &Wire,
    ) -> Result<String, String> {
        let (kind, channel, signal) = (self.kind, wire.channel.to_string(), &wire.signal);
        let place = image.find(position, &wire.channel);
        let place = place.map_err(|why| format!("`{channel}`: {why}"))?;
        let plant = plant::by_name(kind.name()).map(|plant| plant.connections());
        let (direction, end, signals) = match place.is_input {
            true => ("input", "sensor", plant.map(|it| it.sensors)),
            false => ("output", "actuator", plant.map(|it| it.actuators)),
        };
        let names: Vec<_> = signals.into_iter().flatten().map(|it| it.name).collect();
        if !names.contains(&signal.as_str()) {
            return Err(format!(
                "`{channel}` is an {direction}, and a `{kind}` has no {end} `{signal}`; it has {}",
                list(names)
            ));
        }
        if !matches!((place.kind, place.bits), (Kind::Bool, 1) | (_, 8 | 16 | 32 | 64)) {
            return Err(format!(
                "`{channel}` has {} bit{}, and a plant is behind numbers of 8, 16, 32 or 64 bits \
                 and switches",
                place.bits,
                plural(place.bits.into())
            ));
        }
        let entry = (position, place.is_input, place.own_bit);
        if let Some(other) = self.connected.insert(entry, channel.clone()) {
            return Err(format!("`{channel}` and `{other}` are one entry; connect it once"));
        }
        let output = format!("{}.{channel}", subdevice.name);
        if !place.is_input
            && let Some(other) = self.moved.insert(signal.clone(), output)
        {
            return Err(format!("`{signal}` is moved by `{other}` already; connect it once"));
        }
        Ok(match image.simulated(position) {
            Some(_) => format!("{direction} bit {}", place.own_bit),
            None => channel,
        })
    }
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
