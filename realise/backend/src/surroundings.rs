//! The seam between a partition's process and its backend: what surrounds that process.
//!
//! The process is the same for each backend: job and orders on its standard input, the exchange as
//! an open file. [`Partition`](crate::process::Partition) starts, reads and ends it, and asks its
//! [`Surroundings`] wherever a backend does otherwise. This is a trait, and no enum with a table as
//! the backends' declarations are: each backend holds other things (a mark, a container's folder, a
//! guest's mail box), so that an enum would have an arm for each in every method, and another
//! backend would be spread over them. A call through it costs nothing that matters: none is made
//! within a cycle.
//!
//! | method | when |
//! |--------|------|
//! | [`make_exchange`](Surroundings::make_exchange), [`prepare`](Surroundings::prepare) | before the process is spawned |
//! | [`wait_until_started`](Surroundings::wait_until_started) | after that, before it gets its job |
//! | [`process_id`](Surroundings::process_id), [`order`](Surroundings::order) … | while it runs |
//! | [`kill`](Surroundings::kill) | where it does not end in order |
//! | [`end_rest`](Surroundings::end_rest) | when it has ended, before its number is given away |

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use quietcore_exchange::Shape;
use quietcore_process::exchange::Exchange;
use quietcore_process::memory::DeviceMemory;
use quietcore_process::setting;
use quietcore_scan::process::job::Order;

use crate::job::Job;
use crate::process::{ExitCounts, PartitionError};

/// Longest time that a partition may take to end after it was told to, unless its backend gives it
/// more.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(2);

/// The parts of a partition's start that a backend needs.
pub(crate) struct Start<'a> {
    /// The path of `quietcore-runtime`.
    pub(crate) program: &'a Path,
    /// Files that the process gets, under the numbers that the job has; the exchange is the last.
    pub(crate) files: Vec<OwnedFd>,
    /// The part of the exchange's file that it is, where that is a device.
    pub(crate) device: Option<DeviceMemory>,
    /// Arguments that name the partition's owner.
    pub(crate) owner: Vec<String>,
}

/// Everything around a partition's process that its backend decides.
pub(crate) trait Surroundings: fmt::Debug + Send + Sync {
    /// Prepares the command that starts the process, and enters files of the backend into the job.
    ///
    /// # Errors
    /// When the backend can't have what it needs; nothing has been started then.
    fn prepare(
        &mut self,
        start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError>;

    /// Waits until the process runs, where the child is not that process itself, and brings it to
    /// its CPUs.
    ///
    /// # Errors
    /// When the process does not start; the child may still run.
    fn wait_until_started(&mut self, child: &Child) -> Result<(), PartitionError>;

    /// Returns the error of a process that did not start, completed by the remarks of the child.
    fn not_started(&self, error: PartitionError, _remarks: &str) -> PartitionError {
        error
    }

    /// Returns the number of the process among the host's, where that isn't the child. Inside, its
    /// threads have other numbers then.
    fn process_id(&self) -> Option<u32> {
        None
    }

    /// Makes the exchange of a partition that does `job`, before anything else is prepared.
    ///
    /// # Errors
    /// When there is no memory for it, or nobody to share it with.
    fn make_exchange(&mut self, shape: &Shape, _job: &Job) -> Result<Exchange, PartitionError> {
        Ok(Exchange::create_with(shape, |needed| self.exchange_bytes(needed))?)
    }

    /// Returns the size of the exchange's file in bytes; at least `needed`.
    fn exchange_bytes(&self, needed: usize) -> usize {
        needed
    }

    /// Returns the process, among the host's, that a thread belongs to which runs tasks; `own` is
    /// the number of the partition's. `None` if it is no thread of the partition.
    fn process_of_thread(&self, own: u32, thread: u32) -> Option<u32> {
        Path::new(&format!("/proc/{own}/task/{thread}")).exists().then_some(own)
    }

    /// Returns an order as the process can carry it out.
    ///
    /// # Errors
    /// When what it needs can't be handed over.
    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        Ok(Cow::Borrowed(order))
    }

    /// Returns `true` if its tasks are threads of the host's kernel, which can be stopped within a
    /// step and have a policy and a CPU of their own.
    fn tasks_are_threads(&self) -> bool {
        true
    }

    /// Returns the longest time in which it ends in order, before it is killed.
    fn stop_grace(&self) -> Duration {
        STOP_GRACE
    }

    /// Returns the exits of the guest; `None` where there is none.
    fn exit_counts(&self) -> Option<ExitCounts> {
        None
    }

    /// Looks at what surrounds the process, while it runs, and returns what is not as it should be;
    /// as a sentence. May take as long as a program that is asked.
    fn drift(&self) -> Option<String> {
        None
    }

    /// Kills the process at once, not in order. Attempts are counted from 0.
    ///
    /// # Errors
    /// The error of the kernel.
    fn kill(&self, child: &mut Child, attempt: u32) -> io::Result<()> {
        kill(child, attempt)
    }

    /// Kills everything that the process has left running.
    fn end_rest(&self);
}

/// Kills a process that was not waited for yet, and lets it get a processor to end on.
///
/// # Errors
/// The error of the kernel.
pub(crate) fn kill(child: &mut Child, attempt: u32) -> io::Result<()> {
    child.kill()?;
    setting::let_end(child.id(), attempt);
    Ok(())
}
