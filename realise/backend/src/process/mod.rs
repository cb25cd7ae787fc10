//! The backend `process`: a partition is a Linux process of its own.
//!
//! The process is the program `quietcore-runtime`, started with these files:
//!
//! | descriptor | file |
//! |-----------:|------|
//! | 0 | a pipe: the job as one line of JSON, then orders of a line each until it closes |
//! | 1 | a pipe: what the program prints; the host counts it and keeps some ([`Printed`]) |
//! | 2 | a pipe: remarks for people; the last [`REMARK_BYTES_MAX`] are kept |
//! | its argument | the exchange's memory file, which the process maps; further arguments name its owner ([`PartitionOwner`](quietcore_host::running_partitions::PartitionOwner)) |
//! | those that the job names | the memory files of its channels |
//!
//! Before it loads a program, the process moves them out of the program's reach
//! ([`quietcore_process::descriptors`]): a program that prints writes into the pipe of descriptor 1
//! and into nothing else. Where that pipe is full the output is lost, so that nobody has to wait.
//!
//! When the pipe on descriptor 0 closes, for whatever reason, the process ends: a host that was
//! killed leaves no real-time thread behind. The process has a process group of its own, so that
//! Ctrl-C at the terminal reaches only the host, which then stops the partition in order.

use std::borrow::Cow;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_exchange::{Region, Shape, TaskStatistics};
use quietcore_process::exchange::{Exchange, ExchangeError};
use quietcore_process::{readback, setting};
use quietcore_scan::process::job::Order;
use quietcore_settings::{HeldShare, ResctrlError};
use quietcore_units::{CpuId, CpuSet, ThreadSettings};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::container::ContainerError;
use crate::job::Job;
use crate::surroundings::{STOP_GRACE, Start, Surroundings, kill};
use crate::xen::XenError;
use hold::{BySignal, Holder, Means};
use orders::Orders;
use printed::Prints;
use remarks::Remarks;

mod among_others;
pub mod asked;
mod descendants;
pub mod hold;
mod orders;
mod printed;
mod remarks;
mod room;
mod serve;
mod threads;

pub(crate) use among_others::{AmongOthers, ProcessSetting};
pub use printed::{Printed, PrintedLines};
pub use remarks::{OWN_REMARK, REMARK_BYTES_MAX, on_one_line};
pub use room::Room;
pub use serve::serve;
pub(crate) use serve::{ExchangeName, HOST_THREADS};

pub use threads::ThreadNumbers;

/// Time that a killed process has to end before it is killed once more.
const KILL_AGAIN: Duration = Duration::from_secs(1);

