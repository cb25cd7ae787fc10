//! The jobs of guests, one type for each probe. A job is posted to the guest as it is encoded here.

use quietcore_units::{Nanos, Routine, Trigger, Wake};
use serde::{Deserialize, Serialize};

use quietcore_release::Injection;

/// The most bytes of an encoded job.
pub const JOB_BYTES_MAX: usize = 256;

/// Distance from one doorbell of a guest to the next, in bytes.
pub const DOORBELL_BYTES: usize = 8;

/// The job of the probe `irq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrqJob {
    /// The period of the clock board, in units of 10 ns.
    pub period: u32,
    /// Number of interrupts to measure.
    pub interrupts: u64,
    /// Interrupts before the measured ones, which are taken and discarded.
    pub warm_up: u64,
}

/// The job of the probe `latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestLatencyJob {
    /// Time from one release to the next.
    pub period: Nanos,
    /// Number of releases to measure.
    pub cycles: u64,
    /// Releases before the measured ones, which are run and discarded.
    pub warm_up_cycles: u64,
    /// Way in which the task comes to its release.
    pub wake: Wake,
    /// A delay to inject; `None` injects none.
    pub injection: Option<Injection>,
    /// Number of the host's CPU, for the statistics; `u32::MAX` where the thread may move.
    pub cpu: u32,
}

/// The job of the probe `osek`: all series, of `loops` loops each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestOsekJob {
    /// Loops of each series.
    pub loops: u64,
    /// Loops before each series, which are run and discarded.
    pub warm_up: u64,
    /// `true` for extended status, `false` for standard.
    pub extended: bool,
    /// `true` if the kernel accounts the time of each job.
    pub accounting: bool,
    /// `true` if the hypervisor raises an interrupt at a doorbell that the guest rings.
    pub doorbells: bool,
}

/// The ways to bring an interrupt in a guest, in the order of their rows in the statistics.
pub const TRIGGERS: [Trigger; 4] =
    [Trigger::Software, Trigger::Lapic, Trigger::Timer, Trigger::Doorbell];

/// Lists the series in the order of their rows: each routine, those with an interrupt once for
/// every way, that by doorbell only where there are `doorbells`.
pub fn series(doorbells: bool) -> impl Iterator<Item = (Routine, Option<Trigger>)> {
    Routine::ALL.into_iter().flat_map(move |routine| {
        let ways: &[Option<Trigger>] =
            if routine.has_interrupt() { &SOME_TRIGGERS } else { &[None] };
        let ways = ways.iter().filter(move |way| doorbells || **way != Some(Trigger::Doorbell));
        ways.map(move |way| (routine, *way))
    })
}

const SOME_TRIGGERS: [Option<Trigger>; TRIGGERS.len()] =
    [Some(TRIGGERS[0]), Some(TRIGGERS[1]), Some(TRIGGERS[2]), Some(TRIGGERS[3])];

/// A job that can't be encoded, or bytes that are no such job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadJob;

impl core::fmt::Display for BadJob {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the job of the guest is none of this build")
    }
}

impl core::error::Error for BadJob {}

/// Encodes a job into `place`, and returns the bytes used.
///
/// # Errors
/// Returns [`BadJob`] when the job is longer than [`JOB_BYTES_MAX`].
pub fn encode<'a>(
    job: &impl Serialize,
    place: &'a mut [u8; JOB_BYTES_MAX],
) -> Result<&'a [u8], BadJob> {
    postcard::to_slice(job, place).map(|bytes| &*bytes).map_err(|_| BadJob)
}

/// Reads a job that takes all of `bytes`.
///
/// # Errors
/// Returns [`BadJob`] when `bytes` are no such job, or more than one.
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
