//! The backend `process`: a partition is a Linux process of its own.
//!
//! The process is the program `quietcore-runtime`, started with these files:
//!
//! | descriptor | what |
//! |-----------:|------|
//! | 0 | a pipe: the job as one line of JSON, then orders of a line each until it closes |
//! | 1 | the exchange's memory file, which the process maps |
//! | 2 | a pipe: remarks for people, kept up to [`REMARK_BYTES_MAX`] |
//! | those that the job names | the memory files of its channels |
//!
//! When the pipe on descriptor 0 closes, for whatever reason, the process ends: a host that was
//! killed leaves no real-time thread behind. The process has a group of its own, so that Ctrl-C at
//! the terminal reaches the host only, which then stops the partition in order.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use command_fds::CommandFdExt as _;
use quietcore_exchange::{Region, Shape, TaskStatistics};
use quietcore_process::exchange::{Exchange, ExchangeError};
use quietcore_process::readback::ThreadState;
use quietcore_scan::process::job::Order;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::job::Job;
use descendants::Mark;

mod descendants;
mod serve;

pub use serve::serve;

/// What is kept of the remarks of a partition.
pub const REMARK_BYTES_MAX: u64 = 16 << 10;

/// How long a partition may take to end after it was told to.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// A partition could not be started or has failed.
#[derive(Debug, thiserror::Error)]
pub enum PartitionError {
    /// The program that a partition runs in can't be started.
    #[error("`{program}` can't be started; it is installed beside `quietcore`")]
    Program {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no exchange for it.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The job can't be handed over.
    #[error("the job could not be handed to the partition")]
    Job(#[source] io::Error),
    /// The process ended before its tasks did.
    #[error(
        "the partition's process ended ({status}) before its work was done{}",
        last_words(remarks)
    )]
    Ended {
        /// How it ended.
        status: ExitStatus,
        /// What it said; nothing where it was killed, or the program called `exit`.
        remarks: String,
    },
    /// The process could not be waited for.
    #[error("the partition's process can't be waited for")]
    Wait(#[source] io::Error),
}

/// What a process said, behind a colon; nothing where it said nothing.
fn last_words(remarks: &str) -> String {
    if remarks.is_empty() { String::new() } else { format!(": {remarks}") }
}

/// A running partition. Dropping it ends its process.
#[derive(Debug)]
pub struct Partition {
    child: Child,
    mark: Mark,
    life: Option<ChildStdin>,
    exchange: Arc<Exchange>,
    remarks: Arc<Mutex<Vec<u8>>>,
    collecting: Option<JoinHandle<()>>,
}

impl Partition {
    /// Starts a partition that does `job`, with an exchange of this shape and without channels.
    /// `program` is `quietcore-runtime`.
    ///
    /// # Errors
    /// [`PartitionError`]; then no process is left.
    pub fn start(program: &Path, job: &Job, shape: &Shape) -> Result<Self, PartitionError> {
        Self::start_with(program, job, shape, Vec::new())
    }

    /// Starts a partition that also gets the memory files of its channels. They have in its process
    /// the numbers that they have here, which the job names.
    ///
    /// # Errors
    /// [`PartitionError`]; then no process is left.
    pub fn start_with(
        program: &Path,
        job: &Job,
        shape: &Shape,
        channels: Vec<OwnedFd>,
    ) -> Result<Self, PartitionError> {
        let exchange = Arc::new(Exchange::create(shape)?);
        let file = exchange.file().map_err(PartitionError::Job)?;
        let mut command = Command::new(program);
        let mark = Mark::new();
        mark.put_on(&mut command);
        if !channels.is_empty() {
            command.preserved_fds(channels);
        }
        let mut child = command
            .arg("partition")
            // One arena for all threads: each further one reserves 64 MiB, which locking makes
            // real.
            .env("MALLOC_ARENA_MAX", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::from(file))
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|source| PartitionError::Program {
                program: program.display().to_string(),
                source,
            })?;
        let remarks = Arc::new(Mutex::new(Vec::new()));
        let collecting = child.stderr.take().map(|pipe| {
            let remarks = Arc::clone(&remarks);
            thread::spawn(move || collect(pipe, &remarks))
        });
        let life = child.stdin.take();
        let partition = Self { child, mark, life, exchange, remarks, collecting };
        partition.hand_over(job).map_err(PartitionError::Job)?;
        Ok(partition)
    }

