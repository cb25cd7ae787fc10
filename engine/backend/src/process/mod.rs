//! The backend `process`: a partition is a Linux process of its own.
//!
//! The process is the program `quietcore-runtime`, started with these files:
//!
//! | descriptor | what |
//! |-----------:|------|
//! | 0 | a pipe: the job as one line of JSON, then orders of a line each until it closes |
//! | 1 | a pipe: what the program prints; the host counts it and keeps some ([`Printed`]) |
//! | 2 | a pipe: remarks for people; the last [`REMARK_BYTES_MAX`] are kept |
//! | its argument | the exchange's memory file, which the process maps; more arguments say whose it is ([`PartitionOwner`](quietcore_host::running_partitions::PartitionOwner)) |
//! | those that the job names | the memory files of its channels |
//!
//! Before it loads a program the process moves them out of that one's reach
//! ([`quietcore_process::descriptors`]): a program that prints writes into the pipe of descriptor 1
//! and into nothing else, and where that is full what it prints is lost, as nobody shall wait.
//!
//! When the pipe on descriptor 0 closes, for whatever reason, the process ends: a host that was
//! killed leaves no real-time thread behind. The process has a group of its own, so that Ctrl-C at
//! the terminal reaches the host only, which then stops the partition in order.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use command_fds::CommandFdExt as _;
use quietcore_exchange::{Region, Shape, TaskStatistics};
use quietcore_host::controls::{HeldShare, ResctrlError};
use quietcore_process::exchange::{Exchange, ExchangeError};
use quietcore_process::readback;
use quietcore_scan::process::job::Order;
use quietcore_units::ThreadSettings;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::container::{self, ContainerError, Inside, Quarters};
use crate::job::Job;
use crate::kvm::host::Host;
use descendants::Mark;
use hold::{BySignal, Holder, Means};
use orders::Orders;
use printed::Prints;
use remarks::Remarks;
use room::Place;

pub mod asked;
mod descendants;
pub mod hold;
mod orders;
mod printed;
mod remarks;
mod room;
mod serve;
mod threads;

pub use printed::{Printed, PrintedLines};
pub use remarks::{OWN_REMARK, REMARK_BYTES_MAX, on_one_line};
pub use room::Room;
pub use serve::serve;

