//! The job of a partition's fieldbus, as the partition is told it.
//!
//! The destination of the frames is not in it: a process gets an interface or a simulated segment,
//! a guest gets a network device. To a guest it is handed as bytes (`postcard`), which it takes
//! from its host and from nobody else; other bytes are refused all the same.

use alloc::vec::Vec;
use core::fmt;

use quietcore_maindevice::{Expectation, Expected, SDO_BYTES_MAX, SUBDEVICES_MAX};
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// The most bytes of a job.
pub const JOB_BYTES_MAX: usize = 4 << 20;

/// A fieldbus that a partition drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusJob {
    /// Time between two frames.
    pub cycle: Nanos,
    /// Cycles without an answer in a row after which it counts as lost.
    pub lost_after: u32,
    /// The SubDevices in the order of the line; none accepts whatever is found.
    pub subdevices: Vec<Expected>,
}

/// Why bytes are no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// There are more than [`JOB_BYTES_MAX`] of them.
    TooLong {
        /// Size of the job in bytes.
        bytes: usize,
    },
    /// They can't be read, or something follows.
    Unreadable,
    /// The cycle is zero.
    NoCycle,
    /// More SubDevices than the MainDevice handles.
    TooManySubDevices {
        /// Number of SubDevices in the job.
        found: usize,
    },
    /// A start-up value that does not fit in one mailbox message.
    StartUpTooLong {
        /// Position of the SubDevice, from 0.
        position: usize,
        /// Size of the start-up value in bytes.
        bytes: usize,
    },
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(f, "a fieldbus's job of {bytes} bytes; {JOB_BYTES_MAX} are the most")
            }
            Self::Unreadable => f.write_str("these bytes are no fieldbus's job"),
            Self::NoCycle => f.write_str("the fieldbus has no cycle"),
            Self::TooManySubDevices { found } => {
                write!(f, "the fieldbus has {found} SubDevices; {SUBDEVICES_MAX} are the most")
            }
            Self::StartUpTooLong { position, bytes } => write!(
                f,
                "a start-up value of SubDevice {position} has {bytes} bytes; {SDO_BYTES_MAX} are \
                 the most"
            ),
        }
    }
}

impl core::error::Error for JobError {}

impl BusJob {
    /// As a guest is handed it.
    ///
    /// # Errors
    /// [`JobError`]: what [`from_bytes`](Self::from_bytes) would refuse.
    pub fn to_bytes(&self) -> Result<Vec<u8>, JobError> {
        self.check()?;
        let bytes = postcard::to_allocvec(self).map_err(|_| JobError::Unreadable)?;
        if bytes.len() > JOB_BYTES_MAX {
            return Err(JobError::TooLong { bytes: bytes.len() });
        }
        Ok(bytes)
    }

