//! The job of a partition's fieldbus, as the partition is told it.
//!
//! The destination of the frames is not in it: a process gets an interface or a simulated segment,
//! a guest gets a network device. To a guest it is handed as bytes (`postcard`), which it takes
//! from its host and from nobody else; other bytes are refused all the same.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use quietcore_maindevice::{
    Expectation, Expected, Identity, Object, SDO_BYTES_MAX, SUBDEVICES_MAX, StartUp,
    Synchronisation,
};
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// The most bytes of a job.
pub const JOB_BYTES_MAX: usize = 4 << 20;

/// The built-in device that has a clock of its own.
const DEVICE_WITH_CLOCK: &str = "servo-drive";

/// A fieldbus that a partition drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusJob {
    /// Time between two frames.
    pub cycle: Nanos,
    /// `true` if the SubDevices' clocks are synchronised, and their outputs with them.
    pub distributed_clocks: bool,
    /// Cycles without an answer in a row after which it counts as lost.
    pub lost_after: u32,
    /// The SubDevices in the order of the line; none accepts whatever is found.
    pub subdevices: Vec<SubDeviceJob>,
}

/// A SubDevice as it is expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubDeviceJob {
    /// Its name in the site file.
    pub name: String,
    /// The built-in device that it is, where that is known.
    pub device: Option<String>,
    /// Vendor, product, and revision where it matters.
    pub identity: Option<(u32, u32, Option<u32>)>,
    /// Bytes of its inputs and outputs, where they are known.
    pub process_data: Option<(u16, u16)>,
    /// Objects that are written before SAFE-OP: index, sub-index, value.
    pub start_up: Vec<(u16, u8, Vec<u8>)>,
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
            let long = one.start_up.iter().map(|(_, _, value)| value.len());
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
        expectation.with(self.subdevices.iter().map(|one| self.expected(one)).collect())
    }

    fn expected(&self, one: &SubDeviceJob) -> Expected {
        let has_clock = one.device.as_deref() == Some(DEVICE_WITH_CLOCK);
        Expected {
            name: one.name.clone(),
            identity: one.identity.map(|(vendor, product, revision)| Identity {
                vendor,
                product,
                revision,
                serial: None,
            }),
            process_data: one
                .process_data
                .map(|(inputs, outputs)| (usize::from(inputs), usize::from(outputs))),
            start_up: one
                .start_up
                .iter()
                .map(|(index, subindex, data)| StartUp {
                    object: Object { index: *index, subindex: *subindex, complete: false },
                    data: data.clone(),
                })
                .collect(),
            synchronisation: if self.distributed_clocks && has_clock {
                Synchronisation::Sync0
            } else {
                Synchronisation::Frame
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn subdevice() -> impl Strategy<Value = SubDeviceJob> {
        (
            ".{0,20}",
            proptest::option::of("[a-z-]{1,20}"),
            any::<Option<(u32, u32, Option<u32>)>>(),
            any::<Option<(u16, u16)>>(),
            vec((any::<u16>(), any::<u8>(), vec(any::<u8>(), 0..8)), 0..4),
        )
            .prop_map(|(name, device, identity, process_data, start_up)| SubDeviceJob {
                name,
                device,
                identity,
                process_data,
                start_up,
            })
    }

    fn job() -> impl Strategy<Value = BusJob> {
        (1_u64.., any::<bool>(), any::<u32>(), vec(subdevice(), 0..5)).prop_map(
            |(cycle, distributed_clocks, lost_after, subdevices)| BusJob {
                cycle: Nanos::new(cycle),
                distributed_clocks,
                lost_after,
                subdevices,
            },
        )
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
        BusJob {
            cycle: Nanos::from_millis(1),
            distributed_clocks: true,
            lost_after: 3,
            subdevices: vec![SubDeviceJob {
                name: "axis".to_owned(),
                device: Some(DEVICE_WITH_CLOCK.to_owned()),
                identity: None,
                process_data: None,
                start_up: vec![],
            }],
        }
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
        long.subdevices[0].start_up.push((0x8000, 1, vec![0; SDO_BYTES_MAX + 1]));
        let refused = JobError::StartUpTooLong { position: 0, bytes: SDO_BYTES_MAX + 1 };
        assert_eq!(long.to_bytes(), Err(refused));
        let bytes = vec![0; JOB_BYTES_MAX + 1];
        assert_eq!(BusJob::from_bytes(&bytes), Err(JobError::TooLong { bytes: bytes.len() }));
    }

    #[test]
    fn a_device_with_a_clock_is_synchronised_where_clocks_are() {
        let one = |job: &BusJob| job.expectation().subdevices.unwrap()[0].synchronisation;
        assert_eq!(one(&small()), Synchronisation::Sync0);
        assert_eq!(one(&BusJob { distributed_clocks: false, ..small() }), Synchronisation::Frame);
    }
}
