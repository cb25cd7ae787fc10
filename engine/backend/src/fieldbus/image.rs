//! The MainDevice behind the scan cycle's process image.
//!
//! The image has the SubDevices' inputs one after the other in the order of the line, and their
//! outputs likewise, as the host resolved the site file's names. The MainDevice has both in one
//! image of its own order; the copies in between are a few bytes a SubDevice.

use quietcore_exchange::{EventWriter, FieldbusStatus, Happening, Region};
use quietcore_maindevice::{Alarm, Fieldbus as MainDevice};
use quietcore_scan::program::Fieldbus;
use quietcore_segment::Segment;
use quietcore_units::Nanos;
use quietcore_wire::{PacketWire, SegmentWire, Wire, WireError};

use super::{FaultJob, FieldbusJob, InterfaceJob, line};

/// The longest that a cycle waits for its frames.
const WAIT_MAX: Nanos = Nanos::from_millis(10);
/// Alarms that are told in one cycle; the others wait for the next.
const ALARMS_PER_CYCLE: usize = 4;

/// Either way to the SubDevices.
pub enum AnyWire {
    /// In this process.
    Simulated(Box<SegmentWire>),
    /// Over a network interface.
    Packet(PacketWire),
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

/// A fieldbus in operation, as the scan cycle drives it.
pub struct BusImage<'map> {
    maindevice: MainDevice<AnyWire>,
    region: Region<'map>,
    inputs: Vec<u8>,
    outputs: Vec<u8>,
    wait: Nanos,
    lost_after: u64,
    lost_in_a_row: u64,
    lost_since: Option<Nanos>,
    /// Frames, in the whole life of the fieldbus.
    lost_frames: u64,
    /// What goes wrong on a simulated segment, until the first cycle says from when on.
    faults: Vec<FaultJob>,
}

impl<'map> BusImage<'map> {
    /// Brings the fieldbus to OP. Takes as long as the SubDevices need.
    ///
    /// # Errors
    /// Why it can't be, in words, with every difference between what is expected and found.
    pub fn bring_up(job: &FieldbusJob, region: Region<'map>) -> Result<Self, String> {
        let (wire, faults) = match &job.interface {
            InterfaceJob::Network(name) => {
                let wire = PacketWire::open(name).map_err(|error| error.to_string())?;
                (AnyWire::Packet(wire), Vec::new())
            }
            InterfaceJob::Simulated { plants, faults, seed } => {
                let segment: Segment = line::segment(&job.subdevices, plants, *seed)?;
                (AnyWire::Simulated(Box::new(SegmentWire::new(segment))), faults.clone())
            }
        };
        let maindevice = MainDevice::bring_up(wire, &job.expectation())
            .map_err(|error| format!("the fieldbus can't be brought to OP: {error}"))?;
        let sum = |bytes: fn(&quietcore_maindevice::SubDevice) -> usize| {
            maindevice.subdevices().iter().map(bytes).sum::<usize>()
        };
        let shape = region.layout().shape;
        let (inputs, outputs) = (sum(|one| one.inputs().len()), sum(|one| one.outputs().len()));
        let room = (shape.input_bytes as usize, shape.output_bytes as usize);
        if !job.subdevices.is_empty() && (inputs, outputs) != room {
            return Err(format!(
                "the SubDevices have {inputs} bytes of inputs and {outputs} of outputs; the site \
                 file's names were resolved for {} and {}",
                room.0, room.1
            ));
        }
        Ok(Self {
            maindevice,
            region,
            inputs: vec![0; room.0],
            outputs: vec![0; room.1],
            wait: (job.cycle / 2).min(WAIT_MAX),
            lost_after: u64::from(job.lost_after),
            lost_in_a_row: 0,
            lost_since: None,
            lost_frames: 0,
            faults,
        })
    }

    fn give_outputs(&mut self) {
        let mut rest = self.outputs.as_slice();
        for position in 0..self.maindevice.subdevices().len() {
            let place = self.maindevice.outputs_mut(position);
            let (own, after) = rest.split_at(rest.len().min(place.len()));
            place[..own.len()].copy_from_slice(own);
            rest = after;
        }
    }

    fn take_inputs(&mut self) {
        let mut rest = self.inputs.as_mut_slice();
        for position in 0..self.maindevice.subdevices().len() {
            let from = self.maindevice.inputs(position);
            let (own, after) = rest.split_at_mut(from.len().min(rest.len()));
            own.copy_from_slice(&from[..own.len()]);
            rest = after;
        }
    }

    /// Counts cycles without an answer, and tells when they are too many and when they are over.
    fn note_lost(&mut self, lost: bool, cycle: u64, now: Nanos, events: &mut EventWriter<'_>) {
        if lost {
            self.lost_in_a_row += 1;
            self.lost_since.get_or_insert(now);
            if self.lost_in_a_row == self.lost_after {
                let frames = self.lost_in_a_row;
                events.tell(cycle, now, 0, Happening::FieldbusLost { frames });
            }
        } else if let Some(since) = self.lost_since.take() {
            if self.lost_in_a_row >= self.lost_after {
                let outage_ns = now.saturating_sub(since).get();
                events.tell(cycle, now, 0, Happening::FieldbusRecovered { outage_ns });
            }
            self.lost_in_a_row = 0;
        }
    }
}

