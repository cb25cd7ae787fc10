//! One worker as its parent sees it: the process, its slot on the board, what was seen last.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use quietcore_units::{CpuSet, Nanos};
use rustix::process::{Pid, getpid};
use rustix::thread::gettid;

use crate::affinity;
use crate::board::{Board, Counters, Slot, SlotState, monotonic_now};
use crate::error::LoadError;
use crate::pace::Pace;
use crate::parent::achieved::{Totals, WorkerProblem};
use crate::parent::check::CheckedLoad;
use crate::parent::child::Child;
use crate::parent::stat::ProcessStat;
use crate::worker::WorkerArguments;

/// A started worker and its process.
#[derive(Debug)]
pub(crate) struct Worker {
    /// The number within its request.
    number: u32,
    name: String,
    child: Child,
    slot: u32,
    started_at: Nanos,
    /// Counters and CPU time of the last observation.
    before: (Counters, u64),
    /// The verified conditions, so that a later change is noticed.
    conditions: Option<Conditions>,
}

/// The kernel's scheduling of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Conditions {
    policy: u32,
    nice: i32,
    cpus: CpuSet,
}

/// The result of one look at a worker.
pub(crate) struct Seen {
    pub(crate) alive: bool,
    pub(crate) cpus: CpuSet,
    pub(crate) problems: Vec<WorkerProblem>,
}

impl Worker {
    /// Starts the process. `board` must stay open until it is there.
    pub(crate) fn start(
        program: &Path,
        load: &CheckedLoad,
        number: u32,
        board: &OwnedFd,
        slot: u32,
    ) -> Result<Self, LoadError> {
        let arguments = WorkerArguments {
            kind: load.kind,
            board_descriptor: u32::try_from(board.as_raw_fd())
                .expect("an open descriptor is not negative"),
            slot,
            size: load.size,
            folder: load.folder.clone(),
            cpus: load.cpus,
            entrance: load.entrance.clone(),
            // The main thread ends with the process, other threads may end before it.
            die_with_parent: gettid() == getpid(),
        };
        let spawned = Child::spawn(program, &arguments.command_line());
        let child =
            spawned.map_err(|source| LoadError::Spawn { program: program.to_owned(), source })?;
        let process_id = child.process_id();
        Ok(Self {
            number,
            name: format!("worker {number} of `{}` (process {process_id})", load.kind),
            child,
            slot,
            started_at: monotonic_now(),
            before: (Counters::default(), 0),
            conditions: None,
        })
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.process_id()
    }

    /// Returns the worker's counts so far.
    pub(crate) fn counters(&self, board: &Board) -> Counters {
        // The slots were numbered by the one who made the board, so there is always one.
        board.slot(self.slot).map_or_else(Counters::default, Slot::counters)
    }

    /// Tells it how fast to work.
    pub(crate) fn set_pace(&self, board: &Board, pace: Pace) {
        if let Some(slot) = board.slot(self.slot) {
            slot.set_pace(pace);
        }
    }

    /// Returns `true` while it rests.
    pub(crate) fn rests(&self, board: &Board) -> bool {
        board.slot(self.slot).is_some_and(|slot| slot.state() == SlotState::Resting)
    }

    /// The error for a worker that still works `waited` after it was told to rest.
    pub(crate) fn not_resting(&mut self, waited: Nanos) -> LoadError {
        LoadError::NotResting { worker: self.name.clone(), waited, stderr: self.child.stderr() }
    }

    /// An error when the worker has ended.
    pub(crate) fn must_live(&mut self) -> Result<(), LoadError> {
        match self.child.ended() {
            None => Ok(()),
            Some(status) => Err(LoadError::WorkerEnded {
                worker: self.name.clone(),
                status: status.to_string(),
                stderr: self.child.stderr(),
            }),
        }
    }

    /// The error for a worker that did nothing for `waited`.
    pub(crate) fn not_running(&mut self, board: &Board, waited: Nanos) -> LoadError {
        let slot = board.slot(self.slot);
        let state = match slot.map(|slot| (slot.state(), slot.started_at())) {
            None | Some((SlotState::Empty, _)) => {
                "it never reached the board; does the program understand `load`?".to_owned()
            }
            Some((SlotState::Preparing, _)) => "it was still preparing".to_owned(),
            Some((SlotState::Resting, _)) => "it was told to rest".to_owned(),
            Some((SlotState::Working, begin)) => {
                let begin = begin.unwrap_or_default();
                let worked = monotonic_now().saturating_sub(begin);
                format!("it began {worked} ago and has done nothing since")
            }
            Some((SlotState::Unknown(state), _)) => format!("its state is {state}, which is none"),
        };
        LoadError::NotRunning {
            worker: self.name.clone(),
            waited,
            state,
            stderr: self.child.stderr(),
        }
    }

