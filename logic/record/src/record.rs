//! The record: what one probe run on one CPU yields, with the conditions it was obtained under.
//!
//! A record is complete in itself. Whoever reads it years later finds what was measured, on which
//! machine, under which load, what the kernel refused, and whether the numbers may be trusted.

mod absorb;
pub mod check;
mod interrupt;
mod memory;
mod round_trip;
mod routine;
mod scan;
mod scheduled;
mod stall;
#[cfg(test)]
mod test_record;
mod told;
mod trial;

use std::collections::BTreeMap;
use std::fmt;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::ledger::Ledgers;
use crate::reason::Reason;

pub use interrupt::{InterruptEntry, InterruptRun};
pub use memory::{
    AccessPattern, CacheLevel, Interference, MemoryBlock, MemoryEntry, MemoryMeasured, MemoryPoint,
    MemoryRun, PointEntry, PressurePair, PressureStep, ReservedWays,
};
pub use round_trip::RoundTripRun;
pub use routine::{Routine, RoutineFigures, RoutineRun, TRIMMED, Trigger, trimmed_mean};
pub use scan::{KernelErrors, Scan, ScanCounters, ScanError, ScanTerms, Worst};
pub use scheduled::{Scheduled, WakeKind};
pub use stall::{LateRelease, Stall, stalls};
#[cfg(test)]
pub(crate) use test_record::{test_record, test_scan_record};
pub use trial::{Aggressor, Placement, Trial, TrialBlock, Variant};

/// The schema name of a record's file.
pub const RECORD_SCHEMA: &str = "quietcore.record/2";
/// The schema of earlier versions, which had sentences for reasons; it is read, too.
const RECORD_SCHEMA_1: &str = "quietcore.record/1";

/// The activity under which a record says that it includes an earlier part.
pub(crate) const INCLUDES: &str = "includes";

/// What one probe run yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Whether the profile keeps the partition's CPU reservation. Records without it are shown for
    /// comparison and don't count for the machine's verdict.
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
    /// Execution and response times of the program; `None` where the probe ran alone, and in
    /// records from before programs were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<Scan>,
    /// What a routine of a kernel took; `None` for all other records, and in those from before
    /// there was such a probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routine: Option<RoutineRun>,
    /// What an interrupt took beside its response, which is in `release`; `None` for all other
    /// records, and in those from before there was such a probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<InterruptRun>,
    /// What accesses to memory took; `None` for all other records, and in those from before there
    /// was such a probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRun>,
    /// What an experiment varied; `None` for all other records, and in those from before there
    /// were experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// What was counted beside the round trips of frames, which are in `release`; `None` for all
    /// other records, and in those from before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTripRun>,
    /// What was counted beside the histograms.
    pub counters: Counters,
    /// The worst cycles, the worst first.
    pub spikes: Vec<Spike>,
    /// Where the time of late releases went; `None` where that was not asked for, and in records
    /// from before it could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledgers: Option<Ledgers>,
    /// Latency over time.
    pub timeline: Timeline,
    /// What the numbers hold for.
    pub conditions: Conditions,
    /// The run was ended before its time; what was measured until then is whole.
    pub interrupted: bool,
    /// What was asked for and not in force. A record with an entry proves nothing about the site.
    pub degraded: Vec<Reason>,
    /// Why the record can't be trusted; empty for a valid one.
    pub invalid_because: Vec<Reason>,
}

impl Record {
    /// A record in which nothing is measured yet, and which counts for no verdict: whoever makes
    /// one names the fields that it has.
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
            scan: None,
            routine: None,
            interrupt: None,
            memory: None,
            trial: None,
            round_trip: None,
            counters: Counters::default(),
            spikes: Vec::new(),
            ledgers: None,
            timeline: Timeline::default(),
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

    /// Whether the numbers may be trusted.
    pub fn is_valid(&self) -> bool {
        self.invalid_because.is_empty()
    }

    /// Whether the release latencies were recorded by our own task, which writes counters, worst
    /// cycles and time line with them: those of the probes `latency` and `exec`.
    pub fn is_measured_by_us(&self) -> bool {
        (self.is_of_releases() || self.trial.is_some())
            && matches!(self.probe.as_str(), "latency" | "exec")
    }

    /// Whether it was measured in one go, without the part of an interrupted run or the blocks of
    /// an experiment.
    pub(crate) fn is_of_one_part(&self) -> bool {
        self.trial.is_none() && !self.conditions.activity.contains_key(INCLUDES)
    }

