//! Round trips, measured in a process of their own: the line is opened, its SubDevices are brought
//! up, and the thread is prepared.

use std::io;

use quietcore_clock::Monotonic;
use quietcore_maindevice::{BringUpError, Expectation, Fieldbus};
use quietcore_microvm::net::Link;
use quietcore_process::setting;
use quietcore_process::thread::{Standing, prepare};
use quietcore_record::histogram::Histogram;
use quietcore_record::record::RoundTripRun;
use quietcore_segment::{Options, Segment, SubDevice, UnknownDevice};
use quietcore_units::{CpuId, Nanos, Scheduling, ThreadRequest};
use quietcore_wire::{OpenError, PacketWire, SegmentWire, Wire};
use serde::{Deserialize, Serialize};

use super::{Plan, RoundTrips};
use crate::measurement::{
    AnyMeasurement, Measurement, MeasurementError, MeasurementProgress, OpenExchange,
};

/// The place of the SubDevices: simulated, or behind an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// In the measuring process, simulated, by the names of the SubDevices.
    Simulated(Vec<String>),
    /// On a network interface. The thread polls it for `spin` before it sleeps.
    Interface {
        /// Name of the interface, as the kernel has it.
        name: String,
        /// Time of polling for a frame.
        spin: Nanos,
    },
}

/// The plan of a measurement of round trips, with its line and its thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTripsPlan {
    /// The place of the SubDevices.
    pub line: Line,
    /// Name of the interface in the record.
    pub interface: String,
    /// Number of cycles, and how they are run.
    pub plan: Plan,
    /// The CPU that the thread is pinned to; `None` lets it move.
    pub cpu: Option<CpuId>,
    /// Policy and priority of the thread; `None` leaves them as they are.
    pub scheduling: Option<Scheduling>,
}

/// The results of a measurement of round trips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTripsMeasured {
    /// The SubDevices that came up, cycles and rates.
    pub run: RoundTripRun,
    /// The round trips of cycles that lost nothing.
    pub histogram: Histogram,
    /// `true` if it was told to stop before it had come to its end.
    pub stopped: bool,
    /// Settings in force for the thread that measured.
    pub standing: Standing,
}

/// The reasons why there is no way to the SubDevices.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The interface to them could not be opened.
    #[error(transparent)]
    Wire(#[from] OpenError),
    /// A simulated SubDevice has an unknown name.
    #[error(transparent)]
    SubDevice(#[from] UnknownDevice),
}

/// The reasons why no frame went round.
#[derive(Debug, thiserror::Error)]
pub enum RoundTripsError {
    /// There is no way to the SubDevices.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The SubDevices did not come up.
    #[error(transparent)]
    BringUp(#[from] BringUpError),
    /// The thread could not be pinned.
    #[error("CPU {cpu}: {error}")]
    Pin {
        /// Number of the CPU.
        cpu: u32,
        /// Error that the kernel returned.
        error: io::Error,
    },
}

/// Returns a simulated segment of SubDevices with these names.
///
/// # Errors
/// Returns [`UnknownDevice`] for a name that is unknown.
pub fn simulated(names: &[String]) -> Result<Segment, UnknownDevice> {
    let subdevices = names.iter().map(|name| SubDevice::by_name(name)).collect::<Result<_, _>>()?;
    Ok(Segment::new(subdevices, Options::default()))
}

impl Line {
    /// Opens it behind the network device of a guest.
    ///
    /// # Errors
    /// Returns [`LineError`].
    pub fn link(&self) -> Result<Box<dyn Link>, LineError> {
        Ok(match self {
            Self::Simulated(names) => Box::new(SegmentWire::new(simulated(names)?)),
            Self::Interface { name, spin } => Box::new(PacketWire::open(name)?.with_spin(*spin)),
        })
    }
}

impl From<RoundTripsPlan> for AnyMeasurement {
    fn from(plan: RoundTripsPlan) -> Self {
        Self::RoundTrips(plan)
    }
}

impl Measurement for RoundTripsPlan {
    type Outcome = RoundTripsMeasured;

    /// Tells no progress: nothing is to be done between two cycles that can be left out.
    fn carry_out(
        &self,
        exchange: &OpenExchange<'_>,
        _: &mut dyn FnMut(MeasurementProgress) -> bool,
    ) -> Result<RoundTripsMeasured, MeasurementError> {
        let stop = || exchange.region.stop_requested();
        let measured = match &self.line {
            Line::Simulated(names) => {
                let segment = simulated(names).map_err(unusable)?;
                self.over(SegmentWire::new(segment), stop)
            }
            Line::Interface { name, spin } => {
                let wire = PacketWire::open(name).map_err(unusable)?;
                self.over(wire.with_spin(*spin), stop)
            }
        };
        Ok(measured?)
    }
}

fn unusable(error: impl Into<LineError>) -> RoundTripsError {
    error.into().into()
}

impl RoundTripsPlan {
    /// Brings the SubDevices up and measures, in this thread.
    fn over(
        &self,
        wire: impl Wire,
        stop: impl FnMut() -> bool,
    ) -> Result<RoundTripsMeasured, RoundTripsError> {
        if let Some(cpu) = self.cpu {
            setting::pin(cpu).map_err(|error| RoundTripsError::Pin { cpu: cpu.get(), error })?;
        }
        let expectation = Expectation::anything(self.plan.bring_up_cycle());
        let mut fieldbus = Fieldbus::bring_up(wire, &expectation)?;
        let mut standing = match self.scheduling {
            Some(scheduling) => prepare(&ThreadRequest::measuring(scheduling, self.cpu)).standing(),
            None => Standing::of_this_thread(),
        };
        let measured = RoundTrips::measure(&mut fieldbus, &Monotonic, &self.plan, stop);
        standing.look_again_here();
        let subdevices = fieldbus.subdevices().len() as u64;
        Ok(RoundTripsMeasured::of(measured, &self.interface, subdevices, standing))
    }
}

impl RoundTripsMeasured {
    /// Describes what was measured over an interface of this name, with so many SubDevices.
    pub(crate) fn of(
        measured: RoundTrips,
        interface: &str,
        subdevices: u64,
        standing: Standing,
    ) -> Self {
        Self {
            run: RoundTripRun {
                interface: interface.to_owned(),
                subdevices,
                cycles: measured.cycles,
                lost: measured.lost,
                incomplete: measured.incomplete,
                mean_cycles_per_second: measured.mean_rate(),
                sustained_cycles_per_second: measured.sustained_rate(),
                first_alarm: measured.first_alarm,
            },
            histogram: measured.histogram,
            stopped: measured.stopped,
            standing,
        }
    }
}