    /// Reads back how the worker is scheduled; `cpus` are those asked for, if any.
    pub(crate) fn verify_conditions(&mut self, cpus: Option<&CpuSet>) -> Result<(), LoadError> {
        let Some(found) = self.read_conditions() else {
            // It can only be gone.
            return self.must_live();
        };
        let asked = Conditions { policy: 0, nice: 0, cpus: cpus.copied().unwrap_or(found.cpus) };
        if found != asked {
            return Err(LoadError::OtherConditions {
                worker: self.name.clone(),
                found: found.to_string(),
                asked: asked.to_string(),
            });
        }
        self.conditions = Some(found);
        Ok(())
    }

    fn read_conditions(&self) -> Option<Conditions> {
        let stat = ProcessStat::read(self.process_id())?;
        Conditions::new(&stat, self.read_cpus()?)
    }

    fn read_cpus(&self) -> Option<CpuSet> {
        let process = Pid::from_raw(i32::try_from(self.process_id()).ok()?)?;
        affinity::read(Some(process)).ok()
    }

    /// Looks at the worker, adds to `totals` what it did since the last look.
    pub(crate) fn observe(
        &mut self,
        board: &Board,
        now: Nanos,
        stalled_after: Nanos,
        totals: &mut Totals,
    ) -> Seen {
        let ended = self.child.ended();
        let counters = self.counters(board);
        let stat = match ended {
            None => ProcessStat::read(self.process_id()),
            Some(_) => None,
        };
        // What a dead worker used after the last look is not known any more.
        let cpu_ticks = stat.map_or(self.before.1, |stat| stat.cpu_ticks);
        let after = (counters, cpu_ticks);
        totals.add(self.before, after);
        self.before = after;
        if let Some(status) = ended {
            return Seen {
                alive: false,
                cpus: CpuSet::EMPTY,
                problems: vec![WorkerProblem::Ended {
                    status: status.to_string(),
                    stderr: self.child.stderr(),
                }],
            };
        }
        let mut problems = Vec::new();
        let silent_for = now.saturating_sub(counters.last_beat.max(self.started_at));
        problems.extend(stall(stat, silent_for, stalled_after));
        let cpus = self.read_cpus().unwrap_or_default();
        let found = stat.and_then(|stat| Conditions::new(&stat, cpus));
        if let (Some(expected), Some(found)) = (&self.conditions, found)
            && *expected != found
        {
            problems.push(WorkerProblem::Conditions {
                found: found.to_string(),
                expected: expected.to_string(),
            });
        }
        Seen { alive: true, cpus, problems }
    }

    /// The number of the process, or `None` when it has ended.
    pub(crate) fn living_process_id(&mut self) -> Option<u32> {
        match self.child.ended() {
            None => Some(self.process_id()),
            Some(_) => None,
        }
    }

    /// The name for people, or `None` when the worker has ended.
    pub(crate) fn living_name(&mut self) -> Option<String> {
        self.living_process_id().map(|_| format!("the {}", self.name))
    }

    /// Returns its lines on standard error, with its name.
    pub(crate) fn remark(&mut self) -> Option<String> {
        let text = self.child.stderr();
        (!text.is_empty()).then(|| format!("the {}: {text}", self.name))
    }

    pub(crate) fn ask_to_end(&mut self) {
        self.child.ask_to_end();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill();
    }
}

/// Returns the stall of a worker that lives and does no work. The kernel tells at once that it was
/// stopped; for any other reason only its silence tells.
fn stall(
    stat: Option<ProcessStat>,
    silent_for: Nanos,
    stalled_after: Nanos,
) -> Option<WorkerProblem> {
    if stat.is_some_and(|stat| stat.is_stopped()) {
        Some(WorkerProblem::Stopped)
    } else if silent_for > stalled_after {
        Some(WorkerProblem::Stalled { silent_for })
    } else {
        None
    }
}

impl Conditions {
    /// `None` for an empty affinity, which only a process that is ending has.
    fn new(stat: &ProcessStat, cpus: CpuSet) -> Option<Self> {
        (!cpus.is_empty()).then_some(Self { policy: stat.policy, nice: stat.nice, cpus })
    }
}

impl std::fmt::Display for Conditions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { policy, nice, cpus } = self;
        write!(f, "policy {policy}, niceness {nice}, cpus `{cpus}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(state: char) -> Option<ProcessStat> {
        Some(ProcessStat { state, cpu_ticks: 0, nice: 0, policy: 0 })
    }

    #[test]
    fn a_worker_stalls_when_it_is_stopped_or_silent_for_too_long() {
        let limit = Nanos::from_secs(2);
        let longer = Nanos::new(limit.get() + 1);
        assert_eq!(stall(stat('R'), limit, limit), None);
        assert_eq!(stall(None, limit, limit), None);
        let silent = Some(WorkerProblem::Stalled { silent_for: longer });
        assert_eq!(stall(stat('D'), longer, limit), silent);
        assert_eq!(stall(stat('T'), Nanos::ZERO, limit), Some(WorkerProblem::Stopped));
    }
}
