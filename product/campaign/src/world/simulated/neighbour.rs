//! A neighbour whose loads work on simulated time, end early, or never begin.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::Arc;

use quietcore_backend::neighbour::NeighbourJob;
use quietcore_backend::process::{
    ExitCounts, PartitionError, Printed, PrintedLines, ThreadNumbers,
};
use quietcore_clock::{Clock as _, FakeClock};
use quietcore_exchange::{Recorder, Region, TaskState, TaskStatistics};
use quietcore_process::exchange::Exchange;
use quietcore_settings::HeldShare;
use quietcore_units::{Nanos, ThreadSettings};

use crate::world::Process;

/// Times after which a neighbour works, or works late, and until which one dies.
const WORKS_AFTER: Nanos = Nanos::from_secs(2);
const WORKS_LATE_AFTER: Nanos = Nanos::from_secs(40);
const DIES_AFTER: Nanos = Nanos::from_secs(20);

/// The fate of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It works to the end.
    Works,
    /// It works to the end, and has taken long to begin.
    WorksLate,
    /// Its process ends in the middle of the run.
    Dies,
    /// It works, and from then on says nothing.
    IsSilent,
    /// It reports that none of its workers did anything.
    IsIdle,
    /// Its loads never begin.
    NeverWorks,
}

/// A neighbour that tells of its work once a second.
pub(super) struct SimulatedNeighbour {
    job: NeighbourJob,
    fate: Fate,
    clock: Rc<FakeClock>,
    begun: Nanos,
    told: Cell<Nanos>,
    lines: RefCell<Vec<String>>,
    exchange: Arc<Exchange>,
    counts: Rc<(Cell<u32>, Cell<u32>)>,
}

impl SimulatedNeighbour {
    pub(super) fn new(
        job: &NeighbourJob,
        fate: Fate,
        clock: Rc<FakeClock>,
        exchange: Arc<Exchange>,
        counts: Rc<(Cell<u32>, Cell<u32>)>,
    ) -> Self {
        let begun = clock.now();
        let (told, lines) = (Cell::new(begun), RefCell::default());
        Self { job: job.clone(), fate, clock, begun, told, lines, exchange, counts }
    }

    /// Brings exchange and lines up to the present instant.
    fn catch_up(&self) {
        let now = self.clock.now();
        let task = self.region().task(0).expect("it has a task");
        let after = if self.fate == Fate::WorksLate { WORKS_LATE_AFTER } else { WORKS_AFTER };
        if self.fate == Fate::NeverWorks || now < self.begun + after {
            return;
        }
        let state =
            if self.region().stop_requested() { TaskState::Stopped } else { TaskState::Running };
        Recorder::new(task, Nanos::from_secs(1), 1).set_state(state);
        let interval = now.saturating_sub(self.told.get());
        if interval < Nanos::from_secs(1) || self.fate == Fate::IsSilent {
            return;
        }
        self.told.set(now);
        let rate = if self.fate == Fate::IsIdle { 0 } else { 100 };
        let line = |(load, asked): (usize, &quietcore_backend::neighbour::NeighbourLoad)| {
            let (workers, interval) = (asked.workers, interval.get());
            format!(
                "{{\"work\":{{\"load\":{load},\"alive\":{workers},\"stalled\":0,\"interval\":\
                 \"{interval} ns\",\"operations_per_second\":{rate},\"bytes_per_second\":null,\
                 \"cpu_share\":{rate}}}}}"
            )
        };
        self.lines.borrow_mut().extend(self.job.loads.iter().enumerate().map(line));
    }
}

impl Process for SimulatedNeighbour {
    fn exchange(&self) -> Arc<Exchange> {
        Arc::clone(&self.exchange)
    }

    fn region(&self) -> Region<'_> {
        self.exchange.region()
    }

    fn process_id(&self) -> u32 {
        0
    }

    fn thread_numbers(&self) -> ThreadNumbers {
        ThreadNumbers::default()
    }

    fn tasks_are_threads(&self) -> bool {
        true
    }

    fn exit_counts(&self) -> Option<ExitCounts> {
        None
    }

    fn share(&self) -> Option<&HeldShare> {
        None
    }

    fn read_back(&self, _: &TaskStatistics) -> io::Result<ThreadSettings> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn has_ended(&mut self) -> Result<bool, PartitionError> {
        self.catch_up();
        if self.fate == Fate::Dies && self.clock.now() > self.begun + DIES_AFTER {
            let (status, remarks) = (ExitStatus::from_raw(9), "out of memory".to_owned());
            return Err(PartitionError::Ended { status, remarks });
        }
        Ok(self.region().tasks().all(|task| task.state().has_ended()))
    }

    fn request_stop(&self) {
        self.region().request_stop();
    }

    fn stop(&mut self) -> Result<(), PartitionError> {
        self.counts.1.set(self.counts.1.get() + 1);
        Ok(())
    }

    fn take_remarks(&self) -> String {
        String::new()
    }

    fn printed(&self) -> Printed {
        Printed::default()
    }

    fn take_printed(&self) -> PrintedLines {
        PrintedLines { lines: self.lines.take(), left_out: 0 }
    }
}