    /// Reads and checks it.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JobError> {
        if bytes.len() > JOB_BYTES_MAX {
            return Err(JobError::TooLong { bytes: bytes.len() });
        }
        match postcard::take_from_bytes::<Self>(bytes) {
            Ok((job, [])) => job.check().map(|()| job),
            _ => Err(JobError::Unreadable),
        }
    }

    fn check(&self) -> Result<(), JobError> {
        if self.cycle == Nanos::ZERO {
            return Err(JobError::NoCycle);
        }
        if self.subdevices.len() > SUBDEVICES_MAX {
            return Err(JobError::TooManySubDevices { found: self.subdevices.len() });
        }
        for (position, one) in self.subdevices.iter().enumerate() {
            let long = one.start_up.iter().map(|one| one.data.len());
            if let Some(bytes) = long.max().filter(|bytes| *bytes > SDO_BYTES_MAX) {
                return Err(JobError::StartUpTooLong { position, bytes });
            }
        }
        Ok(())
    }

    /// Returns the line that the MainDevice expects to find.
    pub fn expectation(&self) -> Expectation {
        let expectation = Expectation::anything(self.cycle);
        if self.subdevices.is_empty() {
            return expectation;
        }
        expectation.with(self.subdevices.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use quietcore_maindevice::{Identity, Object, StartUp, Synchronisation};

    use super::*;

    fn identity() -> impl Strategy<Value = Identity> {
        any::<(u32, u32, Option<u32>, Option<u32>)>().prop_map(
            |(vendor, product, revision, serial)| Identity { vendor, product, revision, serial },
        )
    }

    fn start_up() -> impl Strategy<Value = StartUp> {
        (any::<(u16, u8, bool)>(), vec(any::<u8>(), 0..8)).prop_map(
            |((index, subindex, complete), data)| StartUp {
                object: Object { index, subindex, complete },
                data,
            },
        )
    }

    fn subdevice() -> impl Strategy<Value = Expected> {
        (
            ".{0,20}",
            proptest::option::of(identity()),
            any::<Option<(usize, usize)>>(),
            vec(start_up(), 0..4),
            prop_oneof![Just(Synchronisation::Frame), Just(Synchronisation::Sync0)],
        )
            .prop_map(|(name, identity, process_data, start_up, synchronisation)| {
                Expected { name, identity, process_data, start_up, synchronisation }
            })
    }

    fn job() -> impl Strategy<Value = BusJob> {
        ((1_u64..).prop_map(Nanos::new), any::<u32>(), vec(subdevice(), 0..5))
            .prop_map(|(cycle, lost_after, subdevices)| BusJob { cycle, lost_after, subdevices })
    }

    proptest! {
        #[test]
        fn a_job_is_read_as_it_was_written(job in job()) {
            let bytes = job.to_bytes().unwrap();
            prop_assert_eq!(BusJob::from_bytes(&bytes), Ok(job.clone()));
            // Text has as many digits as people write.
            let job = BusJob { cycle: Nanos::from_millis(3), ..job };
            let text = serde_json::to_string(&job).unwrap();
            prop_assert_eq!(serde_json::from_str::<BusJob>(&text).unwrap(), job);
        }

        #[test]
        fn what_is_cut_or_longer_is_no_job(job in job(), cut in any::<prop::sample::Index>()) {
            let mut bytes = job.to_bytes().unwrap();
            let cut = &bytes[..cut.index(bytes.len())];
            prop_assert_eq!(BusJob::from_bytes(cut), Err(JobError::Unreadable));
            bytes.push(0);
            prop_assert_eq!(BusJob::from_bytes(&bytes), Err(JobError::Unreadable));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
            let _ = BusJob::from_bytes(&bytes);
        }
    }

    fn small() -> BusJob {
        let axis = Expected { name: "axis".to_owned(), ..Expected::default() };
        BusJob { cycle: Nanos::from_millis(1), lost_after: 3, subdevices: vec![axis] }
    }

    #[test]
    fn what_can_not_be_done_is_refused_on_both_sides() {
        let no_cycle = BusJob { cycle: Nanos::ZERO, ..small() };
        assert_eq!(no_cycle.to_bytes(), Err(JobError::NoCycle));
        let many = BusJob { subdevices: vec![small().subdevices.remove(0); 257], ..small() };
        let refused = JobError::TooManySubDevices { found: 257 };
        assert_eq!(many.to_bytes(), Err(refused));
        let bytes = postcard::to_allocvec(&many).unwrap();
        assert_eq!(BusJob::from_bytes(&bytes), Err(refused));
        let mut long = small();
        let object = Object { index: 0x8000, subindex: 1, complete: false };
        let data = vec![0; SDO_BYTES_MAX + 1];
        long.subdevices[0].start_up.push(StartUp { object, data });
        let refused = JobError::StartUpTooLong { position: 0, bytes: SDO_BYTES_MAX + 1 };
        assert_eq!(long.to_bytes(), Err(refused));
        let bytes = vec![0; JOB_BYTES_MAX + 1];
        assert_eq!(BusJob::from_bytes(&bytes), Err(JobError::TooLong { bytes: bytes.len() }));
    }

    #[test]
    fn a_line_that_nobody_knows_is_taken_as_it_is() {
        let nobody = BusJob { subdevices: Vec::new(), ..small() };
        assert_eq!(nobody.expectation().subdevices, None);
        assert_eq!(small().expectation().subdevices, Some(small().subdevices));
    }
}
