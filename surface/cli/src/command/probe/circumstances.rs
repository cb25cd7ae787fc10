//! What holds for a run by hand that is measured in a thread of this process: its conditions, and
//! why its numbers can't be trusted.

use std::collections::BTreeMap;
use std::time::Duration;

use quietcore_host::Facts;
use quietcore_load::Achieved;
use quietcore_probe::thread::Standing;
use quietcore_record::reason::{NotReal, Reason, RunProblem};
use quietcore_record::record::{Conditions, LoadAchieved, Scheduled};

use crate::machine;

/// What is known of a run beside what it measured.
pub(super) struct Circumstances<'a> {
    pub(super) facts: &'a Facts,
    pub(super) achieved: &'a [Achieved],
    /// RFC 3339.
    pub(super) started_at: String,
    pub(super) duration: Duration,
    pub(super) dma_latency_held: bool,
}

impl Circumstances<'_> {
    /// The conditions. `machine` is what is to be said of the machine besides, and `activity` of
    /// what happened meanwhile.
    pub(super) fn conditions(
        &self,
        mode: String,
        standing: &Standing,
        machine: BTreeMap<String, String>,
        activity: BTreeMap<String, String>,
    ) -> Conditions {
        let state = standing.state.as_ref();
        let unknown = || "not read back".to_owned();
        let mut facts = self.facts.conditions_summary();
        facts.extend(machine);
        let mut activity = activity;
        if let Some(state) = state {
            activity.insert("memory_locked".to_owned(), state.locked.to_string());
        }
        Conditions {
            started_at: self.started_at.clone(),
            duration_ns: u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX),
            mode,
            policy: state.map_or_else(unknown, |state| state.policy.to_string()),
            scheduled: Some(Scheduled {
                wake: None,
                fifo_priority: state.and_then(|state| state.policy.fifo_priority()),
            }),
            affinity: state.map_or_else(unknown, |state| state.affinity.to_string()),
            dma_latency_held: self.dma_latency_held,
            machine: facts,
            loads: self.achieved.iter().map(load_achieved).collect(),
            activity,
            site_sha256: String::new(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
            injected: None,
            injection: None,
        }
    }

    /// Lists why the numbers can't be trusted, beside what their own check finds.
    pub(super) fn invalid(&self, standing: &Standing) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        if let Some(evidence) = machine::emulated(self.facts) {
            reasons.push(NotReal::Machine { evidence }.into());
        }
        match (&standing.state, &standing.drift) {
            (Some(first), Some(then)) => {
                let (first, then) = (first.clone().into(), then.clone().into());
                reasons.push(RunProblem::SettingsDrifted { first, then }.into());
            }
            (None, _) => reasons.push(RunProblem::SettingsUnknown.into()),
            (Some(_), None) => {}
        }
        let weak = self.achieved.iter().filter(|load| !load.is_complete());
        reasons.extend(weak.map(|load| {
            let kind = load.kind.name().to_owned();
            RunProblem::LoadIncomplete { kind, problems: Vec::new() }.into()
        }));
        reasons
    }

    /// Lists the same of a run in a guest.
    pub(super) fn invalid_in_guest(&self, standing: &Standing) -> Vec<Reason> {
        let mut reasons = self.invalid(standing);
        if let Some(interpreted) = self.facts.virtualization.why_guests_are_not_real(self.facts) {
            reasons.push(NotReal::Guests { interpreted }.into());
        }
        reasons
    }
}

/// The settings that were not in force, as reasons.
pub(super) fn degraded(standing: &Standing) -> Vec<Reason> {
    standing.degraded.iter().cloned().map(Reason::from).collect()
}

fn load_achieved(achieved: &Achieved) -> LoadAchieved {
    LoadAchieved {
        kind: achieved.kind.name().to_owned(),
        workers: achieved.workers,
        working: achieved.workers_alive - achieved.workers_stalled.min(achieved.workers_alive),
        cpus: achieved.cpus.to_string(),
        operations_per_second: achieved.operations_per_second,
        unit: achieved.unit.to_string(),
        bytes_per_second: achieved.bytes_per_second,
        cpu_share: achieved.cpu_share,
    }
}
