//! A process that carries out one measurement.
//!
//! It is a process of the backend [`process`](crate::process) with one more pipe, through which its
//! messages come; where a guest measures, one of the backend whose guest that is. It gets what a
//! partition has: its group of CPUs, its share of the cache. What it measures is only as good as
//! the place where it measures, and a thread of the host's own program could not go there.

pub(crate) mod guest;

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use quietcore_probe::measurement::{
    self, MESSAGE_BYTES_MAX, Measurement, MeasurementJob, MeasurementProgress, Message,
    OpenExchange,
};
use quietcore_process::exchange::Exchange;
use quietcore_units::{Causes, Nanos};

use crate::interior::Interior;
use crate::job::Job;
use crate::lines::{self, Lines};
use crate::process::{Partition, PartitionError, Room, last_words};

/// Time between two looks at the flag that ends a measurement.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest time from there to the last message.
const STOP_MAX: Duration = Duration::from_secs(30);

/// The error of a measuring process that is not there or does not answer.
#[derive(Debug, thiserror::Error)]
pub enum MeasuringError {
    /// The process could not be started.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// A pipe to the process can't be made or used.
    #[error("the partition can't be talked to")]
    Pipe(#[source] io::Error),
    /// The process ended; the text says how.
    #[error("the partition ended: {0}")]
    Ended(String),
    /// The process has not answered in time.
    #[error("the partition has not answered `{command}` within {seconds} s")]
    Silent {
        /// The command, as JSON.
        command: String,
        /// Time waited for the answer, in seconds.
        seconds: u64,
    },
    /// The process can't carry out a command.
    #[error("the partition can't do `{command}`: {because}")]
    Refused {
        /// The command, as JSON.
        command: String,
        /// Reason that the process gave.
        because: String,
    },
    /// The process's answer does not belong to the command.
    #[error("the partition answered `{command}` with something else; use programs of one build")]
    Odd {
        /// The command, as JSON.
        command: String,
    },
    /// The process measured nothing.
    #[error("{0}")]
    Failed(String),
}

impl MeasuringError {
    /// Ends a process that has not answered; returns the error that says how it ended, with its
    /// remarks.
    pub(crate) fn ended(partition: &mut Partition) -> Self {
        let status = partition.stop();
        let said = partition.take_remarks();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        Self::Ended(format!("{status}{}", last_words(&said)))
    }
}

/// The results of a measurement.
#[derive(Debug)]
pub struct Measured<T> {
    /// The values that the process sent.
    pub outcome: T,
    /// The values that it left in the exchange.
    pub exchange: Arc<Exchange>,
    /// The time that the measurement took, without the start of the process.
    pub took: Nanos,
}

/// A running process that carries out a measurement. Dropping it ends it.
#[derive(Debug)]
pub struct MeasuringProcess<M> {
    messages: Lines,
    partition: Partition,
    plan: std::marker::PhantomData<M>,
}

impl<M: Measurement> MeasuringProcess<M> {
    /// Starts a process in `room`, which begins at once. `program` is the path of
    /// `quietcore-runtime`.
    ///
    /// # Errors
    /// [`MeasuringError`]; then no process is left.
    pub fn start(program: &Path, plan: &M, room: &Room) -> Result<Self, MeasuringError> {
        let (messages, its_messages) = io::pipe().map_err(MeasuringError::Pipe)?;
        let file = OwnedFd::from(its_messages);
        let messages_number = file.as_raw_fd().unsigned_abs();
        let job = MeasurementJob { messages: messages_number, measurement: plan.clone().into() };
        let shape = plan.shape();
        let job = Job::Measurement { measurement: Box::new(job), interior: Interior::default() };
        let partition = Partition::start_with(program, &job, &shape, vec![file], room)?;
        let messages = Lines::new(messages, MESSAGE_BYTES_MAX);
        Ok(Self { messages, partition, plan: std::marker::PhantomData })
    }

    /// Returns the process with its share of the machine.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Waits until it has ended, and shows `look` its progress. Once `stop` is set, it is asked to
    /// end with what it has measured.
    ///
    /// # Errors
    /// [`MeasuringError`] when nothing was measured.
    pub fn finish(
        mut self,
        stop: &AtomicBool,
        mut look: impl FnMut(MeasurementProgress),
    ) -> Result<Measured<M::Outcome>, MeasuringError> {
        let mut asked: Option<Instant> = None;
        loop {
            if asked.is_none() && stop.load(Relaxed) {
                self.partition.request_stop();
                asked = Some(Instant::now());
            }
            if asked.is_some_and(|asked| asked.elapsed() > STOP_MAX) {
                return Err(MeasuringError::Silent {
                    command: "stop".to_owned(),
                    seconds: STOP_MAX.as_secs(),
                });
            }
            let line = match self.messages.next(LOOK_EVERY) {
                Ok(Some(line)) => line,
                Ok(None) => return Err(MeasuringError::ended(&mut self.partition)),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => continue,
                Err(error) => return Err(MeasuringError::Pipe(error)),
            };
            let odd = || MeasuringError::Odd { command: "measure".to_owned() };
            match serde_json::from_slice(&line).map_err(|_| odd())? {
                Message::Progress(progress) => look(progress),
                Message::Measured { outcome, took } => {
                    let exchange = self.partition.exchange();
                    return Ok(Measured { outcome, exchange, took });
                }
                Message::Failed { because } => return Err(MeasuringError::Failed(because)),
            }
        }
    }
}

/// Runs the inside of the process until it has measured.
pub(crate) fn serve(job: &MeasurementJob, exchange: &OpenExchange<'_>) -> Result<(), String> {
    let send = lines::sender(job.messages)?;
    let served = measurement::serve(&job.measurement, exchange, send);
    served.map_err(|error| format!("the measurement can't be told: {}", Causes(&error)))
}
