//! The job of a guest, and the orders that follow: bytes at its post.
//!
//! The host has copied code and data of a program to their places before it posts the job, or the
//! order, that names it. Names of tasks and channels stay on the host: what the guest tells bears
//! their numbers.

use alloc::vec::Vec;
use core::fmt;

use quietcore_boot::AddressRange;
use quietcore_boot::places::{
    CHANNELS, CHANNELS_END, PAGE_BYTES, POST_BYTES_MAX, PROGRAM_CODE, PROGRAM_CODE_BYTES_MAX,
};
use quietcore_units::{FaultReaction, Nanos, Overrun, ReleaseRule, Wake};
use serde::{Deserialize, Serialize};

use crate::job::{ChannelEntry, KernelTask, Released, TasksError, Value, check_tasks};
use crate::stage::Stage;

/// The version of the encoding, which is its first byte.
const VERSION: u8 = 3;

/// The most bytes of a job or an order: what fits into the post.
pub const LETTER_BYTES_MAX: usize = (POST_BYTES_MAX - PAGE_BYTES) as usize;

/// A partition with a control program, in a guest. The host has cleared the statistics of all rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuestJob {
    /// The host's CPU on which the guest's processor runs, for the statistics.
    pub cpu: u32,
    /// The host's number of the thread that is the guest's processor, for the statistics.
    pub thread_id: u32,
    /// `true` if the host looks after the guest: it raises the interrupt
    /// [`ATTENTION`](quietcore_boot::vector::ATTENTION) when it has posted an order, asks for the
    /// stop, or finds a call to be over its time. Then the guest wakes for its releases alone, and
    /// one that polls never leaves its processor.
    pub is_watched: bool,
    /// Its tasks. The first one leads: it takes commands, drives the fieldbus and swaps builds.
    pub tasks: Vec<GuestTask>,
    /// The tasks of the program's own kernel, in its order; empty where it is no kernel.
    pub kernel_tasks: Vec<KernelTask>,
    /// Decides the outputs in fault.
    pub on_fault: FaultReaction,
    /// The channels that it takes part in. Their signals are numbered one after the other.
    pub channels: Vec<GuestChannel>,
    /// Cycles of the leading task for which a new build is on probation.
    pub probation_cycles: u64,
    /// Releases of the leading task before those that are measured.
    pub warm_up_cycles: u64,
    /// Releases to measure; none to run until told to stop.
    pub cycles: Option<u64>,
    /// Releases later than this are told at [`port::LATE`](quietcore_boot::port::LATE); `None`
    /// where nobody explains them.
    pub late_beyond: Option<Nanos>,
    /// Its fieldbus, in the words of whoever drives it; none where there is none.
    pub fieldbus: Option<Vec<u8>>,
    /// The program to begin with.
    pub build: GuestBuild,
}

/// A task of the job; its number is its place in [`GuestJob::tasks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestTask {
    /// Number of the step function that it runs.
    pub rate: u32,
    /// Decides when it is released.
    pub release: ReleaseRule,
    /// The latest completion after a release.
    pub deadline: Nanos,
    /// Watchdog time; see [`Watchdog`](crate::watchdog::Watchdog).
    pub watchdog: Nanos,
    /// Watchdog sensitivity; 0 counts as 1.
    pub sensitivity: u32,
    /// Decides about releases that pass while a job runs.
    pub overrun: Overrun,
    /// The way in which it comes to its release: sleeping, waking early, spinning.
    pub wake: Wake,
}

/// A channel that the partition takes part in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestChannel {
    /// Physical addresses of its memory.
    pub place: AddressRange,
    /// `true` for the sender, `false` for a receiver.
    pub sends: bool,
    /// The groups, members and queues that it carries, in their order.
    pub entries: Vec<ChannelEntry>,
    /// The entry behind each of its signals, in the order of their numbers.
    pub signals: Vec<u32>,
}

/// A built program that is at its places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuestBuild {
    /// The address of its face.
    pub face: u64,
    /// Physical addresses of its code and constants.
    pub code: AddressRange,
    /// Its places in the data slot.
    pub stage: Stage,
    /// Values given to it between `initialize` and its first step: retained ones.
    pub values: Vec<Value>,
}

