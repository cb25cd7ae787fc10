//! A partition whose memory accesses are measured: starts it, sends commands, reads answers.
//!
//! It is a process of the backend [`process`](crate::process) with two more pipes: commands go
//! through one, answers come through the other, one line of JSON each. When the host ends, its ends
//! of the pipes close and the process ends.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use quietcore_exchange::Shape;
use quietcore_probe::memory::{Answer, Command, MemoryJob, victim};
use quietcore_process::field::FieldState;
use quietcore_process::readback;
use quietcore_record::reason::NotInForce;
use quietcore_units::{Causes, ThreadSettings};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::job::Job;
use crate::process::{Partition, PartitionError, Room, last_words};

/// Limit of the length of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Longest wait for an answer: a large cycle grows for seconds.
const ANSWER_MAX: Duration = Duration::from_secs(120);

/// The error of a partition that is not there or does not answer.
#[derive(Debug, thiserror::Error)]
pub enum VictimError {
    /// The partition could not be started.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// A pipe to the partition can't be made or used.
    #[error("the partition can't be talked to")]
    Pipe(#[source] io::Error),
    /// The partition ended; the text says how.
    #[error("the partition ended: {0}")]
    Ended(String),
    /// The partition has not answered in time.
    #[error("the partition has not answered `{command}` within {seconds} s")]
    Silent {
        /// The command, as JSON.
        command: String,
        /// Time waited for the answer, in seconds.
        seconds: u64,
    },
    /// The partition can't carry out a command.
    #[error("the partition can't do `{command}`: {because}")]
    Refused {
        /// The command, as JSON.
        command: String,
        /// Reason that the partition gave.
        because: String,
    },
    /// The partition's answer does not belong to the command.
    #[error("the partition answered `{command}` with something else; use programs of one build")]
    Odd {
        /// The command, as JSON.
        command: String,
    },
}

/// A running partition that measures its memory accesses. Dropping it ends it.
#[derive(Debug)]
pub struct Victim {
    // Closed first, upon which the process ends by itself.
    commands: PipeWriter,
    answers: Answers,
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
    /// [`VictimError`]; then no process is left.
    pub fn start(program: &Path, job: &MemoryJob, room: &Room) -> Result<Self, VictimError> {
        let (its_commands, commands) = io::pipe().map_err(VictimError::Pipe)?;
        let (answers, its_answers) = io::pipe().map_err(VictimError::Pipe)?;
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
        let answers = Answers { pipe: answers, kept: Vec::new() };
        let mut victim =
            Self { commands, answers, partition, thread: 0, degraded: Vec::new(), field: None };
        match victim.hear("begin")? {
            Answer::Ready { thread, degraded, field } => {
                (victim.thread, victim.degraded, victim.field) = (thread, degraded, field);
                Ok(victim)
            }
            _ => Err(VictimError::Odd { command: "begin".to_owned() }),
        }
    }

    /// Sends a command and waits for the answer.
    ///
    /// # Errors
    /// [`VictimError`]; the partition is of no more use then.
    pub fn tell(&mut self, command: Command) -> Result<Answer, VictimError> {
        let words =
            serde_json::to_string(&command).map_err(|error| VictimError::Pipe(error.into()))?;
        if let Err(error) = self.commands.write_all(format!("{words}\n").as_bytes()) {
            return Err(match error.kind() {
                io::ErrorKind::BrokenPipe => self.ended(),
                _ => VictimError::Pipe(error),
            });
        }
        match self.hear(&words)? {
            Answer::Refused { because } => Err(VictimError::Refused { command: words, because }),
            answer => {
                let is_block = matches!(answer, Answer::Block { .. });
                if is_block == matches!(command, Command::Measure { .. }) {
                    Ok(answer)
                } else {
                    Err(VictimError::Odd { command: words })
                }
            }
        }
    }

    fn hear(&mut self, command: &str) -> Result<Answer, VictimError> {
        match self.answers.line(ANSWER_MAX) {
            Ok(Some(line)) => serde_json::from_slice(&line)
                .map_err(|_| VictimError::Odd { command: command.to_owned() }),
            Ok(None) => Err(self.ended()),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(VictimError::Silent {
                command: command.to_owned(),
                seconds: ANSWER_MAX.as_secs(),
            }),
            Err(error) => Err(VictimError::Pipe(error)),
        }
    }

    /// Ends the process; returns the error that says how, with the remarks of the process.
    fn ended(&mut self) -> VictimError {
        let status = self.partition.stop();
        let said = self.partition.take_remarks();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        VictimError::Ended(format!("{status}{}", last_words(&said)))
    }

    /// Returns the number of its process.
    pub fn process_id(&self) -> u32 {
        self.partition.process_id()
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

/// Lines from a pipe, each awaited for a limited time.
#[derive(Debug)]
struct Answers {
    pipe: PipeReader,
    kept: Vec<u8>,
}

impl Answers {
    /// Returns the next line; `None` at the end.
    fn line(&mut self, limit: Duration) -> io::Result<Option<Vec<u8>>> {
        let end = Instant::now() + limit;
        loop {
            if let Some(place) = self.kept.iter().position(|byte| *byte == b'\n') {
                let rest = self.kept.split_off(place + 1);
                return Ok(Some(std::mem::replace(&mut self.kept, rest)));
            }
            if self.kept.len() > ANSWER_BYTES_MAX {
                return Err(io::Error::other("an answer without an end"));
            }
            let left = end.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            let mut watched = [PollFd::new(&self.pipe, PollFlags::IN)];
            match poll(&mut watched, Some(&timeout)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            let mut bytes = [0; 4096];
            match self.pipe.read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(count) => self.kept.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Runs the inside of the process until its commands end.
pub(crate) fn serve(job: &MemoryJob) -> Result<(), String> {
    let open = |number: u32, options: &OpenOptions| -> Result<File, String> {
        let path = format!("/proc/self/fd/{number}");
        options.open(&path).map_err(|error| format!("`{path}`: {error}"))
    };
    let commands = open(job.commands, OpenOptions::new().read(true))?;
    let mut answers = open(job.answers, OpenOptions::new().write(true))?;
    let served = victim::serve(job, BufReader::new(commands), move |answer| {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        answers.write_all(&line)
    });
    served.map_err(|error| Causes(&error).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> (PipeWriter, Answers) {
        let (pipe, writer) = io::pipe().unwrap();
        (writer, Answers { pipe, kept: Vec::new() })
    }

    #[test]
    fn lines_come_one_by_one_and_the_end_is_seen() {
        let (mut writer, mut answers) = answers();
        writer.write_all(b"one\ntwo\nthr").unwrap();
        let mut line = || answers.line(Duration::from_secs(1));
        assert_eq!(line().unwrap().as_deref(), Some(&b"one\n"[..]));
        assert_eq!(line().unwrap().as_deref(), Some(&b"two\n"[..]));
        writer.write_all(b"ee\n").unwrap();
        assert_eq!(line().unwrap().as_deref(), Some(&b"three\n"[..]));
        drop(writer);
        assert_eq!(line().unwrap(), None);
    }

    #[test]
    fn who_says_nothing_or_without_end_is_not_waited_for() {
        let (mut writer, mut answers) = answers();
        let silent = answers.line(Duration::from_millis(20)).unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        let endless = std::thread::spawn(move || while writer.write_all(&[b'x'; 4096]).is_ok() {});
        let error = answers.line(Duration::from_secs(10)).unwrap_err();
        assert!(error.to_string().contains("without an end"));
        drop(answers);
        endless.join().unwrap();
    }
}