    fn hand_over(&self, line: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        let mut pipe = self.life.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        pipe.write_all(&line)?;
        pipe.flush()
    }

    /// Gives an order to a partition with a program. What becomes of it is told as an event.
    ///
    /// # Errors
    /// [`PartitionError::Job`] when the process has ended.
    pub fn order(&self, order: &Order) -> Result<(), PartitionError> {
        self.hand_over(order).map_err(PartitionError::Job)
    }

    /// The kernel's number of its process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// The partition's exchange, to be kept beyond the partition.
    pub fn exchange(&self) -> Arc<Exchange> {
        Arc::clone(&self.exchange)
    }

    /// The partition's exchange.
    pub fn region(&self) -> Region<'_> {
        self.exchange.region()
    }

    /// What is in force for one of its tasks, as the kernel says.
    ///
    /// # Errors
    /// When the task has not started or has ended.
    pub fn read_back(&self, task: &TaskStatistics) -> io::Result<ThreadState> {
        ThreadState::read(self.child.id(), task.thread_id())
    }

    /// Whether all tasks have ended.
    ///
    /// # Errors
    /// [`PartitionError::Ended`] when the process has ended without that.
    pub fn has_ended(&mut self) -> Result<bool, PartitionError> {
        let done = |region: Region<'_>| region.tasks().all(|task| task.state().has_ended());
        if done(self.region()) {
            return Ok(true);
        }
        match self.reap().map_err(PartitionError::Wait)? {
            None => Ok(false),
            // The tasks may have ended between the two looks.
            Some(_) if done(self.region()) => Ok(true),
            Some(status) => Err(PartitionError::Ended { status, remarks: self.take_remarks() }),
        }
    }

    /// Asks all tasks to end after their current cycle; does not wait.
    pub fn request_stop(&self) {
        self.region().request_stop();
    }

    /// Ends the partition and waits for its process. The exchange stays readable.
    ///
    /// # Errors
    /// [`PartitionError::Wait`] when the process can't be waited for.
    pub fn stop(&mut self) -> Result<ExitStatus, PartitionError> {
        self.request_stop();
        self.life = None;
        let end = Instant::now() + STOP_GRACE;
        loop {
            if let Some(status) = self.reap().map_err(PartitionError::Wait)? {
                return Ok(status);
            }
            if Instant::now() >= end {
                // It does not answer: the kernel ends it.
                self.child.kill().map_err(PartitionError::Wait)?;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The exit status, once the process has ended; `None` before. What the program has forked
    /// ends with it.
    fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) else {
            return self.child.try_wait();
        };
        // Looked at first and waited for last: until then the number is the group's and nobody
        // else's.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), look) {
            Ok(None) => return Ok(None),
            Ok(Some(_)) => {
                let _ = kill_process_group(pid, Signal::KILL);
                self.mark.end_all();
            }
            // It was waited for already.
            Err(_) => {}
        }
        self.child.try_wait()
    }

    /// Has the kernel end a process that can't end in order; [`stop`](Self::stop) waits for it.
    pub fn kill(&mut self) {
        // It fails only where the process has ended already.
        let _ = self.child.kill();
    }

    /// What the process has said so far.
    pub fn remarks(&self) -> String {
        let remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&remarks).trim().to_owned()
    }

    /// All that the process said, when it has ended.
    pub fn take_remarks(&mut self) -> String {
        if let Some(collecting) = self.collecting.take() {
            let _ = collecting.join();
        }
        self.remarks()
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        // A partition that was stopped in order has ended already, and this does nothing.
        let _ = self.stop();
    }
}

/// Keeps what comes through the pipe, up to the limit. What is beyond it is read and dropped, so
/// that the process never waits for us.
fn collect(mut pipe: impl io::Read, remarks: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = pipe.read(&mut buffer) {
        let mut kept = remarks.lock().unwrap_or_else(PoisonError::into_inner);
        let room = (REMARK_BYTES_MAX as usize).saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..length.min(room)]);
    }
}
