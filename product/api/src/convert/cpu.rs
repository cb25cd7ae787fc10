//! CPUs, and the partitions that have them.

use quietcore_host::cpu_use::{CpuUse, UsedCpu};
use quietcore_host::running_partitions::RunningPartition;
use quietcore_units::CpuId;

use crate::v1;

impl From<UsedCpu> for v1::Cpu {
    fn from(cpu: UsedCpu) -> Self {
        let usage = match cpu.usage {
            CpuUse::Housekeeping => v1::CpuUse::Housekeeping,
            CpuUse::Free => v1::CpuUse::Free,
            CpuUse::Partition => v1::CpuUse::Partition,
            CpuUse::Shared => v1::CpuUse::Shared,
            CpuUse::Offline => v1::CpuUse::Offline,
        };
        let owner = |partition| owner(partition, cpu.number);
        Self {
            number: cpu.number.get(),
            r#use: usage.into(),
            owners: cpu.partitions.iter().map(owner).collect(),
            isolated: cpu.is_isolated,
            tickless: cpu.is_tickless,
            daemon: false,
            siblings: cpu.siblings.map(|cpus| cpus.to_string()).unwrap_or_default(),
        }
    }
}

fn owner(partition: &RunningPartition, cpu: CpuId) -> v1::CpuOwner {
    let (site, name) = match &partition.owner {
        Some(owner) => (owner.site.clone(), owner.partition.clone()),
        None => Default::default(),
    };
    let policy = partition.policy_on(cpu, false);
    v1::CpuOwner {
        site,
        partition: name,
        pid: partition.process,
        user: partition.user.clone(),
        policy: policy.map(|policy| policy.to_string()).unwrap_or_default(),
    }
}
