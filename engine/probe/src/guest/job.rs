//! What a guest is asked to measure. It is posted to the guest as it is encoded here.

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::latency::Injection;
use crate::margin::Wake;
use crate::routines::Body;

/// The most bytes of an encoded job.
pub const JOB_BYTES_MAX: usize = 256;

/// How far the doorbells of a guest are apart, in bytes.
pub const DOORBELL_BYTES: usize = 8;

/// The probe `irq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrqJob {
    /// The period of the clock board, in units of 10 ns.
    pub period: u32,
    /// Interrupts to measure.
    pub interrupts: u64,
    /// Interrupts before these, which are taken and forgotten.
    pub warm_up: u64,
}

/// The probe `latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestLatencyJob {
    /// Time between releases.
    pub period: Nanos,
    /// Releases to measure.
    pub cycles: u64,
    /// Releases before the measured ones, which are run and forgotten.
    pub warm_up_cycles: u64,
    /// How the task comes to its release.
    pub wake: Wake,
    /// A delay to inject.
    pub injection: Option<Injection>,
    /// The host's CPU, as it stands in the statistics.
    pub cpu: u32,
}

/// The probe `osek`: all series of so many loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestOsekJob {
    /// Loops of each series.
    pub loops: u64,
    /// Loops before each series that are run and forgotten.
    pub warm_up: u64,
    /// Extended status instead of standard.
    pub extended: bool,
    /// Whether each job is accounted.
    pub accounting: bool,
}

/// The ways to bring an interrupt in a guest, in the order of their rows in the statistics.
pub const WAYS: [Way; 4] = [Way::Software, Way::Lapic, Way::Timer, Way::Doorbell];

/// A way to bring an interrupt in a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through the virtual interrupt controller of the kernel's port.
    Software,
    /// By the local controller, to the own processor.
    Lapic,
    /// By the timer of that controller.
    Timer,
    /// By a doorbell, of which KVM makes an interrupt.
    Doorbell,
}

/// The series in the order of their rows: each routine, those with an interrupt in every way.
pub fn series() -> impl Iterator<Item = (Body, Option<Way>)> {
    Body::ALL.into_iter().flat_map(|body| {
        let ways: &[Option<Way>] = if body.has_interrupt() { &SOME_WAYS } else { &[None] };
        ways.iter().map(move |way| (body, *way))
    })
}

const SOME_WAYS: [Option<Way>; WAYS.len()] =
    [Some(WAYS[0]), Some(WAYS[1]), Some(WAYS[2]), Some(WAYS[3])];

/// Why a job can't be encoded or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadJob;

impl core::fmt::Display for BadJob {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the job of the guest is none of this build")
    }
}

impl core::error::Error for BadJob {}

/// Encodes a job.
///
/// # Errors
/// [`BadJob`]: it is longer than [`JOB_BYTES_MAX`].
pub fn encode<'a>(
    job: &impl Serialize,
    place: &'a mut [u8; JOB_BYTES_MAX],
) -> Result<&'a [u8], BadJob> {
    postcard::to_slice(job, place).map(|bytes| &*bytes).map_err(|_| BadJob)
}

/// Reads a job, all of it.
///
/// # Errors
/// [`BadJob`].
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, BadJob> {
    match postcard::take_from_bytes(bytes) {
        Ok((job, [])) => Ok(job),
        _ => Err(BadJob),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_job_is_read_as_it_was_encoded() {
        let job = GuestLatencyJob {
            period: Nanos::from_micros(250),
            cycles: u64::MAX,
            warm_up_cycles: 3,
            wake: Wake::Adaptive { share_percent: 25 },
            injection: Some(Injection { delay: Nanos::from_micros(7), release: 9 }),
            cpu: 1,
        };
        let mut place = [0; JOB_BYTES_MAX];
        let bytes = encode(&job, &mut place).unwrap();
        assert_eq!(decode(bytes), Ok(job));
        assert_eq!(decode::<GuestLatencyJob>(&bytes[..bytes.len() - 1]), Err(BadJob));
        let longer = [bytes, &[0]].concat();
        assert_eq!(decode::<GuestLatencyJob>(&longer), Err(BadJob));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..JOB_BYTES_MAX)) {
            let _ = decode::<IrqJob>(&bytes);
            let _ = decode::<GuestLatencyJob>(&bytes);
            let _ = decode::<GuestOsekJob>(&bytes);
        }
    }
}
