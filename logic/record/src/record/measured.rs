//! The measured quantity of a record, each kind with what only it has.
//!
//! | kind | probes | beside the record's histogram |
//! |------|--------|-------------------------------|
//! | releases | `latency`, `exec`, imported data | scan cycles of a program |
//! | routine | `osek` | the times as counted by the clock |
//! | interrupt | `irq` | the register of the clock board, the switch to the task |
//! | memory | `memory` | the blocks of each working set |
//! | round trip | `ethercat` | lost and incomplete frames |
//!
//! In files each stands under a key of its own: `scan`, `routine`, `interrupt`, `memory`,
//! `round_trip`. A file that has two of them is none of ours, and is refused. Blocks of an
//! experiment, `trial`, can be of any kind.

mod interrupt;
mod memory;
mod round_trip;
mod routine;
mod scan;
mod trial;

use serde::{Deserialize, Serialize, Serializer};

use super::{Conditions, Counters, Record, Spike, Stretches, Timeline};
use crate::histogram::Histogram;
use crate::ledger::Ledgers;
use crate::reason::Reason;

pub use interrupt::{InterruptEntry, InterruptRun};
pub use memory::{
    AccessPattern, CacheLevel, Interference, MemoryBlock, MemoryEntry, MemoryMeasured, MemoryPoint,
    MemoryRun, PointEntry, PressurePair, PressureStep, ReservedWays,
};
pub use quietcore_units::{Routine, Trigger};
pub use round_trip::RoundTripRun;
pub use routine::{RoutineFigures, RoutineRun, TRIMMED, trimmed_mean};
pub use scan::{
    KernelErrors, ProgramStop, Scan, ScanCounters, ScanError, ScanTerms, StopCause, Worst,
};
pub use trial::{Aggressor, BlockTimes, Placement, ProgramBlock, Trial, TrialBlock, Variant};

/// The quantity that was measured, with what only its kind has.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// Releases of a task, which classes judge where they are no blocks of an experiment.
    Releases(ReleaseRun),
    /// A routine of a kernel.
    Routine(RoutineRun),
    /// An interrupt until its handler and its task run.
    Interrupt(InterruptRun),
    /// Accesses to memory, one pattern.
    Memory(MemoryRun),
    /// Round trips of frames.
    RoundTrip(RoundTripRun),
}

/// The parts of a record that go with releases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReleaseRun {
    /// Execution and response times of the program; `None` where the probe ran alone.
    pub scan: Option<Scan>,
}

impl Measured {
    /// Makes what a task with or without a program yields.
    pub const fn releases(scan: Option<Scan>) -> Self {
        Self::Releases(ReleaseRun { scan })
    }

    /// Adds what an earlier part or block of the same run yielded.
    pub(super) fn join(&mut self, earlier: Self) {
        match (self, earlier) {
            (Self::Releases(later), Self::Releases(earlier)) => later.join(&earlier),
            (Self::Routine(later), Self::Routine(earlier)) => {
                later.raw.merge(&earlier.raw);
                later.clamped = later.clamped.saturating_add(earlier.clamped);
            }
            (Self::Interrupt(later), Self::Interrupt(earlier)) => {
                later.register.merge(&earlier.register);
                later.switch.merge(&earlier.switch);
                later.until_task.merge(&earlier.until_task);
                later.left_out = later.left_out.saturating_add(earlier.left_out);
            }
            (Self::RoundTrip(later), Self::RoundTrip(earlier)) => later.join(&earlier),
            // Accesses to memory are measured in one go.
            _ => {}
        }
    }
}

impl Default for Measured {
    fn default() -> Self {
        Self::releases(None)
    }
}

impl ReleaseRun {
    fn join(&mut self, earlier: &Self) {
        self.scan = match (self.scan.take(), &earlier.scan) {
            (Some(mut later), Some(earlier)) => {
                later.absorb(earlier);
                Some(later)
            }
            _ => None,
        };
    }
}

impl Record {
    /// Returns what goes with releases; `None` for a record of something else.
    pub const fn releases(&self) -> Option<&ReleaseRun> {
        if let Measured::Releases(run) = &self.measured { Some(run) } else { None }
    }

    /// Returns the same to be changed.
    pub const fn releases_mut(&mut self) -> Option<&mut ReleaseRun> {
        if let Measured::Releases(run) = &mut self.measured { Some(run) } else { None }
    }

    /// Returns the scan cycles of the program; `None` where none ran.
    pub fn scan(&self) -> Option<&Scan> {
        self.releases()?.scan.as_ref()
    }

    /// Returns the same to be changed.
    pub fn scan_mut(&mut self) -> Option<&mut Scan> {
        self.releases_mut()?.scan.as_mut()
    }

