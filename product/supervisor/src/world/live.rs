//! The world as it is: the machine's clocks, its disk, and processes of its kernel.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_backend::job::Job;
use quietcore_backend::process::hold::Holder;
use quietcore_backend::process::{Partition, PartitionError, PrintedLines};
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::TaskStatistics;
use quietcore_process::exchange::Exchange;
use quietcore_scan::process::job::Order;
use quietcore_settings::HeldShare;
use quietcore_units::{CpuId, Nanos, ThreadSettings};

use super::storage::Disk;
use super::{Process, Storage, World};
use crate::keeper::{Request, Setup};

/// This machine, with its kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live;

impl World for Live {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn exchange_time(&self) -> Nanos {
        Monotonic.now()
    }

    fn time_of_day(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }

    fn sleep(&self, pause: Duration) {
        thread::sleep(pause);
    }

    fn wait(
        &self,
        requests: &Receiver<Request>,
        longest: Duration,
    ) -> Result<Request, RecvTimeoutError> {
        requests.recv_timeout(longest)
    }

    fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(Disk)
    }

    fn start(
        &self,
        setup: &Setup,
        job: &Job,
        files: Vec<OwnedFd>,
    ) -> Result<Box<dyn Process>, PartitionError> {
        let Setup { runtime, shape, room, .. } = setup;
        Ok(Box::new(Partition::start_with(runtime, job, shape, files, room)?))
    }
}

impl Process for Partition {
    fn exchange(&self) -> Arc<Exchange> {
        self.exchange()
    }

    fn process_id(&self) -> u32 {
        self.process_id()
    }

    fn tasks_are_threads(&self) -> bool {
        self.tasks_are_threads()
    }

    fn share(&self) -> Option<&HeldShare> {
        self.share()
    }

    fn drift(&self) -> Option<String> {
        self.drift()
    }

    fn holder(&self, can_stop: bool) -> io::Result<Holder> {
        self.holder(can_stop)
    }

    fn read_back(&self, task: &TaskStatistics) -> io::Result<ThreadSettings> {
        self.read_back(task)
    }

    fn pin_again(&self, task: &TaskStatistics, cpu: CpuId) -> io::Result<()> {
        self.pin_again(task, cpu)
    }

    fn order(&self, order: &Order) -> Result<(), PartitionError> {
        self.order(order)
    }

    fn has_ended(&mut self) -> Result<bool, PartitionError> {
        self.has_ended()
    }

    fn is_over(&mut self) -> bool {
        self.is_over()
    }

    fn stop(&mut self) {
        // A process that can't be waited for has ended, or nobody can end it.
        let _ = self.stop();
    }

    fn kill(&mut self) {
        self.kill();
    }

    fn take_printed(&self) -> PrintedLines {
        self.take_printed()
    }

    fn remarks(&self) -> String {
        self.remarks()
    }
}
