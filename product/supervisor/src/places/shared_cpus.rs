//! CPUs of a site that somebody else's partitions have at this moment.
//!
//! Two real-time tasks that are pinned to one CPU take each other's time without knowing, so the
//! site that comes second is refused. Everything else is only remarked on: a partition at ordinary
//! priority gives way, and a campaign ends by itself.

use std::fmt;

use quietcore_host::Source;
use quietcore_host::running_partitions::RunningPartition;
use quietcore_site::{Partition, Scheduling, Site};
use quietcore_units::{CpuId, CpuSet, SchedulingPolicy};

/// A CPU that both a partition of a site and a running one have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedCpu {
    /// CPU that both have.
    pub cpu: CpuId,
    /// Name of the partition of the site that is looked at.
    pub partition: String,
    /// Running partition that has the CPU.
    pub holder: RunningPartition,
    /// Highest policy of its threads on the CPU; `None` if none is a real-time thread.
    pub policy: Option<SchedulingPolicy>,
    /// `true` if both have real-time tasks that are pinned to the CPU, and the other site stays up
    /// until somebody brings it down.
    pub is_refused: bool,
}

impl fmt::Display for SharedCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, partition, holder, policy, .. } = self;
        let policy = policy.map_or("no real-time priority".to_owned(), |it| it.to_string());
        let RunningPartition { process, user, owner, .. } = holder;
        match owner {
            Some(owner) => write!(
                f,
                "CPU {cpu} of partition `{partition}` belongs to partition `{}` of site `{site}`, \
                 {policy}, started by {user} (process {}); bring it down with `quietcore down \
                 {site}`",
                owner.partition,
                owner.supervisor.process,
                site = owner.site,
            ),
            None => write!(
                f,
                "CPU {cpu} of partition `{partition}` is measured by a campaign or a probe, \
                 {policy}, started by {user} (process {process}); wait for its end"
            ),
        }
    }
}

/// Returns the CPUs of a site that others have now, by partition and CPU. Partitions that this
/// process has started itself don't count.
pub fn shared_now(site: &Site) -> Vec<SharedCpu> {
    let running = RunningPartition::find_others(&Source::live());
    shared_cpus(site, &running)
}

/// Returns the CPUs of a site that the running partitions have, by partition and CPU.
pub fn shared_cpus(site: &Site, running: &[RunningPartition]) -> Vec<SharedCpu> {
    let of = |partition: &Partition| {
        let mut found = shared_of(&partition.name, partition.cpus_in_use(), running);
        let is_real_time = is_real_time(partition);
        found.iter_mut().for_each(|shared| shared.is_refused &= is_real_time);
        found
    };
    site.partitions().iter().flat_map(of).collect()
}

/// Returns the CPUs of a partition, or of a probe in its place, that the running partitions have.
/// `is_refused` takes for granted that its own tasks are real-time ones that are pinned there.
pub fn shared_of(partition: &str, cpus: CpuSet, running: &[RunningPartition]) -> Vec<SharedCpu> {
    let on = |cpu: CpuId| running.iter().filter_map(move |holder| shared(partition, cpu, holder));
    cpus.iter().flat_map(on).collect()
}

fn shared(partition: &str, cpu: CpuId, holder: &RunningPartition) -> Option<SharedCpu> {
    let pinned = holder.policy_on(cpu, true);
    let claims = holder.owner.as_ref().is_some_and(|owner| owner.cpus.contains(cpu));
    if !claims && pinned.is_none() {
        return None;
    }
    Some(SharedCpu {
        cpu,
        partition: partition.to_owned(),
        holder: holder.clone(),
        policy: pinned.or_else(|| holder.policy_on(cpu, false)),
        is_refused: holder.owner.is_some() && pinned.is_some(),
    })
}

/// Returns the CPUs of a site's real-time partitions.
pub(crate) fn real_time_cpus(site: &Site) -> CpuSet {
    let partitions = site.partitions().iter().filter(|partition| is_real_time(partition));
    partitions.fold(CpuSet::default(), |all, partition| all.union(&partition.cpus_in_use()))
}

fn is_real_time(partition: &Partition) -> bool {
    let mut tasks = partition.program.tasks.iter().map(|task| task.scheduling);
    partition.program.scheduling != Scheduling::Other || tasks.any(|it| it != Scheduling::Other)
}

#[cfg(test)]
mod tests {
    use quietcore_host::process::ProcessName;
    use quietcore_host::running_partitions::{PartitionOwner, RealTimeThread};
    use quietcore_record::class::catalogue;

    use super::*;

    /// Makes a site with a partition on CPU 1.
    fn site(policy: &str) -> Site {
        let text = format!(
            "[site]\nname = \"line\"\n[[partition]]\nname = \"servo\"\nclass = \
             \"process-control\"\n[partition.vcr]\ncpus = [1]\n[partition.program]\nperiod = \
             \"10 ms\"\n{policy}\n"
        );
        quietcore_site::read("line.toml", text.as_bytes(), &catalogue()).unwrap()
    }

    /// Makes a partition of another site, or of a campaign, with a real-time thread on these CPUs.
    fn running(is_of_site: bool, thread: Option<&str>) -> RunningPartition {
        let supervisor = ProcessName { process: 4711, began: 1, namespace: None };
        let cpus = "1".parse().unwrap();
        let (site, partition) = ("press".to_owned(), "axis".to_owned());
        let owner = PartitionOwner { site, partition, cpus, supervisor };
        let policy = SchedulingPolicy::Fifo { priority: 90 };
        let threads =
            thread.iter().map(|cpus| RealTimeThread { policy, cpus: cpus.parse().unwrap() });
        RunningPartition {
            process: 4712,
            user: "maria".to_owned(),
            owner: is_of_site.then_some(owner),
            threads: threads.collect(),
        }
    }

    fn told(site: &Site, running: RunningPartition) -> Vec<(bool, String)> {
        let found = shared_cpus(site, &[running]);
        found.iter().map(|shared| (shared.is_refused, shared.to_string())).collect()
    }

    #[test]
    fn two_real_time_tasks_pinned_to_one_cpu_are_refused_with_all_that_helps() {
        let text = "CPU 1 of partition `servo` belongs to partition `axis` of site `press`, \
                    SCHED_FIFO 90, started by maria (process 4711); bring it down with `quietcore \
                    down press`";
        assert_eq!(
            told(&site("priority = 50"), running(true, Some("1"))),
            [(true, text.to_owned())]
        );
        assert_eq!(
            told(&site("policy = \"other\""), running(true, Some("1"))),
            [(false, text.to_owned())]
        );
    }

    #[test]
    fn what_gives_way_or_ends_by_itself_is_said_and_not_refused() {
        let strict = site("priority = 50");
        let ordinary = told(&strict, running(true, None));
        assert!(!ordinary[0].0 && ordinary[0].1.contains("site `press`, no real-time priority"));
        let roaming = told(&strict, running(true, Some("0-1")));
        assert!(!roaming[0].0 && roaming[0].1.contains("SCHED_FIFO 90"), "{roaming:?}");
        let campaign = told(&strict, running(false, Some("1")));
        assert!(!campaign[0].0 && campaign[0].1.ends_with("(process 4712); wait for its end"));
        assert_eq!(told(&strict, running(false, Some("0-1"))), [], "it is not pinned there");
    }

    #[test]
    fn a_cpu_that_nobody_else_has_is_not_told() {
        let mut elsewhere = running(true, Some("0"));
        elsewhere.owner.as_mut().unwrap().cpus = "0".parse().unwrap();
        assert_eq!(told(&site("priority = 50"), elsewhere), []);
    }
}
