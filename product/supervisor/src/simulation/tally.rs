//! Counts of a simulation.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of everything that has happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cycles that the kept programs have run.
    pub cycles: u64,
    /// Looks of the keeper at its partition.
    pub looks: u64,
    /// Requests that were handed over.
    pub requests: u64,
    /// Processes that were started.
    pub processes: u64,
    /// Lives of the supervisor.
    pub lives: u64,
    /// Seconds that have passed in the simulation.
    pub seconds: u64,
    /// Number of faults of each kind.
    pub faults: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Counts a fault of this kind.
    pub(super) fn fault(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }

    /// Returns the number of all faults.
    pub fn fault_count(&self) -> u64 {
        self.faults.values().sum()
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        self.cycles += other.cycles;
        self.looks += other.looks;
        self.requests += other.requests;
        self.processes += other.processes;
        self.lives += other.lives;
        self.seconds += other.seconds;
        for (kind, count) in &other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycles, looks, requests, processes, lives, seconds, faults } = self;
        write!(
            f,
            "{cycles} supervised cycles, {looks} looks, {requests} requests, {processes} processes \
             and {lives} lives of the supervisor in {seconds} simulated seconds; {} faults:",
            self.fault_count()
        )?;
        for (kind, count) in faults {
            write!(f, "\n  {count:>9} {kind}")?;
        }
        Ok(())
    }
}
