//! Blocks of measurements with or without neighbours, and the progress of a part.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use quietcore_backend::memory::Victim;
use quietcore_clock::Clock;
use quietcore_load::{Achieved, Pace};
use quietcore_probe::memory::{AccessPattern, Answer, Command};
use quietcore_process::field::FieldState;
use quietcore_process::thread::Standing;
use quietcore_record::reason::RunProblem;
use quietcore_record::record::MemoryBlock;
use quietcore_units::ByteSize;

use super::Ended;
use super::neighbours::Neighbours;
use crate::observer::{Advance, Observer};
use crate::probe::ProbeError;

/// The partition and its neighbours, measured block by block.
pub(super) struct Bench<'a> {
    victim: Victim,
    neighbours: &'a mut Neighbours,
    clock: &'a dyn Clock,
    standing: Standing,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        victim: Victim,
        neighbours: &'a mut Neighbours,
        clock: &'a dyn Clock,
    ) -> Self {
        let state = victim.read_back().ok();
        let standing = Standing { state, degraded: victim.degraded().to_vec(), drift: None };
        Self { victim, neighbours, clock, standing }
    }

    /// Returns the thread that measures.
    pub(super) fn thread(&self) -> u32 {
        self.victim.thread()
    }

    /// Measures the operations per second of one neighbour at full pace.
    pub(super) fn full_pace(&mut self) -> Result<f64, ProbeError> {
        self.neighbours.full_pace(self.clock)
    }

    /// Lets the neighbours rest, and returns when all do.
    pub(super) fn rest(&mut self) -> Result<(), ProbeError> {
        self.neighbours.rest()
    }

    /// Lays a new random cycle of accesses while the neighbours rest.
    pub(super) fn cycle(&mut self, round: u32) -> Result<(), ProbeError> {
        self.rest()?;
        // Each round has another cycle; all runs have the same ones.
        self.victim.tell(Command::Cycle { seed: u64::from(round) })?;
        Ok(())
    }

    pub(super) fn working_set(&mut self, bytes: u64) -> Result<(), ProbeError> {
        self.victim.tell(Command::WorkingSet { bytes })?;
        Ok(())
    }

    /// Measures a block beside neighbours at `pace`.
    pub(super) fn block(
        &mut self,
        pattern: AccessPattern,
        round: u32,
        pace: Pace,
    ) -> Result<MemoryBlock, ProbeError> {
        self.neighbours.turn(pace, self.clock)?;
        self.neighbours.begin()?;
        let answer = self.victim.tell(Command::Measure { pattern })?;
        let load_bytes_per_second = self.neighbours.end()?;
        let Answer::Block { accesses, time_ns, .. } = answer else {
            return Err(ProbeError::Unreadable("the partition measured nothing".to_owned()));
        };
        Ok(MemoryBlock { round, accesses, time_ns, load_bytes_per_second })
    }

    /// Returns the settings in force for the part that has ended, the work of its neighbours, and
    /// what was wrong with them.
    pub(super) fn ended(&mut self) -> (Ended, Vec<Achieved>, Option<RunProblem>) {
        let now = self.victim.read_back().ok();
        let mut standing = self.standing.clone();
        standing.drift = now.filter(|now| {
            self.standing
                .state
                .as_ref()
                .is_some_and(|first| (first.policy, first.affinity) != (now.policy, now.affinity))
        });
        let (achieved, wrong) = self.neighbours.take_achieved();
        (Ended { standing, pages: pages(self.victim.field()) }, achieved, wrong)
    }
}

/// Describes the pages and how much of them is locked, as read back.
fn pages(field: Option<FieldState>) -> String {
    match field {
        None => "pages not read back".to_owned(),
        Some(FieldState { large_bytes: 0, locked_bytes }) => {
            format!("pages of 4 KiB, {} locked", ByteSize::new(locked_bytes))
        }
        Some(FieldState { large_bytes, locked_bytes }) => format!(
            "pages of 2 MiB for {}, else of 4 KiB, {} locked",
            ByteSize::new(large_bytes),
            ByteSize::new(locked_bytes)
        ),
    }
}

/// The progress of a part, told to an observer, and the flag that ends it.
pub(super) struct Steps<'a> {
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
    part: &'static str,
    done: u64,
    all: u64,
}

impl<'a> Steps<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer, stop: &'a AtomicBool) -> Self {
        Self { observer, stop, part: "", done: 0, all: 0 }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Begins a part of `steps` steps.
    pub(super) fn begin(&mut self, part: &'static str, steps: u64) {
        (self.part, self.done, self.all) = (part, 0, steps);
    }

    /// Counts one more step, during which `what` is under way. Returns `true` to go on.
    pub(super) fn step(&mut self, what: &str) -> bool {
        let (part, done, all) = (self.part, self.done, self.all);
        self.observer.advance(&Advance { part, done, all, unit: "steps", what, worst: None });
        self.done += 1;
        !self.is_stopped()
    }
}
