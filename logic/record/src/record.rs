//! The record: what one probe run on one CPU yields, with the conditions it was obtained under.
//!
//! A record is complete in itself. Even years later it tells what was measured, on which machine,
//! under which load, what the kernel refused, and whether the numbers may be trusted.

mod absorb;
pub mod check;
mod conditions;
mod measured;
mod stall;
mod stretches;
#[cfg(test)]
mod test_record;

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::ledger::Ledgers;
use crate::reason::Reason;

pub use conditions::{
    AffinityInForce, Cache, Conditions, ConditionsEntry, Core, Counted, EarlierPart,
    FirmwareVersions, GuestImage, Injected, Injection, InterruptPlacement, KernelBuild, Limit,
    LoadAchieved, NeighbourAchieved, Observation, Platform, PolicyInForce, ProgramBuild,
    ReleaseMode, ReservationInForce, Scheduled, SpikeCondition, TakenBy, TimeReality, Topology,
    TracedContext, Versions, joined,
};
pub use measured::*;
pub use stall::{LateRelease, Stall, stalls};
pub use stretches::{STRETCHES_MAX, Stretches};
#[cfg(test)]
pub(crate) use test_record::{test_record, test_scan_record};

/// The schema name of a record's file.
pub const RECORD_SCHEMA: &str = "quietcore.record/2";
/// The schema of earlier versions, which had sentences for reasons; it is read, too.
const RECORD_SCHEMA_1: &str = "quietcore.record/1";

/// The yield of one probe run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "measured::Filed")]
pub struct Record {
    /// [`RECORD_SCHEMA`].
    pub schema: String,
    /// Unique in its evidence folder: partition, profile and task, such as `axis.tp2.cpu1`.
    pub name: String,
    /// The probe, such as `latency`, or the program whose data was imported.
    pub probe: String,
    /// The partition; for imported data the file it came from.
    pub partition: String,
    /// The profile; `imported` for imported data.
    pub profile: String,
    /// `true` if the profile keeps the partition's CPU reservation. Records without it are shown
    /// for comparison and don't count for the machine's verdict.
    pub reserved: bool,
    /// The CPU it ran on; `None` where the task was free to move or nothing is known.
    pub cpu: Option<u32>,
    /// Time between releases, in ns; `None` where imported data don't say.
    pub period_ns: Option<u64>,
    /// Release latency: due instant to start of the work. For a routine of a kernel its time,
    /// without the empty measurement; for an interrupt its response; for accesses to memory the
    /// average of each block; for frames their round trip.
    pub release: Histogram,
    /// Wake-up latency: requested wake-up to running. Equal to `release` in mode `sleep`.
    pub wakeup: Option<Histogram>,
    /// The kind of quantity, with what only that has.
    #[serde(flatten)]
    pub measured: Measured,
    /// The variant of an experiment, with its blocks; `None` outside of experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// Counters beside the histograms.
    pub counters: Counters,
    /// The worst cycles, the worst first.
    pub spikes: Vec<Spike>,
    /// The causes of the time of late releases; `None` where they were not asked for, and in
    /// records from before they could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledgers: Option<Ledgers>,
    /// Latency over time, in equal stretches.
    pub timeline: Timeline,
    /// A histogram for each stretch of time of a run in one go; `None` for a run too short to be
    /// cut, in other measurements, and in records from before there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretches: Option<Stretches>,
    /// Conditions that the numbers hold for.
    pub conditions: Conditions,
    /// The run was ended before its time; what was measured until then is whole.
    pub interrupted: bool,
    /// Settings that were asked for and not in force. A record with an entry proves nothing about
    /// the site.
    pub degraded: Vec<Reason>,
    /// The reasons why the record can't be trusted; empty for a valid one.
    pub invalid_because: Vec<Reason>,
}