impl Fieldbus for BusImage<'_> {
    fn exchange(&mut self, cycle: u64, now: Nanos, events: &mut EventWriter<'_>) {
        if !self.faults.is_empty() {
            // Once, in the first cycle; a simulated segment is no real one.
            let faults = std::mem::take(&mut self.faults);
            if let AnyWire::Simulated(wire) = self.maindevice.wire_mut() {
                line::add_faults(wire.segment_mut(), &faults, now);
            }
        }
        self.give_outputs();
        let outcome = self.maindevice.cycle(now + self.wait);
        self.take_inputs();
        self.note_lost(outcome.lost(), cycle, now, events);
        // Each is counted: one alone is no event, and its cycle saw the inputs of the one before.
        self.lost_frames = self.lost_frames.saturating_add(u64::from(outcome.lost_frames));
        self.maindevice.supervise();
        for _ in 0..ALARMS_PER_CYCLE {
            let Some(alarm) = self.maindevice.take_alarm() else { break };
            if let Some(what) = happening(&alarm) {
                events.tell(cycle, now, 0, what);
            }
        }
        self.region.set_fieldbus(FieldbusStatus {
            subdevices: outcome.present,
            al_states: outcome.al_states,
            working_counter: outcome.working_counter,
            expected: outcome.expected,
            lost_frames: self.lost_frames,
        });
    }

    fn inputs(&self) -> &[u8] {
        &self.inputs
    }

    fn outputs(&mut self) -> &mut [u8] {
        &mut self.outputs
    }
}

/// An alarm as an event; lost frames are counted and told elsewhere.
fn happening(alarm: &Alarm) -> Option<Happening> {
    Some(match *alarm {
        Alarm::Lost { .. } | Alarm::Returned { .. } => return None,
        Alarm::WorkingCounter { subdevice, expected, found } => Happening::WorkingCounter {
            subdevice: subdevice.map(u32::from),
            expected: u32::from(expected),
            found: u32::from(found),
        },
        Alarm::State { subdevice, found, code } => Happening::AlState {
            subdevice: u32::from(subdevice),
            state: u32::from(found.number()),
            code: u32::from(code),
        },
        Alarm::Absent { subdevice } => {
            Happening::SubDeviceAbsent { subdevice: u32::from(subdevice) }
        }
        Alarm::Foreign { subdevice, vendor, product } => {
            Happening::SubDeviceForeign { subdevice: u32::from(subdevice), vendor, product }
        }
        Alarm::Recovered { subdevice } => {
            Happening::SubDeviceRecovered { subdevice: u32::from(subdevice) }
        }
        Alarm::NotRecovered { subdevice, wanted, code } => Happening::SubDeviceNotRecovered {
            subdevice: u32::from(subdevice),
            wanted: u32::from(wanted.number()),
            code: u32::from(code),
        },
        Alarm::Emergency { subdevice, code, register, data } => {
            let mut bytes = [0; 8];
            bytes[..5].copy_from_slice(&data);
            Happening::Emergency {
                subdevice: u32::from(subdevice),
                code: u32::from(code),
                register: u32::from(register),
                data: u64::from_le_bytes(bytes),
            }
        }
        Alarm::ErrorCounters { subdevice, counters } => {
            let sum = |ports: [u8; 4]| ports.iter().map(|count| u32::from(*count)).sum::<u32>();
            Happening::ErrorCounters {
                subdevice: u32::from(subdevice),
                invalid_frames: sum(counters.invalid_frames),
                lost_links: sum(counters.lost_links),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use quietcore_clock::{Clock as _, Monotonic};
    use quietcore_exchange::Shape;
    use quietcore_process::exchange::Exchange;

    use super::*;
    use crate::fieldbus::{FaultWhat, SubDeviceJob};

    /// Goal: no frame is lost unseen, however few they are.
    /// Method: a simulated segment swallows one, as a fault without a duration does.
    #[test]
    fn a_lost_frame_that_is_no_outage_is_counted() {
        let lose = FaultJob {
            at: Nanos::from_millis(5),
            duration: None,
            what: FaultWhat::LostFrame { parts_per_million: 1_000_000 },
        };
        let job = FieldbusJob {
            interface: InterfaceJob::Simulated { plants: vec![], faults: vec![lose], seed: 1 },
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
        };
        let shape = Shape { event_slots: 64, input_bytes: 1, ..Shape::of_tasks(1) };
        let exchange = Exchange::create(&shape).unwrap();
        let region = exchange.region();
        let mut events = region.event_writer(0).unwrap();
        let mut bus = BusImage::bring_up(&job, region).unwrap();
        let start = Monotonic.now();
        let mut cycle = 0;
        while Monotonic.now() < start + Nanos::from_millis(40) {
            bus.exchange(cycle, Monotonic.now(), &mut events);
            cycle += 1;
        }
        let status = region.fieldbus();
        assert_eq!((status.lost_frames, status.subdevices), (1, 1), "in {cycle} cycles");
        let mut heard = region.events(0).unwrap();
        let told: Vec<_> = std::iter::from_fn(|| heard.next_event()).map(|it| it.what).collect();
        let lost = |what: &Happening| matches!(what, Happening::FieldbusLost { .. });
        assert!(!told.iter().any(lost), "{told:?}");
    }
}
