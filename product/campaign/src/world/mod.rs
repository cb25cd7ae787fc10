//! The world around a run: time, and the processes of partitions, taken from outside.
//!
//! | trait | content | live | simulated |
//! |-------|---------|------|-----------|
//! | [`World`] | the clock, new processes | [`Live`] | `simulated::Simulated` |
//! | [`Process`] | a partition's process and its exchange | the backend's partition | cycles that are recorded as time passes |
//!
//! A run reads no clock, sleeps nowhere and starts no partition by itself, so that tests run whole
//! campaigns on simulated time. Loads and settings are the machine's own: a simulated run asks for
//! none. Its neighbours are simulated as its partitions are. The thread that explains late releases
//! reads the clock of the kernel's trace.

#[cfg(test)]
pub(crate) mod simulated;

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quietcore_backend::job::Job;
use quietcore_backend::process::{
    ExitCounts, Partition, PartitionError, Printed, PrintedLines, Room, ThreadNumbers,
};
use quietcore_clock::{Clock, Monotonic};
use quietcore_exchange::{Region, Shape, TaskStatistics};
use quietcore_host::Source;
use quietcore_host::running_partitions::RunningPartition;
use quietcore_process::exchange::Exchange;
use quietcore_settings::HeldShare;
use quietcore_units::{Nanos, ThreadSettings};

/// Time, and the processes that a run starts.
pub trait World: fmt::Debug {
    /// Returns the clock, by which partitions date their cycles, too.
    fn clock(&self) -> &dyn Clock;

    /// Starts a process that does `job`, with an exchange of this shape, and gets `files`.
    /// `runtime` is the path of `quietcore-runtime`.
    ///
    /// # Errors
    /// [`PartitionError`]; no process is left then.
    fn start(
        &self,
        runtime: &Path,
        job: &Job,
        shape: &Shape,
        files: Vec<OwnedFd>,
        room: &Room,
    ) -> Result<Box<dyn Process>, PartitionError>;

    /// Returns the partitions that run and that this process has not started, but those of the
    /// processes `own`.
    fn partitions_but(&self, own: &[u32]) -> Vec<RunningPartition>;
}

/// A partition's process. Dropping it ends it.
pub trait Process {
    /// Returns its exchange, which may be kept beyond its end.
    fn exchange(&self) -> Arc<Exchange>;

    /// Returns the region of its exchange.
    fn region(&self) -> Region<'_>;

    /// Returns its number among the host's processes.
    fn process_id(&self) -> u32;

    /// Returns the translation of its threads' numbers to the host's.
    fn thread_numbers(&self) -> ThreadNumbers;

    /// Returns `true` if its tasks are threads of the host's kernel, rather than of a guest's own.
    fn tasks_are_threads(&self) -> bool;

    /// Returns the exits of its guest; `None` where it is none.
    fn exit_counts(&self) -> Option<ExitCounts>;

    /// Returns its share of the last-level cache and of the memory's bandwidth; `None` if it shares
    /// them with all others.
    fn share(&self) -> Option<&HeldShare>;

    /// Reads back the settings that are in force for one of its tasks.
    ///
    /// # Errors
    /// When the task has not started or has ended.
    fn read_back(&self, task: &TaskStatistics) -> io::Result<ThreadSettings>;

    /// Returns `true` if all its tasks have ended.
    ///
    /// # Errors
    /// [`PartitionError::Ended`] when it has ended before its tasks did.
    fn has_ended(&mut self) -> Result<bool, PartitionError>;

    /// Asks all tasks to end after their current cycle; does not wait.
    fn request_stop(&self);

    /// Ends it in order, or kills it if it does not respond, and waits for its end.
    ///
    /// # Errors
    /// [`PartitionError::Wait`] when it can't be waited for.
    fn stop(&mut self) -> Result<(), PartitionError>;

    /// Takes what the process has written about itself.
    fn take_remarks(&self) -> String;

    /// Returns how much its program has printed.
    fn printed(&self) -> Printed;

    /// Takes the lines that its program has printed since the last call.
    fn take_printed(&self) -> PrintedLines;
}

/// Lets this much time pass on a clock.
pub(crate) fn sleep(clock: &dyn Clock, pause: Duration) {
    clock.sleep_until(clock.now() + nanos(pause));
}

/// Converts a constant of this crate, each of which is far below 500 years.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::new(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// This machine, with its kernel.
#[derive(Clone, Copy, Debug)]
pub struct Live;

impl World for Live {
    fn clock(&self) -> &dyn Clock {
        &Monotonic
    }

    fn start(
        &self,
        runtime: &Path,
        job: &Job,
        shape: &Shape,
        files: Vec<OwnedFd>,
        room: &Room,
    ) -> Result<Box<dyn Process>, PartitionError> {
        Ok(Box::new(Partition::start_with(runtime, job, shape, files, room)?))
    }

    fn partitions_but(&self, own: &[u32]) -> Vec<RunningPartition> {
        RunningPartition::find_others_but(&Source::live(), own)
    }
}

impl Process for Partition {
    fn exchange(&self) -> Arc<Exchange> {
        self.exchange()
    }

    fn region(&self) -> Region<'_> {
        self.region()
    }

    fn process_id(&self) -> u32 {
        self.process_id()
    }

    fn thread_numbers(&self) -> ThreadNumbers {
        self.thread_numbers()
    }

    fn tasks_are_threads(&self) -> bool {
        self.tasks_are_threads()
    }

    fn exit_counts(&self) -> Option<ExitCounts> {
        self.exit_counts()
    }

    fn share(&self) -> Option<&HeldShare> {
        self.share()
    }

    fn read_back(&self, task: &TaskStatistics) -> io::Result<ThreadSettings> {
        self.read_back(task)
    }

    fn has_ended(&mut self) -> Result<bool, PartitionError> {
        self.has_ended()
    }

    fn request_stop(&self) {
        self.request_stop();
    }

    fn stop(&mut self) -> Result<(), PartitionError> {
        self.stop().map(|_| ())
    }

    fn take_remarks(&self) -> String {
        self.take_remarks()
    }

    fn printed(&self) -> Printed {
        self.printed()
    }

    fn take_printed(&self) -> PrintedLines {
        self.take_printed()
    }
}
