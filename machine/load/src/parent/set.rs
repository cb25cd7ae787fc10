//! A set of loads, from start to stop.

use std::path::Path;
use std::thread;
use std::time::Duration;

use quietcore_site::LoadKind;
use quietcore_units::{CpuSet, Nanos};
use rustix::param::clock_ticks_per_second;

use crate::board::{Board, monotonic_now};
use crate::error::LoadError;
use crate::pace::Pace;
use crate::parent::achieved::{Achieved, Totals, WorkerFault, WorkerProblem, rate};
use crate::parent::check::{CheckedLoad, check};
use crate::parent::facts::{Facts, FolderFacts};
use crate::parent::worker::Worker;
use crate::request::LoadRequest;

/// Time that workers have to end by themselves.
const GRACE: Nanos = Nanos::from_millis(500);
/// Time that the kernel has to end them after SIGKILL; forcing a file to a slow disk takes long.
const KILL_WAIT: Nanos = Nanos::from_secs(5);
/// Time between two looks at the workers.
const POLL: Duration = Duration::from_millis(2);
/// Time between two looks at a worker that shall rest; most finish an operation in less.
const POLL_REST: Duration = Duration::from_micros(100);

/// Running loads. They end when the set is stopped or dropped, and when this process ends.
#[derive(Debug)]
pub struct LoadSet {
    board: Board,
    loads: Vec<Load>,
    measured_at: Nanos,
    /// Silence of a worker that is borne at least, whatever its kind.
    silence: Nanos,
}

#[derive(Debug)]
struct Load {
    checked: CheckedLoad,
    workers: Vec<Worker>,
}

impl LoadSet {
    /// Checks the requests and starts all their workers, each as
    /// `program load --kind KIND --board-fd N --slot I …`, where the program hands what follows
    /// `load` to [`worker::main`](crate::worker::main).
    ///
    /// It returns before the work has begun; [`wait_until_running`](Self::wait_until_running) comes
    /// next. No request at all makes an empty set.
    ///
    /// # Errors
    /// [`LoadError::Refused`] with all problems of the requests, before anything is started. When
    /// the shared memory or a process can't be made, the workers started before are ended again.
    pub fn start(program: &Path, loads: &[LoadRequest]) -> Result<Self, LoadError> {
        let checked = Self::checked(loads)?;
        let worker_count = checked.iter().map(|load| load.workers).sum();
        let board = Board::create(worker_count).map_err(LoadError::Board)?;
        // Open across `exec` while workers are started, and only then.
        let inherited = board.inheritable().map_err(LoadError::Board)?;
        let mut set = Self {
            board,
            loads: Vec::with_capacity(checked.len()),
            measured_at: monotonic_now(),
            silence: Nanos::ZERO,
        };
        let mut slot = 0;
        for checked in checked {
            set.loads.push(Load {
                checked: checked.clone(),
                workers: Vec::with_capacity(checked.workers as usize),
            });
            for number in 0..checked.workers {
                let worker = Worker::start(program, &checked, number, &inherited, slot)?;
                if let Some(load) = set.loads.last_mut() {
                    load.workers.push(worker);
                }
                slot += 1;
            }
        }
        set.measured_at = monotonic_now();
        Ok(set)
    }

    /// Checks requests as [`start`](Self::start) does, and starts nothing.
    ///
    /// # Errors
    /// [`LoadError::Refused`] with all problems of the requests.
    pub fn check(loads: &[LoadRequest]) -> Result<(), LoadError> {
        Self::checked(loads).map(drop)
    }

    fn checked(loads: &[LoadRequest]) -> Result<Vec<CheckedLoad>, LoadError> {
        let facts = Facts::read()?;
        let checked = check(loads, &facts, FolderFacts::read);
        checked.map_err(|problems| LoadError::Refused { problems })
    }

    /// Lets a worker count as stalled only after this long a silence, where its kind's limit is
    /// shorter: for workers that share their CPUs with those of other sets, or a slow guest.
    #[must_use]
    pub fn bearing_silence(mut self, silence: Nanos) -> Self {
        self.silence = silence;
        self
    }

    /// Waits until every worker has been seen to work, and verifies that it does so under the
    /// conditions asked for: ordinary scheduling at niceness 0, on its CPUs. What was done up to
    /// then does not count in the next [`measure`](Self::measure).
    ///
    /// # Errors
    /// The first worker that ended, that did nothing within `timeout`, or that runs under other
    /// conditions, with what it wrote on standard error.
    pub fn wait_until_running(&mut self, timeout: Nanos) -> Result<(), LoadError> {
        let begin = monotonic_now();
        let board = &self.board;
        let mut waiting: Vec<_> = self
            .loads
            .iter_mut()
            .flat_map(|load| &mut load.workers)
            .map(|worker| (worker.counters(board).done(), worker))
            .collect();
        loop {
            for (_, worker) in &mut waiting {
                worker.must_live()?;
            }
            waiting.retain(|(done, worker)| worker.counters(board).done() == *done);
            let Some((_, worker)) = waiting.first_mut() else {
                break;
            };
            let waited = monotonic_now().saturating_sub(begin);
            if waited >= timeout {
                return Err(worker.not_running(board, waited));
            }
            thread::sleep(POLL);
        }
        for load in &mut self.loads {
            for worker in &mut load.workers {
                worker.verify_conditions(load.checked.cpus.as_ref())?;
            }
        }
        // Begins a new interval.
        self.measure();
        Ok(())
    }

