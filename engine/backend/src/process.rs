//! The backend `process`: a partition is a Linux process of its own.
//!
//! The process is the program `quietcore-runtime`, started with three files:
//!
//! | descriptor | what |
//! |-----------:|------|
//! | 0 | a pipe: the job as one line of JSON, then nothing until it closes |
//! | 1 | the exchange's memory file, which the process maps |
//! | 2 | a pipe: remarks for people, kept up to [`REMARK_BYTES_MAX`] |
//!
//! When the pipe on descriptor 0 closes, for whatever reason, the process ends: a host that was
//! killed leaves no real-time thread behind. The process has a group of its own, so that Ctrl-C at
//! the terminal reaches the host only, which then stops the partition in order.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_exchange::{Region, Shape, TaskStatistics};
use quietcore_probe::job::{JOB_BYTES_MAX, LatencyJob};
use quietcore_probe::partition;
use quietcore_process::exchange::{Exchange, ExchangeError};
use quietcore_process::readback::ThreadState;

/// What is kept of the remarks of a partition.
pub const REMARK_BYTES_MAX: u64 = 16 << 10;

/// How long a partition may take to end after it was told to.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// How long the process itself waits for its threads when the host has gone.
const ORPHAN_GRACE: Duration = Duration::from_millis(500);

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
    #[error("the partition's process ended ({status}) before its work was done: {remarks}")]
    Ended {
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        remarks: String,
    },
    /// The process could not be waited for.
    #[error("the partition's process can't be waited for")]
    Wait(#[source] io::Error),
}

/// A running partition. Dropping it ends its process.
#[derive(Debug)]
pub struct Partition {
    child: Child,
    life: Option<ChildStdin>,
    exchange: Exchange,
    remarks: Option<JoinHandle<String>>,
}

impl Partition {
    /// Starts the probe `latency` in a partition. `program` is `quietcore-runtime`.
    ///
    /// # Errors
    /// [`PartitionError`]; then no process is left.
    pub fn start(program: &Path, job: &LatencyJob) -> Result<Self, PartitionError> {
        let task_count = u32::try_from(job.cpus.len()).unwrap_or(u32::MAX);
        let exchange = Exchange::create(&Shape::of_tasks(task_count))?;
        let file = exchange.file().map_err(PartitionError::Job)?;
        let mut child = Command::new(program)
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
        let remarks = child.stderr.take().map(|pipe| thread::spawn(move || collect(pipe)));
        let life = child.stdin.take();
        let mut partition = Self { child, life, exchange, remarks };
        partition.hand_over(job).map_err(PartitionError::Job)?;
        Ok(partition)
    }

    fn hand_over(&mut self, job: &LatencyJob) -> io::Result<()> {
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        let pipe = self.life.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        pipe.write_all(&line)?;
        pipe.flush()
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
        match self.child.try_wait().map_err(PartitionError::Wait)? {
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
            if let Some(status) = self.child.try_wait().map_err(PartitionError::Wait)? {
                return Ok(status);
            }
            if Instant::now() >= end {
                // It does not answer: the kernel ends it.
                self.child.kill().map_err(PartitionError::Wait)?;
                return self.child.wait().map_err(PartitionError::Wait);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What the process said; empty on a second call.
    pub fn take_remarks(&mut self) -> String {
        let said = self.remarks.take().and_then(|thread| thread.join().ok());
        said.unwrap_or_default().trim().to_owned()
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        // A partition that was stopped in order has ended already, and this does nothing.
        let _ = self.stop();
    }
}

fn collect(pipe: impl io::Read) -> String {
    let mut bytes = Vec::new();
    let mut limited = pipe.take(REMARK_BYTES_MAX);
    let _ = limited.read_to_end(&mut bytes);
    // What is beyond the limit is read and dropped, so that the process never waits for us.
    let _ = io::copy(&mut limited.into_inner(), &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The other side: what `quietcore-runtime partition` does.
pub fn serve() -> ExitCode {
    match serve_job() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("quietcore-runtime: {problem}");
            ExitCode::from(2)
        }
    }
}

fn serve_job() -> Result<(), String> {
    // The closed pipe tells of the host's end, but a process that is stopped at that moment doesn't
    // read it; this reaches it even so. A refusal costs that case only.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let mut line = Vec::new();
    let mut input = BufReader::new(io::stdin());
    (&mut input)
        .take(JOB_BYTES_MAX as u64)
        .read_until(b'\n', &mut line)
        .map_err(|error| format!("the job can't be read: {error}"))?;
    let job: LatencyJob = serde_json::from_slice(&line).map_err(|error| {
        format!("this is no job: {error}; only `quietcore` starts this program")
    })?;
    let file = io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| format!("descriptor 1 is not an exchange: {error}"))?;
    let exchange = Exchange::open(File::from(file)).map_err(|error| error.to_string())?;
    let region = exchange.region();
    thread::scope(|scope| {
        let life = thread::Builder::new().name("life".to_owned());
        // The thread ends with the process: either the host closes the pipe after the tasks have
        // ended, or it has gone, and then the process ends here.
        let watching = life.spawn_scoped(scope, move || {
            let _ = io::copy(&mut input, &mut io::sink());
            region.request_stop();
            thread::sleep(ORPHAN_GRACE);
            std::process::exit(3);
        });
        watching.map_err(|error| format!("the pipe can't be watched: {error}"))?;
        partition::run_latency(&job, region);
        // The thread above waits for the pipe; it ends with the process.
        std::process::exit(0)
    })
}
