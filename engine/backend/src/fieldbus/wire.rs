//! The wires of a host, and the bus on one of them.

use quietcore_exchange::{EventWriter, Region};
use quietcore_fieldbus::Bus;
use quietcore_process::descriptors;
use quietcore_scan::program::Fieldbus;
use quietcore_segment::Segment;
use quietcore_units::{Causes, Nanos};
use quietcore_wire::{PacketWire, SegmentWire, Wire, WireError};

use super::{FaultJob, FieldbusJob, InterfaceJob, line};

/// Either way to the SubDevices.
pub enum AnyWire {
    /// In this process.
    Simulated(Box<SegmentWire>),
    /// Over a network interface.
    Packet(PacketWire),
}

impl AnyWire {
    /// Opens it; a socket lies out of reach of a program of this process.
    ///
    /// # Errors
    /// Why it can't be, in words.
    pub fn open(job: &FieldbusJob) -> Result<Self, String> {
        match &job.interface {
            InterfaceJob::Network { name, limited } => {
                let open = if *limited { PacketWire::open_limited } else { PacketWire::open };
                let wire = open(name).map_err(|error| Causes(&error).to_string())?;
                let wire = wire.renumbered(descriptors::raised).map_err(|error| {
                    format!("the socket of interface `{name}` gets no other number: {error}")
                })?;
                Ok(Self::Packet(wire))
            }
            InterfaceJob::Simulated { plants, seed, .. } => {
                let segment: Segment = line::segment(&job.bus.subdevices, plants, *seed)?;
                Ok(Self::Simulated(Box::new(SegmentWire::new(segment))))
            }
        }
    }

    /// Has faults go wrong on a simulated segment, counted from `start` on; a real one has its own.
    pub fn add_faults(&mut self, faults: &[FaultJob], start: Nanos) {
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

/// A fieldbus of a process, with what goes wrong on a simulated segment.
pub struct HostBus<'map> {
    bus: Bus<'map, AnyWire>,
    /// Until the first cycle, which says from when on they count.
    faults: Vec<FaultJob>,
}

impl<'map> HostBus<'map> {
    /// Brings the fieldbus to OP. Takes as long as the SubDevices need.
    ///
    /// # Errors
    /// Why it can't be, in words, with every difference between what is expected and found.
    pub fn bring_up(job: &FieldbusJob, region: Region<'map>) -> Result<Self, String> {
        let bus = Bus::bring_up(AnyWire::open(job)?, &job.bus, region);
        let faults = match &job.interface {
            InterfaceJob::Simulated { faults, .. } => faults.clone(),
            InterfaceJob::Network { .. } => Vec::new(),
        };
        Ok(Self { bus: bus.map_err(|error| Causes(&error).to_string())?, faults })
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

    use quietcore_skip::own_network;

    use super::*;
    use crate::fieldbus::{BusJob, FaultWhat, SubDeviceJob};

    /// Goal: a program that closes whatever it meets does not cut its fieldbus off.
    #[test]
    fn the_socket_of_an_interface_lies_out_of_a_programs_reach() {
        own_network!();
        descriptors::make_room();
        let interface = InterfaceJob::Network { name: "left".to_owned(), limited: false };
        let bus = BusJob {
            cycle: Nanos::from_millis(10),
            distributed_clocks: false,
            lost_after: 1_000,
            subdevices: vec![],
        };
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
        let lose = FaultJob {
            at: Nanos::from_millis(5),
            duration: None,
            what: FaultWhat::LostFrame { parts_per_million: 1_000_000 },
        };
        let job = FieldbusJob {
            interface: InterfaceJob::Simulated { plants: vec![], faults: vec![lose], seed: 1 },
            bus: BusJob {
                cycle: Nanos::from_millis(10),
                distributed_clocks: false,
                lost_after: 1_000,
                subdevices: vec![SubDeviceJob {
                    name: "keys".to_owned(),
                    device: Some("digital-input-8".to_owned()),
                    identity: None,
                    process_data: None,
                    start_up: vec![],
                }],
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