/// The error of a partition that could not be started or has failed.
#[derive(Debug, thiserror::Error)]
pub enum PartitionError {
    /// The program that a partition runs in can't be started.
    #[error("`{program}` can't be started; it is installed beside `quietcore`")]
    Program {
        /// Path of the program.
        program: String,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Its exchange can't be made.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// It can't have its share of the last-level cache or of the memory's bandwidth.
    #[error(transparent)]
    Share(#[from] ResctrlError),
    /// The control group that has its CPUs does not let it in.
    #[error("`{group}`: the partition's process can't enter the group that has its CPUs")]
    Enter {
        /// File through which processes enter the group.
        group: String,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// It can't be confined to its CPUs.
    #[error("the partition's process can't be kept to CPUs {cpus}")]
    Confine {
        /// The CPUs that it was to have.
        cpus: Box<CpuSet>,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Its container can't be started.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// Its domain can't be started.
    #[error(transparent)]
    Xen(#[from] XenError),
    /// The job, or an order, can't be handed over.
    #[error("the job could not be handed to the partition")]
    Job(#[source] io::Error),
    /// The process ended before its tasks did.
    #[error(
        "the partition's process ended ({status}) before its work was done{}",
        last_words(remarks)
    )]
    Ended {
        /// Exit status of the process.
        status: ExitStatus,
        /// Remarks of the process; empty where it was killed, or the program called `exit`.
        remarks: String,
    },
    /// The process could not be waited for.
    #[error("the partition's process can't be waited for")]
    Wait(#[source] io::Error),
}

/// Returns the remarks of a process as one line that follows a colon; empty if there are none.
pub(crate) fn last_words(remarks: &str) -> String {
    let words = on_one_line(remarks);
    if words.is_empty() { words } else { format!(": {words}") }
}

/// A running partition. Dropping it ends its process.
#[derive(Debug)]
pub struct Partition {
    child: Child,
    around: Box<dyn Surroundings>,
    /// Pipe for its job and orders; the process ends when this is dropped.
    orders: Option<Orders>,
    exchange: Arc<Exchange>,
    remarks: Remarks,
    prints: Prints,
    /// Share of cache and bandwidth, held until its process has ended.
    share: Option<HeldShare>,
}

/// Exits of a guest's processor so far, for all reasons together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCounts {
    /// Exits to the guest's process.
    pub to_process: u64,
    /// All exits, as KVM counts them; `None` before KVM was asked, or where it does not count.
    pub all: Option<u64>,
}

impl Partition {
    /// Starts a partition that does `job`, with an exchange of this shape and without channels.
    /// `program` is the path of `quietcore-runtime`.
    ///
    /// # Errors
    /// [`PartitionError`]; then no process is left.
    pub fn start(program: &Path, job: &Job, shape: &Shape) -> Result<Self, PartitionError> {
        Self::start_with(program, job, shape, Vec::new(), &Room::among_others())
    }

    /// Starts a partition in `room` that also gets `files`, the memory files of its channels. The
    /// job names them by the numbers that they have in this process.
    ///
    /// # Errors
    /// [`PartitionError`]; then no process is left.
    pub fn start_with(
        program: &Path,
        job: &Job,
        shape: &Shape,
        mut files: Vec<OwnedFd>,
        room: &Room,
    ) -> Result<Self, PartitionError> {
        let mut job = Cow::Borrowed(job);
        let mut around = room.surround()?;
        let share = room.hold_share()?;
        let exchange = Arc::new(around.make_exchange(shape, &job)?);
        let file = OwnedFd::from(exchange.file().map_err(PartitionError::Job)?);
        files.push(file);
        let mut command = Command::new(program);
        let (device, owner) = (exchange.device().cloned(), room.owner_arguments());
        let start = Start { program, files, device, owner };
        around.prepare(start, &mut job, &mut command)?;
        let mut partition = Self::spawn(command, exchange, around)?;
        if let Err(error) = partition.around.wait_until_started(&partition.child) {
            let _ = partition.stop();
            let remarks = partition.take_remarks();
            return Err(partition.around.not_started(error, &remarks));
        }
        if let Some(share) = share {
            // The process waits for its job with one thread; all later threads inherit the group of
            // this one.
            share.add(partition.process_id())?;
            share.check()?;
            partition.share = Some(share);
        }
        partition.hand_over(&*job).map_err(PartitionError::Job)?;
        Ok(partition)
    }

    fn spawn(
        mut command: Command,
        exchange: Arc<Exchange>,
        around: Box<dyn Surroundings>,
    ) -> Result<Self, PartitionError> {
        let (reader, writer) = io::pipe().map_err(PartitionError::Job)?;
        let mut child = command
            // One arena for all threads: a further one reserves 64 MiB, which locking makes
            // resident.
            .env("MALLOC_ARENA_MAX", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::from(writer))
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|source| PartitionError::Program {
                program: command.get_program().to_string_lossy().into_owned(),
                source,
            })?;
        // The command holds another copy of the writing end.
        drop(command);
        let remarks = Remarks::collect(child.stderr.take());
        let prints = Prints::collect(reader);
        let pipe = child.stdin.take();
        let mut partition =
            Self { child, around, orders: None, exchange, remarks, prints, share: None };
        partition.orders = pipe.map(Orders::new).transpose().map_err(PartitionError::Job)?;
        Ok(partition)
    }

    fn hand_over(&self, line: &impl serde::Serialize) -> io::Result<()> {
        let orders = self.orders.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.give(line)
    }

    /// Gives an order to a partition with a program. Its outcome is reported as an event.
    ///
    /// # Errors
    /// [`PartitionError::Job`] when the process has ended.
    pub fn order(&self, order: &Order) -> Result<(), PartitionError> {
        let handed = self.around.order(order).and_then(|order| self.hand_over(&*order));
        handed.map_err(PartitionError::Job)
    }

    /// Returns what holds the partition for another one's sake: at once if it `can_stop` within a
    /// step. A guest can't, as its own kernel measures how long a step takes.
    ///
    /// # Errors
    /// When there is no descriptor left for its process.
    pub fn holder(&self, can_stop: bool) -> io::Result<Holder> {
        let can_stop = can_stop && self.tasks_are_threads();
        let means = can_stop.then(|| BySignal::new(self.process_id())).transpose()?;
        Ok(Holder::new(self.exchange(), means.map(|means| Box::new(means) as Box<dyn Means>)))
    }

    /// Returns `true` if its tasks are threads of the host's kernel, rather than of a guest's own.
    pub fn tasks_are_threads(&self) -> bool {
        self.around.tasks_are_threads()
    }

    /// Returns the exits of its guest; `None` where it is none.
    pub fn exit_counts(&self) -> Option<ExitCounts> {
        self.around.exit_counts()
    }

    /// Returns its share of the last-level cache and of the memory's bandwidth; `None` where it
    /// shares them with all others.
    pub fn share(&self) -> Option<&HeldShare> {
        self.share.as_ref()
    }

    /// Looks at what its backend keeps around it, and returns what is not as it should be; as a
    /// sentence. May take as long as a program that is asked.
    pub fn drift(&self) -> Option<String> {
        self.around.drift()
    }

    /// Returns the number of its process among the host's.
    pub fn process_id(&self) -> u32 {
        self.around.process_id().unwrap_or_else(|| self.child.id())
    }

    /// Returns the partition's exchange, which may be kept beyond its end.
    pub fn exchange(&self) -> Arc<Exchange> {
        Arc::clone(&self.exchange)
    }

    /// Returns the region of the partition's exchange.
    pub fn region(&self) -> Region<'_> {
        self.exchange.region()
    }

    /// Returns the translation of its threads' numbers to the host's.
    pub fn thread_numbers(&self) -> ThreadNumbers {
        ThreadNumbers { container: self.around.process_id() }
    }

    /// Reads back the settings that the kernel has in force for one of its tasks.
    ///
    /// # Errors
    /// When the task has not started or has ended.
    pub fn read_back(&self, task: &TaskStatistics) -> io::Result<ThreadSettings> {
        let (process, thread) = self.thread_of(task)?;
        readback::read(process, thread)
    }

    /// Returns the process and the thread that run a task, by the host's numbers.
    fn thread_of(&self, task: &TaskStatistics) -> io::Result<(u32, u32)> {
        let thread = self.thread_numbers().of_host(task.thread_id())?;
        let process = self.around.process_of_thread(self.process_id(), thread);
        process.map(|process| (process, thread)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Pins one of its tasks to its CPU again, after somebody has let it run elsewhere, or the
    /// kernel has when the CPU went offline.
    ///
    /// # Errors
    /// When the CPU is offline, the task has ended, or the number that the partition wrote for the
    /// task is none of its threads.
    pub fn pin_again(&self, task: &TaskStatistics, cpu: CpuId) -> io::Result<()> {
        let (_, thread) = self.thread_of(task)?;
        setting::pin_other(thread, cpu)
    }

    /// Returns `true` if all tasks have ended.
    ///
    /// # Errors
    /// [`PartitionError::Ended`] when the process has ended before its tasks did.
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

    /// Returns `true` if it runs no cycles any more. Its remarks stay for
    /// [`has_ended`](Self::has_ended), which says why.
    pub fn is_over(&mut self) -> bool {
        let tasks_have_ended = self.region().tasks().all(|task| task.state().has_ended());
        tasks_have_ended || !matches!(self.reap(), Ok(None))
    }

    /// Asks all tasks to end after their current cycle; does not wait.
    pub fn request_stop(&self) {
        self.region().request_stop();
    }

    /// Ends the partition and waits for its process, which is killed if it takes longer than 2 s,
    /// or than a guest from its disk has to shut down. One that gets no processor to end on has
    /// other policies then, one after the other. The exchange stays readable.
    ///
    /// # Errors
    /// [`PartitionError::Wait`] when the process can't be waited for.
    pub fn stop(&mut self) -> Result<ExitStatus, PartitionError> {
        self.request_stop();
        let grace = self.around.stop_grace();
        if grace <= STOP_GRACE {
            self.orders = None;
        }
        let end = Instant::now() + grace;
        let mut attempts = 0;
        loop {
            if let Some(status) = self.reap().map_err(PartitionError::Wait)? {
                self.prints.wait_for_rest();
                self.remarks.wait_for_rest();
                return Ok(status);
            }
            let late = Instant::now().checked_duration_since(end);
            // It does not respond.
            if let Some(late) = late.filter(|late| *late >= KILL_AGAIN * attempts) {
                self.orders = None;
                let killed = if late < STOP_GRACE {
                    self.around.kill(&mut self.child, attempts)
                } else {
                    // Whichever process waits for it, too.
                    kill(&mut self.child, attempts)
                };
                killed.map_err(PartitionError::Wait)?;
                attempts += 1;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the exit status once the process has ended, `None` before. Everything that the
    /// program has forked is killed then.
    fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) else {
            return self.child.try_wait();
        };
        // Look first and wait last: until it is waited for, the number is this group's and nobody
        // else's.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), look) {
            Ok(None) => return Ok(None),
            Ok(Some(_)) => {
                let _ = kill_process_group(pid, Signal::KILL);
                self.around.end_rest();
            }
            // It was waited for already.
            Err(_) => {}
        }
        self.child.try_wait()
    }

    /// Kills a process that can't end in order; [`stop`](Self::stop) waits for it.
    pub fn kill(&mut self) {
        // This fails only if the process has ended already.
        let _ = self.around.kill(&mut self.child, 0);
    }

    /// Returns how much its program has printed so far.
    pub fn printed(&self) -> Printed {
        self.prints.figures()
    }

    /// Takes the lines that its program has printed since the last call, as far as they were kept.
    pub fn take_printed(&self) -> PrintedLines {
        self.prints.take()
    }

    /// Returns the last [`REMARK_BYTES_MAX`] of what the process has said so far.
    pub fn remarks(&self) -> String {
        self.remarks.text()
    }

    /// Waits until a process that has ended has said all, 2 s at most, and returns the last
    /// [`REMARK_BYTES_MAX`] of it.
    pub fn take_remarks(&self) -> String {
        self.remarks.whole_text()
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        // A partition that was stopped in order has ended already, and this does nothing.
        let _ = self.stop();
    }
}
