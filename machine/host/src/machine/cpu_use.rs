//! The CPUs of this machine, and the partitions that have them.
//!
//! A partition has the CPUs that its process bears in its arguments; one of a campaign or a probe
//! has those that its real-time threads are pinned to.

use quietcore_units::{CpuId, CpuSet};

use super::running_partitions::RunningPartition;
use crate::cpu_list::CpuList;
use crate::source::Source;

const CPUS: &str = "/sys/devices/system/cpu";

/// The use of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuUse {
    /// It runs the host: no partition has it, and it is not isolated.
    Housekeeping,
    /// It is isolated, and no partition has it.
    Free,
    /// One partition has it.
    Partition,
    /// Several partitions have it.
    Shared,
    /// It does not run.
    Offline,
}

/// A CPU that is present, and who has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedCpu {
    /// The kernel's number of it.
    pub number: CpuId,
    /// Its use, which follows from the other fields.
    pub usage: CpuUse,
    /// The partitions that have it, ordered by their processes.
    pub partitions: Vec<RunningPartition>,
    /// `true` if the scheduler leaves it alone (`isolcpus`).
    pub is_isolated: bool,
    /// `true` if its tick stops while one task runs (`nohz_full`).
    pub is_tickless: bool,
    /// All CPUs of the same core; `None` where that can't be read, as of one that does not run.
    pub siblings: Option<CpuSet>,
}

/// Returns each CPU that is present, with those of `partitions` that have it.
pub fn read(source: &Source, partitions: &[RunningPartition]) -> Vec<UsedCpu> {
    let list = |name: &str| {
        let list = source.value::<CpuList>(&format!("{CPUS}/{name}"));
        list.get().copied().unwrap_or_default().0
    };
    let (online, isolated, tickless) = (list("online"), list("isolated"), list("nohz_full"));
    let present = list("present").union(&online);
    let cpu = |number: CpuId| {
        let holders = partitions.iter().filter(|partition| has(partition, number));
        let partitions: Vec<RunningPartition> = holders.cloned().collect();
        let is_isolated = isolated.contains(number);
        let usage = match partitions.len() {
            _ if !online.contains(number) => CpuUse::Offline,
            0 if is_isolated => CpuUse::Free,
            0 => CpuUse::Housekeeping,
            1 => CpuUse::Partition,
            _ => CpuUse::Shared,
        };
        let is_tickless = tickless.contains(number);
        let siblings = siblings(source, number);
        UsedCpu { number, usage, partitions, is_isolated, is_tickless, siblings }
    };
    present.iter().map(cpu).collect()
}

fn has(partition: &RunningPartition, cpu: CpuId) -> bool {
    match &partition.owner {
        Some(owner) => owner.cpus.contains(cpu),
        None => partition.policy_on(cpu, true).is_some(),
    }
}

fn siblings(source: &Source, cpu: CpuId) -> Option<CpuSet> {
    let at = |name: &str| format!("{CPUS}/cpu{}/topology/{name}", cpu.get());
    let list = source.value::<CpuList>(&at("core_cpus_list"));
    list.or_if_absent(|| source.value(&at("thread_siblings_list"))).get().map(|list| list.0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use quietcore_units::SchedulingPolicy;

    use super::*;
    use crate::process::ProcessName;
    use crate::running_partitions::{PartitionOwner, RealTimeThread};

    fn cpus(text: &str) -> CpuSet {
        text.parse().expect("a list of CPUs")
    }

    fn of_site(process: u32, name: &str, has: &str) -> RunningPartition {
        let supervisor = ProcessName::own(&Source::live());
        let (site, partition) = ("press".to_owned(), name.to_owned());
        let owner = PartitionOwner { site, partition, cpus: cpus(has), supervisor };
        RunningPartition {
            process,
            user: "maria".to_owned(),
            owner: Some(owner),
            threads: Vec::new(),
        }
    }

    fn of_campaign(process: u32, pinned: &str) -> RunningPartition {
        let policy = SchedulingPolicy::Fifo { priority: 90 };
        let threads = vec![RealTimeThread { policy, cpus: cpus(pinned) }];
        RunningPartition { process, user: "maria".to_owned(), owner: None, threads }
    }

    #[test]
    fn each_cpu_has_its_use_and_its_owners() {
        let machine = tempfile::tempdir().unwrap();
        let folder = machine.path().join("sys/devices/system/cpu");
        fs::create_dir_all(folder.join("cpu3/topology")).unwrap();
        for (name, list) in [("present", "0-5"), ("online", "0-4"), ("isolated", "1-4")] {
            fs::write(folder.join(name), list).unwrap();
        }
        fs::write(folder.join("nohz_full"), "3\n").unwrap();
        fs::write(folder.join("cpu3/topology/core_cpus_list"), "2-3\n").unwrap();
        let partitions = [of_site(7, "axis", "1"), of_site(8, "tank", "1,3"), of_campaign(9, "2")];
        let found = read(&Source::below(machine.path()), &partitions);
        let uses: Vec<CpuUse> = found.iter().map(|cpu| cpu.usage).collect();
        let [host, shared, measured, one, free, offline] = uses[..] else { panic!("{uses:?}") };
        assert_eq!((host, shared), (CpuUse::Housekeeping, CpuUse::Shared));
        assert_eq!((measured, one), (CpuUse::Partition, CpuUse::Partition));
        assert_eq!((free, offline), (CpuUse::Free, CpuUse::Offline));
        let processes = |cpu: &UsedCpu| cpu.partitions.iter().map(|it| it.process).collect();
        let owners: Vec<Vec<u32>> = found.iter().map(processes).collect();
        assert_eq!(owners, [vec![], vec![7, 8], vec![9], vec![8], vec![], vec![]]);
        assert_eq!((found[3].siblings, found[3].is_tickless), (Some(cpus("2-3")), true));
        assert_eq!((found[1].siblings, found[1].is_tickless), (None, false));
        assert_eq!(found[0].number.get(), 0);
    }

    #[test]
    fn a_thread_that_may_run_on_several_cpus_has_none_of_them() {
        let machine = tempfile::tempdir().unwrap();
        let folder = machine.path().join("sys/devices/system/cpu");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("online"), "0-1").unwrap();
        let found = read(&Source::below(machine.path()), &[of_campaign(9, "0-1")]);
        assert!(found.iter().all(|cpu| cpu.usage == CpuUse::Housekeeping), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