/// An order that follows the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum GuestOrder {
    /// Initialise a build that was copied into the free slot; a command swaps it in.
    Stage(GuestBuild),
    /// Tell that the build of this generation is refused: the host could not copy it.
    Refuse(u32),
}

/// The reason why a job or an order is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// It has this many bytes, more than [`LETTER_BYTES_MAX`].
    TooLong(usize),
    /// It is of another version, or no job at all.
    Foreign,
    /// Its tasks can't be run together.
    Tasks(TasksError),
    /// An address of this kind is outside of where it may be.
    Place(&'static str),
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(bytes) => {
                write!(f, "{bytes} bytes of orders; at most {LETTER_BYTES_MAX} are possible")
            }
            Self::Foreign => f.write_str("the order is of another version"),
            Self::Tasks(error) => error.fmt(f),
            Self::Place(what) => write!(f, "{what} is where there can be none"),
        }
    }
}

impl core::error::Error for JobError {}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, JobError> {
    // The one error is an allocator that has no more, and that of `Vec` ends the program first.
    let bytes = postcard::to_extend(value, Vec::from([VERSION])).map_err(|_| JobError::Foreign)?;
    if bytes.len() > LETTER_BYTES_MAX { Err(JobError::TooLong(bytes.len())) } else { Ok(bytes) }
}

fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, JobError> {
    if bytes.len() > LETTER_BYTES_MAX {
        return Err(JobError::TooLong(bytes.len()));
    }
    match bytes.split_first() {
        Some((&VERSION, rest)) => match postcard::take_from_bytes(rest) {
            Ok((value, [])) => Ok(value),
            _ => Err(JobError::Foreign),
        },
        _ => Err(JobError::Foreign),
    }
}

impl GuestJob {
    /// Encodes the job as it is posted.
    ///
    /// # Errors
    /// [`JobError::TooLong`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, JobError> {
        encode(self)
    }

    /// Decodes a job and checks it.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JobError> {
        let job: Self = decode(bytes)?;
        job.check().map(|()| job)
    }

    /// Checks that the job can be run, as far as it says so itself.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn check(&self) -> Result<(), JobError> {
        let tasks =
            self.tasks.iter().map(|task| Released { rate: task.rate, release: task.release });
        check_tasks(tasks, self.kernel_tasks.len()).map_err(JobError::Tasks)?;
        for AddressRange { address, bytes } in self.channels.iter().map(|channel| channel.place) {
            let end = address.checked_add(bytes).filter(|end| *end <= CHANNELS_END);
            let is_good = address >= CHANNELS && address.is_multiple_of(PAGE_BYTES);
            end.filter(|_| is_good).ok_or(JobError::Place("a channel"))?;
        }
        self.build.check()
    }
}

impl GuestBuild {
    /// Checks that code and face are in the code slot that belongs to the stage's data slot.
    ///
    /// # Errors
    /// [`JobError::Place`].
    pub fn check(&self) -> Result<(), JobError> {
        let Some(slot) = PROGRAM_CODE.get(usize::from(self.stage.slot)) else {
            return Err(JobError::Place("the program's data"));
        };
        let AddressRange { address, bytes } = self.code;
        if address != *slot || bytes == 0 || bytes > PROGRAM_CODE_BYTES_MAX {
            return Err(JobError::Place("the program's code"));
        }
        let is_inside = self.face >= address && self.face < address + bytes;
        if is_inside && self.face.is_multiple_of(8) {
            Ok(())
        } else {
            Err(JobError::Place("the program's face"))
        }
    }
}

impl GuestOrder {
    /// Encodes the order as it is posted.
    ///
    /// # Errors
    /// [`JobError::TooLong`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, JobError> {
        encode(self)
    }

    /// Decodes an order and checks it.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JobError> {
        let order: Self = decode(bytes)?;
        match &order {
            Self::Stage(build) => build.check(),
            Self::Refuse(_) => Ok(()),
        }
        .map(|()| order)
    }
}

#[cfg(test)]
mod tests;
