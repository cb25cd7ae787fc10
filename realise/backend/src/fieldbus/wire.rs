//! The wires of a host to SubDevices, and the bus on one of them.

use std::io;

use quietcore_exchange::{EventWriter, Region};
use quietcore_fieldbus::{Bus, BusError};
use quietcore_process::descriptors;
use quietcore_scan::program::Fieldbus;
use quietcore_segment::Segment;
use quietcore_site::Fault;
use quietcore_units::Nanos;
use quietcore_wire::{OpenError, PacketWire, SegmentWire, Wire, WireError};

use super::{FieldbusJob, InterfaceJob, SegmentError, line};

/// The reason why a process has no fieldbus.
#[derive(Debug, thiserror::Error)]
pub enum FieldbusError {
    /// The interface can't be opened.
    #[error(transparent)]
    Interface(#[from] OpenError),
    /// The socket can't be moved out of reach of the program.
    #[error("the socket of interface `{interface}` gets no other number")]
    Number {
        /// Name of the interface.
        interface: String,
        /// The error of the kernel.
        #[source]
        cause: io::Error,
    },
    /// The host has given the card away.
    #[error("the network card at {address} is a guest's, and this is none")]
    Given {
        /// PCI address of the card, with the domain.
        address: String,
    },
    /// The segment can't be simulated.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The SubDevices don't reach OP.
    #[error(transparent)]
    Bus(#[from] BusError),
}

/// A wire to SubDevices, simulated or real.
pub enum AnyWire {
    /// A simulated segment in this process.
    Simulated(Box<SegmentWire>),
    /// Over a network interface.
    Packet(PacketWire),
}

impl AnyWire {
    /// Opens the wire. The number of its socket is out of reach of the program in this process.
    ///
    /// # Errors
    /// [`FieldbusError`] when the interface can't be opened, or the segment can't be built.
    pub fn open(job: &FieldbusJob) -> Result<Self, FieldbusError> {
        match &job.interface {
            InterfaceJob::Network { name, limited } => {
                let open = if *limited { PacketWire::open_limited } else { PacketWire::open };
                let wire = open(name)?.renumbered(descriptors::raised);
                let number = |cause| FieldbusError::Number { interface: name.clone(), cause };
                Ok(Self::Packet(wire.map_err(number)?))
            }
            InterfaceJob::Card { address } => {
                Err(FieldbusError::Given { address: address.clone() })
            }
            InterfaceJob::Simulated { devices, plants, seed, .. } => {
                let segment: Segment = line::segment(&job.bus.subdevices, devices, plants, *seed)?;
                Ok(Self::Simulated(Box::new(SegmentWire::new(segment))))
            }
        }
    }

    /// Adds faults to a simulated segment, with times that count from `start`. Does nothing on a
    /// real one.
    pub fn add_faults(&mut self, faults: &[Fault], start: Nanos) {
        if let Self::Simulated(wire) = self {
            line::add_faults(wire.segment_mut(), faults, start);
        }
    }
}

impl Wire for AnyWire {
    #[inline]
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        match self {
            Self::Simulated(wire) => wire.send(frame),
            Self::Packet(wire) => wire.send(frame),
        }
    }

    #[inline]
    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        match self {
            Self::Simulated(wire) => wire.receive(buffer, until),
            Self::Packet(wire) => wire.receive(buffer, until),
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        match self {
            Self::Simulated(wire) => wire.now(),
            Self::Packet(wire) => wire.now(),
        }
    }
}

/// The fieldbus of a process, with the faults of a simulated segment.
pub struct HostBus<'map> {
    bus: Bus<'map, AnyWire>,
    /// Faults that wait for the first cycle, from which their times count.
    faults: Vec<Fault>,
}

impl<'map> HostBus<'map> {
    /// Brings the fieldbus to OP. Takes as long as the SubDevices need.
    ///
    /// # Errors
    /// [`FieldbusError`] when the wire can't be opened, or the SubDevices don't reach OP; then with
    /// every difference between the expected ones and those found.
    pub fn bring_up(job: &FieldbusJob, region: Region<'map>) -> Result<Self, FieldbusError> {
        let bus = Bus::bring_up(AnyWire::open(job)?, &job.bus, region)?;
        let faults = match &job.interface {
            InterfaceJob::Simulated { faults, .. } => faults.clone(),
            InterfaceJob::Network { .. } | InterfaceJob::Card { .. } => Vec::new(),
        };
        Ok(Self { bus, faults })
    }
}

