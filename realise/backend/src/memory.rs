//! A partition whose memory accesses are measured: starts it, sends commands, reads answers.
//!
//! It is a process of the backend [`process`](crate::process) with two more pipes: commands go
//! through one, answers come through the other, one line of JSON each. When the host ends, its ends
//! of the pipes close and the process ends.

use std::fs::OpenOptions;
use std::io::{self, BufReader, PipeWriter, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::Duration;

use quietcore_exchange::Shape;
use quietcore_probe::memory::{Answer, Command, MemoryJob, victim};
use quietcore_process::field::FieldState;
use quietcore_process::readback;
use quietcore_record::reason::NotInForce;
use quietcore_units::{ByteSize, Causes, ThreadSettings};

use crate::job::Job;
use crate::lines::{self, Lines};
use crate::measuring::MeasuringError;
use crate::process::{Partition, Room};

/// Limit of the length of an answer.
const ANSWER_BYTES_MAX: ByteSize = ByteSize::new(64 << 10);
/// Longest wait for an answer: a large cycle grows for seconds.
const ANSWER_MAX: Duration = Duration::from_secs(120);

/// A running partition that measures its memory accesses. Dropping it ends it.
#[derive(Debug)]
pub struct Victim {
    // Closed first, upon which the process ends by itself.
    commands: PipeWriter,
    answers: Lines,
    partition: Partition,
    thread: u32,
    degraded: Vec<NotInForce>,
    field: Option<FieldState>,
}

impl Victim {
    /// Starts a partition in `room` and waits until it is ready. `program` is the path of
    /// `quietcore-runtime`; the pipes that `job` names are filled in.
    ///
    /// # Errors
    /// [`MeasuringError`]; then no process is left.
    pub fn start(program: &Path, job: &MemoryJob, room: &Room) -> Result<Self, MeasuringError> {
        let (its_commands, commands) = io::pipe().map_err(MeasuringError::Pipe)?;
        let (answers, its_answers) = io::pipe().map_err(MeasuringError::Pipe)?;
        let files = [OwnedFd::from(its_commands), OwnedFd::from(its_answers)];
        let [commands_number, answers_number] =
            files.each_ref().map(|file| file.as_raw_fd().unsigned_abs());
        let job = MemoryJob { commands: commands_number, answers: answers_number, ..job.clone() };
        let partition = Partition::start_with(
            program,
            &Job::Memory(job),
            &Shape::of_tasks(1),
            files.into(),
            room,
        )?;
        let answers = Lines::new(answers, ANSWER_BYTES_MAX);
        let mut victim =
            Self { commands, answers, partition, thread: 0, degraded: Vec::new(), field: None };
        match victim.hear("begin")? {
            Answer::Ready { thread, degraded, field } => {
                (victim.thread, victim.degraded, victim.field) = (thread, degraded, field);
                Ok(victim)
            }
            _ => Err(MeasuringError::Odd { command: "begin".to_owned() }),
        }
    }

    /// Sends a command and waits for the answer.
    ///
    /// # Errors
    /// [`MeasuringError`]; the partition is of no more use then.
    pub fn tell(&mut self, command: Command) -> Result<Answer, MeasuringError> {
        let words =
            serde_json::to_string(&command).map_err(|error| MeasuringError::Pipe(error.into()))?;
        if let Err(error) = self.commands.write_all(format!("{words}\n").as_bytes()) {
            return Err(match error.kind() {
                io::ErrorKind::BrokenPipe => MeasuringError::ended(&mut self.partition),
                _ => MeasuringError::Pipe(error),
            });
        }
        match self.hear(&words)? {
            Answer::Refused { because } => Err(MeasuringError::Refused { command: words, because }),
            answer => {
                let is_block = matches!(answer, Answer::Block { .. });
                if is_block == matches!(command, Command::Measure { .. }) {
                    Ok(answer)
                } else {
                    Err(MeasuringError::Odd { command: words })
                }
            }
        }
    }

    fn hear(&mut self, command: &str) -> Result<Answer, MeasuringError> {
        match self.answers.next(ANSWER_MAX) {
            Ok(Some(line)) => serde_json::from_slice(&line)
                .map_err(|_| MeasuringError::Odd { command: command.to_owned() }),
            Ok(None) => Err(MeasuringError::ended(&mut self.partition)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(MeasuringError::Silent {
                command: command.to_owned(),
                seconds: ANSWER_MAX.as_secs(),
            }),
            Err(error) => Err(MeasuringError::Pipe(error)),
        }
    }

    /// Returns the process with its share of the machine.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Returns the number of the thread that measures.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Returns the settings that were asked for and are not in force.
    pub fn degraded(&self) -> &[NotInForce] {
        &self.degraded
    }

    /// Returns the pages that the kernel gave its field; `None` where the kernel doesn't tell.
    pub fn field(&self) -> Option<FieldState> {
        self.field
    }

    /// Reads back the settings that are in force for its thread.
    ///
    /// # Errors
    /// When the partition has ended.
    pub fn read_back(&self) -> io::Result<ThreadSettings> {
        readback::read(self.partition.process_id(), self.thread)
    }
}

/// Runs the inside of the process until its commands end.
pub(crate) fn serve(job: &MemoryJob) -> Result<(), String> {
    let commands = lines::open(job.commands, OpenOptions::new().read(true))?;
    let mut send = lines::sender(job.answers)?;
    let served = victim::serve(job, BufReader::new(commands), move |answer| {
        send(serde_json::to_vec(answer)?)
    });
    served.map_err(|error| Causes(&error).to_string())
}
