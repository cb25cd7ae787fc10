//! Conditions in the evidence document: words for people and for the programs of earlier days, and
//! the values beside them.

use std::collections::BTreeMap;

use quietcore_units::WakeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AffinityInForce, Conditions, EarlierPart, Injected, Injection, LoadAchieved, NeighbourAchieved,
    Platform, PolicyInForce, ReleaseMode, TimeReality,
};

/// The release and scheduling of a task, in the figures that earlier versions kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scheduled {
    /// The way in which it waited; absent where no timer releases it.
    pub wake: Option<WakeKind>,
    /// Its priority under SCHED_FIFO; absent under any other policy.
    pub fifo_priority: Option<u32>,
}

/// The conditions that the figures of a record hold for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionsEntry {
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// Time that was measured, in ns.
    pub duration_ns: u64,
    /// The way in which the release was made, in words.
    pub mode: String,
    /// The same as a value; absent where the data don't say, and in documents from before it was
    /// kept.
    #[serde(default, skip_serializing_if = "ReleaseMode::is_unknown")]
    pub release_mode: ReleaseMode,
    /// Scheduling policy and priority in words, such as `SCHED_FIFO 90`.
    pub policy: String,
    /// The same as a value; absent as for `release_mode`.
    #[serde(default, skip_serializing_if = "PolicyInForce::is_unknown")]
    pub scheduling_policy: PolicyInForce,
    /// Wait of the task, and its priority; absent where no kernel was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    /// CPUs the task was allowed to run on, in words.
    pub affinity: String,
    /// The same as a value; absent as for `release_mode`.
    #[serde(default, skip_serializing_if = "AffinityInForce::is_unknown")]
    pub cpus_allowed: AffinityInForce,
    /// `true` if `/dev/cpu_dma_latency` was held at 0 µs, which keeps all CPUs awake.
    pub dma_latency_held: bool,
    /// Reality of the machine's time; absent as for `release_mode`.
    #[serde(default, skip_serializing_if = "TimeReality::is_unstated")]
    pub time: TimeReality,
    /// Facts about the machine that travel with every number, in words.
    pub machine: BTreeMap<String, String>,
    /// Machine, reservation, builds and versions as values; absent for imported data, and in
    /// documents from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Box<Platform>>,
    /// The loads and what they achieved.
    pub loads: Vec<LoadAchieved>,
    /// Partitions beside the measured ones that ran loads of their own; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<NeighbourAchieved>,
    /// Other activity of the machine meanwhile, in words.
    pub activity: BTreeMap<String, String>,
    /// The earlier, interrupted part that the numbers include; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_part: Option<EarlierPart>,
    /// SHA-256 of the site file; empty for a probe run by hand.
    pub site_sha256: String,
    /// The version of Quietcore.
    pub quietcore_version: String,
    /// A delay put in on purpose, in words, such as `500 µs at release 1000`.
    pub injected: Option<String>,
    /// The same delay in figures; absent where there was none, and in records from before it was
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection: Option<Injected>,
}

impl Conditions {
    /// Returns how the task was released and scheduled in figures; `None` where no kernel was
    /// asked, as for imported data.
    pub fn scheduled(&self) -> Option<Scheduled> {
        let (wake, fifo_priority) = (self.mode.wake(), self.policy.fifo_priority());
        self.policy.is_of_a_kernel().then_some(Scheduled { wake, fifo_priority })
    }
}

impl From<&Conditions> for ConditionsEntry {
    fn from(held: &Conditions) -> Self {
        Self {
            started_at: held.started_at.clone(),
            duration_ns: held.duration_ns,
            mode: held.mode.to_string(),
            release_mode: held.mode.clone(),
            policy: held.policy.to_string(),
            scheduling_policy: held.policy.clone(),
            scheduled: held.scheduled(),
            affinity: held.affinity.to_string(),
            cpus_allowed: held.affinity.clone(),
            dma_latency_held: held.dma_latency_held,
            time: held.time.clone(),
            machine: held.machine_in_words(),
            platform: held.platform.clone(),
            loads: held.loads.clone(),
            neighbours: held.neighbours.clone(),
            activity: held.activity_in_words(),
            earlier_part: held.earlier_part.clone(),
            site_sha256: held.site_sha256.clone(),
            quietcore_version: held.quietcore_version.clone(),
            injected: held.injection.as_ref().map(Injection::to_string),
            injection: held.injection.as_ref().and_then(Injection::exact),
        }
    }
}