    /// Tells all workers how fast to work. It does not wait until they do:
    /// [`wait_until_running`](Self::wait_until_running) and
    /// [`wait_until_resting`](Self::wait_until_resting) see to that.
    pub fn set_pace(&mut self, pace: Pace) {
        for worker in self.loads.iter().flat_map(|load| &load.workers) {
            worker.set_pace(&self.board, pace);
        }
    }

    /// Waits until every worker that was told to rest does. An operation that is under way is
    /// finished first.
    ///
    /// # Errors
    /// The first worker that ended, or that still works after `timeout`.
    pub fn wait_until_resting(&mut self, timeout: Nanos) -> Result<(), LoadError> {
        let begin = monotonic_now();
        let board = &self.board;
        for worker in self.loads.iter_mut().flat_map(|load| &mut load.workers) {
            while !worker.rests(board) {
                worker.must_live()?;
                let waited = monotonic_now().saturating_sub(begin);
                if waited >= timeout {
                    return Err(worker.not_resting(waited));
                }
                thread::sleep(POLL_REST);
            }
        }
        // Begins a new interval.
        self.measure();
        Ok(())
    }

    /// Returns what each request achieved since the previous call, or since all workers were seen
    /// to work, in the order of the requests.
    pub fn measure(&mut self) -> Vec<Achieved> {
        let now = monotonic_now();
        let interval = now.saturating_sub(self.measured_at);
        self.measured_at = now;
        let (board, silence) = (&self.board, self.silence);
        let measure = |load: &mut Load| load.measure(board, silence, (now, interval));
        self.loads.iter_mut().map(measure).collect()
    }

    /// The numbers of the processes of all living workers.
    pub fn process_ids(&mut self) -> Vec<u32> {
        self.workers().filter_map(Worker::living_process_id).collect()
    }

    /// Returns remarks of workers that go on, such as a setting that they could not make.
    pub fn remarks(&mut self) -> Vec<String> {
        self.workers().filter_map(Worker::remark).collect()
    }

    /// Ends all workers and waits for them: first by closing their pipes, after half a second by
    /// SIGKILL.
    ///
    /// # Errors
    /// [`LoadError::NotStopped`] when the kernel can't end one within 5 s.
    pub fn stop(mut self) -> Result<(), LoadError> {
        let workers = self.end();
        if workers.is_empty() { Ok(()) } else { Err(LoadError::NotStopped { workers }) }
    }

    /// Ends all workers; returns the names of those that remain.
    fn end(&mut self) -> Vec<String> {
        self.workers().for_each(Worker::ask_to_end);
        if self.wait_for_the_end(GRACE).is_empty() {
            return Vec::new();
        }
        self.workers().for_each(Worker::kill);
        self.wait_for_the_end(KILL_WAIT)
    }

    fn wait_for_the_end(&mut self, timeout: Nanos) -> Vec<String> {
        let begin = monotonic_now();
        loop {
            let remaining: Vec<_> = self.workers().filter_map(Worker::living_name).collect();
            if remaining.is_empty() || monotonic_now().saturating_sub(begin) >= timeout {
                return remaining;
            }
            thread::sleep(POLL);
        }
    }

    fn workers(&mut self) -> impl Iterator<Item = &mut Worker> {
        self.loads.iter_mut().flat_map(|load| &mut load.workers)
    }
}

impl Drop for LoadSet {
    fn drop(&mut self) {
        // Who wants to know about workers that remain calls `stop`.
        self.end();
    }
}

impl Load {
    fn measure(
        &mut self,
        board: &Board,
        silence: Nanos,
        (now, interval): (Nanos, Nanos),
    ) -> Achieved {
        let kind = self.checked.kind;
        let mut totals = Totals::default();
        let mut faults = Vec::new();
        let mut cpus = CpuSet::EMPTY;
        let mut workers_alive = 0;
        let mut workers_stalled = 0;
        for worker in &mut self.workers {
            let seen = worker.observe(board, now, stalled_after(kind).max(silence), &mut totals);
            cpus = cpus.union(&seen.cpus);
            workers_alive += u32::from(seen.alive);
            workers_stalled += u32::from(seen.problems.iter().any(WorkerProblem::is_stall));
            faults.extend(seen.problems.into_iter().map(|problem| WorkerFault {
                worker: worker.number(),
                process_id: worker.process_id(),
                problem,
            }));
        }
        Achieved {
            kind,
            workers: self.checked.workers,
            workers_alive,
            workers_stalled,
            size: self.checked.size,
            cpus,
            interval,
            operations_per_second: rate(totals.operations, interval),
            unit: kind.unit().into(),
            bytes_per_second: kind.counts_bytes().then(|| rate(totals.bytes, interval)),
            cpu_share: totals.cpu_share(interval, clock_ticks_per_second()),
            faults,
        }
    }
}

/// Returns the time without a sign of progress after which a healthy worker counts as stalled.
///
/// A worker shares its CPU with others and progresses in steps of milliseconds; forcing a file to a
/// busy disk can take seconds.
const fn stalled_after(kind: LoadKind) -> Nanos {
    match kind {
        LoadKind::Disk => Nanos::from_secs(10),
        _ => Nanos::from_secs(2),
    }
}
