//! What is said of CPUs that partitions of other sites have.

use quietcore_campaign::Run;
use quietcore_host::Source;
use quietcore_host::running_partitions::RunningPartition;
use quietcore_site::Site;
use quietcore_supervisor::shared_cpus::{self, SharedCpu};
use serde::Serialize;

use crate::status::Failure;

/// A shared CPU, as `plan --json` has it.
#[derive(Serialize)]
pub(super) struct SharedEntry {
    cpu: u32,
    partition: String,
    /// The partition that has the CPU now, and its site; none where a campaign or a probe measures.
    other_partition: Option<String>,
    other_site: Option<String>,
    process: u32,
    user: String,
    /// The real-time policy of its highest thread there.
    policy: Option<String>,
    /// Whether `up` and `qualify` refuse that.
    refused: bool,
    text: String,
}

impl From<&SharedCpu> for SharedEntry {
    fn from(shared: &SharedCpu) -> Self {
        let owner = shared.holder.owner.as_ref();
        Self {
            cpu: shared.cpu.get(),
            partition: shared.partition.clone(),
            other_partition: owner.map(|owner| owner.partition.clone()),
            other_site: owner.map(|owner| owner.site.clone()),
            process: owner.map_or(shared.holder.process, |owner| owner.supervisor.process),
            user: shared.holder.user.clone(),
            policy: shared.policy.map(|policy| policy.to_string()),
            refused: shared.is_refused,
            text: shared.to_string(),
        }
    }
}

/// Says what a plan finds; `up` and `qualify` decide.
pub(super) fn remark(shared: &[SharedCpu]) {
    for shared in shared {
        let then =
            if shared.is_refused { "; until then `up` and `qualify` are refused" } else { "" };
        crate::terminal::say(format_args!("remark: {shared}{then}"));
    }
}

/// Refuses a campaign whose real-time tasks would share a CPU with those of a site that is up, and
/// says what else others have of its CPUs. Where no profile pins anything nothing is refused.
pub(in crate::command) fn check_campaign(site: &Site) -> Result<(), Failure> {
    let shared = shared_cpus::shared_now(site);
    let is_pinned = site.campaign().profiles.iter().any(|profile| profile.pinned);
    let (refused, told): (Vec<_>, Vec<_>) =
        shared.iter().partition(|shared| shared.is_refused && is_pinned);
    for shared in told {
        crate::terminal::say(format_args!("remark: {shared}"));
    }
    let lines: Vec<String> = refused.iter().map(ToString::to_string).collect();
    if lines.is_empty() { Ok(()) } else { Err(Failure::new(lines.join("\n"))) }
}

/// Says what others have of the CPUs that a probe is pinned to.
pub(in crate::command) fn remark_probe(run: &Run) {
    let running = RunningPartition::find_others(&Source::live());
    for partition in &run.partitions {
        let cpus = partition.work.pinned_cpus();
        for shared in shared_cpus::shared_of(&partition.name, cpus, &running) {
            crate::terminal::say(format_args!("remark: {shared}"));
        }
    }
}
