//! The world around the keepers of a site: time, storage and processes, taken from outside.
//!
//! | trait | content | live | simulated |
//! |-------|---------------|------|-----------|
//! | [`World`] | time, requests as they come, new processes | [`live::Live`] | `SimulatedWorld` |
//! | [`Process`] | a partition's process and its exchange | the backend's partition | threads that run the real scan cycle |
//! | [`Storage`] | files of retained values and of events | the disk | memory that fails by chance |
//!
//! A keeper reads no clock, sleeps nowhere, opens no file and starts no process by itself. So the
//! same code runs on simulated time, where each run can be repeated from its seed.

pub(crate) mod live;
pub(crate) mod storage;

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use quietcore_backend::job::Job;
use quietcore_backend::process::hold::Holder;
use quietcore_backend::process::{PartitionError, PrintedLines};
use quietcore_exchange::TaskStatistics;
use quietcore_process::exchange::Exchange;
use quietcore_scan::process::job::Order;
use quietcore_settings::HeldShare;
use quietcore_units::{CpuId, Nanos, ThreadSettings};

use crate::keeper::{Request, Setup};
pub(crate) use storage::Storage;

/// Time, requests, and everything that a keeper starts and stores.
pub(crate) trait World: Send + Sync + fmt::Debug {
    /// Returns the current instant, which never goes back.
    fn now(&self) -> Instant;

    /// Returns the same instant as partitions write it into their exchanges.
    fn exchange_time(&self) -> Nanos;

    /// Returns the time of day, which somebody may set to any other.
    fn time_of_day(&self) -> jiff::Timestamp;

    /// Lets this much time pass.
    fn sleep(&self, pause: Duration);

    /// Waits for the next request, for `longest` at most.
    ///
    /// # Errors
    /// [`RecvTimeoutError`], as of the channel.
    fn wait(
        &self,
        requests: &Receiver<Request>,
        longest: Duration,
    ) -> Result<Request, RecvTimeoutError>;

    /// Returns the storage for files.
    fn storage(&self) -> Arc<dyn Storage>;

    /// Starts a process that does `job` and gets `files`.
    ///
    /// # Errors
    /// [`PartitionError`]; no process is left then.
    fn start(
        &self,
        setup: &Setup,
        job: &Job,
        files: Vec<OwnedFd>,
    ) -> Result<Box<dyn Process>, PartitionError>;
}

/// A partition's process. Dropping it ends it.
pub(crate) trait Process {
    /// Returns its exchange, which may be kept beyond its end.
    fn exchange(&self) -> Arc<Exchange>;

    /// Returns its number among the host's processes.
    fn process_id(&self) -> u32;

    /// Returns `true` if its tasks are threads of the host's kernel, rather than of a guest's own.
    fn tasks_are_threads(&self) -> bool;

    /// Returns its share of the last-level cache and of the memory's bandwidth; `None` if it shares
    /// them with all others.
    fn share(&self) -> Option<&HeldShare>;

    /// Looks at what its backend keeps around it, and returns what is not as it should be; as a
    /// sentence.
    fn drift(&self) -> Option<String> {
        None
    }

    /// Returns the means by which the running monitor holds it: at once if it `can_stop` within a
    /// step.
    ///
    /// # Errors
    /// When there is no descriptor left for it.
    fn holder(&self, can_stop: bool) -> io::Result<Holder>;

    /// Reads back the settings that are in force for one of its tasks.
    ///
    /// # Errors
    /// When the task has not started or has ended.
    fn read_back(&self, task: &TaskStatistics) -> io::Result<ThreadSettings>;

    /// Pins one of its tasks to its CPU again.
    ///
    /// # Errors
    /// When the CPU is offline, or the task has ended.
    fn pin_again(&self, task: &TaskStatistics, cpu: CpuId) -> io::Result<()>;

    /// Gives it an order, whose outcome it reports as an event.
    ///
    /// # Errors
    /// [`PartitionError::Job`] when it has ended.
    fn order(&self, order: &Order) -> Result<(), PartitionError>;

    /// Returns `true` if all its tasks have ended.
    ///
    /// # Errors
    /// [`PartitionError::Ended`] when it has ended before its tasks did.
    fn has_ended(&mut self) -> Result<bool, PartitionError>;

    /// Returns `true` if it runs no cycles any more.
    fn is_over(&mut self) -> bool;

    /// Ends it in order, or kills it if it does not respond, and waits for its end.
    fn stop(&mut self);

    /// Kills it; [`stop`](Self::stop) waits for its end.
    fn kill(&mut self);

    /// Takes the lines that its program has printed since the last call.
    fn take_printed(&self) -> PrintedLines;

    /// Returns the last of its remarks.
    fn remarks(&self) -> String;
}

impl fmt::Debug for dyn Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("process_id", &self.process_id()).finish_non_exhaustive()
    }
}