    /// Returns what a routine of a kernel took; `None` for a record of something else.
    pub const fn routine(&self) -> Option<&RoutineRun> {
        if let Measured::Routine(run) = &self.measured { Some(run) } else { None }
    }

    /// Returns the same to be changed.
    pub const fn routine_mut(&mut self) -> Option<&mut RoutineRun> {
        if let Measured::Routine(run) = &mut self.measured { Some(run) } else { None }
    }

    /// Returns what an interrupt took beside its response; `None` for a record of something else.
    pub const fn interrupt(&self) -> Option<&InterruptRun> {
        if let Measured::Interrupt(run) = &self.measured { Some(run) } else { None }
    }

    /// Returns what accesses to memory took; `None` for a record of something else.
    pub const fn memory(&self) -> Option<&MemoryRun> {
        if let Measured::Memory(run) = &self.measured { Some(run) } else { None }
    }

    /// Returns the same to be changed.
    pub const fn memory_mut(&mut self) -> Option<&mut MemoryRun> {
        if let Measured::Memory(run) = &mut self.measured { Some(run) } else { None }
    }

    /// Returns the counters beside round trips; `None` for a record of something else.
    pub const fn round_trip(&self) -> Option<&RoundTripRun> {
        if let Measured::RoundTrip(run) = &self.measured { Some(run) } else { None }
    }
}

/// A record as its file has it: one level of keys, of which those of other kinds are missing. Every
/// key is named here, so that a reader keeps nothing of a file that it does not know.
#[derive(Deserialize)]
pub(super) struct Filed {
    schema: String,
    name: String,
    probe: String,
    partition: String,
    profile: String,
    reserved: bool,
    cpu: Option<u32>,
    period_ns: Option<u64>,
    release: Histogram,
    wakeup: Option<Histogram>,
    scan: Option<Scan>,
    trial: Option<Trial>,
    routine: Option<RoutineRun>,
    interrupt: Option<InterruptRun>,
    memory: Option<MemoryRun>,
    round_trip: Option<RoundTripRun>,
    counters: Counters,
    spikes: Vec<Spike>,
    ledgers: Option<Ledgers>,
    timeline: Timeline,
    stretches: Option<Stretches>,
    conditions: Conditions,
    interrupted: bool,
    degraded: Vec<Reason>,
    invalid_because: Vec<Reason>,
}

/// The keys of the kinds, as they are written: those that say something.
#[derive(Default, Serialize)]
struct Keys<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<&'a Scan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    routine: Option<&'a RoutineRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt: Option<&'a InterruptRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<&'a MemoryRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    round_trip: Option<&'a RoundTripRun>,
}

/// A file has measurements of two kinds.
#[derive(Debug, thiserror::Error)]
#[error("it is of more than one of releases, a routine, an interrupt, memory and round trips")]
pub(super) struct TwoKinds;

impl TryFrom<Filed> for Record {
    type Error = TwoKinds;

    fn try_from(filed: Filed) -> Result<Self, TwoKinds> {
        let kinds = [
            filed.scan.map(|scan| Measured::releases(Some(scan))),
            filed.routine.map(Measured::Routine),
            filed.interrupt.map(Measured::Interrupt),
            filed.memory.map(Measured::Memory),
            filed.round_trip.map(Measured::RoundTrip),
        ];
        let mut kinds = kinds.into_iter().flatten();
        let measured = kinds.next().unwrap_or_default();
        if kinds.next().is_some() {
            return Err(TwoKinds);
        }
        Ok(Self {
            schema: filed.schema,
            name: filed.name,
            probe: filed.probe,
            partition: filed.partition,
            profile: filed.profile,
            reserved: filed.reserved,
            cpu: filed.cpu,
            period_ns: filed.period_ns,
            release: filed.release,
            wakeup: filed.wakeup,
            measured,
            trial: filed.trial,
            counters: filed.counters,
            spikes: filed.spikes,
            ledgers: filed.ledgers,
            timeline: filed.timeline,
            stretches: filed.stretches,
            conditions: filed.conditions,
            interrupted: filed.interrupted,
            degraded: filed.degraded,
            invalid_because: filed.invalid_because,
        })
    }
}

impl Serialize for Measured {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let keys = match self {
            Self::Releases(ReleaseRun { scan }) => Keys { scan: scan.as_ref(), ..Keys::default() },
            Self::Routine(run) => Keys { routine: Some(run), ..Keys::default() },
            Self::Interrupt(run) => Keys { interrupt: Some(run), ..Keys::default() },
            Self::Memory(run) => Keys { memory: Some(run), ..Keys::default() },
            Self::RoundTrip(run) => Keys { round_trip: Some(run), ..Keys::default() },
        };
        keys.serialize(to)
    }
}

#[cfg(test)]
mod tests;
