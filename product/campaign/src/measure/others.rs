//! Partitions of others that share a CPU with one that is measured.
//!
//! A site that is up is seen before a campaign begins, and refused. What begins later, and a second
//! campaign, is seen only by looking while it is measured: two real-time tasks that are pinned to
//! one CPU take each other's time. The processors of guests of QEMU and Xen are not seen: they are
//! no threads of a process of Quietcore.

use quietcore_host::running_partitions::RunningPartition;
use quietcore_record::reason::RunProblem;
use quietcore_units::{CpuSet, Nanos};

use crate::world::World;

/// Time between two looks: one reads a file of each process.
const LOOK_EVERY: Nanos = Nanos::from_secs(1);

/// The partitions of others that were seen during a measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Others {
    seen: Vec<RunningPartition>,
    looked: Option<Nanos>,
}

impl Others {
    /// Looks for them, unless that was done within the last second. `own` are the processes of this
    /// measurement, of which those in containers are no children of this process.
    pub(crate) fn look(&mut self, world: &dyn World, own: &[u32]) {
        let now = world.clock().now();
        if self.looked.is_none_or(|at| now.saturating_sub(at) >= LOOK_EVERY) {
            self.look_now(world, own);
        }
    }

    /// Looks for them, however long ago that was done.
    pub(crate) fn look_now(&mut self, world: &dyn World, own: &[u32]) {
        self.note(world.partitions_but(own));
        self.looked = Some(world.clock().now());
    }

    /// A process is seen before its threads have their policies and CPUs.
    fn note(&mut self, running: Vec<RunningPartition>) {
        for partition in running {
            match self.seen.iter_mut().find(|known| known.process == partition.process) {
                None => self.seen.push(partition),
                Some(known) => {
                    let new = partition.threads.into_iter();
                    let new: Vec<_> = new.filter(|it| !known.threads.contains(it)).collect();
                    known.threads.extend(new);
                }
            }
        }
    }

    /// Returns the first that has real-time tasks pinned to one of these CPUs.
    pub(crate) fn on(&self, cpus: &CpuSet) -> Option<RunProblem> {
        let shared = |other: &RunningPartition| {
            let cpu = cpus.iter().find(|cpu| other.policy_on(*cpu, true).is_some())?;
            let owner = other.owner.as_ref();
            Some(RunProblem::CpuShared {
                cpu: cpu.get(),
                process: other.process,
                owner: owner.map(|owner| format!("{}/{}", owner.site, owner.partition)),
            })
        };
        self.seen.iter().find_map(shared)
    }
}

#[cfg(test)]
mod tests {
    use quietcore_host::running_partitions::RealTimeThread;
    use quietcore_units::SchedulingPolicy;

    use super::*;

    fn cpus(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    fn partition(process: u32, allowed: &str) -> RunningPartition {
        let policy = SchedulingPolicy::from_kernel(1, 80);
        let threads = vec![RealTimeThread { policy, cpus: cpus(allowed) }];
        RunningPartition { process, user: "root".to_owned(), owner: None, threads }
    }

    /// Threads that may run elsewhere give way, and those of other CPUs take nothing.
    #[test]
    fn a_partition_of_others_counts_where_it_is_pinned_to_the_same_cpu() {
        let mut others = Others::default();
        let begins = RunningPartition { threads: Vec::new(), ..partition(8, "2") };
        others.note(vec![begins, partition(9, "2-3")]);
        assert_eq!(others.on(&cpus("1-3")), None);
        others.note(vec![partition(8, "2")]);
        assert_eq!(others.on(&cpus("1,3")), None);
        let shared = others.on(&cpus("1-2")).unwrap();
        assert_eq!(shared, RunProblem::CpuShared { cpu: 2, process: 8, owner: None });
        let told = "another campaign or probe (process 8) measured on CPU 2 meanwhile";
        assert_eq!(shared.to_string(), told);
    }
}