impl Record {
    /// Makes a record in which nothing is measured yet, and which counts for no verdict: its maker
    /// names the fields that it has.
    pub fn empty(name: String, probe: &str, partition: &str, profile: &str) -> Self {
        Self {
            schema: RECORD_SCHEMA.to_owned(),
            name,
            probe: probe.to_owned(),
            partition: partition.to_owned(),
            profile: profile.to_owned(),
            reserved: false,
            cpu: None,
            period_ns: None,
            release: Histogram::new(),
            wakeup: None,
            measured: Measured::default(),
            trial: None,
            counters: Counters::default(),
            spikes: Vec::new(),
            ledgers: None,
            timeline: Timeline::default(),
            stretches: None,
            conditions: Conditions::default(),
            interrupted: false,
            degraded: Vec::new(),
            invalid_because: Vec::new(),
        }
    }

    /// Returns `true` where this version reads its schema.
    pub fn has_known_schema(&self) -> bool {
        [RECORD_SCHEMA, RECORD_SCHEMA_1].contains(&self.schema.as_str())
    }

    /// Returns `true` if the numbers may be trusted.
    pub fn is_valid(&self) -> bool {
        self.invalid_because.is_empty()
    }

    /// Returns `true` if the release latencies were recorded by our own task, which writes
    /// counters, worst cycles and time line with them: those of the probes `latency` and `exec`.
    pub fn is_measured_by_us(&self) -> bool {
        self.releases().is_some() && matches!(self.probe.as_str(), "latency" | "exec")
    }

    /// Returns `true` if it was measured in one go, without the part of an interrupted run or the
    /// blocks of an experiment.
    pub(crate) fn is_of_one_part(&self) -> bool {
        self.trial.is_none() && self.conditions.earlier_part.is_none()
    }

    /// Returns `true` if it is of releases, which classes judge, and not of a routine, an
    /// interrupt, accesses to memory, round trips of frames, or the short blocks of an experiment.
    pub fn is_of_releases(&self) -> bool {
        self.releases().is_some() && self.trial.is_none()
    }

    /// Returns the wake-up latency as a record of its own, named after this one; `None` in mode
    /// `sleep`, where it is the release latency. Tools that sleep until the release measure it, so
    /// their published figures can stand beside it.
    pub fn of_wakeup(&self) -> Option<Self> {
        let mut record = self.clone();
        record.release = record.wakeup.take()?;
        record.name.push_str(" (wake-up)");
        record.counters.missed_cycles = None;
        record.counters.longest_miss_run = None;
        record.counters.difference_sum_ns = None;
        record.measured = Measured::default();
        record.trial = None;
        record.spikes.clear();
        record.ledgers = None;
        record.timeline = Timeline::default();
        record.stretches = None;
        Some(record)
    }
}

/// Counters of a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Counters {
    /// Releases that were asked for; 0 where that isn't known.
    pub planned_cycles: u64,
    /// Releases a whole period late or more; `None` where imported data don't say.
    pub missed_cycles: Option<u64>,
    /// The longest run of consecutive misses (survival time in cycles).
    pub longest_miss_run: Option<u64>,
    /// Releases before they were due.
    pub early: u64,
    /// Sum of absolute differences of successive latencies, in ns.
    pub difference_sum_ns: Option<u64>,
    /// Times the task changed its CPU.
    pub migrations: u64,
    /// Time spent spinning before releases, in ns.
    pub spin_ns: u64,
    /// The last wake-up margin, in ns.
    pub margin_ns: u64,
    /// Cost of one cycle of the probe itself, in ns.
    pub own_cost_ns: u64,
}

/// One of the worst cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spike {
    /// Number of the release, from 0.
    pub release: u64,
    /// Time since the first release, in ns.
    pub at_ns: u64,
    /// Release latency, in ns.
    pub latency_ns: u64,
    /// Wake-up latency of the same cycle, in ns.
    pub wakeup_ns: u64,
    /// The CPU it ran on.
    pub cpu: u32,
    /// Other events on that CPU around that time; empty where nothing was sampled.
    pub conditions: Vec<SpikeCondition>,
}

/// Latency over time, in equal stretches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Releases in each stretch.
    pub slot_cycles: u64,
    /// The stretches, as `[count, maximum in ns, sum in ns]`.
    pub slots: Vec<(u64, u64, u64)>,
}
