//! A measurement that a process of its own carries out. Its plan travels there, and its progress
//! and outcome travel back, as values.
//!
//! ```text
//! host                                    process
//!   plan                     ─────────▶   carry_out ┐
//!                            ◀─────────   progress  │ until the exchange asks it to stop
//!                            ◀─────────   outcome and duration, or the reason why there is none
//! ```
//!
//! A new measurement is a type that is a [`Measurement`], and a member of [`AnyMeasurement`].

use std::fs::File;
use std::io;
use std::time::Instant;

use quietcore_exchange::{Region, Shape};
use quietcore_guests::Image;
use quietcore_units::{ByteSize, Causes, Nanos};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ethercat::process::{RoundTripsError, RoundTripsPlan};
use crate::guest::ProbeError as GuestError;
use crate::guest::ethercat::GuestRoundTripsPlan;
use crate::guest::hypervisor::Hypervisor;
use crate::guest::irq::IrqPlan;
use crate::guest::latency::GuestLatencyPlan;
use crate::guest::osek::GuestOsekPlan;
use crate::osek::{OsekError, RoutinesPlan};

/// The most bytes of a message: samples of all routines, each value in a bin of its own.
pub const MESSAGE_BYTES_MAX: ByteSize = ByteSize::new(16 << 20);

/// The exchange of a measuring process, with its file, which a guest is given, and what runs such a
/// guest.
#[derive(Clone, Copy, Debug)]
pub struct OpenExchange<'a> {
    /// The exchange as it is mapped.
    pub region: Region<'a>,
    /// The file that it is mapped from.
    pub file: &'a File,
    /// The hypervisor of a probe's guest.
    pub hypervisor: &'a dyn Hypervisor,
}

/// The plan of a measurement, which a process of its own can carry out.
pub trait Measurement: Clone + Into<AnyMeasurement> {
    /// The values that it measures, beside those that lie in the exchange at its end.
    type Outcome: Serialize + DeserializeOwned;

    /// Returns the shape of the exchange that it measures into.
    fn shape(&self) -> Shape {
        Shape::of_tasks(1)
    }

    /// Measures. `look` is called now and then; once it returns `true`, the measurement ends with
    /// what it has.
    ///
    /// # Errors
    /// Returns [`MeasurementError`] when nothing was measured.
    fn carry_out(
        &self,
        exchange: &OpenExchange<'_>,
        look: &mut dyn FnMut(MeasurementProgress) -> bool,
    ) -> Result<Self::Outcome, MeasurementError>;
}

/// A plan of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnyMeasurement {
    /// Routines of the OSEK kernel on the hosted port.
    Routines(RoutinesPlan),
    /// The same on the bare port, in a guest.
    GuestRoutines(GuestOsekPlan),
    /// Interrupts in a guest.
    Interrupts(IrqPlan),
    /// Releases in a guest.
    GuestReleases(GuestLatencyPlan),
    /// Round trips of EtherCAT frames.
    RoundTrips(RoundTripsPlan),
    /// The same of a MainDevice in a guest.
    GuestRoundTrips(GuestRoundTripsPlan),
}

impl AnyMeasurement {
    /// Returns the image of the guest that measures; `None` where none does.
    pub fn image(&self) -> Option<Image> {
        match self {
            Self::GuestRoutines(_) => Some(quietcore_guests::OSEK),
            Self::Interrupts(_) => Some(quietcore_guests::IRQ),
            Self::GuestReleases(_) => Some(quietcore_guests::LATENCY),
            Self::GuestRoundTrips(_) => Some(quietcore_guests::ETHERCAT),
            Self::Routines(_) | Self::RoundTrips(_) => None,
        }
    }
}

/// The job of a process that carries out one measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasurementJob {
    /// Number of the open pipe to which its messages go, a line of JSON each.
    pub messages: u32,
    /// The plan to be carried out at once.
    pub measurement: AnyMeasurement,
}

/// The progress of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasurementProgress {
    /// Index of the series under way; 0 where there is only one.
    pub series: usize,
    /// Values measured so far in all series, warm-up included.
    pub done: u64,
    /// The worst value so far of that series.
    pub worst: Nanos,
}

/// A message of the process; `T` is what its measurement yields.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message<T> {
    /// It goes on, and has come this far.
    Progress(MeasurementProgress),
    /// It has ended, at its end or because it was asked to.
    Measured {
        /// The values that it measured.
        outcome: T,
        /// The time that it took.
        took: Nanos,
    },
    /// It has ended without a value.
    Failed {
        /// The reason, with its causes.
        because: String,
    },
}

/// The reasons why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasurementError {
    /// The routines of the kernel were not measured.
    #[error(transparent)]
    Osek(#[from] OsekError),
    /// The guest did not measure.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// No frame went round.
    #[error(transparent)]
    RoundTrips(#[from] RoundTripsError),
}

/// Carries out a measurement and sends its messages, each as a line of JSON without its end, to
/// `send`. Must be called in a process of its own, because it locks the process's memory.
///
/// # Errors
/// Returns the error of `send`.
pub fn serve(
    measurement: &AnyMeasurement,
    exchange: &OpenExchange<'_>,
    send: impl FnMut(Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    match measurement {
        AnyMeasurement::Routines(plan) => serve_one(plan, exchange, send),
        AnyMeasurement::GuestRoutines(plan) => serve_one(plan, exchange, send),
        AnyMeasurement::Interrupts(plan) => serve_one(plan, exchange, send),
        AnyMeasurement::GuestReleases(plan) => serve_one(plan, exchange, send),
        AnyMeasurement::RoundTrips(plan) => serve_one(plan, exchange, send),
        AnyMeasurement::GuestRoundTrips(plan) => serve_one(plan, exchange, send),
    }
}

fn serve_one<M: Measurement>(
    plan: &M,
    exchange: &OpenExchange<'_>,
    mut send: impl FnMut(Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let (begin, mut unheard) = (Instant::now(), None);
    let measured = plan.carry_out(exchange, &mut |progress| {
        let sent = written(&Message::<M::Outcome>::Progress(progress)).and_then(&mut send);
        unheard = unheard.take().or(sent.err());
        unheard.is_some() || exchange.region.stop_requested()
    });
    if let Some(error) = unheard {
        return Err(error);
    }
    let took = Nanos::new(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let message = match measured {
        Ok(outcome) => Message::Measured { outcome, took },
        Err(error) => Message::Failed { because: Causes(&error).to_string() },
    };
    written(&message).and_then(send)
}

fn written<T: Serialize>(message: &Message<T>) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(message)?)
}

#[cfg(test)]
mod tests;
