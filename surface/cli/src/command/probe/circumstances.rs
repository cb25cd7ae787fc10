//! What holds for a run by hand that is measured in a thread of this process: its conditions, and
//! why its numbers can't be trusted.

use std::collections::BTreeMap;
use std::time::Duration;

use quietcore_host::Facts;
use quietcore_load::Achieved;
use quietcore_probe::thread::Standing;
use quietcore_process::readback::ThreadState;
use quietcore_record::record::{Conditions, LoadAchieved, NotReal, Scheduled};

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
            policy: state.map_or_else(unknown, ThreadState::policy_text),
            scheduled: Some(Scheduled {
                wake: None,
                fifo_priority: state.and_then(ThreadState::fifo_priority),
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

    /// Why the numbers can't be trusted, beside what their own check finds.
    pub(super) fn invalid(&self, standing: &Standing) -> Vec<String> {
        let mut because = Vec::new();
        if let Some(emulated) = machine::emulated(self.facts) {
            because.push(NotReal::Machine(emulated).to_string());
        }
        match (&standing.state, &standing.drift) {
            (Some(first), Some(drift)) => because
                .push(format!("the settings drifted during the run: {}", first.became(drift))),
            (None, _) => {
                because.push("the settings in force could not be read back".to_owned());
            }
            (Some(_), None) => {}
        }
        let weak = self.achieved.iter().filter(|load| !load.is_complete());
        because.extend(
            weak.map(|load| format!("the load `{}` did not run as asked", load.kind.name())),
        );
        because
    }

    /// The same of a run in a guest.
    pub(super) fn invalid_in_guest(&self, standing: &Standing) -> Vec<String> {
        let mut because = self.invalid(standing);
        if let Some(interpreted) = self.facts.virtualization.why_guests_are_not_real(self.facts) {
            because.push(NotReal::Guests(interpreted).to_string());
        }
        because
    }
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
