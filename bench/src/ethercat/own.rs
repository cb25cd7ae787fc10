//! Our main device, over the network or in process.

use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_clock::Monotonic;
use quietcore_maindevice::{Expectation, Fieldbus};
use quietcore_probe::ethercat::{Plan, RoundTrips};
use quietcore_segment::device::NAMES;
use quietcore_segment::{Options, Segment, SubDevice};
use quietcore_units::{Causes, Nanos};
use quietcore_wire::{PacketWire, SegmentWire, Server, Wire, WireError};

use crate::ethercat::echo::Far;
use crate::ethercat::{Side, TIMEOUT};

/// The period that is told to the SubDevices.
const CYCLE: Nanos = Nanos::from_millis(1);

/// A segment with one SubDevice of each kind.
fn segment() -> Result<Segment, String> {
    let subdevices =
        NAMES.iter().map(|name| SubDevice::by_name(name)).collect::<Result<Vec<_>, _>>();
    Ok(Segment::new(subdevices.map_err(|error| error.to_string())?, Options::default()))
}

/// Answers the frames at the far end of a pair.
pub(super) fn serve(wire: PacketWire, stop: &AtomicBool) -> Result<(), String> {
    let mut server = Server::new(wire, segment()?);
    let served = server.serve(|_| stop.load(Ordering::Relaxed));
    served.map(|_| ()).map_err(|error| error.to_string())
}

/// A wire that remembers how long the last frame was.
struct Gauge<W> {
    wire: W,
    sent_bytes: usize,
}

impl<W: Wire> Wire for Gauge<W> {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        self.sent_bytes = frame.len();
        self.wire.send(frame)
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        self.wire.receive(buffer, until)
    }

    fn now(&self) -> Nanos {
        self.wire.now()
    }
}

/// The near end, as ours.
pub(super) struct Own {
    fieldbus: Medium,
    frame_bytes: usize,
    _far: Option<Far>,
}

/// The medium that carries its frames.
enum Medium {
    Network(Box<Fieldbus<Gauge<PacketWire>>>),
    InProcess(Box<Fieldbus<SegmentWire<Monotonic>>>),
}

impl Own {
    /// At OP over a pair of interfaces.
    pub(super) fn over_network(cpu: u32) -> Result<Self, String> {
        let far = Far::start("own", cpu, serve)?;
        let wire = PacketWire::open("own").map_err(|error| error.to_string())?;
        let wire = Gauge { wire, sent_bytes: 0 };
        let bring_up = Fieldbus::bring_up(wire, &Expectation::anything(CYCLE));
        let mut fieldbus = bring_up.map_err(|error| Causes(&error).to_string())?;
        let until = fieldbus.wire().now() + TIMEOUT;
        fieldbus.cycle(until);
        let frame_bytes = fieldbus.wire().sent_bytes;
        Ok(Self { fieldbus: Medium::Network(Box::new(fieldbus)), frame_bytes, _far: Some(far) })
    }

    /// At OP with the segment in the same thread.
    pub(super) fn in_process() -> Result<Self, String> {
        let wire = SegmentWire::with_clock(segment()?, Monotonic);
        let bring_up = Fieldbus::bring_up(wire, &Expectation::anything(CYCLE));
        let fieldbus = Box::new(bring_up.map_err(|error| Causes(&error).to_string())?);
        Ok(Self { fieldbus: Medium::InProcess(fieldbus), frame_bytes: 0, _far: None })
    }

    /// Bytes of the frame of a cycle.
    pub(super) fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// Cycles a second in the slowest window of a run, and in the mean.
    pub(super) fn rates(&mut self, cycles: u64) -> Result<(f64, f64), String> {
        let plan =
            Plan { cycles, warm_up_cycles: 1_000, period: None, timeout: TIMEOUT, limit: None };
        let measured = match &mut self.fieldbus {
            Medium::Network(fieldbus) => RoundTrips::measure(fieldbus, &Monotonic, &plan, || false),
            Medium::InProcess(fieldbus) => {
                RoundTrips::measure(fieldbus, &Monotonic, &plan, || false)
            }
        };
        let slowest = measured.sustained_rate().ok_or("the run was too short")?;
        Ok((slowest, measured.mean_rate()))
    }
}

impl Side for Own {
    fn block(&mut self, cycles: usize) -> Result<Vec<u64>, String> {
        Ok(match &mut self.fieldbus {
            Medium::Network(fieldbus) => trips(fieldbus, cycles),
            Medium::InProcess(fieldbus) => trips(fieldbus, cycles),
        })
    }
}

/// The round trips of so many cycles. Supervision is no part of them; it happens in between.
fn trips<W: Wire>(fieldbus: &mut Fieldbus<W>, cycles: usize) -> Vec<u64> {
    let mut trips = Vec::with_capacity(cycles);
    for _ in 0..cycles {
        let begin = fieldbus.wire().now();
        let outcome = fieldbus.cycle(begin + TIMEOUT);
        let end = fieldbus.wire().now();
        if !outcome.lost() {
            trips.push((end - begin).get());
        }
        fieldbus.supervise();
        while fieldbus.take_alarm().is_some() {}
    }
    trips
}
