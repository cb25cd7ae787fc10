//! Remarks and refusals about CPUs that partitions of other sites have.

use quietcore_host::Source;
use quietcore_host::running_partitions::RunningPartition;
use quietcore_site::{Partition, Site};
use quietcore_supervisor::shared_cpus::{self, SharedCpu};
use quietcore_units::CpuId;
use serde::Serialize;

use crate::status::Failure;

/// A shared CPU, as `plan --json` prints it.
#[derive(Serialize)]
pub(super) struct SharedEntry {
    cpu: u32,
    partition: String,
    /// The partition that has the CPU now; `None` where a campaign or a probe measures on it.
    other_partition: Option<String>,
    other_site: Option<String>,
    process: u32,
    user: String,
    /// The real-time policy of its highest thread on the CPU.
    policy: Option<String>,
    /// `true` if `up`, `qualify`, `tune` and `disturb` refuse it.
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

/// Prints the shared CPUs that a plan finds. A plan refuses none; the commands that run the site
/// do.
pub(super) fn remark(shared: &[SharedCpu]) {
    for shared in shared {
        let then = if shared.is_refused {
            "; until then `up`, `qualify`, `tune` and `disturb` are refused"
        } else {
            ""
        };
        crate::terminal::say(format_args!("remark: {shared}{then}"));
    }
}

/// Refuses a campaign whose real-time tasks would share a CPU with those of a site that is up, and
/// prints a remark on each other CPU that it shares. Nothing is refused if neither a profile nor a
/// probe pins anything.
pub(in crate::command) fn check_campaign(site: &Site) -> Result<(), Failure> {
    let campaign = site.campaign();
    let is_pinned =
        !campaign.probes.is_empty() || campaign.profiles.iter().any(|profile| profile.pinned);
    check(shared_cpus::shared_now(site), is_pinned)
}

/// Does the same for these partitions of a site in an experiment, which always pins them.
pub(in crate::command) fn check_experiment<'p>(
    site: &Site,
    partitions: impl IntoIterator<Item = &'p Partition>,
) -> Result<(), Failure> {
    let names: Vec<&str> = partitions.into_iter().map(|it| it.name.as_str()).collect();
    let mut shared = shared_cpus::shared_now(site);
    shared.retain(|shared| names.contains(&shared.partition.as_str()));
    check(shared, true)
}

fn check(shared: Vec<SharedCpu>, is_pinned: bool) -> Result<(), Failure> {
    let (refused, told): (Vec<_>, Vec<_>) =
        shared.into_iter().partition(|shared| shared.is_refused && is_pinned);
    for shared in told {
        crate::terminal::say(format_args!("remark: {shared}"));
    }
    let lines: Vec<String> = refused.iter().map(ToString::to_string).collect();
    if lines.is_empty() { Ok(()) } else { Err(Failure::new(lines.join("\n"))) }
}

/// Prints a remark on each shared CPU that a probe is pinned to, in the name of its partition.
pub(in crate::command) fn remark_cpus(partition: &str, cpus: impl IntoIterator<Item = CpuId>) {
    let running = RunningPartition::find_others(&Source::live());
    for shared in shared_cpus::shared_of(partition, cpus.into_iter().collect(), &running) {
        crate::terminal::say(format_args!("remark: {shared}"));
    }
}