    /// Whether it is of releases, which classes judge, and not of a routine, an interrupt, accesses
    /// to memory, round trips of frames, or the short blocks of an experiment.
    pub fn is_of_releases(&self) -> bool {
        self.routine.is_none()
            && self.interrupt.is_none()
            && self.memory.is_none()
            && self.trial.is_none()
            && self.round_trip.is_none()
    }

    /// The wake-up latency as a record of its own, named after this one; `None` in mode `sleep`,
    /// where it is the release latency. It is what tools that sleep until the release measure, and
    /// so what their published figures can stand beside.
    pub fn of_wakeup(&self) -> Option<Self> {
        let mut record = self.clone();
        record.release = record.wakeup.take()?;
        record.name.push_str(" (wake-up)");
        record.counters.missed_cycles = None;
        record.counters.longest_miss_run = None;
        record.counters.difference_sum_ns = None;
        record.scan = None;
        record.routine = None;
        record.interrupt = None;
        record.memory = None;
        record.trial = None;
        record.round_trip = None;
        record.spikes.clear();
        record.ledgers = None;
        record.timeline = Timeline::default();
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
    /// What one cycle of the probe itself costs, in ns.
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
    /// What else happened on that CPU around that time, in words; empty where nothing was sampled.
    pub conditions: Vec<String>,
}

/// Latency over time, in equal stretches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Releases in each stretch.
    pub slot_cycles: u64,
    /// The stretches, as `[count, maximum in ns, sum in ns]`.
    pub slots: Vec<(u64, u64, u64)>,
}

/// What a record's numbers hold for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Conditions {
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// How long was measured, in ns.
    pub duration_ns: u64,
    /// How the release was made: `sleep`, `early wake, adaptive, at most 25 % of the core` …
    pub mode: String,
    /// Scheduling policy and priority as read back, such as `SCHED_FIFO 90`.
    pub policy: String,
    /// What `mode` and `policy` say, in figures; absent where nobody kept it, and in records from
    /// before it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    /// CPUs the task was allowed to run on, as read back.
    pub affinity: String,
    /// Whether `/dev/cpu_dma_latency` was held at 0 µs, which keeps all CPUs awake.
    pub dma_latency_held: bool,
    /// Facts about the machine that travel with every number: kernel, clock source and so on.
    pub machine: BTreeMap<String, String>,
    /// The loads and what they achieved.
    pub loads: Vec<LoadAchieved>,
    /// What the machine did meanwhile: steal time, interrupts, context switches, in words.
    pub activity: BTreeMap<String, String>,
    /// SHA-256 of the site file; empty for a probe run by hand.
    pub site_sha256: String,
    /// The version of Quietcore.
    pub quietcore_version: String,
    /// A delay put in on purpose, such as `500 µs at release 1000`.
    pub injected: Option<String>,
    /// The same delay in figures; absent where there was none, and in records from before it was
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection: Option<Injected>,
}

/// A delay that was put in on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Injected {
    /// How long, in ns.
    pub delay_ns: u64,
    /// At which release, from 0.
    pub release: u64,
}

impl Injected {
    /// The latency of the release that was held up, as the record has it; `None` where it has none.
    pub fn found(self, record: &Record) -> Option<u64> {
        let spike = record.spikes.iter().find(|spike| spike.release == self.release)?;
        Some(spike.latency_ns)
    }

    /// Whether that release was late by the delay at least.
    pub fn is_seen(self, record: &Record) -> bool {
        self.found(record).is_some_and(|latency_ns| latency_ns >= self.delay_ns)
    }
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at release {}", Nanos::new(self.delay_ns), self.release)
    }
}

/// A load and the intensity it achieved during a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadAchieved {
    /// The kind, such as `sqrt`.
    pub kind: String,
    /// Workers asked for.
    pub workers: u32,
    /// Workers still working at the end.
    pub working: u32,
    /// CPUs they were allowed to use; empty for any.
    pub cpus: String,
    /// Operations per second of all workers.
    pub operations_per_second: f64,
    /// What an operation is.
    pub unit: String,
    /// Bytes per second of all workers; absent for a kind that moves none, and in records from
    /// before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// CPU time used, in CPUs: 1.0 is one CPU wholly.
    pub cpu_share: f64,
}
