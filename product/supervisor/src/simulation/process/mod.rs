//! A simulated process, as its keeper sees it.

mod machine;
mod turn;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitStatus;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

use quietcore_backend::job::Job;
use quietcore_backend::process::hold::Holder;
use quietcore_backend::process::{PartitionError, PrintedLines};
use quietcore_exchange::{Shape, TaskStatistics};
use quietcore_process::exchange::Exchange;
use quietcore_scan::process::job::Order;
use quietcore_settings::HeldShare;
use quietcore_units::{CpuId, Nanos, ThreadSettings};

use super::universe::Universe;
use crate::world::Process;
use machine::Beginning;
pub(super) use machine::Core;
pub(super) use turn::Ended;
use turn::Killed;

/// Longest time that a process may take to end after it was told to, as for a real one.
const STOP_GRACE: Nanos = Nanos::from_secs(2);
/// Time between two looks for its end.
const GLANCE: Nanos = Nanos::from_millis(5);

/// A process, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct SimulatedProcess {
    universe: Weak<Universe>,
    number: u32,
    core: Arc<Core>,
    exchange: Arc<Exchange>,
    thread: Option<JoinHandle<()>>,
    is_deaf: bool,
}

impl SimulatedProcess {
    /// Starts a process with an exchange of this shape.
    ///
    /// # Errors
    /// [`PartitionError`], by chance.
    pub(super) fn start(
        universe: &Arc<Universe>,
        shape: &Shape,
        job: &Job,
        files: Vec<OwnedFd>,
    ) -> Result<Self, PartitionError> {
        drop(files);
        let Job::Program { program, .. } = job else {
            return Err(PartitionError::Job(io::ErrorKind::Unsupported.into()));
        };
        let exchange = Arc::new(Exchange::create(shape)?);
        let own = Exchange::open(exchange.file().map_err(PartitionError::Job)?)?;
        let birth = universe.birth(&program.build)?;
        let core = Arc::new(Core::new(birth.dies_at));
        let beginning = Beginning {
            core: Arc::clone(&core),
            exchange: own,
            job: (**program).clone(),
            ground: universe.ground(),
            now: birth.now,
            chance: birth.chance,
            peril: birth.peril,
        };
        let thread = thread::Builder::new().name("simulated".to_owned()).spawn(move || {
            let core = Arc::clone(&beginning.core);
            let lived = catch_unwind(AssertUnwindSafe(|| {
                core.turn.wait_until(beginning.now);
                machine::live(&beginning)
            }));
            core.turn.end(match lived {
                Ok(status) => Ended::Status(status),
                Err(panic) if panic.is::<Killed>() => Ended::Status(machine::killed()),
                Err(panic) => {
                    let said = panic.downcast_ref::<String>().cloned();
                    let said = said.or_else(|| panic.downcast_ref().map(|it: &&str| (*it).into()));
                    Ended::Panicked(said.unwrap_or_default())
                }
            });
        });
        let thread = thread.map_err(PartitionError::Job)?;
        universe.attach(birth.number, &core, &exchange);
        Ok(Self {
            universe: Arc::downgrade(universe),
            number: birth.number,
            core,
            exchange,
            thread: Some(thread),
            is_deaf: birth.is_deaf,
        })
    }

    fn tasks_have_ended(&self) -> bool {
        self.exchange.region().tasks().all(|task| task.state().has_ended())
    }
}

impl Process for SimulatedProcess {
    fn exchange(&self) -> Arc<Exchange> {
        Arc::clone(&self.exchange)
    }

    fn process_id(&self) -> u32 {
        self.number
    }

    fn tasks_are_threads(&self) -> bool {
        true
    }

    fn share(&self) -> Option<&HeldShare> {
        None
    }

    fn holder(&self, _: bool) -> io::Result<Holder> {
        Ok(Holder::new(self.exchange(), None))
    }

    fn read_back(&self, _: &TaskStatistics) -> io::Result<ThreadSettings> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn pin_again(&self, _: &TaskStatistics, _: CpuId) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn order(&self, order: &Order) -> Result<(), PartitionError> {
        let broken = || PartitionError::Job(io::ErrorKind::BrokenPipe.into());
        let universe = self.universe.upgrade().ok_or_else(broken)?;
        let Order::Stage(build) = order else { return Ok(()) };
        if self.core.turn.ended().is_some() {
            return Err(broken());
        }
        if let Some(due) = universe.order_due(build) {
            self.core.desk().orders.push_back((due, build.clone()));
        }
        Ok(())
    }

    fn has_ended(&mut self) -> Result<bool, PartitionError> {
        if self.tasks_have_ended() {
            return Ok(true);
        }
        match self.core.turn.ended() {
            None => Ok(false),
            Some(ended) => {
                let status = match ended {
                    Ended::Status(status) => status,
                    Ended::Panicked(_) => machine::killed(),
                };
                let remarks = self.core.desk().remarks.clone();
                Err(PartitionError::Ended { status: ExitStatus::from_raw(status), remarks })
            }
        }
    }

    fn is_over(&mut self) -> bool {
        self.tasks_have_ended() || self.core.turn.ended().is_some()
    }

    fn stop(&mut self) {
        self.exchange.region().request_stop();
        let Some(universe) = self.universe.upgrade() else { return };
        let patience = if self.is_deaf { Nanos::ZERO } else { STOP_GRACE };
        let mut waited = Nanos::ZERO;
        while self.core.turn.ended().is_none() && waited < patience {
            universe.pass(GLANCE);
            waited += GLANCE;
        }
        self.kill();
        if let Some(thread) = self.thread.take() {
            // The thread has caught its panics.
            let _ = thread.join();
            universe.detach(self.number);
        }
    }

    fn kill(&mut self) {
        if self.core.turn.ended().is_none() {
            self.core.turn.kill();
        }
    }

    fn take_printed(&self) -> PrintedLines {
        std::mem::take(&mut self.core.desk().printed)
    }

    fn remarks(&self) -> String {
        self.core.desk().remarks.clone()
    }
}

impl Drop for SimulatedProcess {
    fn drop(&mut self) {
        self.stop();
    }
}