pub use threads::ThreadNumbers;

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
    /// It can't have its part of the last-level cache or of the memory's bandwidth.
    #[error(transparent)]
    Share(#[from] ResctrlError),
    /// The group that has its CPUs does not let it in.
    #[error("`{group}`: the partition's process can't enter the group that has its CPUs")]
    Enter {
        /// The file of the group.
        group: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no container for it.
    #[error(transparent)]
    Container(#[from] ContainerError),
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

/// What a process said, in one line behind a colon; nothing where it said nothing.
pub(crate) fn last_words(remarks: &str) -> String {
    let words = on_one_line(remarks);
    if words.is_empty() { words } else { format!(": {words}") }
}

/// A running partition. Dropping it ends its process.
#[derive(Debug)]
pub struct Partition {
    child: Child,
    room: Held,
    /// Its job and orders; its process ends when this is gone.
    orders: Option<Orders>,
    exchange: Arc<Exchange>,
    remarks: Remarks,
    prints: Prints,
    guest: Option<Host>,
    /// Until its process has ended.
    share: Option<HeldShare>,
}

/// What is held of where a process runs.
#[derive(Debug)]
enum Held {
    /// It runs among others, known by its mark.
    Host(Mark),
    /// It runs in a container, and the child is the container's shim.
    Container { quarters: Quarters, inside: Option<Inside> },
}

impl Partition {
    /// Starts a partition that does `job`, with an exchange of this shape and without channels.
    /// `program` is `quietcore-runtime`.
    ///
    /// # Errors
    /// [`PartitionError`]; then no process is left.
    pub fn start(program: &Path, job: &Job, shape: &Shape) -> Result<Self, PartitionError> {
        Self::start_with(program, job, shape, Vec::new(), &Room::among_others())
    }

    /// Starts a partition that also gets the memory files of its channels, in the room that is
    /// its. The job names the numbers that they have here.
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
        let mut guest = None;
        if let Job::Guest { .. } = &*job
            && let Job::Guest { setting, .. } = job.to_mut()
        {
            let (host, own) = Host::new(setting).map_err(PartitionError::Job)?;
            files.extend(own);
            guest = Some(host);
        }
        let share = room.hold_share()?;
        let exchange = Arc::new(Exchange::create(shape)?);
        let file = OwnedFd::from(exchange.file().map_err(PartitionError::Job)?);
        let number = file.as_raw_fd();
        files.push(file);
        let mut command = Command::new(program);
        let held = match &room.place {
            Place::Host { .. } => {
                let mark = Mark::new();
                mark.put_on(&mut command);
                command.preserved_fds(files);
                command.arg("partition").arg(number.to_string()).args(room.owner_arguments());
                Held::Host(mark)
            }
            Place::Container(setting) => {
                job.to_mut().renumber(|here| container::renumbered(&files, here));
                let owner = room.owner_arguments();
                let quarters = Quarters::furnish(setting, (program, owner), files, &mut command)?;
                Held::Container { quarters, inside: None }
            }
        };
        let mut partition = Self::spawn(command, exchange, held, guest)?;
        if let Held::Container { quarters, inside } = &mut partition.room {
            match quarters.wait() {
                Ok(started) => *inside = Some(started),
                Err(error) => return Err(partition.not_started(error).into()),
            }
        }
        if let Place::Host { entrance: Some(entrance) } = &room.place {
            partition.enter(entrance)?;
        }
        if let Some(share) = share {
            // It waits for its job and has one thread; all others are in the group that this is in.
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
        room: Held,
        guest: Option<Host>,
    ) -> Result<Self, PartitionError> {
        let (reader, writer) = io::pipe().map_err(PartitionError::Job)?;
        let mut child = command
            // One arena for all threads: each further one reserves 64 MiB, which locking makes
            // real.
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
        // It holds another copy of the pipe's other end.
        drop(command);
        let remarks = Remarks::collect(child.stderr.take());
        let prints = Prints::collect(reader);
        let pipe = child.stdin.take();
        let mut partition =
            Self { child, room, orders: None, exchange, remarks, prints, guest, share: None };
        partition.orders = pipe.map(Orders::new).transpose().map_err(PartitionError::Job)?;
        Ok(partition)
    }

    /// What became of a container that does not run, in the words of who was to start it.
    fn not_started(&mut self, error: ContainerError) -> ContainerError {
        let ContainerError::NotStarted { runtime, .. } = error else { return error };
        let _ = self.stop();
        ContainerError::NotStarted { runtime, remarks: container::words(&self.take_remarks()) }
    }

    fn enter(&self, entrance: &Path) -> Result<(), PartitionError> {
        std::fs::write(entrance, self.process_id().to_string()).map_err(|source| {
            PartitionError::Enter { group: entrance.display().to_string(), source }
        })
    }

    fn hand_over(&self, line: &impl serde::Serialize) -> io::Result<()> {
        let orders = self.orders.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.give(line)
    }

    /// Gives an order to a partition with a program. What becomes of it is told as an event.
    ///
    /// # Errors
    /// [`PartitionError::Job`] when the process has ended.
    pub fn order(&self, order: &Order) -> Result<(), PartitionError> {
        let handed = match &self.guest {
            None => self.hand_over(order),
            Some(host) => host.deliver(order).and_then(|order| self.hand_over(&order)),
        };
        handed.map_err(PartitionError::Job)
    }

    /// What holds it for another one's sake: at once if it `can_stop` within a step, which a guest
    /// can't, as its own kernel measures how long a step takes.
    ///
    /// # Errors
    /// When there is no descriptor left for its process.
    pub fn holder(&self, can_stop: bool) -> io::Result<Holder> {
        let can_stop = can_stop && self.guest.is_none();
        let means = can_stop.then(|| BySignal::new(self.process_id())).transpose()?;
        Ok(Holder::new(self.exchange(), means.map(|means| Box::new(means) as Box<dyn Means>)))
    }

    /// What is shared with a guest's process; `None` where it is none.
    pub fn guest(&self) -> Option<&Host> {
        self.guest.as_ref()
    }

    /// What it has of the last-level cache and of the memory's bandwidth; `None` where it shares
    /// them with all others.
    pub fn share(&self) -> Option<&HeldShare> {
        self.share.as_ref()
    }

    /// The kernel's number of its process.
    pub fn process_id(&self) -> u32 {
        self.inside().map_or_else(|| self.child.id(), Inside::process_id)
    }

    fn inside(&self) -> Option<&Inside> {
        match &self.room {
            Held::Host(_) => None,
            Held::Container { inside, .. } => inside.as_ref(),
        }
    }

    /// The partition's exchange, to be kept beyond the partition.
    pub fn exchange(&self) -> Arc<Exchange> {
        Arc::clone(&self.exchange)
    }

    /// The partition's exchange.
    pub fn region(&self) -> Region<'_> {
        self.exchange.region()
    }

    /// The numbers of its threads among the host's.
    pub fn thread_numbers(&self) -> ThreadNumbers {
        ThreadNumbers { container: self.inside().map(Inside::process_id) }
    }

    /// What is in force for one of its tasks, as the kernel says.
    ///
    /// # Errors
    /// When the task has not started or has ended.
    pub fn read_back(&self, task: &TaskStatistics) -> io::Result<ThreadSettings> {
        let thread = self.thread_numbers().of_host(task.thread_id())?;
        readback::read(self.process_id(), thread)
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

    /// Returns whether it runs no cycles any more. What it said stays for
    /// [`has_ended`](Self::has_ended), which says why.
    pub fn is_over(&mut self) -> bool {
        let tasks_have_ended = self.region().tasks().all(|task| task.state().has_ended());
        tasks_have_ended || !matches!(self.reap(), Ok(None))
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
        self.orders = None;
        let end = Instant::now() + STOP_GRACE;
        loop {
            if let Some(status) = self.reap().map_err(PartitionError::Wait)? {
                self.prints.wait_for_rest();
                return Ok(status);
            }
            let late = Instant::now().checked_duration_since(end);
            match (late, self.inside()) {
                (None, _) => {}
                // It does not answer: the kernel ends it, and its shim has the rest removed.
                (Some(late), Some(inside)) if late < STOP_GRACE => inside.kill(),
                (Some(_), _) => self.child.kill().map_err(PartitionError::Wait)?,
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
                match &self.room {
                    Held::Host(mark) => mark.end_all(),
                    // All others in the container end with its first process.
                    Held::Container { inside, .. } => inside.iter().for_each(Inside::kill),
                }
            }
            // It was waited for already.
            Err(_) => {}
        }
        self.child.try_wait()
    }

    /// Has the kernel end a process that can't end in order; [`stop`](Self::stop) waits for it.
    pub fn kill(&mut self) {
        match self.inside() {
            Some(inside) => inside.kill(),
            // It fails only where the process has ended already.
            None => drop(self.child.kill()),
        }
    }

    /// Returns how much its program has printed so far.
    pub fn printed(&self) -> Printed {
        self.prints.figures()
    }

    /// Takes the lines that its program has printed since the last call, as far as they were kept.
    pub fn take_printed(&self) -> PrintedLines {
        self.prints.take()
    }

    /// What the process has said so far: the last [`REMARK_BYTES_MAX`] of it.
    pub fn remarks(&self) -> String {
        self.remarks.text()
    }

    /// All that the process said, when it has ended; the last [`REMARK_BYTES_MAX`] of it.
    pub fn take_remarks(&mut self) -> String {
        self.remarks.whole_text()
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        // A partition that was stopped in order has ended already, and this does nothing.
        let _ = self.stop();
    }
}