impl Fieldbus for HostBus<'_> {
    fn exchange(&mut self, cycle: u64, now: Nanos, events: &mut EventWriter<'_>) {
        if !self.faults.is_empty() {
            let faults = std::mem::take(&mut self.faults);
            self.bus.wire_mut().add_faults(&faults, now);
        }
        self.bus.exchange(cycle, now, events);
    }

    fn inputs(&self) -> &[u8] {
        self.bus.inputs()
    }

    fn outputs(&mut self) -> &mut [u8] {
        self.bus.outputs()
    }
}

#[cfg(test)]
mod tests {
    use quietcore_clock::{Clock as _, Monotonic};
    use quietcore_exchange::{Happening, Shape};
    use quietcore_process::exchange::Exchange;

    use std::os::fd::{AsFd as _, AsRawFd as _};

    use quietcore_maindevice::Expected;
    use quietcore_site::{Device, FaultEffect};
    use quietcore_skip::own_network;

    use super::*;
    use crate::fieldbus::{BusJob, DeviceJob};

    /// Goal: a program that closes whatever it meets does not cut its fieldbus off.
    #[test]
    fn the_socket_of_an_interface_lies_out_of_a_programs_reach() {
        own_network!();
        descriptors::make_room();
        let interface = InterfaceJob::Network { name: "left".to_owned(), limited: false };
        let bus = BusJob { cycle: Nanos::from_millis(10), lost_after: 1_000, subdevices: vec![] };
        let AnyWire::Packet(wire) = AnyWire::open(&FieldbusJob { interface, bus }).unwrap() else {
            panic!("it is no interface");
        };
        assert!(wire.as_fd().as_raw_fd() >= descriptors::FIRST);
    }

    /// Goal: no frame is lost unseen, however few they are.
    /// Method: a simulated segment swallows one, as a fault without a duration does. Cycles go on
    /// until it is counted and a few more, however long this machine stands still meanwhile.
    #[test]
    fn a_lost_frame_that_is_no_outage_is_counted() {
        let lose = Fault {
            at: Nanos::from_millis(5),
            duration: None,
            what: FaultEffect::LostFrame { parts_per_million: 1_000_000 },
        };
        let job = FieldbusJob {
            interface: InterfaceJob::Simulated {
                devices: vec![Some(DeviceJob::BuiltIn(Device::DigitalInput8))],
                plants: vec![],
                faults: vec![lose],
                seed: 1,
            },
            bus: BusJob {
                cycle: Nanos::from_millis(10),
                lost_after: 1_000,
                subdevices: vec![Expected { name: "keys".to_owned(), ..Expected::default() }],
            },
        };
        let shape = Shape { event_slots: 64, input_bytes: 1, ..Shape::of_tasks(1) };
        let exchange = Exchange::create(&shape).unwrap();
        let region = exchange.region();
        let mut events = region.event_writer(0).unwrap();
        let mut bus = HostBus::bring_up(&job, region).unwrap();
        let start = Monotonic.now();
        let mut cycle = 0;
        let mut after = 0;
        while after < 10 && Monotonic.now() < start + Nanos::from_secs(10) {
            bus.exchange(cycle, Monotonic.now(), &mut events);
            cycle += 1;
            after += u32::from(region.fieldbus().lost_frames > 0);
        }
        let status = region.fieldbus();
        assert_eq!((status.lost_frames, status.subdevices), (1, 1), "in {cycle} cycles");
        let mut heard = region.events(0).unwrap();
        let told: Vec<_> = std::iter::from_fn(|| heard.next_event()).map(|it| it.what).collect();
        let lost = |what: &Happening| matches!(what, Happening::FieldbusLost { .. });
        assert!(!told.iter().any(lost), "{told:?}");
    }
}
