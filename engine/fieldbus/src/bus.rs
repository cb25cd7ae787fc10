//! The MainDevice behind the scan cycle's process image.
//!
//! The image has the SubDevices' inputs one after the other in the order of the line, and their
//! outputs likewise, as the host resolved the site file's names. The MainDevice has both in one
//! image of its own order; the copies in between are a few bytes a SubDevice.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use quietcore_exchange::{EventWriter, FieldbusStatus, Happening, Region};
use quietcore_maindevice::{BringUpError, Expectation, Fieldbus as MainDevice, SubDevice};
use quietcore_scan::program::Fieldbus;
use quietcore_units::Nanos;
use quietcore_wire::Wire;

use crate::happening::happening;
use crate::job::{BusJob, JobError};
use crate::stoppable::{RestUntil, Stoppable};

/// The longest that a cycle waits for its frames.
pub const WAIT_MAX: Nanos = Nanos::from_millis(10);
/// The longest that a bring-up takes, all SubDevices together, before it is given up.
pub const PATIENCE: Nanos = Nanos::from_secs(30);
/// Alarms that are told in one cycle; the others wait for the next.
const ALARMS_PER_CYCLE: usize = 4;

/// Why there is no fieldbus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusError {
    /// The job is none.
    Job(JobError),
    /// The SubDevices can't be brought to OP; with every difference between what is expected and
    /// what was found.
    BringUp(BringUpError),
    /// The process data are not what names were resolved for; in bytes of inputs and outputs.
    ProcessData {
        /// Bytes of inputs and of outputs that the SubDevices have.
        found: (usize, usize),
        /// Bytes of inputs and of outputs that the exchange has room for.
        expected: (usize, usize),
    },
    /// The partition was stopped meanwhile.
    Stopped,
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(error) => write!(f, "{error}"),
            Self::BringUp(error) => write!(f, "the fieldbus can't be brought to OP: {error}"),
            Self::ProcessData { found, expected } => write!(
                f,
                "the SubDevices have {} bytes of inputs and {} of outputs; the site file's names \
                 were resolved for {} and {}",
                found.0, found.1, expected.0, expected.1
            ),
            Self::Stopped => f.write_str("stopped before the fieldbus was in OP"),
        }
    }
}

impl core::error::Error for BusError {}

/// A fieldbus in operation, as the scan cycle drives it.
pub struct Bus<'map, W> {
    maindevice: MainDevice<Stoppable<'map, W>>,
    region: Region<'map>,
    inputs: Vec<u8>,
    outputs: Vec<u8>,
    wait: Nanos,
    lost_after: u64,
    lost_in_a_row: u64,
    lost_since: Option<Nanos>,
    /// Frames, in the whole life of the fieldbus.
    lost_frames: u64,
}

impl<'map, W: Wire> Bus<'map, W> {
    /// Brings the fieldbus of a job in bytes to OP, over a wire that does not sleep while it is
    /// asked; `rest` does. See [`bring_up`](Self::bring_up).
    ///
    /// # Errors
    /// [`BusError`].
    pub fn bring_up_job(
        wire: W,
        job: &[u8],
        region: Region<'map>,
        rest: RestUntil,
    ) -> Result<Self, BusError> {
        let job = BusJob::from_bytes(job).map_err(BusError::Job)?;
        Self::begin(Stoppable::new(wire, region, Some(rest)), &job, region)
    }

    /// Brings the fieldbus to OP. Takes as long as the SubDevices need, [`PATIENCE`] at most, and
    /// ends within 50 ms of a stop that is requested in the exchange. Not for the real-time path:
    /// it allocates, and wants 640 KiB of stack.
    ///
    /// # Errors
    /// [`BusError`].
    pub fn bring_up(wire: W, job: &BusJob, region: Region<'map>) -> Result<Self, BusError> {
        Self::begin(Stoppable::new(wire, region, None), job, region)
    }

    fn begin(
        wire: Stoppable<'map, W>,
        job: &BusJob,
        region: Region<'map>,
    ) -> Result<Self, BusError> {
        let expectation = Expectation { patience: PATIENCE, ..job.expectation() };
        let mut maindevice = MainDevice::bring_up(wire, &expectation).map_err(|error| {
            if region.stop_requested() { BusError::Stopped } else { BusError::BringUp(error) }
        })?;
        maindevice.wire_mut().go_on();
        let sum = |bytes: fn(&SubDevice) -> usize| {
            maindevice.subdevices().iter().map(bytes).sum::<usize>()
        };
        let shape = region.layout().shape;
        let found = (sum(|one| one.inputs().len()), sum(|one| one.outputs().len()));
        let room = (shape.input_bytes as usize, shape.output_bytes as usize);
        if !job.subdevices.is_empty() && found != room {
            return Err(BusError::ProcessData { found, expected: room });
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
        })
    }

    /// The MainDevice itself, for whoever drives its cycle in place of the scan cycle.
    pub fn maindevice_mut(&mut self) -> &mut MainDevice<impl Wire + use<'map, W>> {
        &mut self.maindevice
    }

    /// The wire, to be told something while no cycle runs.
    pub fn wire_mut(&mut self) -> &mut W {
        self.maindevice.wire_mut().inner_mut()
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

impl<W: Wire> Fieldbus for Bus<'_, W> {
    fn exchange(&mut self, cycle: u64, now: Nanos, events: &mut EventWriter<'_>) {
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
