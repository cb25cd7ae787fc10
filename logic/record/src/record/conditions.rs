//! The conditions that a record's numbers hold for.
//!
//! Each condition is a value; its words are written once, in `Display`. [`Conditions`] is written
//! to a record's file as it is, and read back through `earlier`, which knows the words of earlier
//! versions. [`ConditionsEntry`] is the form of the evidence document, with words beside the
//! values.

mod around;
mod earlier;
mod entry;
mod in_force;
mod injection;
mod platform;
mod release_mode;
mod time;

use std::collections::BTreeMap;
use std::fmt;

use quietcore_units::CpuSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use around::{Counted, Observation, SpikeCondition, TakenBy, joined};
pub use entry::{ConditionsEntry, Scheduled};
pub use in_force::{AffinityInForce, PolicyInForce};
pub use injection::{Injected, Injection};
pub use platform::{
    Cache, Core, FirmwareVersions, GuestImage, InterruptPlacement, KernelBuild, Limit, Platform,
    ProgramBuild, ReservationInForce, Topology, Versions,
};
pub use release_mode::{ReleaseMode, TracedContext};
pub use time::TimeReality;

/// The conditions that a record's numbers hold for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "earlier::Filed")]
pub struct Conditions {
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// Time that was measured, in ns.
    pub duration_ns: u64,
    /// The way in which the releases were made.
    #[serde(rename = "release_mode", skip_serializing_if = "ReleaseMode::is_unknown")]
    pub mode: ReleaseMode,
    /// Scheduling policy and priority of the task.
    #[serde(rename = "scheduling_policy", skip_serializing_if = "PolicyInForce::is_unknown")]
    pub policy: PolicyInForce,
    /// CPUs the task was allowed to run on.
    #[serde(rename = "cpus_allowed", skip_serializing_if = "AffinityInForce::is_unknown")]
    pub affinity: AffinityInForce,
    /// `true` if `/dev/cpu_dma_latency` was held at 0 µs, which keeps all CPUs awake.
    pub dma_latency_held: bool,
    /// Reality of the machine's time.
    #[serde(skip_serializing_if = "TimeReality::is_unstated")]
    pub time: TimeReality,
    /// Further facts about the machine that travel with every number, in words: kernel, clock
    /// source and so on.
    pub machine: BTreeMap<String, String>,
    /// Machine, reservation, builds and versions; absent for imported data, and in records from
    /// before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Box<Platform>>,
    /// The loads and what they achieved.
    pub loads: Vec<LoadAchieved>,
    /// Partitions beside the measured ones that ran loads of their own; absent without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<NeighbourAchieved>,
    /// Other activity of the machine meanwhile: steal time, interrupts, context switches, in words.
    pub activity: BTreeMap<String, String>,
    /// The earlier, interrupted part of the same run that the numbers include; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_part: Option<EarlierPart>,
    /// SHA-256 of the site file; empty for a probe run by hand.
    pub site_sha256: String,
    /// The version of Quietcore.
    pub quietcore_version: String,
    /// A delay put in on purpose; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injection: Option<Injection>,
}

/// An earlier part of a run that was interrupted and measured again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierPart {
    /// Number of its cycles.
    pub cycles: u64,
    /// Its start, RFC 3339, UTC.
    pub started_at: String,
}

/// A load and the intensity it achieved during a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadAchieved {
    /// The kind, such as `sqrt`.
    pub kind: String,
    /// Number of workers asked for.
    pub workers: u32,
    /// Workers still working at the end.
    pub working: u32,
    /// CPUs they were allowed to use; empty for any.
    #[schemars(with = "String")]
    pub cpus: CpuSet,
    /// Operations per second of all workers.
    pub operations_per_second: f64,
    /// Unit of that rate, such as `messages/s`.
    pub unit: String,
    /// Bytes per second of all workers; absent for a kind that moves none, and in records from
    /// before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// CPU time used, in CPUs: 1.0 is one CPU wholly.
    pub cpu_share: f64,
}

/// A partition that ran loads beside the measured ones, and what they achieved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourAchieved {
    /// Name that the profile's order gives it, such as `neighbour-1`.
    pub name: String,
    /// Its kind, such as `Linux guest of QEMU`.
    pub kind: String,
    /// CPUs over which it floated.
    #[schemars(with = "String")]
    pub cpus: CpuSet,
    /// Processors that it had; absent where it was no guest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Its loads and what they achieved, by its own account.
    pub loads: Vec<LoadAchieved>,
}

impl LoadAchieved {
    /// Returns `true` if all workers that were asked for worked to the end, and did something.
    pub fn is_whole(&self) -> bool {
        let rates = [self.operations_per_second, self.cpu_share];
        let did_something = rates.iter().any(|rate| *rate > 0.0);
        let is_rate = rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0);
        self.working == self.workers && is_rate && (self.workers == 0 || did_something)
    }
}

impl Conditions {
    /// Returns the backend that realised the partition; `None` where the conditions say nothing of
    /// the machine, as for imported data. What they don't call otherwise is a process of the host.
    pub fn backend(&self) -> Option<&str> {
        let named = self.machine.get("backend").map(String::as_str);
        let is_container = self.machine.contains_key("container");
        let known = if is_container { "container" } else { "process" };
        named.or((!self.machine.is_empty()).then_some(known))
    }

    /// Returns the facts about the machine in words, those with a value of their own included.
    pub fn machine_in_words(&self) -> BTreeMap<String, String> {
        let time = (self.time != TimeReality::Unstated)
            .then(|| (earlier::TIME_IS_REAL.to_owned(), self.time.to_string()));
        self.machine.clone().into_iter().chain(time).collect()
    }

    /// Returns what else happened in words, that with a value of its own included.
    pub fn activity_in_words(&self) -> BTreeMap<String, String> {
        let part = self.earlier_part.as_ref();
        let part = part.map(|part| (earlier::INCLUDES.to_owned(), part.to_string()));
        self.activity.clone().into_iter().chain(part).collect()
    }
}

impl fmt::Display for EarlierPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycles, started_at } = self;
        write!(f, "{cycles} cycles of an earlier, interrupted part from {started_at}")
    }
}

#[cfg(test)]
mod tests;
